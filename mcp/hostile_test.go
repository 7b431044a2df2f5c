package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/mcp"
)

const listing = `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}`

func header(key, value string) func(http.Header) {
	return func(h http.Header) { h.Set(key, value) }
}

func TestNobodyIsRefused(t *testing.T) {
	c := serve(t, []string{shop}).as("")
	for path, want := range map[string]string{
		"/mcp":          `Bearer resource_metadata="https://fairlead.example.com/.well-known/oauth-protected-resource/mcp"`,
		"/mcp/readonly": `Bearer resource_metadata="https://fairlead.example.com/.well-known/oauth-protected-resource/mcp/readonly"`,
	} {
		c.path = path
		a := c.send(http.MethodPost, listing)
		if a.status != http.StatusUnauthorized || a.header.Get("WWW-Authenticate") != want {
			t.Errorf("%d %q", a.status, a.header.Get("WWW-Authenticate"))
		}
		contains(t, a.raw, "unauthenticated", "Send one.")
	}
}

func TestProtectedResourceMetadata(t *testing.T) {
	c := serve(t, []string{shop}, func(cfg *mcp.Config) { cfg.AuthorizationServers = []string{"https://idp.example.com"} }).as("")
	for path, resource := range map[string]string{
		"": "https://fairlead.example.com", "/mcp": "https://fairlead.example.com/mcp", "/mcp/readonly": "https://fairlead.example.com/mcp/readonly",
	} {
		c.path = "/.well-known/oauth-protected-resource" + path
		a := c.send(http.MethodGet, "")
		var doc struct {
			Resource    string   `json:"resource"`
			Servers     []string `json:"authorization_servers"`
			BearerModes []string `json:"bearer_methods_supported"`
		}
		if err := json.Unmarshal([]byte(a.raw), &doc); err != nil || a.status != http.StatusOK || doc.Resource != resource || len(doc.Servers) != 1 || len(doc.BearerModes) != 1 {
			t.Errorf("%s: %d %s", path, a.status, a.raw)
		}
	}
	if got := mcp.Challenge("", "/mcp"); got != "Bearer" {
		t.Error(got)
	}
}

func TestOrigins(t *testing.T) {
	c := serve(t, []string{shop}).open("2025-11-25")
	for origin, want := range map[string]int{
		"": http.StatusOK, "https://ui.example.com": http.StatusOK, "https://fairlead.example.com": http.StatusOK,
		"https://evil.example.com": http.StatusForbidden, "null": http.StatusForbidden, "http://localhost:5173": http.StatusForbidden,
		"https://ui.example.com.evil.example.com": http.StatusForbidden,
	} {
		a := c.send(http.MethodPost, listing, header("Origin", origin))
		if a.status != want {
			t.Errorf("origin %q: %d", origin, a.status)
		}
		if got := a.header.Get("Access-Control-Allow-Origin"); want == http.StatusForbidden && got != "" {
			t.Errorf("origin %q is let in: %q", origin, got)
		}
	}
	a := c.send(http.MethodOptions, "", header("Origin", "https://ui.example.com"), header("Access-Control-Request-Method", "POST"))
	if a.status != http.StatusNoContent || a.header.Get("Access-Control-Allow-Origin") != "https://ui.example.com" {
		t.Errorf("preflight: %d %v", a.status, a.header)
	}
	contains(t, a.header.Get("Access-Control-Allow-Headers"), "Authorization", "Mcp-Session-Id", "Mcp-Protocol-Version")
}

func TestALoopbackServersOwnOrigin(t *testing.T) {
	c := serve(t, []string{shop})
	if a := c.send(http.MethodPost, listing, header("Origin", c.URL)); a.status != http.StatusOK {
		t.Errorf("%d", a.status)
	}
}

func TestRebindingIsRefused(t *testing.T) {
	c := serve(t, []string{shop})
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, c.URL+"/mcp", strings.NewReader(listing))
	if err != nil {
		t.Fatal(err)
	}
	req.Host = "evil.example.com"
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusForbidden {
		t.Errorf("%d", resp.StatusCode)
	}
}

func TestBodies(t *testing.T) {
	c := serve(t, []string{shop}).open("2025-11-25")
	for name, tc := range map[string]struct {
		body string
		want int
	}{
		"five megabytes": {`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"` + strings.Repeat("x", 5<<20) + `"}}`, http.StatusRequestEntityTooLarge},
		"not JSON":       {`{"jsonrpc":`, http.StatusBadRequest},
		"a batch":        {`[` + listing + `]`, http.StatusBadRequest},
		"a number":       {`5`, http.StatusBadRequest},
		"nothing":        {``, http.StatusBadRequest},
	} {
		if a := c.send(http.MethodPost, tc.body); a.status != tc.want {
			t.Errorf("%s: %d %.200s", name, a.status, a.raw)
		}
	}
	deep := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_entity","arguments":{"ref":` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + `}}}`
	if a := c.send(http.MethodPost, deep); a.status >= http.StatusInternalServerError {
		t.Errorf("deep nesting: %d", a.status)
	}
	for _, method := range []string{http.MethodPut, http.MethodHead, http.MethodPatch} {
		if a := c.send(method, ""); a.status != http.StatusMethodNotAllowed || a.header.Get("Allow") == "" {
			t.Errorf("%s: %d", method, a.status)
		}
	}
	c.path = "/mcp/other"
	if a := c.send(http.MethodPost, listing); a.status != http.StatusNotFound {
		t.Errorf("another path: %d", a.status)
	}
}

func TestSessionsBelongToTheirCallers(t *testing.T) {
	c := serve(t, []string{shop}).open("2025-11-25")
	thief := c.as("reader")
	thief.session = c.session
	if a := thief.send(http.MethodPost, listing); a.status != http.StatusNotFound {
		t.Errorf("a stolen session: %d %s", a.status, a.raw)
	}
	if a := thief.send(http.MethodDelete, ""); a.status != http.StatusNotFound {
		t.Errorf("a stolen session is ended: %d", a.status)
	}
	if a := c.send(http.MethodPost, listing); a.status != http.StatusOK {
		t.Errorf("the owner's session: %d", a.status)
	}
	for id, want := range map[string]int{"": http.StatusOK, "mcp-session-7f2c8f0e-5e0f-4b0e-9d53-0a4b8d9a1a11": http.StatusNotFound, "x": http.StatusNotFound} {
		other := c.as("owner")
		other.session = id
		if a := other.send(http.MethodPost, listing); a.status != want {
			t.Errorf("session %q: %d %s", id, a.status, a.raw)
		}
	}
	if a := c.send(http.MethodDelete, ""); a.status != http.StatusOK {
		t.Errorf("delete: %d %s", a.status, a.raw)
	}
	if a := c.send(http.MethodPost, listing); a.status != http.StatusNotFound {
		t.Errorf("an ended session: %d", a.status)
	}
}

func TestIdleSessionsEnd(t *testing.T) {
	c := serve(t, []string{shop}, func(cfg *mcp.Config) { cfg.SessionIdle = time.Nanosecond }).open("2025-11-25")
	if a := c.send(http.MethodPost, listing); a.status != http.StatusNotFound {
		t.Errorf("%d", a.status)
	}
}

func TestACallerHasSoManySessions(t *testing.T) {
	c := serve(t, []string{shop})
	first := c.as("owner").open("2025-11-25")
	for range 100 {
		c.as("owner").open("2025-11-25")
	}
	if a := first.send(http.MethodPost, listing); a.status != http.StatusNotFound {
		t.Errorf("the session used least recently is still open: %d", a.status)
	}
}

// gate lets one call in and tells how it ended.
type gate struct {
	recorder
	entered chan struct{}
	leave   chan struct{}
	ended   chan error
}

func (g *gate) Begin(ctx context.Context, call access.Call) (context.Context, func(error)) {
	g.entered <- struct{}{}
	select {
	case <-g.leave:
	case <-ctx.Done():
		g.ended <- ctx.Err()
	}
	return g.recorder.Begin(ctx, call)
}

// TestCancellationDoesNotCross: in revision 2026-07-28 ids are not of a
// session, so nobody may end a request by its id.
func TestCancellationDoesNotCross(t *testing.T) {
	g := &gate{entered: make(chan struct{}), leave: make(chan struct{}), ended: make(chan error, 1)}
	c := serve(t, []string{shop}, func(cfg *mcp.Config) { cfg.Recorder = g })
	got := make(chan *answer)
	go func() {
		got <- c.modern("tools/call", "whoami", map[string]any{"name": "whoami", "arguments": map[string]any{}})
	}()
	<-g.entered
	for _, a := range []*answer{
		c.as("reader").send(http.MethodPost, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`,
			header("Mcp-Protocol-Version", "2026-07-28"), header("Mcp-Method", "notifications/cancelled")),
		c.as("reader").send(http.MethodPost, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`),
		c.as("reader").open("2025-11-25").send(http.MethodPost, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`),
	} {
		if a.status != http.StatusAccepted {
			t.Errorf("%d %s", a.status, a.raw)
		}
	}
	close(g.leave)
	if a := <-got; a.Error != nil || a.status != http.StatusOK {
		t.Errorf("%d %s", a.status, a.raw)
	}
	select {
	case err := <-g.ended:
		t.Errorf("the request was cancelled: %v", err)
	default:
	}
}

// TestOneMayCancelOnesOwn: within a session its owner ends requests by id.
func TestOneMayCancelOnesOwn(t *testing.T) {
	g := &gate{entered: make(chan struct{}), leave: make(chan struct{}), ended: make(chan error, 1)}
	c := serve(t, []string{shop}, func(cfg *mcp.Config) { cfg.Recorder = g }).open("2025-11-25")
	got := make(chan *answer)
	go func() { got <- c.call("tools/call", map[string]any{"name": "whoami", "arguments": map[string]any{}}) }()
	<-g.entered
	c.send(http.MethodPost, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`)
	if err := <-g.ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	<-got
}

// broken panics or fails in a way that says more than it should.
type broken struct{}

func (b *broken) Begin(context.Context, access.Call) (context.Context, func(error)) {
	panic(errors.New("the secret of the house"))
}

func TestInternalTextsStayInside(t *testing.T) {
	c := serve(t, []string{shop}, func(cfg *mcp.Config) { cfg.Recorder = &broken{} }).open("2025-11-25")
	for _, a := range []*answer{
		c.call("tools/call", map[string]any{"name": "whoami", "arguments": map[string]any{}}),
		c.call("resources/read", map[string]any{"uri": "catalog://component/default/checkout"}),
		c.call("prompts/get", map[string]any{"name": "start_work", "arguments": map[string]any{"service": "checkout", "task": "x"}}),
		c.call("completion/complete", map[string]any{"ref": map[string]any{"type": "ref/prompt", "name": "start_work"}, "argument": map[string]any{"name": "service", "value": "c"}}),
	} {
		contains(t, a.raw, "something went wrong inside Fairlead", "internal")
		if strings.Contains(a.raw, "secret") || strings.Contains(a.raw, "panic") {
			t.Errorf("it says too much: %s", a.raw)
		}
	}
}

func TestProtocolErrorsAreReadable(t *testing.T) {
	c := serve(t, []string{shop}).open("2025-11-25")
	long := strings.Repeat("i", 5000)
	for body, want := range map[string]string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":5}}`:                                 "not of the types",
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"nope"}}`:                            `there is no tool`,
		`{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"nope"}}`:                           `there is no prompt`,
		`{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"start_work","arguments":{"a":1}}}`: "not of the types",
		`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":[]}`:                                         "not of the types",
		`{"jsonrpc":"1.0","id":1,"method":"tools/list"}`:                                                     "Invalid JSON-RPC version",
		fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,"method":"tools/call","params":{"name":5}}`, long):             "not of the types",
	} {
		a := c.send(http.MethodPost, body)
		if a.Error == nil {
			t.Errorf("%.100s: %s", body, a.raw)
			continue
		}
		contains(t, a.raw, want)
		if strings.Contains(a.raw, "unmarshal") || strings.Contains(a.raw, "struct") {
			t.Errorf("the text of a library shows: %s", a.raw)
		}
	}
	for _, method := range []string{"tools/list", "prompts/list", "resources/list", "resources/templates/list"} {
		a := c.call(method, map[string]any{"cursor": "not of this server"})
		contains(t, a.raw, "the cursor of", `"code":"invalid"`, "fix")
		if strings.Contains(a.raw, "base64") {
			t.Errorf("the text of a library shows: %s", a.raw)
		}
	}
	for _, kind := range []string{"", "text/plain", "application/jsonx", "\xff"} {
		a := c.send(http.MethodPost, listing, header("Content-Type", kind))
		if a.status != http.StatusUnsupportedMediaType {
			t.Errorf("%q: %d %s", kind, a.status, a.raw)
		}
		contains(t, a.raw, `"jsonrpc"`, "not application/json", `"code":"invalid"`)
	}
	a := c.modern("tools/list", "", map[string]any{})
	if a.Error != nil {
		t.Error(a.raw)
	}
	bad := c.send(http.MethodPost, `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2099-01-01"}}}`,
		header("Mcp-Protocol-Version", "2099-01-01"), header("Mcp-Method", "tools/list"))
	contains(t, bad.raw, "2026-07-28") // what clients negotiate with
}
