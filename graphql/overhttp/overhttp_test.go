package overhttp_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"go.uber.org/goleak"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/access/accesstest"
	"github.com/fairlead-dev/fairlead/graphql/overhttp"
)

// echo is an engine whose documents are their own answers; a document that
// names a kind is of that kind.
type echo struct{}

type echoed struct{ overhttp.Params }

func (echo) Prepare(_ context.Context, _ access.Caller, p overhttp.Params) (overhttp.Operation, *overhttp.Response) {
	return echoed{p}, nil
}

func (e echoed) Kind() overhttp.Kind {
	for _, k := range []overhttp.Kind{overhttp.Mutation, overhttp.Subscription} {
		if strings.HasPrefix(e.Query, string(k)) {
			return k
		}
	}
	return overhttp.Query
}

func (e echoed) Run(context.Context) *overhttp.Response {
	data, err := json.Marshal(e.Params)
	if err != nil {
		panic(err)
	}
	return &overhttp.Response{Data: data}
}

// Subscribe tells as long as it is listened to.
func (e echoed) Subscribe(ctx context.Context) <-chan *overhttp.Response {
	out := make(chan *overhttp.Response)
	go func() {
		defer close(out)
		for {
			select {
			case out <- e.Run(ctx):
			case <-ctx.Done():
				return
			}
		}
	}()
	return out
}

func handler() *overhttp.Handler {
	who := accesstest.As("user:default/rolf")
	return &overhttp.Handler{Engine: echo{}, Authenticate: func(*http.Request) (access.Caller, error) { return who, nil }}
}

// FuzzRequest: whatever is sent, the answer is a GraphQL response with a
// status that HTTP has for it.
func FuzzRequest(f *testing.F) {
	f.Add("POST", "", "application/json", "*/*", `{"query":"{a}","variables":{"b":1},"operationName":null}`)
	f.Add("GET", "query={a}&variables={}&extensions={}", "", "application/graphql-response+json;q=0.5, application/json", "")
	f.Add("POST", "", "application/json; charset=utf-8", "text/html;q=x,,;", `{"extensions":{"persistedQuery":{"version":1,"sha256Hash":"ff"}}}`)
	f.Add("GET", "query=mutation", "", "application/*", "")
	f.Add("POST", "", "application/json", "", `{"query":"subscription"}`)
	h := handler()
	f.Fuzz(func(t *testing.T, method, query, contentType, accept, body string) {
		if method != http.MethodGet {
			method = http.MethodPost
		}
		r := httptest.NewRequest(method, "/graphql", strings.NewReader(body))
		r.URL.RawQuery = query
		r.Header.Set("Content-Type", contentType)
		r.Header.Set("Accept", accept)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		var resp overhttp.Response
		if err := json.Unmarshal(w.Body.Bytes(), &resp); err != nil {
			t.Fatalf("%v: %s", err, w.Body)
		}
		switch w.Code {
		case 200:
			if resp.Data == nil && len(resp.Errors) == 0 {
				t.Error("neither data nor errors")
			}
		case 400, 404, 405, 406, 415:
			if resp.Data != nil || len(resp.Errors) == 0 {
				t.Errorf("%d with %s", w.Code, w.Body)
			}
		default:
			t.Errorf("status %d", w.Code)
		}
	})
}

// TestNothingIsLeftBehind ends connections in every way and looks for
// goroutines that stayed.
func TestNothingIsLeftBehind(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	s := httptest.NewServer(handler())
	defer s.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for _, end := range []func(*websocket.Conn){
		func(c *websocket.Conn) { _ = c.CloseNow() },
		func(c *websocket.Conn) { _ = c.Close(websocket.StatusNormalClosure, "") },
		func(c *websocket.Conn) { _ = c.Write(ctx, websocket.MessageText, []byte("x")) },
		func(c *websocket.Conn) {
			_ = c.Write(ctx, websocket.MessageText, []byte(`{"id":"1","type":"complete"}`))
		},
	} {
		c, _, err := websocket.Dial(ctx, s.URL, &websocket.DialOptions{Subprotocols: []string{"graphql-transport-ws"}})
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range []string{`{"type":"connection_init"}`, `{"id":"1","type":"subscribe","payload":{"query":"subscription"}}`} {
			if err := c.Write(ctx, websocket.MessageText, []byte(m)); err != nil {
				t.Fatal(err)
			}
		}
		for range 5 {
			if _, _, err := c.Read(ctx); err != nil {
				t.Fatal(err)
			}
		}
		end(c)
		_ = c.CloseNow()
	}
}

// TestCompletedIDsAreFree uses one id again and again, as fast as it can.
func TestCompletedIDsAreFree(t *testing.T) {
	s := httptest.NewServer(handler())
	defer s.Close()
	c, _, err := websocket.Dial(t.Context(), s.URL, &websocket.DialOptions{Subprotocols: []string{"graphql-transport-ws"}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.CloseNow()
	if err := c.Write(t.Context(), websocket.MessageText, []byte(`{"type":"connection_init"}`)); err != nil {
		t.Fatal(err)
	}
	completed := 0
	for completed < 50 {
		_, data, err := c.Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var m struct{ Type string }
		if err := json.Unmarshal(data, &m); err != nil {
			t.Fatal(err)
		}
		switch m.Type {
		case "complete":
			completed++
		case "next":
			continue
		}
		if err := c.Write(t.Context(), websocket.MessageText, []byte(`{"id":"1","type":"subscribe","payload":{"query":"{a}"}}`)); err != nil {
			t.Fatal(err)
		}
	}
	// A subscription that the client completes frees its id at once, and what
	// is still under way for it ends nothing of its successor.
	for range 20 {
		for _, m := range []string{`{"id":"s","type":"subscribe","payload":{"query":"subscription"}}`, `{"id":"s","type":"complete"}`} {
			if err := c.Write(t.Context(), websocket.MessageText, []byte(m)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := c.Write(t.Context(), websocket.MessageText, []byte(`{"type":"ping"}`)); err != nil {
		t.Fatal(err)
	}
	for {
		_, data, err := c.Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if string(data) == `{"type":"pong"}` {
			return
		}
	}
}
