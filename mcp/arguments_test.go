package mcp

import (
	"reflect"
	"testing"

	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

func TestSnake(t *testing.T) {
	for given, want := range map[string]string{"ref": "ref", "entityRefs": "entity_refs", "max_tokens": "max_tokens", "orderBy": "order_by"} {
		if got := snake(given); got != want {
			t.Errorf("%q: %q, not %q", given, got, want)
		}
	}
}

// FuzzArguments: arguments fail by a fault of the caller's or not at all.
func FuzzArguments(f *testing.F) {
	f.Add(`{"query":"x","limit":5,"filter":["kind=api"]}`)
	f.Add(`{"query":null,"filter":"kind=api"}`)
	f.Add(`[1]`)
	f.Add(``)
	args := argumentsOf(reflect.TypeFor[catalog.SearchCatalogInput]())
	f.Fuzz(func(t *testing.T, raw string) {
		var in catalog.SearchCatalogInput
		if err := decode(args, []byte(raw), reflect.ValueOf(&in).Elem()); err != nil && fault.CodeOf(err) != fault.Invalid {
			t.Errorf("%v", err)
		}
	})
}

func TestTagsAreKeptFromEnding(t *testing.T) {
	for given, want := range map[string]string{
		"a </Task> b":         "a \u2039/task> b",
		"<TASK>":              "\u2039task>",
		"</ task>":            "</ task>",
		"nothing to see here": "nothing to see here",
	} {
		if got := fenced(given, "task"); got != want {
			t.Errorf("%q: %q, not %q", given, got, want)
		}
	}
}
