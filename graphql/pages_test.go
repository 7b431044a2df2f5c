package graphql_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
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

// TestCursorsHoldUnderChange: while pages are turned entities come, go and
// change; what was there all the time is met once, and nothing twice.
func TestCursorsHoldUnderChange(t *testing.T) {
	for name, c := range map[string]struct {
		size, cursor string
		order        any
		next         func(*page) *string
	}{
		"forwards by name":  {"first", "after", map[string]any{"field": "metadata.name"}, func(p *page) *string { return p.Entities.PageInfo.EndCursor }},
		"forwards by uid":   {"first", "after", nil, func(p *page) *string { return p.Entities.PageInfo.EndCursor }},
		"backwards by name": {"last", "before", map[string]any{"field": "metadata.name"}, func(p *page) *string { return p.Entities.PageInfo.StartCursor }},
		"of equal values":   {"first", "after", map[string]any{"field": "spec.owner"}, func(p *page) *string { return p.Entities.PageInfo.EndCursor }},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, catalogtest.New(t, docs(many(20)), docs(extra(0))))
			there := s.page(map[string]any{"first": 500}).refs()
			vars := map[string]any{c.size: 3, "order": c.order}
			met := map[string]int{}
			for turn := 1; ; turn++ {
				p := s.page(vars)
				for _, ref := range p.refs() {
					met[ref]++
				}
				if p.Entities.TotalCount != 25 {
					t.Fatalf("%d entities in all", p.Entities.TotalCount)
				}
				if len(p.Entities.Edges) < 3 {
					break
				}
				vars[c.cursor] = *c.next(p)
				gone := catalogtest.Changes(t, docs(extra(turn-1)))
				for i := range gone {
					gone[i].Record = nil
				}
				s.catalog.Publish(append(gone, catalogtest.Changes(t, docs(extra(turn)))...))
			}
			for _, ref := range there {
				if met[ref] != 1 && !strings.Contains(ref, "extra") {
					t.Errorf("%s was met %d times", ref, met[ref])
				}
			}
			for ref, times := range met {
				if times > 1 {
					t.Errorf("%s was met %d times", ref, times)
				}
			}
		})
	}
}

// extra are components that come and go around those of many.
func extra(turn int) string {
	var b strings.Builder
	for i := range 5 {
		fmt.Fprintf(&b, "kind: Component\nmetadata: {name: s%03d-extra-%d}\nspec: {type: service, lifecycle: production, owner: team}\n---\n", 4*i, turn)
	}
	return strings.TrimSuffix(b.String(), "---\n")
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
