package rest

import (
	"encoding/json"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// schema is a JSON Schema.
type schema map[string]any

// openAPI describes routes as an OpenAPI 3.1 document.
func openAPI(routes []route) map[string]any {
	s := &schemas{named: map[string]any{}}
	s.of(reflect.TypeFor[fault.Error]())
	paths := map[string]map[string]any{}
	for _, rt := range routes {
		path := strings.ReplaceAll(rt.pattern, "...}", "}")
		if paths[path] == nil {
			paths[path] = map[string]any{}
		}
		paths[path][strings.ToLower(rt.method)] = s.operation(rt)
	}
	return map[string]any{
		"openapi":  "3.1.0",
		"info":     map[string]any{"title": "Fairlead", "version": "1", "description": "The catalog of services and what is known about them. The same operations are served as MCP tools at /mcp and as GraphQL at /graphql."},
		"security": []any{map[string]any{"bearer": []any{}}},
		"paths":    paths,
		"components": map[string]any{
			"schemas":         s.named,
			"securitySchemes": map[string]any{"bearer": map[string]any{"type": "http", "scheme": "bearer"}},
			"responses":       map[string]any{"Fault": faultResponse()},
		},
	}
}

func faultResponse() map[string]any {
	return content("What went wrong and how to put it right.", schema{
		"type": "object", "required": []string{"error"}, "properties": schema{"error": ref("Error")},
	})
}

func content(description string, s schema) map[string]any {
	return map[string]any{"description": description, "content": map[string]any{"application/json": map[string]any{"schema": s}}}
}

func ref(name string) schema { return schema{"$ref": "#/components/schemas/" + name} }

// schemas collects the schemas of named types.
type schemas struct{ named map[string]any }

func (s *schemas) operation(rt route) map[string]any {
	op := map[string]any{
		"operationId": rt.operation + operationSuffix(rt), "summary": rt.summary, "x-fairlead-action": rt.action,
		"responses": map[string]any{
			strconv.Itoa(http.StatusOK): content("The answer.", s.of(rt.out)),
			"default":                   map[string]any{"$ref": "#/components/responses/Fault"},
		},
	}
	var params []any
	body := schema{"type": "object", "additionalProperties": false}
	properties, required := schema{}, []string{}
	for _, p := range rt.params {
		if p.in != inBody {
			params = append(params, s.parameter(p))
			continue
		}
		properties[p.name] = described(s.of(p.typ), p.description)
		if p.required {
			required = append(required, p.name)
		}
	}
	if params != nil {
		op["parameters"] = params
	}
	if len(properties) > 0 {
		body["properties"] = properties
		if len(required) > 0 {
			body["required"] = required
		}
		op["requestBody"] = map[string]any{"required": len(required) > 0, "content": map[string]any{"application/json": map[string]any{"schema": body}}}
	}
	return op
}

// operationSuffix keeps operation ids apart where an operation has two paths.
func operationSuffix(rt route) string {
	if rt.method == http.MethodPost && rt.action.Effect().ReadOnly {
		return "_by_post"
	}
	return ""
}

func (s *schemas) parameter(p param) map[string]any {
	out := map[string]any{"name": p.name, "in": string(p.in)}
	if p.description != "" {
		out["description"] = p.description
	}
	if p.required {
		out["required"] = true
	}
	sc := s.of(p.typ)
	if k := deref(p.typ).Kind(); p.typ == reflect.TypeFor[json.RawMessage]() || k == reflect.Struct || k == reflect.Slice && deref(p.typ).Elem().Kind() == reflect.Struct {
		out["content"] = map[string]any{"application/json": map[string]any{"schema": sc}}
		return out
	}
	out["schema"] = sc
	return out
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

// of is the schema of a type; structs are named and referred to.
func (s *schemas) of(t reflect.Type) schema {
	t = deref(t)
	switch t {
	case reflect.TypeFor[json.RawMessage]():
		return schema{}
	case reflect.TypeFor[time.Time]():
		return schema{"type": "string", "format": "date-time"}
	case reflect.TypeFor[catalog.Entity]():
		s.named["Entity"] = entitySchema()
		return ref("Entity")
	}
	switch t.Kind() {
	case reflect.String:
		return schema{"type": "string"}
	case reflect.Bool:
		return schema{"type": "boolean"}
	case reflect.Int, reflect.Int32, reflect.Int64, reflect.Uint32:
		return schema{"type": "integer"}
	case reflect.Slice:
		return schema{"type": "array", "items": s.of(t.Elem())}
	case reflect.Map:
		return schema{"type": "object", "additionalProperties": s.of(t.Elem())}
	case reflect.Struct:
		if _, done := s.named[t.Name()]; !done {
			s.named[t.Name()] = schema{} // ends recursion
			s.named[t.Name()] = s.object(t)
		}
		return ref(t.Name())
	default:
		return schema{}
	}
}

func (s *schemas) object(t reflect.Type) schema {
	properties, required := schema{}, []string{}
	for _, f := range reflect.VisibleFields(t) {
		name, opts, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" || name == "-" || !f.IsExported() {
			continue
		}
		properties[name] = described(s.of(f.Type), f.Tag.Get("jsonschema"))
		if !strings.Contains(opts, "omitempty") {
			required = append(required, name)
		}
	}
	out := schema{"type": "object", "properties": properties}
	if len(required) > 0 {
		out["required"] = required
	}
	return out
}

// entitySchema is what every entity has; kinds add their own.
func entitySchema() schema {
	return schema{
		"type": "object", "description": "An entity as Backstage serves it.", "required": []string{"apiVersion", "kind", "metadata"},
		"properties": schema{
			"apiVersion": schema{"type": "string"}, "kind": schema{"type": "string"},
			"metadata": schema{"type": "object"}, "spec": schema{"type": "object"},
			"relations": schema{"type": "array", "items": schema{"type": "object", "properties": schema{"type": schema{"type": "string"}, "targetRef": schema{"type": "string"}}}},
			"status":    schema{"type": "object"},
		},
	}
}
