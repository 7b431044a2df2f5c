package rest

import (
	"encoding/json"
	"path"
	"reflect"
	"strings"
	"time"
	"unicode"

	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/secrets"
)

// schema is a JSON Schema.
type schema map[string]any

func ref(name string) schema { return schema{"$ref": "#/components/schemas/" + name} }

// schemas collects the schemas of named types.
type schemas struct {
	named map[string]any
	types map[string]reflect.Type
}

func described(s schema, description string) schema {
	if description != "" {
		s["description"] = description
	}
	return s
}

func deref(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

// structured tells whether a value of a type has no plain text form, so that a
// query gives it as JSON.
func structured(t reflect.Type) bool {
	t = deref(t)
	return t == reflect.TypeFor[json.RawMessage]() || t.Kind() == reflect.Struct && t != reflect.TypeFor[time.Time]() ||
		t.Kind() == reflect.Slice && deref(t.Elem()).Kind() == reflect.Struct
}

// of is the schema of a type; structs are named and referred to.
func (s *schemas) of(t reflect.Type) schema {
	t = deref(t)
	switch t {
	case reflect.TypeFor[json.RawMessage]():
		return schema{}
	case reflect.TypeFor[time.Time]():
		return schema{"type": "string", "format": "date-time"}
	case reflect.TypeFor[secrets.Shown]():
		return schema{"type": "string"}
	case reflect.TypeFor[fault.Error]():
		return ref("Error")
	case reflect.TypeFor[catalog.Entity]():
		s.named["Entity"] = entitySchema(s.of(reflect.TypeFor[catalog.Origin]()))
		return ref("Entity")
	}
	switch t.Kind() {
	case reflect.String:
		return schema{"type": "string"}
	case reflect.Bool:
		return schema{"type": "boolean"}
	case reflect.Int, reflect.Int32, reflect.Int64, reflect.Uint32:
		return schema{"type": "integer"}
	case reflect.Float64:
		return schema{"type": "number"}
	case reflect.Slice:
		return schema{"type": "array", "items": s.element(t.Elem())}
	case reflect.Map:
		return schema{"type": "object", "additionalProperties": s.of(t.Elem())}
	case reflect.Struct:
		return ref(s.name(t))
	default:
		return schema{}
	}
}

// element is the schema of what a list holds, of which pointers may be null.
func (s *schemas) element(t reflect.Type) schema {
	if t.Kind() == reflect.Pointer {
		return schema{"anyOf": []any{s.of(t), schema{"type": "null"}}}
	}
	return s.of(t)
}

// name is what a struct is called, once its schema is there. Of types that
// share a name, later ones have their package's before it.
func (s *schemas) name(t reflect.Type) string {
	name := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return '_'
	}, t.Name())
	if other := s.types[name]; other != nil && other != t {
		name = path.Base(t.PkgPath()) + "_" + name
	}
	if s.types[name] == nil {
		s.types[name] = t // before its fields: that ends recursion
		s.named[name] = s.fieldsOf(t)
	}
	return name
}

func (s *schemas) fieldsOf(t reflect.Type) schema {
	properties, required := schema{}, []string{}
	for _, f := range reflect.VisibleFields(t) {
		name, opts, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" || name == "-" || !f.IsExported() {
			continue
		}
		properties[name] = described(s.of(f.Type), f.Tag.Get("jsonschema"))
		if !strings.Contains(opts, "omit") {
			required = append(required, name)
		}
	}
	return objectOf(properties, required, false)
}

// errorSchema is what every refusal holds.
func errorSchema() schema {
	codes := []fault.Code{fault.Invalid, fault.Unauthenticated, fault.Forbidden, fault.NotFound, fault.Conflict, fault.ApprovalRequired,
		fault.QuotaExceeded, fault.FailedPrecondition, fault.Unavailable, fault.Internal}
	return described(objectOf(schema{
		"code":    described(schema{"type": "string", "enum": codes}, "what a program can act on; the same in every door"),
		"message": described(schema{"type": "string"}, "what went wrong, with the offending value"),
		"fix":     described(schema{"type": "string"}, "how to put it right"),
		"details": described(schema{"type": "object"}, "more for a program, such as retryAfter"),
	}, []string{"code", "message"}, false), "What went wrong and how to put it right.")
}

// entitySchema is what every entity has; kinds add their own, and a list of
// fields that are wanted leaves out the others.
func entitySchema(origin schema) schema {
	text := func(description string) schema { return described(schema{"type": "string"}, description) }
	relation := objectOf(schema{"type": text("such as ownedBy"), "targetRef": text("a full reference")}, []string{"type", "targetRef"}, false)
	return described(objectOf(schema{
		"apiVersion": text("such as backstage.io/v1alpha1"), "kind": text("such as Component"),
		"metadata": schema{"type": "object", "additionalProperties": true, "properties": schema{
			"name": text("unique in its kind and namespace"), "namespace": text("default if the file names none"), "uid": text("stable for a name"), "etag": text("changes with the entity"),
			"title": text("the name for people"), "description": text("what it is"),
			"labels": schema{"type": "object", "additionalProperties": schema{"type": "string"}}, "annotations": schema{"type": "object", "additionalProperties": schema{"type": "string"}},
			"tags": schema{"type": "array", "items": schema{"type": "string"}}, "links": schema{"type": "array", "items": schema{"type": "object", "additionalProperties": true}},
		}},
		"spec":      schema{"type": "object", "additionalProperties": true},
		"relations": schema{"type": "array", "items": relation},
		"status":    schema{"type": "object", "additionalProperties": true},
		"source":    described(origin, "where it was read; told of one entity alone"),
	}, nil, false), "An entity as Backstage serves it. All fields are there unless the request names the fields that it wants.")
}
