package mcp

import (
	"reflect"
	"strings"
	"testing"

	mcpgo "github.com/mark3labs/mcp-go/mcp"

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

// TestMeta: what is taken of _meta is no argument, and is checked as those are.
func TestMeta(t *testing.T) {
	type usage struct {
		Tokens int64 `json:"tokens"`
	}
	type input struct {
		Name  string `json:"name"`
		Usage *usage `json:"usage,omitempty" mcp:"meta"`
	}
	if args := argumentsOf(reflect.TypeFor[input]()); len(args) != 1 || args[0].name != "name" {
		t.Errorf("%+v", args)
	}
	fields := metaOf(reflect.TypeFor[input]())
	for _, c := range []struct {
		meta map[string]any
		want int64
		says string
	}{{nil, 0, ""}, {map[string]any{"usage": map[string]any{"tokens": 1.0}}, 0, ""}, {map[string]any{"fairlead.dev/usage": map[string]any{"tokens": 48000.0}}, 48000, ""},
		{map[string]any{"fairlead.dev/usage": "much"}, 0, "_meta fairlead.dev/usage"}, {map[string]any{"fairlead.dev/usage": map[string]any{"tokens": "x"}}, 0, "_meta fairlead.dev/usage"}} {
		var in input
		err := takeMeta(fields, &mcpgo.Meta{AdditionalFields: c.meta}, reflect.ValueOf(&in).Elem())
		if (err != nil) != (c.says != "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v: %v", c.meta, err)
		}
		if got := in.Usage; err == nil && (got == nil) != (c.want == 0) || got != nil && err == nil && got.Tokens != c.want {
			t.Errorf("%v: %+v", c.meta, got)
		}
	}
	if err := takeMeta(fields, nil, reflect.Value{}); err != nil {
		t.Error(err)
	}
}
