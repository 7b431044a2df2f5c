package catalog_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fairlead-dev/fairlead/access/accesstest"
	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/catalog/catalogtest"
	"github.com/fairlead-dev/fairlead/catalog/index"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

var alice = accesstest.As("user:default/alice")

func component(name, spec string) string {
	return "kind: Component\nmetadata: " + name + "\nspec: {type: service, lifecycle: production, " + spec + "}\n"
}

// fleet is 23 components and their two owners.
func fleet() []string {
	docs := []string{
		"kind: Group\nmetadata: {name: red, title: Red team}\nspec: {type: team, children: []}\n",
		"kind: Group\nmetadata: {name: blue}\nspec: {type: team, children: []}\n",
	}
	for i := range 23 {
		meta := fmt.Sprintf("{name: S%02d, tags: [t%d, all], title: T%d}", i*7%23, i%3, i/8)
		if i%5 == 0 {
			meta = fmt.Sprintf("{name: S%02d}", i*7%23)
		}
		docs = append(docs, component(meta, "owner: "+[]string{"red", "blue"}[i%2]))
	}
	return docs
}

func list(t *testing.T, s *catalog.Service, in catalog.ListEntitiesInput) *catalog.EntityPage {
	t.Helper()
	p, err := s.ListEntities(t.Context(), alice, in)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func names(p *catalog.EntityPage) []string {
	out := []string{}
	for _, e := range p.Items {
		out = append(out, e.Name())
	}
	return out
}

func size(n int) *int { return &n }

// TestPages walks every question forwards and back again, with every size.
func TestPages(t *testing.T) {
	s := catalogtest.New(t, fleet()...)
	for name, in := range map[string]catalog.ListEntitiesInput{
		"by uid":       {},
		"by name":      {OrderBy: []catalog.OrderField{{Field: "metadata.name"}}},
		"by name down": {OrderBy: []catalog.OrderField{{Field: "Metadata.Name", Order: "desc"}}},
		"ties":         {OrderBy: []catalog.OrderField{{Field: "metadata.title", Order: "desc"}}, Filter: []string{"kind=component"}},
		"several":      {OrderBy: []catalog.OrderField{{Field: "metadata.tags", Order: "asc"}}},
		"text":         {OrderBy: []catalog.OrderField{{Field: "metadata.name"}}, FullText: &catalog.FullTextFilter{Term: "s1_"}},
		"query":        {Query: json.RawMessage(`{"$not":{"spec.owner":"red"}}`)},
	} {
		t.Run(name, func(t *testing.T) {
			whole := list(t, s, in)
			if whole.PageInfo != (catalog.PageInfo{}) || len(whole.Items) < 10 {
				t.Fatalf("%d items, %+v", len(whole.Items), whole.PageInfo)
			}
			for n := 1; n <= len(whole.Items)+1; n++ {
				walkPages(t, s, in, whole, n)
			}
		})
	}
}

// walkPages goes forwards to the end by pages of n, then back to the start.
func walkPages(t *testing.T, s *catalog.Service, in catalog.ListEntitiesInput, whole *catalog.EntityPage, n int) {
	t.Helper()
	want, got := names(whole), []string{}
	in.Limit = size(n)
	p := list(t, s, in)
	if p.PageInfo.PrevCursor != "" {
		t.Errorf("by %d: the first page has something before it", n)
	}
	for {
		got = append(got, names(p)...)
		if p.TotalItems != whole.TotalItems {
			t.Errorf("by %d: total is %d, not %d", n, p.TotalItems, whole.TotalItems)
		}
		if p.PageInfo.NextCursor == "" {
			break
		}
		p = list(t, s, catalog.ListEntitiesInput{Cursor: p.PageInfo.NextCursor, Limit: size(n)})
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Fatalf("forwards by %d:\n%s", n, d)
	}
	got = got[len(got)-len(p.Items):]
	for p.PageInfo.PrevCursor != "" {
		p = list(t, s, catalog.ListEntitiesInput{Cursor: p.PageInfo.PrevCursor, Limit: size(n)})
		got = append(names(p), got...)
		if p.PageInfo.NextCursor == "" {
			t.Errorf("back by %d: nothing comes after %v", n, names(p))
		}
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Fatalf("back by %d:\n%s", n, d)
	}
}

func TestOrderLeavesOutWhoLacksTheField(t *testing.T) {
	s := catalogtest.New(t, fleet()...)
	p := list(t, s, catalog.ListEntitiesInput{Filter: []string{"kind=component"}, OrderBy: []catalog.OrderField{{Field: "metadata.title"}}})
	if len(p.Items) != 18 || p.TotalItems != 18 {
		t.Errorf("%d items of %d", len(p.Items), p.TotalItems)
	}
	p = list(t, s, catalog.ListEntitiesInput{OrderBy: []catalog.OrderField{{Field: "no.such"}}})
	if len(p.Items) != 0 || p.TotalItems != 0 {
		t.Errorf("%d items of %d", len(p.Items), p.TotalItems)
	}
}

func TestPageSizes(t *testing.T) {
	s := catalogtest.New(t, fleet()...)
	p := list(t, s, catalog.ListEntitiesInput{Limit: size(0)})
	if len(p.Items) != 0 || p.Items == nil || p.TotalItems != 25 || p.PageInfo != (catalog.PageInfo{}) {
		t.Errorf("limit 0 gives %+v", p)
	}
	p = list(t, s, catalog.ListEntitiesInput{Limit: size(5), TotalItems: "exclude"})
	if len(p.Items) != 5 || p.TotalItems != 0 || p.PageInfo.NextCursor == "" {
		t.Errorf("without total: %+v", p)
	}
	all := names(list(t, s, catalog.ListEntitiesInput{}))
	p = list(t, s, catalog.ListEntitiesInput{Limit: size(5), Offset: 7})
	if !slices.Equal(names(p), all[7:12]) {
		t.Errorf("offset 7 gives %v of %v", names(p), all)
	}
	p = list(t, s, catalog.ListEntitiesInput{Cursor: p.PageInfo.NextCursor, Limit: size(5), Offset: 3})
	if !slices.Equal(names(p), all[12:17]) {
		t.Errorf("after it come %v of %v", names(p), all)
	}
}

// TestPagesUnderChange takes away and adds entities between pages.
func TestPagesUnderChange(t *testing.T) {
	s := catalogtest.New(t, fleet()...)
	in := catalog.ListEntitiesInput{Filter: []string{"kind=component"}, OrderBy: []catalog.OrderField{{Field: "metadata.name"}}, Limit: size(5)}
	p := list(t, s, in)
	if want := []string{"S00", "S01", "S02", "S03", "S04"}; !slices.Equal(names(p), want) {
		t.Fatal(names(p))
	}
	s.Publish([]index.Change{{Ref: "component:default/s04"}, {Ref: "component:default/s05"}})
	s.Publish(catalogtest.Changes(t, component("{name: S06b}", "owner: red"), component("{name: S00b}", "owner: red")))
	next := list(t, s, catalog.ListEntitiesInput{Cursor: p.PageInfo.NextCursor, Limit: size(3)})
	if want := []string{"S06", "S06b", "S07"}; !slices.Equal(names(next), want) || next.TotalItems != 23 {
		t.Errorf("%v of %d, want %v", names(next), next.TotalItems, want)
	}
	back := list(t, s, catalog.ListEntitiesInput{Cursor: next.PageInfo.PrevCursor, Limit: size(2)})
	if want := []string{"S02", "S03"}; !slices.Equal(names(back), want) {
		t.Errorf("%v, want %v", names(back), want)
	}
}

// TestCursorIsBackstages looks into a cursor as Backstage's client does.
func TestCursorIsBackstages(t *testing.T) {
	s := catalogtest.New(t, fleet()...)
	p := list(t, s, catalog.ListEntitiesInput{Filter: []string{"kind=component"}, OrderBy: []catalog.OrderField{{Field: "metadata.name"}},
		FullText: &catalog.FullTextFilter{Term: "S", Fields: []string{"metadata.name"}}, Limit: size(2)})
	data, err := base64.StdEncoding.DecodeString(p.PageInfo.NextCursor)
	if err != nil {
		t.Fatal(err)
	}
	first, last := p.Items[0].UID(), p.Items[1].UID()
	want := fmt.Sprintf(`{"query":{"kind":"component"},"orderFields":[{"field":"metadata.name","order":"asc"}],"fullTextFilter":{"term":"S","fields":["metadata.name"]},`+
		`"orderFieldValues":["s01",%q],"firstSortFieldValues":["s00",%q],"isPrevious":false,"totalItems":23}`, last, first)
	if string(data) != want {
		t.Errorf("cursor is %s, want %s", data, want)
	}
	p = list(t, s, catalog.ListEntitiesInput{Limit: size(2)})
	data, _ = base64.StdEncoding.DecodeString(p.PageInfo.NextCursor)
	if strings.Contains(string(data), `"query"`) {
		t.Errorf("cursor %s has a query where none was asked", data)
	}
}

func TestCursorsOfOthers(t *testing.T) {
	s := catalogtest.New(t, fleet()...)
	legacy := base64.StdEncoding.EncodeToString([]byte(`{"orderFields":[],"orderFieldValues":[""],"isPrevious":false,
		"filter":{"allOf":[{"key":"kind","values":["Group","component"]},{"not":{"anyOf":[{"key":"metadata.tags"},{"key":"spec.owner","values":["blue"]}]}}]}}`))
	p := list(t, s, catalog.ListEntitiesInput{Cursor: legacy})
	if p.TotalItems != 5 || len(p.Items) != 5 {
		t.Errorf("%v of %d", names(p), p.TotalItems)
	}
	for text, want := range map[string]string{
		"%%%":                         "not base64",
		"e30":                         "orderFieldValues",
		"bm8":                         "no cursor",
		strings.Repeat("A", 5<<20):    "long",
		enc(`{"orderFieldValues":1}`): "no cursor",
		enc(`{"orderFields":[{"field":"a","order":"up"}],"orderFieldValues":["a","b"]}`): "asc or desc",
		enc(`{"orderFields":[{"field":"a","order":"asc"}],"orderFieldValues":["a"]}`):    "2 orderFieldValues",
		enc(`{"orderFieldValues":["a"],"query":{"$x":1}}`):                               "query.$x",
		enc(`{"orderFieldValues":["a"],"filter":{"foo":1}}`):                             "cursor.filter",
	} {
		_, err := s.ListEntities(t.Context(), alice, catalog.ListEntitiesInput{Cursor: text})
		if fault.CodeOf(err) != fault.Invalid || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: error is %v, want it to say %s", text, err, want)
		}
	}
}

func enc(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }

func TestListRefusesBadInput(t *testing.T) {
	s := catalogtest.New(t)
	for want, in := range map[string]catalog.ListEntitiesInput{
		`offset -1`:                 {Offset: -1},
		`limit -2`:                  {Limit: size(-2)},
		`totalItems "some"`:         {TotalItems: "some"},
		"Invalid order field order": {OrderBy: []catalog.OrderField{{Field: "kind", Order: "up"}}},
		`needs a field`:             {OrderBy: []catalog.OrderField{{}}},
		"Invalid filter, '=x'":      {Filter: []string{"=x"}},
		`query.kind`:                {Query: json.RawMessage(`{"kind":null}`)},
		`a[0]`:                      {Fields: []string{"a[0]"}},
		`full-text`:                 {FullText: &catalog.FullTextFilter{Term: strings.Repeat("x", 2000)}},
	} {
		_, err := s.ListEntities(t.Context(), alice, in)
		if fault.CodeOf(err) != fault.Invalid || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: error is %v, want it to say %s", in, err, want)
		}
	}
}
