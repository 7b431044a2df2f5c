package app

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/fairlead-dev/fairlead/previews/previewstest"
)

// subscribe opens a socket with a subscription and gives what arrives.
func (s *server) subscribe(role, query string) <-chan json.RawMessage {
	s.t.Helper()
	ctx := s.t.Context()
	conn, _, err := websocket.Dial(ctx, "ws"+strings.TrimPrefix(s.url, "http")+"/graphql", &websocket.DialOptions{Subprotocols: []string{"graphql-transport-ws"},
		HTTPHeader: http.Header{"Authorization": {"Bearer " + s.tokens[role]}}})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = conn.CloseNow() })
	out, ready := make(chan json.RawMessage, 100), make(chan struct{})
	quoted, err := json.Marshal(query)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, m := range []string{`{"type":"connection_init"}`, `{"id":"1","type":"subscribe","payload":{"query":` + string(quoted) + `}}`, `{"id":"2","type":"subscribe","payload":{"query":"{ __typename }"}}`} {
		if err := conn.Write(ctx, websocket.MessageText, []byte(m)); err != nil {
			s.t.Fatal(err)
		}
	}
	go func() {
		defer close(out)
		for {
			_, data, err := conn.Read(ctx)
			var m struct {
				ID, Type string
				Payload  json.RawMessage
			}
			if err != nil || json.Unmarshal(data, &m) != nil {
				return
			}
			switch {
			case m.ID == "2" && m.Type == "complete":
				close(ready)
			case m.ID == "1" && m.Type == "next":
				out <- m.Payload
			case m.ID == "1":
				out <- data
			}
		}
	}()
	<-ready
	return out
}

func TestPreviewChangesOverGraphQL(t *testing.T) {
	f := &previewstest.Fake{Looks: 1}
	s := startPreviews(t, f, "previews: {}\n")
	before := s.create("agent", `{"service":"checkout","ttl":"30s","wait":"20s"}`)
	one := s.subscribe("developer", fmt.Sprintf(`subscription { previewChanged(id: %q, service: "checkout") { id phase endsSoon } }`, before.ID)) // first, as that ends soon
	all := s.subscribe("sre", `subscription { previewChanged { id service phase url endsSoon person agent } }`)
	p := s.create("agent", `{"service":"checkout","ttl":"10m"}`)
	type change struct {
		ID, Service, Phase, URL, Person, Agent string
		EndsSoon                               bool
	}
	read := func(from <-chan json.RawMessage) (c change) {
		t.Helper()
		var m struct {
			Data struct{ PreviewChanged change }
		}
		select {
		case told := <-from:
			if err := json.Unmarshal(told, &m); err != nil {
				t.Fatal(err)
			}
		case <-time.After(2 * time.Minute):
			t.Fatal("nothing more is told")
		}
		return m.Data.PreviewChanged
	}
	for {
		c := read(all)
		if c.ID == before.ID {
			continue
		}
		if c.ID != p.ID || c.Service != "component:default/checkout" || c.Person != p.Person || c.Agent != p.Agent {
			t.Fatalf("told of %+v", c)
		}
		if c.Phase == "ready" && c.URL != "" {
			break
		}
	}
	warned := false
	for phase := ""; phase != "gone"; {
		c := read(one)
		if c.ID != before.ID {
			t.Fatalf("told of %+v", c)
		}
		warned = warned || c.EndsSoon
		phase = c.Phase
	}
	if !warned {
		t.Error("its end was not warned of")
	}
}
