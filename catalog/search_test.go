package catalog_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/access/accesstest"
	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/catalog/catalogtest"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

func market() []string {
	return []string{
		component("{name: checkout, title: Checkout, description: Turns carts into orders.}", "owner: shop-team, system: shop"),
		component("{name: checkout-worker, description: Does the slow part.}", "owner: shop-team"),
		component("{name: old-checkout}", "owner: shop-team"),
		component("{name: payments, title: Payment hub, tags: [go, checkout-path]}", "owner: checkout-crew"),
		component("{name: reports, description: Reports on checkout and Überweisungen.}", "owner: data"),
		component("{name: unrelated}", "owner: data"),
		"kind: API\nmetadata: {name: checkout, description: The checkout interface}\nspec: {type: openapi, lifecycle: production, owner: shop-team, definition: x}\n",
		"kind: System\nmetadata: {name: shop}\nspec: {owner: shop-team}\n",
	}
}

func search(t *testing.T, s *catalog.Service, in catalog.SearchCatalogInput) *catalog.SearchResults {
	t.Helper()
	out, err := s.SearchCatalog(t.Context(), alice, in)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func found(r *catalog.SearchResults) []string {
	out := []string{}
	for _, h := range r.Hits {
		out = append(out, strings.Replace(h.Ref, ":default/", ":", 1))
	}
	return out
}

func TestSearchRanks(t *testing.T) {
	s := catalogtest.New(t, market()...)
	for query, want := range map[string][]string{
		"checkout":                   {"api:checkout", "component:checkout", "component:checkout-worker", "component:old-checkout", "component:payments", "component:reports"},
		"CHECK":                      {"api:checkout", "component:checkout", "component:checkout-worker", "component:old-checkout", "component:payments", "component:reports"},
		"checkout-w":                 {"component:checkout-worker"},
		"component:default/checkout": {"component:checkout", "component:checkout-worker", "component:old-checkout", "component:payments", "component:reports"},
		"component:checkout-worker":  {"component:checkout-worker"},
		"checkout api":               {"api:checkout"},
		"shop service":               {"component:checkout", "component:checkout-worker", "component:old-checkout"},
		"payment hub":                {"component:payments"},
		"über":                       {"component:reports"},
		"carts orders":               {"component:checkout"},
		"orders reports":             {},
		"xyz":                        {},
	} {
		r := search(t, s, catalog.SearchCatalogInput{Query: query})
		if got := found(r); !slices.Equal(got, want) || r.Total != len(want) {
			t.Errorf("%q finds %d: %v, want %v", query, r.Total, got, want)
		}
	}
}

func TestSearchWithoutWordsListsEverything(t *testing.T) {
	s := catalogtest.New(t, market()...)
	r := search(t, s, catalog.SearchCatalogInput{Filter: []string{"kind=component,spec.owner=data", "kind=api"}})
	if want := []string{"api:checkout", "component:reports", "component:unrelated"}; !slices.Equal(found(r), want) {
		t.Errorf("%v, want %v", found(r), want)
	}
	want := catalog.SearchHit{Ref: "component:default/checkout", Title: "Checkout", Description: "Turns carts into orders.", Type: "service", Lifecycle: "production", Owner: "group:default/shop-team", System: "system:default/shop"}
	if got := search(t, s, catalog.SearchCatalogInput{Query: "carts"}).Hits[0]; got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestSearchPages(t *testing.T) {
	s := catalogtest.New(t, append(market(), fleet()...)...)
	for _, query := range []string{"", "checkout", "s", "service production"} {
		whole := found(search(t, s, catalog.SearchCatalogInput{Query: query, Limit: 100}))
		for n := 1; n <= len(whole); n++ {
			var got []string
			in := catalog.SearchCatalogInput{Query: query, Limit: n}
			for {
				r := search(t, s, in)
				got = append(got, found(r)...)
				if r.Total != len(whole) {
					t.Errorf("total is %d, not %d", r.Total, len(whole))
				}
				if in.Cursor = r.NextCursor; in.Cursor == "" {
					break
				}
			}
			if !slices.Equal(got, whole) {
				t.Fatalf("%q by %d: %v, want %v", query, n, got, whole)
			}
		}
	}
}

func TestSearchRefusesBadInput(t *testing.T) {
	s := catalogtest.New(t, market()...)
	cursor := search(t, s, catalog.SearchCatalogInput{Query: "checkout", Limit: 1}).NextCursor
	for want, in := range map[string]catalog.SearchCatalogInput{
		"limit is 101":          {Limit: 101},
		"limit is -1":           {Limit: -1},
		"no word":               {Query: "---"},
		"16 different":          {Query: strings.Join(strings.Split("abcdefghijklmnopq", ""), " ")},
		"not a valid statement": {Filter: []string{"=x"}},
		"malformed cursor":      {Cursor: "!"},
		"another search":        {Query: "payments", Cursor: cursor},
		"belongs to anothe":     {Query: "checkout", Filter: []string{"kind=api"}, Cursor: cursor},
	} {
		_, err := s.SearchCatalog(t.Context(), alice, in)
		if fault.CodeOf(err) != fault.Invalid || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: error is %v, want it to say %s", in, err, want)
		}
	}
}

func TestSearchKeepsToScope(t *testing.T) {
	p := accesstest.Policy(t, `rules: [{name: data, effect: allow, who: {subjects: ["*"]}, actions: [catalog.read], on: {owners: ["group:default/data"]}}]`)
	s := catalogtest.NewWith(t, market(), catalogtest.WithPolicy(p))
	r := search(t, s, catalog.SearchCatalogInput{Query: "checkout"})
	if got := found(r); !slices.Equal(got, []string{"component:reports"}) || r.Total != 1 {
		t.Errorf("%v of %d", got, r.Total)
	}
}
