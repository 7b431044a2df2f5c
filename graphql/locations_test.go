package graphql_test

import (
	"context"
	"slices"
	"sync"
	"testing"

	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// registered keeps locations in memory and reads none of them.
type registered struct {
	mu  sync.Mutex
	all []catalog.Location
	try func() []*catalog.Entity
}

// registration lets locations be registered at a server.
func (s *server) registration() {
	r := &registered{try: func() []*catalog.Entity {
		e, err := s.catalog.GetEntity(context.Background(), callers()["admin"], catalog.GetEntityInput{Ref: "checkout"})
		if err != nil {
			panic(err)
		}
		return []*catalog.Entity{e}
	}}
	s.catalog.AttachRegistration(catalog.Registration{Store: r, Reader: r, Max: 10})
}

func (r *registered) Locations(context.Context) ([]catalog.Location, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.all), nil
}

func (r *registered) AddLocation(_ context.Context, l catalog.Location, _ int) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, other := range r.all {
		if other.Target == l.Target {
			return fault.New(fault.Conflict, "%s is registered already", l.Target)
		}
	}
	l.ID = "the-id"
	r.all = append(r.all, l)
	return nil
}

func (r *registered) MoveLocation(_ context.Context, id, target string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.all {
		if r.all[i].ID == id {
			r.all[i].Target = target
			return nil
		}
	}
	return fault.New(fault.NotFound, "there is no location %s", id)
}

func (r *registered) RemoveLocation(_ context.Context, id string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = slices.DeleteFunc(r.all, func(l catalog.Location) bool { return l.ID == id })
	return nil
}

func (*registered) MayRead(string) error { return nil }

func (r *registered) TryLocation(context.Context, catalog.Location) ([]*catalog.Entity, error) {
	return r.try(), nil
}

func (*registered) SettleLocation(context.Context, string) {}

func (*registered) GivenBy(string) []string { return nil }

func TestLocations(t *testing.T) {
	s := serveRules(t, ingestion{})
	const target = "https://git.example.com/shop/blob/main/catalog-info.yaml"
	register := `mutation {registerLocation(target: "` + target + `") {location {type target} entities {ref} exists}}`
	if a := s.post("admin", register, nil); len(a.Errors) != 1 || a.Errors[0].Extensions.Code != "forbidden" {
		t.Errorf("where nobody may register: %s", a.raw)
	}
	s.registration()
	if a := s.post("reader", register, nil); len(a.Errors) != 1 || a.Errors[0].Extensions.Code != "forbidden" {
		t.Errorf("a reader: %s", a.raw)
	}
	same(t, s.data("admin", `mutation {registerLocation(target: "`+target+`", dryRun: true, type: "url") {exists entities {ref owner {ref}}}}`, nil),
		`{"registerLocation": {"exists": false, "entities": [{"ref": "component:default/checkout", "owner": {"ref": "group:default/payments"}}]}}`)
	same(t, s.data("admin", register, nil), `{"registerLocation": {"location": {"type": "url", "target": "`+target+`"}, "entities": [], "exists": null}}`)
	if a := s.post("admin", register, nil); len(a.Errors) != 1 || a.Errors[0].Extensions.Code != "conflict" {
		t.Errorf("twice: %s", a.raw)
	}
	s.data("admin", `mutation {registerLocation(target: "`+target+`", onConflict: refresh) {location {id}}}`, nil)
	same(t, s.data("admin", `mutation {moveLocation(id: "the-id", target: "https://git.example.com/other.yaml") {id target}}`, nil),
		`{"moveLocation": {"id": "the-id", "target": "https://git.example.com/other.yaml"}}`)
	same(t, s.data("admin", `mutation {unregisterLocation(id: "the-id") {location {target} removed}}`, nil),
		`{"unregisterLocation": {"location": {"target": "https://git.example.com/other.yaml"}, "removed": []}}`)
	if a := s.post("admin", `mutation {unregisterLocation(id: "the-id") {removed}}`, nil); len(a.Errors) != 1 || a.Errors[0].Extensions.Code != "not_found" {
		t.Errorf("twice: %s", a.raw)
	}
}
