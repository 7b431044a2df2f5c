package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode"

	mcpgo "github.com/mark3labs/mcp-go/mcp"

	"github.com/fairlead-dev/fairlead/internal/fault"
)

// argument is one field of an operation's input as a tool takes it.
type argument struct {
	name        string
	description string
	index       []int
	typ         reflect.Type
	required    bool
}

// argumentsOf are the fields of an input type that a tool takes.
func argumentsOf(t reflect.Type) []argument { return fieldsOf(t, false) }

// metaOf are the fields that a tool takes of a call's _meta, each under
// metaPrefix: what whoever runs a model tells, and no model has to know.
func metaOf(t reflect.Type) []argument { return fieldsOf(t, true) }

// metaPrefix begins the names of what is taken of _meta.
const metaPrefix = "fairlead.dev/"

func fieldsOf(t reflect.Type, meta bool) []argument {
	var out []argument
	for _, f := range reflect.VisibleFields(t) {
		if meta != (f.Tag.Get("mcp") == "meta") {
			continue
		}
		name, opts, _ := strings.Cut(f.Tag.Get("json"), ",")
		description := f.Tag.Get("jsonschema")
		if name == "" || name == "-" || description == "-" {
			continue
		}
		out = append(out, argument{snake(name), description, f.Index, f.Type, !strings.Contains(opts, "omitempty")})
	}
	return out
}

// snake writes a camelCase name in snake_case.
func snake(name string) string {
	var b strings.Builder
	for i, r := range name {
		if unicode.IsUpper(r) && i > 0 {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// inputSchema describes arguments.
func inputSchema(args []argument) json.RawMessage {
	properties, required := map[string]any{}, []string{}
	for _, a := range args {
		s := typeSchema(a.typ)
		if a.description != "" {
			s["description"] = a.description
		}
		properties[a.name] = s
		if a.required {
			required = append(required, a.name)
		}
	}
	out := map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		out["required"] = required
	}
	return mustMarshal(out)
}

// mustMarshal writes what was made of maps, lists and texts, which always can.
func mustMarshal(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}

// decode fills an operation's input from a tool's arguments. Unknown ones are
// refused by name, and the known ones named.
func decode(args []argument, raw json.RawMessage, in reflect.Value) error {
	given := map[string]json.RawMessage{}
	if raw = bytes.TrimSpace(raw); len(raw) > 0 && !bytes.Equal(raw, []byte("null")) {
		if err := json.Unmarshal(raw, &given); err != nil {
			return fault.New(fault.Invalid, "the arguments are no JSON object")
		}
	}
	if err := refuseUnknown(args, given); err != nil {
		return err
	}
	for _, a := range args {
		value, ok := given[a.name]
		if ok && bytes.Equal(bytes.TrimSpace(value), []byte("null")) {
			ok = false
		}
		if !ok && a.required {
			return fault.New(fault.Invalid, "the argument %s is not given", a.name).WithFix("Give %s: %s.", a.name, a.description)
		}
		if !ok {
			continue
		}
		if err := set(a.name, value, in.FieldByIndex(a.index)); err != nil {
			return err
		}
	}
	return nil
}

// takeMeta fills in what is taken of a call's _meta.
func takeMeta(fields []argument, meta *mcpgo.Meta, in reflect.Value) error {
	if meta == nil {
		return nil
	}
	for _, f := range fields {
		v, ok := meta.AdditionalFields[metaPrefix+f.name]
		if !ok {
			continue
		}
		raw, err := json.Marshal(v)
		if err != nil {
			return err
		}
		if err := set("_meta "+metaPrefix+f.name, raw, in.FieldByIndex(f.index)); err != nil {
			return err
		}
	}
	return nil
}

func refuseUnknown(args []argument, given map[string]json.RawMessage) error {
	known := make([]string, len(args))
	for i, a := range args {
		known[i] = a.name
	}
	var bad []string
	for name := range given {
		if !slices.Contains(known, name) {
			bad = append(bad, fmt.Sprintf("%.60q", name))
		}
	}
	if len(bad) == 0 {
		return nil
	}
	slices.Sort(bad)
	fix := "This tool takes no arguments."
	if len(known) > 0 {
		fix = "Known arguments: " + strings.Join(known, ", ") + "."
	}
	return fault.New(fault.Invalid, "unknown argument %s", strings.Join(bad[:min(5, len(bad))], ", ")).WithFix("%s", fix).WithDetail("known", known)
}

// set sets a field from JSON; name is what errors call it. A text counts as a
// list of one, which is how models often write it.
func set(name string, raw json.RawMessage, field reflect.Value) error {
	if field.Kind() == reflect.Slice && field.Type().Elem().Kind() == reflect.String {
		var one string
		if json.Unmarshal(raw, &one) == nil {
			field.Set(reflect.ValueOf([]string{one}))
			return nil
		}
	}
	err := strictly(raw, field)
	if err == nil {
		return nil
	}
	want := field.Type()
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		if wrong.Field != "" {
			name += "." + wrong.Field
		}
		want = wrong.Type
	}
	return fault.New(fault.Invalid, "%s must be %s, not %s", name, words(want), shown(raw))
}

// strictly decodes a value; objects may not hold what is not known.
func strictly(raw json.RawMessage, field reflect.Value) error {
	switch field.Kind() {
	case reflect.String, reflect.Bool, reflect.Int:
		return json.Unmarshal(raw, field.Addr().Interface())
	default:
		dec := json.NewDecoder(bytes.NewReader(raw))
		dec.DisallowUnknownFields()
		return dec.Decode(field.Addr().Interface())
	}
}

// shown is an offending value, shortened.
func shown(raw json.RawMessage) string {
	if r := []rune(string(raw)); len(r) > 60 {
		return string(r[:60]) + "…"
	}
	return string(raw)
}

// words describes a type.
func words(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return words(t.Elem())
	case reflect.String:
		return "a text"
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int64, reflect.Int32:
		return "a whole number"
	case reflect.Slice:
		return "a list of texts"
	default:
		return "an object"
	}
}
