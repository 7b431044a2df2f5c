package graphql_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/access/accesstest"
	"github.com/fairlead-dev/fairlead/graphql"
	"github.com/fairlead-dev/fairlead/graphql/overhttp"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// client is a client of graphql-transport-ws.
type client struct {
	t    testing.TB
	conn *websocket.Conn
	ctx  context.Context
}

func (s *server) dial(header http.Header, protocols ...string) *client {
	s.t.Helper()
	if protocols == nil {
		protocols = []string{"graphql-transport-ws"}
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	s.t.Cleanup(cancel)
	conn, _, err := websocket.Dial(ctx, s.URL+"/graphql", &websocket.DialOptions{Subprotocols: protocols, HTTPHeader: header})
	if err != nil {
		s.t.Fatal(err)
	}
	conn.SetReadLimit(1 << 20)
	s.t.Cleanup(func() { _ = conn.CloseNow() })
	return &client{s.t, conn, ctx}
}

func (c *client) send(text string) {
	c.t.Helper()
	if err := c.conn.Write(c.ctx, websocket.MessageText, []byte(text)); err != nil {
		c.t.Fatal(err)
	}
}

type frame struct {
	ID, Type string
	Payload  json.RawMessage
}

func (c *client) read() frame {
	c.t.Helper()
	_, data, err := c.conn.Read(c.ctx)
	if err != nil {
		c.t.Fatal(err)
	}
	var f frame
	if err := json.Unmarshal(data, &f); err != nil {
		c.t.Fatal(err, string(data))
	}
	return f
}

// closed reads until the server ends the connection, and gives its code.
func (c *client) closed() websocket.StatusCode {
	c.t.Helper()
	return c.ended().Code
}

// ended reads until the server ends the connection, and gives how.
func (c *client) ended() websocket.CloseError {
	c.t.Helper()
	for {
		if _, _, err := c.conn.Read(c.ctx); err != nil {
			var ce websocket.CloseError
			if !errors.As(err, &ce) {
				c.t.Fatal(err)
			}
			return ce
		}
	}
}

// open is a client that has been let in.
func (s *server) open(token string) *client {
	s.t.Helper()
	c := s.dial(nil)
	c.send(`{"type":"connection_init","payload":{"Authorization":"Bearer ` + token + `"}}`)
	if f := c.read(); f.Type != "connection_ack" {
		s.t.Fatal(f)
	}
	return c
}

const (
	hello     = `{"type":"connection_init"}`
	subscribe = `{"id":"1","type":"subscribe","payload":{"query":"subscription { catalogChanged { changed removed many } }"}}`
)

func TestSocketProtocol(t *testing.T) {
	s := serveShop(t)
	known := http.Header{"Authorization": {"Bearer reader"}}
	for name, c := range map[string]struct {
		header http.Header
		send   []string
		code   websocket.StatusCode
	}{
		"subscribe before init": {known, []string{subscribe}, 4401},
		"no credential":         {nil, []string{hello}, 4403},
		"wrong credential":      {known, []string{`{"type":"connection_init","payload":{"authorization":"Bearer wrong"}}`}, 4403},
		"two inits":             {known, []string{hello, hello}, 4429},
		"one id twice":          {known, []string{hello, subscribe, subscribe}, 4409},
		"no JSON":               {known, []string{hello, "x"}, 4400},
		"unknown message":       {known, []string{hello, `{"type":"what"}`}, 4400},
		"no id":                 {known, []string{hello, `{"type":"subscribe","payload":{"query":"{__typename}"}}`}, 4400},
		"no payload":            {known, []string{hello, `{"id":"1","type":"subscribe"}`}, 4400},
		"too large":             {known, []string{hello, `{"type":"ping","payload":"` + strings.Repeat("x", 128<<10) + `"}`}, 1009},
	} {
		t.Run(name, func(t *testing.T) {
			cl := s.dial(c.header)
			for _, m := range c.send {
				cl.send(m)
			}
			if code := cl.closed(); code != c.code {
				t.Errorf("closed with %d, want %d", code, c.code)
			}
		})
	}
	hasty := serveShop(t, func(c *graphql.Config) { c.Socket = overhttp.SocketLimits{InitTimeout: time.Millisecond} })
	if code := hasty.dial(known).closed(); code != 4408 {
		t.Errorf("no init: closed with %d", code)
	}
	if code := s.dial(known, "graphql-ws").closed(); code != 4406 {
		t.Errorf("another subprotocol: closed with %d", code)
	}
}

func TestSocketOrigin(t *testing.T) {
	s := serveShop(t, func(c *graphql.Config) { c.Origins = []string{"https://portal.example.com/"} })
	for origin, want := range map[string]int{"https://evil.example.com": 403, "https://portal.example.com": 101, "http://portal.example.com": 403, s.URL: 101, "": 101} {
		header := http.Header{}
		if origin != "" {
			header.Set("Origin", origin)
		}
		conn, resp, err := websocket.Dial(t.Context(), s.URL, &websocket.DialOptions{Subprotocols: []string{"graphql-transport-ws"}, HTTPHeader: header})
		if resp == nil || resp.StatusCode != want {
			t.Errorf("%q: %v, want %d", origin, err, want)
		}
		if conn != nil {
			_ = conn.CloseNow()
		}
	}
}

// TestNobodyTakesAllConnections: one caller's flood leaves room for others,
// and what is closed is free again.
func TestNobodyTakesAllConnections(t *testing.T) {
	s := serveShop(t, func(c *graphql.Config) { c.Socket = overhttp.SocketLimits{PerCaller: 2} })
	first, _ := s.open("reader"), s.open("reader")
	third := s.dial(http.Header{"Authorization": {"Bearer reader"}})
	third.send(`{"type":"connection_init"}`)
	if _, _, err := third.conn.Read(third.ctx); websocket.CloseStatus(err) != 4429 {
		t.Errorf("got %v", err)
	}
	s.open("admin")
	_ = first.conn.Close(websocket.StatusNormalClosure, "")
	for {
		c := s.dial(http.Header{"Authorization": {"Bearer reader"}})
		c.send(`{"type":"connection_init"}`)
		if _, _, err := c.conn.Read(c.ctx); err == nil {
			return
		} else if websocket.CloseStatus(err) != 4429 {
			t.Fatal(err)
		}
	}
}

func TestSocketOperations(t *testing.T) {
	s := serveShop(t)
	c := s.open("reader")
	c.send(`{"type":"ping","payload":{"n":1}}`)
	if f := c.read(); f.Type != "pong" || string(f.Payload) != `{"n":1}` {
		t.Error(f)
	}
	c.send(`{"id":"q","type":"subscribe","payload":{"query":"query Q($r: String!) { entity(ref: $r) { ref } }","variables":{"r":"checkout"}}}`)
	if f := c.read(); f.Type != "next" || f.ID != "q" || string(f.Payload) != `{"data":{"entity":{"ref":"component:default/checkout"}}}` {
		t.Errorf("%s %s", f.Type, f.Payload)
	}
	if f := c.read(); f.Type != "complete" || f.ID != "q" {
		t.Error(f)
	}
	for _, payload := range []string{`{"query":"{ nonesuch }"}`, `{"query":"{"}`, `{"query":5}`, `{}`, `{"query":"subscription { catalogChanged { nonesuch } }"}`,
		`{"query":"subscription { catalogChanged { many } other: catalogChanged { many } }"}`, `{"query":"subscription { __typename }"}`} {
		c.send(`{"id":"bad","type":"subscribe","payload":` + payload + `}`)
		var errs []struct{ Extensions struct{ Code string } }
		if f := c.read(); f.Type != "error" || f.ID != "bad" || json.Unmarshal(f.Payload, &errs) != nil || len(errs) == 0 || errs[0].Extensions.Code != "invalid" {
			t.Errorf("%s: %s %s", payload, f.Type, f.Payload)
		}
	}
}

func TestSocketLimits(t *testing.T) {
	s := serveShop(t, func(c *graphql.Config) {
		c.Socket = overhttp.SocketLimits{Operations: 2, Connections: 1}
	})
	c := s.open("reader")
	for _, id := range []string{"a", "b", "c"} {
		c.send(strings.Replace(subscribe, `"1"`, `"`+id+`"`, 1))
	}
	if f := c.read(); f.Type != "error" || f.ID != "c" || !strings.Contains(string(f.Payload), "quota_exceeded") {
		t.Errorf("%s %s", f.Type, f.Payload)
	}
	other := s.dial(http.Header{"Authorization": {"Bearer admin"}})
	other.send(hello)
	if code := other.closed(); code != websocket.StatusTryAgainLater {
		t.Errorf("a connection too many is closed with %d", code)
	}
}

// TestStrangersTakeNoRoom: connections that name no caller are dropped before
// they are in anybody's way.
func TestStrangersTakeNoRoom(t *testing.T) {
	s := serveShop(t, func(c *graphql.Config) {
		c.Socket = overhttp.SocketLimits{Waiting: 3, Connections: 2, InitTimeout: time.Minute}
	})
	known := s.open("reader")
	dropped := make(chan error, 20)
	for range 20 {
		c := s.dial(nil)
		go func() {
			_, _, err := c.conn.Read(c.ctx)
			dropped <- err
		}()
	}
	for range 17 {
		if err := <-dropped; err == nil || errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a stranger: %v", err)
		}
	}
	s.open("admin")
	known.send(`{"type":"ping"}`)
	if f := known.read(); f.Type != "pong" {
		t.Error(f)
	}
}

// TestSocketLosesItsCredential: a token that ends, or that stands for a caller
// with other roles, ends its connections; one that cannot be checked for a
// while does not.
func TestSocketLosesItsCredential(t *testing.T) {
	for name, changed := range map[string]func() (access.Caller, error){
		"revoked": func() (access.Caller, error) { return access.Caller{}, fault.New(fault.Unauthenticated, "expired") },
		"other roles": func() (access.Caller, error) {
			return accesstest.As("user:default/rolf", accesstest.Roles("stranger")), nil
		},
		"other group": func() (access.Caller, error) {
			return accesstest.As("user:default/rolf", accesstest.Groups("group:default/x"), accesstest.Roles("reader")), nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			var now atomic.Pointer[func() (access.Caller, error)]
			asked := make(chan struct{}, 100)
			s := serveShop(t, func(c *graphql.Config) {
				c.Socket = overhttp.SocketLimits{Recheck: 5 * time.Millisecond}
				before := c.Authenticate
				c.Authenticate = func(r *http.Request) (access.Caller, error) {
					if f := now.Load(); f != nil {
						select {
						case asked <- struct{}{}:
						default:
						}
						return (*f)()
					}
					return before(r)
				}
			})
			c := s.open("reader")
			c.send(subscribe)
			down := func() (access.Caller, error) { return access.Caller{}, fault.New(fault.Unavailable, "down") }
			now.Store(&down)
			<-asked
			<-asked
			c.send(`{"type":"ping"}`)
			if f := c.read(); f.Type != "pong" {
				t.Error(f)
			}
			now.Store(&changed)
			if end := c.ended(); end.Code != 4403 || !strings.Contains(end.Reason, "connect with a new one") {
				t.Errorf("closed with %v", end)
			}
			now.Store(nil)
			s.open("reader").send(subscribe) // with a credential that holds
		})
	}
}

func TestSocketsEndWithTheServer(t *testing.T) {
	s := serveShop(t)
	c := s.open("reader")
	c.send(subscribe)
	s.stop()
	if code := c.closed(); code != websocket.StatusGoingAway {
		t.Errorf("closed with %d", code)
	}
}
