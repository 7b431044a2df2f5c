package mcp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/catalog/catalogtest"
	"github.com/fairlead-dev/fairlead/catalog/index"
)

// listening is a stream of events.
type listening struct {
	t      testing.TB
	status int
	lines  *bufio.Reader
	stop   func()
}

// message is what an event holds.
type message struct {
	Method string
	Result json.RawMessage
	Params struct {
		URI           string
		Meta          map[string]json.RawMessage `json:"_meta"`
		Notifications struct{ ResourceSubscriptions []string }
	}
	raw string
}

// listen opens a stream: by GET, or by a request whose answer is one.
func (c *client) listen(method, body string, set ...func(http.Header)) *listening {
	c.t.Helper()
	ctx, stop := context.WithTimeout(c.t.Context(), 2*time.Minute) // where nothing comes, a test is to fail
	req, err := http.NewRequestWithContext(ctx, method, c.URL+c.path, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+c.token)
	req.Header.Set("Accept", "text/event-stream, application/json")
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.session != "" {
		req.Header.Set("Mcp-Session-Id", c.session)
	}
	for _, f := range set {
		f(req.Header)
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { stop(); res.Body.Close() })
	return &listening{c.t, res.StatusCode, bufio.NewReader(res.Body), stop}
}

// modernListen opens a stream of revision 2026-07-28.
func (c *client) modernListen(notifications string) *listening {
	c.t.Helper()
	body := `{"jsonrpc":"2.0","id":"sub","method":"subscriptions/listen","params":{"notifications":` + notifications + `,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",
		"io.modelcontextprotocol/clientInfo":{"name":"test","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`
	return c.listen(http.MethodPost, body, header("Mcp-Protocol-Version", "2026-07-28"), header("Mcp-Method", "subscriptions/listen"))
}

// next is the next message, or nothing once the stream has ended.
func (l *listening) next() (m message) {
	l.t.Helper()
	for {
		line, err := l.lines.ReadString('\n')
		if err != nil {
			return m
		}
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			if err := json.Unmarshal([]byte(data), &m); err != nil {
				l.t.Fatal(err)
			}
			m.raw = data
			return m
		}
	}
}

func (l *listening) expect(method, uri string) message {
	l.t.Helper()
	m := l.next()
	if m.Method != method || m.Params.URI != uri {
		l.t.Fatalf("got %s, want %s %s", m.raw, method, uri)
	}
	return m
}

// changing gives what replaces something in the shop and publishes it.
func (c *client) changing() func(old, replacement string) {
	text := shop
	return func(old, replacement string) {
		c.t.Helper()
		changed := strings.Replace(text, old, replacement, 1)
		if changed == text {
			c.t.Fatalf("there is no %q", old)
		}
		text = changed
		c.catalog.Publish(catalogtest.Changes(c.t, text))
	}
}

const (
	updated = "notifications/resources/updated"
	listed  = "notifications/resources/list_changed"
	ledger  = "catalog://component/default/ledger"
	payer   = "brief://default/checkout"
)

func (c *client) subscribe(uri string) *answer {
	c.t.Helper()
	return c.call("resources/subscribe", map[string]any{"uri": uri})
}

func TestSubscriptionsInASession(t *testing.T) {
	c := serve(t, []string{shop}).open("2025-11-25")
	for _, uri := range []string{ledger, payer} {
		if a := c.subscribe(uri); a.Error != nil {
			t.Fatal(a.raw)
		}
	}
	stream, change := c.listen(http.MethodGet, ""), c.changing()
	change("lifecycle: experimental", "lifecycle: production")
	stream.expect(updated, ledger)
	change("title: Payments", "title: Payments and refunds") // nobody has subscribed to the group
	change("make test", "make check")
	stream.expect(updated, payer)
	c.catalog.Publish([]index.Change{{Ref: "component:default/ledger"}})
	stream.expect(updated, ledger)
	stream.expect(listed, "")

	c.call("resources/unsubscribe", map[string]any{"uri": payer})
	again := c.listen(http.MethodGet, "")
	if m := stream.next(); m.Method != "" {
		t.Errorf("the older stream goes on: %s", m.raw)
	}
	again.stop()
	change("name: db", "name: dbs") // nobody listens; the ledger is there again
	late := c.listen(http.MethodGet, "")
	late.expect(updated, ledger)
	c.send(http.MethodDelete, "")
	if m := late.next(); m.Method == updated {
		t.Errorf("a stream goes on after its session: %s", m.raw)
	}
}

// TestToldAgainByTheNextStream: what a stream told shortly before it ended may
// not have come to anybody.
func TestToldAgainByTheNextStream(t *testing.T) {
	c := serve(t, []string{shop}).open("2025-11-25")
	c.subscribe(ledger)
	c.subscribe(payer)
	first, change := c.listen(http.MethodGet, ""), c.changing()
	change("lifecycle: experimental", "lifecycle: production")
	first.expect(updated, ledger)
	first.stop()
	second := c.listen(http.MethodGet, "")
	second.expect(updated, ledger)
	change("make test", "make check") // of which nobody was told
	second.expect(updated, payer)
}

// TestListChangedWhileNobodyListened tells a stream that begins that the list
// of resources is not what it was when the client could hear last.
func TestListChangedWhileNobodyListened(t *testing.T) {
	c := serve(t, []string{shop}).open("2025-11-25")
	change := c.changing()
	change("name: db", "name: dbs") // after the session began
	first := c.listen(http.MethodGet, "")
	first.expect(listed, "")
	first.stop()
	change("name: dbs", "name: database")
	second := c.listen(http.MethodGet, "")
	second.expect(listed, "")

	c.open("2025-11-25").subscribe(ledger)
	only := c.listen(http.MethodGet, "")
	change("lifecycle: experimental", "lifecycle: production") // the list is what it was
	only.expect(updated, ledger)
}

func TestSubscriptionsAreRefused(t *testing.T) {
	c := serve(t, []string{shop})
	contains(t, c.subscribe(ledger).raw, "failed_precondition", "Send initialize")
	c.open("2025-11-25")
	for uri, want := range map[string]string{"catalog://component/default/nobody": "-32002", "weapon://x": "-32002", "catalog://x": "-32602"} {
		contains(t, c.subscribe(uri).raw, want)
	}
	stranger := c.as("stranger").open("2025-11-25")
	contains(t, stranger.subscribe(ledger).raw, `"not_found"`)
	for i := range 50 {
		c.subscribe(fmt.Sprintf("catalog://component/default/ledger?%d", i))
	}
	for _, kind := range []string{"", "application/json"} {
		if a := c.send(http.MethodGet, "", header("Accept", kind)); a.status != http.StatusNotAcceptable {
			t.Errorf("%q: %d %s", kind, a.status, a.raw)
		}
	}
	for _, set := range []func(http.Header){header("Mcp-Session-Id", "made-up"), func(h http.Header) { h.Del("Mcp-Session-Id") }} {
		if l := c.listen(http.MethodGet, "", set); l.status != http.StatusNotFound {
			t.Errorf("%d", l.status)
		}
	}
	if l := c.as("reader").listen(http.MethodGet, "", header("Mcp-Session-Id", c.session)); l.status != http.StatusNotFound {
		t.Errorf("a stolen session is listened to: %d", l.status)
	}
	if l := c.listen(http.MethodGet, "", header("Mcp-Protocol-Version", "2026-07-28")); l.status != http.StatusMethodNotAllowed {
		t.Errorf("%d", l.status)
	}
}

func TestListeningWithoutASession(t *testing.T) {
	c := serve(t, []string{shop})
	stream := c.modernListen(`{"resourcesListChanged":true,"toolsListChanged":true,"resourceSubscriptions":["` + ledger + `","catalog://component/default/nobody"]}`)
	ack := stream.next()
	if got := ack.Params.Notifications.ResourceSubscriptions; ack.Method != "notifications/subscriptions/acknowledged" || len(got) != 1 || got[0] != ledger {
		t.Fatalf("%s", ack.raw)
	}
	c.changing()("lifecycle: experimental", "lifecycle: production")
	if m := stream.expect(updated, ledger); string(m.Params.Meta["io.modelcontextprotocol/subscriptionId"]) != `"sub"` {
		t.Errorf("%s", m.raw)
	}
	c.catalog.Publish([]index.Change{{Ref: "component:default/checkout"}})
	stream.expect(updated, ledger) // which it depended on
	stream.expect(listed, "")
	other := c.as("stranger").modernListen(`{"resourcesListChanged":true,"resourceSubscriptions":["` + ledger + `"]}`)
	if ack := other.next(); len(ack.Params.Notifications.ResourceSubscriptions) != 0 {
		t.Errorf("a stranger subscribes: %s", ack.raw)
	}
}

// TestStreamsAreBounded: a caller has so many at once, whoever goes makes room,
// and others are not touched.
func TestStreamsAreBounded(t *testing.T) {
	c := serve(t, []string{shop})
	var open []*listening
	for range 16 {
		l := c.modernListen(`{"resourcesListChanged":true}`)
		if l.next(); l.status != http.StatusOK {
			t.Fatal(l.status)
		}
		open = append(open, l)
	}
	if l := c.modernListen(`{"resourcesListChanged":true}`); l.status != http.StatusTooManyRequests {
		t.Errorf("%d", l.status)
	}
	if l := c.as("reader").modernListen(`{"resourcesListChanged":true}`); l.status != http.StatusOK {
		t.Errorf("another caller is disturbed: %d", l.status)
	}
	open[0].stop()
	for c.modernListen(`{"resourcesListChanged":true}`).status != http.StatusOK {
		if t.Context().Err() != nil {
			t.Fatal("a stream that is gone keeps its place")
		}
	}
}

// TestResourcesComeInPages walks the list of briefs.
func TestResourcesComeInPages(t *testing.T) {
	docs := []string{shop}
	for i := range 120 {
		docs = append(docs, fmt.Sprintf("kind: Component\nmetadata: {name: s%03d}\nspec: {type: service, lifecycle: production, owner: payments}", i))
	}
	c := serve(t, docs).open("2025-11-25")
	seen, cursor := map[string]bool{}, ""
	for pages := 1; ; pages++ {
		params := map[string]any{}
		if cursor != "" {
			params["cursor"] = cursor
		}
		a := c.call("resources/list", params)
		var page struct {
			Resources  []struct{ URI string }
			NextCursor string
		}
		if err := json.Unmarshal(a.Result, &page); err != nil || a.Error != nil {
			t.Fatal(a.raw)
		}
		for _, r := range page.Resources {
			seen[r.URI] = true
		}
		if cursor = page.NextCursor; cursor == "" {
			if len(seen) != 122 || !seen["brief://default/checkout"] || pages != 3 {
				t.Errorf("%d resources on %d pages", len(seen), pages)
			}
			break
		}
	}
	if a := c.as("stranger").open("2025-11-25").call("resources/list", nil); !strings.Contains(a.raw, `"resources":[]`) {
		t.Error(a.raw)
	}
}

// TestRefreshReports: the report comes before the answer, in order.
func TestRefreshReports(t *testing.T) {
	c := serve(t, []string{shop}).open("2025-11-25")
	l := c.listen(http.MethodPost, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"refresh_entity","arguments":{"source":"memory"},"_meta":{"progressToken":"p"}}}`)
	contains(t, l.next().raw, `"progressToken":"p"`, `"progress":0`, "reading memory")
	contains(t, l.next().raw, `"progress":1`, `"total":1`)
	contains(t, l.next().raw, `"result"`, "read memory")
	a := c.as("reader").open("2025-11-25").tool("refresh_entity", map[string]any{"source": "memory"})
	if f := a.fault(t); f.Code != "forbidden" {
		t.Errorf("%+v", f)
	}
}
