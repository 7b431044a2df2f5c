package graphql

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fairlead-dev/fairlead/catalog/entity"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// Time is the scalar Time.
type Time struct{ at time.Time }

// ImplementsGraphQLType names the scalar.
func (Time) ImplementsGraphQLType(name string) bool { return name == "Time" }

// UnmarshalGraphQL reads an argument.
func (t *Time) UnmarshalGraphQL(v any) (err error) {
	t.at, err = time.Parse(time.RFC3339, fmt.Sprint(v))
	return err
}

// MarshalJSON writes RFC 3339 in UTC.
func (t Time) MarshalJSON() ([]byte, error) { return json.Marshal(t.at.UTC()) }

// JSON is the scalar JSON.
type JSON struct{ raw json.RawMessage }

// ImplementsGraphQLType names the scalar.
func (JSON) ImplementsGraphQLType(name string) bool { return name == "JSON" }

// UnmarshalGraphQL reads an argument.
func (j *JSON) UnmarshalGraphQL(v any) (err error) {
	j.raw, err = json.Marshal(v)
	return err
}

// MarshalJSON writes the value.
func (j JSON) MarshalJSON() ([]byte, error) { return j.raw, nil }

// jsonOf is a descriptor's value, null where there is none.
func jsonOf(v entity.Value) *JSON {
	if o, ok := v.(*entity.Object); v == nil || ok && o == nil {
		return nil
	}
	return &JSON{entity.AppendJSON(nil, v)}
}

// filter is the scalar Filter. It keeps what was given and is read in the
// operation, so that what is wrong with it is told like any other fault.
type filter struct{ given any }

// ImplementsGraphQLType names the scalar.
func (filter) ImplementsGraphQLType(name string) bool { return name == "Filter" }

// UnmarshalGraphQL reads an argument.
func (f *filter) UnmarshalGraphQL(v any) error {
	f.given = v
	return nil
}

// strings gives the filter as Backstage writes it.
func (f *filter) strings() ([]string, error) {
	if f == nil || f.given == nil {
		return nil, nil
	}
	list, ok := f.given.([]any)
	if !ok {
		list = []any{f.given}
	}
	out := make([]string, 0, len(list))
	for _, item := range list {
		var s string
		var err error
		switch item := item.(type) {
		case string:
			s = item
		case map[string]any:
			s, err = filterString(item)
		default:
			err = badFilter("a filter is a string or an object, not %s", clip(item))
		}
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

func badFilter(format string, args ...any) error {
	return fault.New(fault.Invalid, format, args...).WithFix(`Write for example "kind=component,spec.type=service" or {kind: "component", type: "service"}.`)
}

func clip(v any) string {
	s := fmt.Sprintf("%v", v)
	if len(s) > 80 {
		s = strings.ToValidUTF8(s[:80], "") + "…"
	}
	return s
}

// filterString writes an object of keys and values as a Backstage filter.
func filterString(object map[string]any) (string, error) {
	keys := make([]string, 0, len(object))
	for k := range object {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	var pairs []string
	for _, k := range keys {
		values, ok := object[k].([]any)
		if !ok {
			values = []any{object[k]}
		}
		for _, v := range values {
			key, value, err := searchPair(k, v)
			if err != nil {
				return "", err
			}
			pairs = append(pairs, key+"="+value)
		}
	}
	return strings.Join(pairs, ","), nil
}

// searchPair is the search key and value that a key of EntityWhere, or a
// search key, and a value stand for.
func searchPair(key string, value any) (string, string, error) {
	switch value.(type) {
	case string, bool, float64, int, int32, int64:
	default:
		return "", "", badFilter("the value of %q in a filter is not a string, number or boolean but %s", clip(key), clip(value))
	}
	text := fmt.Sprint(value)
	if short, ok := searchKeys()[key]; ok {
		key = short.key
		if short.kind != "" {
			ref, err := entity.ParseRef(text, short.kind, entity.DefaultNamespace)
			if err != nil {
				return "", "", badFilter("%s", err)
			}
			text = ref.String()
		}
	}
	if strings.ContainsAny(key, ",=") || strings.Contains(text, ",") {
		return "", "", badFilter("the key %q or its value %q holds a comma or an equals sign", clip(key), clip(text))
	}
	return key, text, nil
}

// searchKey is what a short key of a filter stands for; kind is set where its
// values are references.
type searchKey struct{ key, kind string }

func searchKeys() map[string]searchKey {
	return map[string]searchKey{
		"kind": {key: "kind"}, "namespace": {key: "metadata.namespace"}, "name": {key: "metadata.name"},
		"type": {key: "spec.type"}, "lifecycle": {key: "spec.lifecycle"}, "tag": {key: "metadata.tags"},
		"owner": {"relations.ownedBy", "group"}, "system": {"relations.partOf", "system"},
	}
}
