package catalog_test

import (
	"context"
	"testing"

	"github.com/fairlead-dev/fairlead/access/accesstest"
	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/catalog/catalogtest"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// TestCursorsOfEntities goes on after and back from every entity of a page.
func TestCursorsOfEntities(t *testing.T) {
	s := catalogtest.New(t, groups("a", "b", "c", "d"))
	who := accesstest.As("user:a")
	list := func(in catalog.ListEntitiesInput) *catalog.EntityPage {
		t.Helper()
		page, err := s.ListEntities(context.Background(), who, in)
		if err != nil {
			t.Fatal(err)
		}
		return page
	}
	in := catalog.ListEntitiesInput{Filter: []string{"kind=group,metadata.name"}, OrderBy: []catalog.OrderField{{Field: "metadata.name"}}, Cursors: true}
	all := list(in)
	if len(all.Cursors) != 4 || all.More {
		t.Fatalf("%d cursors, more %v", len(all.Cursors), all.More)
	}
	one := 1
	for i, c := range all.Cursors {
		next, err := catalog.CursorFrom(c, false)
		if err != nil {
			t.Fatal(err)
		}
		page := list(catalog.ListEntitiesInput{Cursor: next, Limit: &one, Cursors: true})
		if i < 3 && (len(page.Items) != 1 || page.Items[0] != all.Items[i+1] || page.More != (i < 2) || page.TotalItems != 4) {
			t.Errorf("after %d: %+v", i, page)
		}
		prev, err := catalog.CursorFrom(c, true)
		if err != nil {
			t.Fatal(err)
		}
		page = list(catalog.ListEntitiesInput{Cursor: prev, Limit: &one, Cursors: true})
		if i > 0 && (len(page.Items) != 1 || page.Items[0] != all.Items[i-1] || page.More != (i > 1)) {
			t.Errorf("before %d: %+v", i, page)
		}
	}
	if _, err := catalog.CursorFrom("x", false); fault.CodeOf(err) != fault.Invalid {
		t.Error(err)
	}
	same := in
	same.Cursor = all.Cursors[0]
	for what, change := range map[string]func(*catalog.ListEntitiesInput){
		"filter": func(in *catalog.ListEntitiesInput) { in.Filter = []string{"kind=user"} },
		"query":  func(in *catalog.ListEntitiesInput) { in.Query = []byte(`{"kind":"<user>"}`) },
		"order":  func(in *catalog.ListEntitiesInput) { in.OrderBy = nil },
		"text":   func(in *catalog.ListEntitiesInput) { in.FullText = &catalog.FullTextFilter{Term: "x"} },
	} {
		other := same
		change(&other)
		if err := catalog.SameQuestion(other); fault.CodeOf(err) != fault.Invalid {
			t.Errorf("another %s: %v", what, err)
		}
	}
	for _, in := range []catalog.ListEntitiesInput{same, {Cursor: same.Cursor}} {
		if err := catalog.SameQuestion(in); err != nil {
			t.Error(err)
		}
	}
	odd := catalog.ListEntitiesInput{Query: []byte(`{"metadata.name":{"$in":["a","<&>"]}}`), Cursors: true}
	odd.Cursor = list(odd).Cursors[0]
	if err := catalog.SameQuestion(odd); err != nil {
		t.Error(err)
	}
}
