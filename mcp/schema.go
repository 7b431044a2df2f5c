package mcp

import (
	"encoding/json"
	"reflect"
	"strings"
	"time"

	"github.com/fairlead-dev/fairlead/catalog"
)

// typeSchema is the schema of a type on its own; what is nested is an object
// of which no more is said.
func typeSchema(t reflect.Type) map[string]any {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t {
	case reflect.TypeFor[json.RawMessage]():
		return map[string]any{}
	case reflect.TypeFor[time.Time]():
		return map[string]any{"type": "string"}
	case reflect.TypeFor[catalog.Fact]():
		return map[string]any{"$ref": "#/$defs/fact"}
	}
	switch t.Kind() {
	case reflect.String:
		return map[string]any{"type": "string"}
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	case reflect.Int, reflect.Int32, reflect.Int64, reflect.Uint32:
		return map[string]any{"type": "integer"}
	case reflect.Slice:
		return map[string]any{"type": "array", "items": typeSchema(t.Elem())}
	default:
		return map[string]any{"type": "object"}
	}
}

// outputSchema describes an answer: its own fields that are always there; of a
// brief those that may be left out, too, for its facts are all of that kind. Of
// texts it does not say that they are: every list of tools carries all of this
// to the model.
func outputSchema(t reflect.Type) json.RawMessage {
	if t == reflect.TypeFor[catalog.Entity]() {
		return mustMarshal(map[string]any{
			"type": "object", "required": []string{"kind", "metadata"},
			"properties": map[string]any{
				"apiVersion": map[string]any{}, "kind": map[string]any{},
				"metadata": map[string]any{"type": "object"}, "spec": map[string]any{"type": "object"},
				"relations": map[string]any{"type": "array", "items": map[string]any{"type": "object"}},
				"status":    map[string]any{"type": "object"},
				"source":    map[string]any{"type": "object"},
				"omitted":   map[string]any{"type": "array"},
			},
		})
	}
	out := objectSchema(t)
	if strings.Contains(string(mustMarshal(out)), "#/$defs/fact") {
		out["$defs"] = map[string]any{"fact": objectSchema(reflect.TypeFor[catalog.Fact]()), "facts": map[string]any{"type": "array", "items": map[string]any{"$ref": "#/$defs/fact"}}}
	}
	return mustMarshal(out)
}

// told tells of an answer of which all fields are described.
func told(t reflect.Type) bool {
	return t == reflect.TypeFor[catalog.Brief]() || t == reflect.TypeFor[catalog.Fact]()
}

func objectSchema(t reflect.Type) map[string]any {
	properties := map[string]any{}
	for _, f := range reflect.VisibleFields(t) {
		name, opts, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" || name == "-" || !f.IsExported() || strings.Contains(opts, "omit") && !told(t) {
			continue
		}
		s := typeSchema(f.Type)
		switch {
		case s["type"] == "string":
			s = map[string]any{}
		case f.Type == reflect.TypeFor[[]catalog.Fact]():
			s = map[string]any{"$ref": "#/$defs/facts"}
		case f.Type.Kind() == reflect.Slice:
			delete(s, "items")
		}
		properties[name] = s
	}
	return map[string]any{"type": "object", "properties": properties}
}
