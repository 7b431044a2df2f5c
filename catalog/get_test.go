package catalog_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fairlead-dev/fairlead/access/accesstest"
	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/catalog/catalogtest"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// town holds names that several entities share.
func town() []string {
	return []string{
		component("{name: Pay}", "owner: red"),
		"kind: API\nmetadata: {name: pay}\nspec: {type: openapi, lifecycle: production, owner: red, definition: x}\n",
		"kind: API\nmetadata: {name: ledger, namespace: other}\nspec: {type: openapi, lifecycle: production, owner: blue, definition: x}\n",
		"kind: Resource\nmetadata: {name: db}\nspec: {type: database, owner: red}\n",
		"kind: Resource\nmetadata: {name: db, namespace: other}\nspec: {type: database, owner: blue}\n",
	}
}

func TestGetEntityByLooseNames(t *testing.T) {
	s := catalogtest.New(t, town()...)
	for ref, want := range map[string]string{
		"pay": "component:default/pay", "PAY": "component:default/pay", " api:pay ": "api:default/pay", "API:Default/Pay": "api:default/pay",
		"ledger": "api:other/ledger", "resource:other/db": "resource:other/db", "resource:db": "resource:default/db",
	} {
		e, err := s.GetEntity(t.Context(), alice, catalog.GetEntityInput{Ref: ref})
		if err != nil || e.Ref.String() != want {
			t.Errorf("%s: %v %v, want %s", ref, e, err, want)
		}
	}
	for ref, want := range map[string]struct {
		code fault.Code
		text string
	}{
		"db":              {fault.Conflict, "resource:default/db, resource:other/db"},
		"default/ledger":  {fault.NotFound, "component:default/ledger"},
		"component:db":    {fault.NotFound, "component:default/db"},
		"no-such":         {fault.NotFound, "component:default/no-such"},
		"component:":      {fault.Invalid, "empty name"},
		"":                {fault.Invalid, "empty name"},
		":a":              {fault.Invalid, "empty kind"},
		"component:/name": {fault.Invalid, "empty namespace"},
	} {
		_, err := s.GetEntity(t.Context(), alice, catalog.GetEntityInput{Ref: ref})
		if fault.CodeOf(err) != want.code || !strings.Contains(err.Error(), want.text) {
			t.Errorf("%q: error is %v, want %s that says %s", ref, err, want.code, want.text)
		}
	}
	_, err := s.GetEntity(t.Context(), alice, catalog.GetEntityInput{Ref: "component:db"})
	if fix := fault.From(err).Fix; !strings.Contains(fix, "resource:default/db") {
		t.Errorf("fix is %q", fix)
	}
}

func TestGetEntityByUID(t *testing.T) {
	s := catalogtest.New(t, town()...)
	e, _ := s.GetEntity(t.Context(), alice, catalog.GetEntityInput{Ref: "pay"})
	same, err := s.GetEntity(t.Context(), alice, catalog.GetEntityInput{UID: strings.ToUpper(e.UID())})
	if err != nil || same != e {
		t.Errorf("%v %v", same, err)
	}
	for _, uid := range []string{"x", e.UID()[:30], "zzz"} {
		if _, err := s.GetEntity(t.Context(), alice, catalog.GetEntityInput{UID: uid}); fault.CodeOf(err) != fault.NotFound {
			t.Errorf("%s: %v", uid, err)
		}
	}
}

// TestEntityIsServedAsBackstageServes is a golden of an entity's JSON.
func TestEntityIsServedAsBackstageServes(t *testing.T) {
	s := catalogtest.New(t, component("{name: Pay, uid: mine, annotations: {backstage.io/view-url: ' JavaScript:alert(1)'}}", "owner: red, dependsOn: ['resource:db'], consumesApis: [a]"))
	e, err := s.GetEntity(t.Context(), alice, catalog.GetEntityInput{Ref: "pay"})
	if err != nil {
		t.Fatal(err)
	}
	got, _ := json.Marshal(e)
	want := `{"apiVersion":"backstage.io/v1alpha1","kind":"Component","metadata":{"name":"Pay","uid":"c8b9a6a3","annotations":{"backstage.io/view-url":"https://backstage.io/annotation-rejected-for-security-reasons",` +
		`"backstage.io/managed-by-location":"url:https://git.example.com/acme/catalog/catalog-info.yaml","backstage.io/managed-by-origin-location":"url:https://git.example.com/acme/catalog/catalog-info.yaml"},` +
		`"namespace":"default","etag":"` + e.Metadata().String("etag") + `"},"spec":{"type":"service","lifecycle":"production","owner":"red","dependsOn":["resource:db"],"consumesApis":["a"]},` +
		`"relations":[{"type":"consumesApi","targetRef":"api:default/a"},{"type":"dependsOn","targetRef":"resource:default/db"},{"type":"ownedBy","targetRef":"group:default/red"}]}`
	if d := cmp.Diff(strings.Replace(want, "c8b9a6a3", e.UID(), 1), string(got)); d != "" {
		t.Errorf("%s", d)
	}
	if tag := e.Metadata().String("etag"); len(tag) != 40 || strings.Trim(tag, "0123456789abcdef") != "" {
		t.Errorf("etag is %q", tag)
	}
	other := catalogtest.New(t, component("{name: Pay, uid: mine, annotations: {backstage.io/view-url: ' JavaScript:alert(1)'}}", "owner: red, dependsOn: ['resource:db'], consumesApis: [a]"))
	again, _ := other.GetEntity(t.Context(), alice, catalog.GetEntityInput{Ref: "pay"})
	if again.UID() != e.UID() || again.Metadata().String("etag") != e.Metadata().String("etag") {
		t.Error("uid or etag differ from one catalog to the next")
	}
}

func TestGetEntities(t *testing.T) {
	s := catalogtest.New(t, town()...)
	refs := []string{"Component:default/PAY", "no:such/thing", "api:default/pay", "api:default/pay", "pay"}
	for name, c := range map[string]struct {
		in   catalog.GetEntitiesInput
		want string
	}{
		"all":    {catalog.GetEntitiesInput{}, `[{"kind":"Component"},null,{"kind":"API"},{"kind":"API"},null]`},
		"filter": {catalog.GetEntitiesInput{Filter: []string{"kind=api"}}, `[null,null,{"kind":"API"},{"kind":"API"},null]`},
		"query":  {catalog.GetEntitiesInput{Query: json.RawMessage(`{"kind":"component"}`)}, `[{"kind":"Component"},null,null,null,null]`},
	} {
		c.in.EntityRefs, c.in.Fields = refs, []string{"kind"}
		out, err := s.GetEntities(t.Context(), alice, c.in)
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := json.Marshal(out.Items); string(got) != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
	_, err := s.GetEntities(t.Context(), alice, catalog.GetEntitiesInput{EntityRefs: make([]string, 10_001)})
	if fault.CodeOf(err) != fault.Invalid {
		t.Errorf("error is %v", err)
	}
}

func TestListFacets(t *testing.T) {
	s := catalogtest.New(t, component("{name: a, tags: [x, y]}", "owner: Red"), component("{name: b, tags: [x]}", "owner: red"), component("{name: c}", "owner: blue"), town()[1])
	for name, c := range map[string]struct {
		in   catalog.ListFacetsInput
		want string
	}{
		"cases":  {catalog.ListFacetsInput{Facets: []string{"Kind", "spec.owner"}}, `{"facets":{"Kind":[{"value":"API","count":1},{"value":"Component","count":3}],"spec.owner":[{"value":"Red","count":1},{"value":"blue","count":1},{"value":"red","count":2}]}}`},
		"filter": {catalog.ListFacetsInput{Facets: []string{"metadata.tags"}, Filter: []string{"metadata.tags=Y", "metadata.name=b"}}, `{"facets":{"metadata.tags":[{"value":"x","count":2},{"value":"y","count":1}]}}`},
		"query":  {catalog.ListFacetsInput{Facets: []string{"kind", "", "no.such"}, Query: json.RawMessage(`{"$any":[]}`)}, `{"facets":{"kind":[],"no.such":[]}}`},
	} {
		out, err := s.ListFacets(t.Context(), alice, c.in)
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := json.Marshal(out); string(got) != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
	for _, in := range []catalog.ListFacetsInput{{}, {Facets: []string{""}}, {Facets: make([]string, 0)}} {
		if _, err := s.ListFacets(t.Context(), alice, in); fault.CodeOf(err) != fault.Invalid {
			t.Errorf("%v: error is %v", in, err)
		}
	}
}

// TestScopes reads as callers who may see little or nothing.
func TestScopes(t *testing.T) {
	p := accesstest.Policy(t, `rules:
- {name: reds, effect: allow, who: {subjects: ["user:default/rita"]}, actions: [catalog.read], on: {owners: ["group:default/red"]}}
- {name: less, effect: deny, who: {subjects: ["user:default/rita"]}, actions: [catalog.read], on: {kinds: [resource]}}`)
	s := catalogtest.NewWith(t, town(), catalogtest.WithPolicy(p))
	rita, nobody := accesstest.As("user:default/rita"), accesstest.As("user:default/nobody")
	page, err := s.ListEntities(t.Context(), rita, catalog.ListEntitiesInput{OrderBy: []catalog.OrderField{{Field: "kind"}}})
	if err != nil || page.TotalItems != 2 || len(page.Items) != 2 {
		t.Errorf("rita lists %v %v", page, err)
	}
	for _, ref := range []string{"db", "ledger", "resource:default/db", "api:other/ledger"} {
		if _, err := s.GetEntity(t.Context(), rita, catalog.GetEntityInput{Ref: ref}); fault.CodeOf(err) != fault.NotFound || strings.Contains(fault.From(err).Fix, ":other/") {
			t.Errorf("rita gets %s: %v", ref, err)
		}
	}
	f, _ := s.ListFacets(t.Context(), rita, catalog.ListFacetsInput{Facets: []string{"spec.owner"}})
	if got, _ := json.Marshal(f.Facets["spec.owner"]); string(got) != `[{"value":"red","count":2}]` {
		t.Errorf("rita counts %s", got)
	}
	b, _ := s.GetEntities(t.Context(), rita, catalog.GetEntitiesInput{EntityRefs: []string{"resource:default/db", "component:default/pay"}})
	if b.Items[0] != nil || b.Items[1] == nil {
		t.Errorf("rita gets %v", b.Items)
	}
	page, err = s.ListEntities(t.Context(), nobody, catalog.ListEntitiesInput{})
	if err != nil || page.TotalItems != 0 || len(page.Items) != 0 {
		t.Errorf("nobody lists %v %v", page, err)
	}
	s.Publish(catalogtest.Changes(t, component("{name: Pay}", "owner: blue"), component("{name: new}", "owner: red")))
	page, _ = s.ListEntities(t.Context(), rita, catalog.ListEntitiesInput{OrderBy: []catalog.OrderField{{Field: "metadata.name"}}})
	if got := names(page); len(got) != 2 || got[0] != "new" || got[1] != "pay" {
		t.Errorf("after the change rita lists %v", got)
	}
}
