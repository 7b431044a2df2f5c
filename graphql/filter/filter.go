// Package filter reads the ways in which GraphQL says which entities are
// meant: the scalar Filter and the input EntityWhere.
package filter

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead-dev/fairlead/catalog/entity"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// Filter is the scalar Filter. It keeps what was given and is read in the
// operation, so that what is wrong with it is told like any other fault.
type Filter struct{ given any }

// ImplementsGraphQLType names the scalar.
func (Filter) ImplementsGraphQLType(name string) bool { return name == "Filter" }

// UnmarshalGraphQL reads an argument.
func (f *Filter) UnmarshalGraphQL(v any) error {
	f.given = v
	return nil
}

// Strings gives the filter as Backstage writes it; the error is an invalid
// fault.
func (f *Filter) Strings() ([]string, error) {
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
	var text string
	switch v := value.(type) {
	case float64:
		text = entity.FormatNumber(v) // as the index writes numbers
	case string, bool, int, int32, int64:
		text = fmt.Sprint(v)
	default:
		return "", "", badFilter("the value of %q in a filter is not a string, number or boolean but %s", clip(key), clip(value))
	}
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
