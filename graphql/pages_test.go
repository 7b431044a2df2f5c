package graphql_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/fairlead-dev/fairlead/catalog/catalogtest"
)

type page struct {
	Entities struct {
		TotalCount int
		Edges      []struct {
			Cursor string
			Node   struct{ Ref string }
		}
		PageInfo struct {
			HasNextPage, HasPreviousPage bool
			StartCursor, EndCursor       *string
		}
	}
}

func (p *page) refs() []string {
	out := []string{}
	for _, e := range p.Entities.Edges {
		out = append(out, e.Node.Ref)
	}
	return out
}

func (s *server) page(vars map[string]any) *page {
	s.t.Helper()
	const query = `query P($first: Int, $last: Int, $after: String, $before: String, $order: [EntityOrder!]) {
		entities(first: $first, last: $last, after: $after, before: $before, filter: "kind=component", orderBy: $order) {
			totalCount edges {cursor node {ref}} pageInfo {hasNextPage hasPreviousPage startCursor endCursor}}}`
	var p page
	if err := json.Unmarshal([]byte(s.data("reader", query, vars)), &p); err != nil {
		s.t.Fatal(err)
	}
	return &p
}

// TestPages walks forwards and backwards, by every size and in several
// orders, and meets every entity once.
func TestPages(t *testing.T) {
	s := serve(t, catalogtest.New(t, docs(many(17))))
	for name, order := range map[string]any{
		"by uid":     nil,
		"by name":    map[string]any{"field": "metadata.name"},
		"descending": map[string]any{"field": "metadata.name", "order": "desc"},
		"one value":  map[string]any{"field": "spec.owner"},
	} {
		all := s.page(map[string]any{"first": 500, "order": order}).refs()
		if len(all) != 17 {
			t.Fatalf("%s: %v", name, all)
		}
		for _, size := range []int{1, 5, 16, 17, 18} {
			var forwards []string
			vars := map[string]any{"first": size, "order": order}
			for {
				p := s.page(vars)
				forwards = append(forwards, p.refs()...)
				if p.Entities.TotalCount != 17 {
					t.Errorf("%s by %d: total %d", name, size, p.Entities.TotalCount)
				}
				if !p.Entities.PageInfo.HasNextPage {
					break
				}
				vars["after"] = *p.Entities.PageInfo.EndCursor
			}
			if !slices.Equal(forwards, all) {
				t.Errorf("%s forwards by %d: %v", name, size, forwards)
			}
			var backwards []string
			vars = map[string]any{"last": size, "order": order}
			for {
				p := s.page(vars)
				backwards = append(p.refs(), backwards...)
				if !p.Entities.PageInfo.HasPreviousPage {
					break
				}
				vars["before"] = *p.Entities.PageInfo.StartCursor
			}
			if !slices.Equal(backwards, all) {
				t.Errorf("%s backwards by %d: %v", name, size, backwards)
			}
		}
		whole := s.page(map[string]any{"first": 500, "order": order})
		for i, e := range whole.Entities.Edges {
			if got := s.page(map[string]any{"first": 3, "after": e.Cursor, "order": order}).refs(); !slices.Equal(got, all[i+1:min(i+4, 17)]) {
				t.Errorf("%s after %d: %v", name, i, got)
			}
			if got := s.page(map[string]any{"last": 3, "before": e.Cursor, "order": order}).refs(); !slices.Equal(got, all[max(i-3, 0):i]) {
				t.Errorf("%s before %d: %v", name, i, got)
			}
		}
	}
}

// TestCursorsOfAnotherQuestion are refused; asking nothing beside one goes on
// with what was asked.
func TestCursorsOfAnotherQuestion(t *testing.T) {
	s := serve(t, catalogtest.New(t, docs(many(5))))
	end := *s.page(map[string]any{"first": 2}).Entities.PageInfo.EndCursor
	a := s.post("reader", `query Q($c: String) {entities(after: $c, filter: "kind=group") {totalCount}}`, map[string]any{"c": end})
	if len(a.Errors) != 1 || a.Errors[0].Extensions.Code != "invalid" {
		t.Error(a.raw)
	}
	same(t, s.data("reader", `query Q($c: String) {entities(after: $c) {totalCount}}`, map[string]any{"c": end}), `{"entities": {"totalCount": 5}}`)
	same(t, s.data("reader", `{entities(first: 0, filter: "kind=component") {totalCount nodes {ref} pageInfo {endCursor}}}`, nil),
		`{"entities": {"totalCount": 5, "nodes": [], "pageInfo": {"endCursor": null}}}`)
}
