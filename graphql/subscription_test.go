package graphql_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/catalog/catalogtest"
	"github.com/fairlead-dev/fairlead/graphql"
)

func TestSubscription(t *testing.T) {
	s := serveRules(t, ingestion{})
	reader, admin := s.open("reader"), s.open("admin")
	for _, c := range []*client{reader, admin} {
		c.send(`{"id":"1","type":"subscribe","payload":{"query":"subscription S($k: [String!] = [\"component\"]) { catalogChanged(kinds: $k) { changed added removed many entities { ref title owner { ref } } } }"}}`)
		// A query answered tells that the subscription before it has begun.
		c.send(`{"id":"2","type":"subscribe","payload":{"query":"{ __typename }"}}`)
		c.read()
		c.read()
	}
	s.awaitWatchers(2)
	s.catalog.Publish(catalogtest.Changes(t, docs(`
kind: Component
metadata: {name: checkout, title: New}
spec: {type: service, lifecycle: x, owner: payments}
---
kind: Component
metadata: {name: hidden}
spec: {type: service, lifecycle: x, owner: board}
---
kind: System
metadata: {name: shop}
spec: {owner: payments}
`)))
	// The ledger changes too: checkout depends on it no more.
	const (
		checkout = `{"ref":"component:default/checkout","title":"New","owner":{"ref":"group:default/payments"}}`
		ledger   = `{"ref":"component:default/ledger","title":null,"owner":{"ref":"group:default/payments"}}`
	)
	for c, want := range map[*client]string{
		reader: `{"data":{"catalogChanged":{"changed":["component:default/checkout","component:default/ledger"],"added":[],"removed":[],"many":false,"entities":[` + checkout + `,` + ledger + `]}}}`,
		admin:  `{"data":{"catalogChanged":{"changed":["component:default/checkout","component:default/hidden","component:default/ledger"],"added":["component:default/hidden"],"removed":[],"many":false,"entities":[` + checkout + `,{"ref":"component:default/hidden","title":null,"owner":null},` + ledger + `]}}}`,
	} {
		if f := c.read(); f.Type != "next" || f.ID != "1" || string(f.Payload) != want {
			t.Errorf("%s %s", f.Type, f.Payload)
		}
	}
	reader.send(`{"id":"1","type":"complete"}`)
	reader.send(subscribe) // the id is free again
	reader.send(`{"type":"ping"}`)
	if f := reader.read(); f.Type != "pong" {
		t.Error(f)
	}
}

// TestSubscriptionBeginsWithWhatCameBefore: who knows the catalog as it was some
// seconds ago is told at once what has changed since, or that this is not known.
func TestSubscriptionBeginsWithWhatCameBefore(t *testing.T) {
	s := serveShop(t)
	c := s.open("reader")
	ask := func(id string, recent int) {
		c.send(fmt.Sprintf(`{"id":%q,"type":"subscribe","payload":{"query":"subscription S($recent: Int) { catalogChanged(recent: $recent) { changed many } }","variables":{"recent":%d}}}`, id, recent))
	}
	ask("hour", 3600) // when there was no server
	if f := c.read(); f.ID != "hour" || string(f.Payload) != `{"data":{"catalogChanged":{"changed":[],"many":true}}}` {
		t.Errorf("%s is told %s", f.ID, f.Payload)
	}
	ask("wrong", -1)
	if f := c.read(); f.Type != "error" || !strings.Contains(string(f.Payload), "no number of seconds") {
		t.Errorf("%s is told %s", f.ID, f.Payload)
	}
	c.send(`{"id":"hour","type":"complete"}`)
	ask("now", 0)
	c.send(`{"type":"ping"}`)
	if f := c.read(); f.Type != "pong" {
		t.Errorf("%s is told %s", f.ID, f.Payload)
	}
	s.awaitWatchers(2)
	s.catalog.Publish(catalogtest.Changes(t, docs("kind: Group\nmetadata: {name: fresh}\nspec: {type: team, children: []}\n")))
	if f := c.read(); f.ID != "now" || string(f.Payload) != `{"data":{"catalogChanged":{"changed":["group:default/fresh"],"many":false}}}` {
		t.Errorf("%s is told %s", f.ID, f.Payload)
	}
}

// TestEventsCountForThemselves: what a subscription may touch is not used up
// by the events that it has told already.
func TestEventsCountForThemselves(t *testing.T) {
	s := serveShop(t, func(c *graphql.Config) { c.Entities = 3 })
	c := s.open("reader")
	c.send(`{"id":"1","type":"subscribe","payload":{"query":"subscription { catalogChanged { entities { title } } }"}}`)
	c.send(`{"type":"ping"}`)
	c.read()
	for i := range 10 {
		title := strings.Repeat("x", i+1)
		s.catalog.Publish(catalogtest.Changes(t, docs("kind: Group\nmetadata: {name: fresh, title: "+title+"}\nspec: {type: team, children: []}\n")))
		if f := c.read(); string(f.Payload) != `{"data":{"catalogChanged":{"entities":[{"title":"`+title+`"}]}}}` {
			t.Fatalf("%s %s", f.Type, f.Payload)
		}
	}
}

// awaitWatchers waits until so many subscriptions watch the catalog.
func (s *server) awaitWatchers(n int) {
	s.t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		s.recorder.mu.Lock()
		watching := 0
		for _, c := range s.recorder.calls {
			if c.Operation == "watch_catalog" {
				watching++
			}
		}
		s.recorder.mu.Unlock()
		if watching >= n {
			return
		}
	}
	s.t.Fatal("the subscriptions did not begin")
}
