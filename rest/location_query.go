package rest

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// What a query for locations may be: how deep it may nest, and how many values
// it may hold, as each is compared with every location.
const (
	maxPredicateDepth  = 50
	maxPredicateValues = 2_000
)

// weighed refuses a predicate that holds too much.
func weighed(predicate any) error {
	left := maxPredicateValues
	if !within(predicate, &left) {
		return fault.New(fault.Invalid, "the query holds more than %d values", maxPredicateValues).WithFix("Ask in parts.")
	}
	return nil
}

// within counts the values of a predicate down from what is left.
func within(v any, left *int) bool {
	if *left--; *left < 0 {
		return false
	}
	switch v := v.(type) {
	case []any:
		return !slices.ContainsFunc(v, func(x any) bool { return !within(x, left) })
	case map[string]any:
		for _, x := range v {
			if !within(x, left) {
				return false
			}
		}
	}
	return true
}

func badPredicate(format string, args ...any) error {
	return fault.New(fault.Invalid, "Invalid filter predicate, "+format, args...).
		WithFix(`Write for example {"target": {"$hasPrefix": "https://github.com/acme/"}}.`)
}

// locationFits tells whether a predicate holds for a location, as Backstage
// asks its database.
func locationFits(l catalog.LocationItem, predicate any, depth int) (bool, error) {
	p, ok := predicate.(map[string]any)
	switch {
	case !ok:
		return false, badPredicate("expected an object")
	case depth > maxPredicateDepth:
		return false, badPredicate("it nests deeper than %d", maxPredicateDepth)
	}
	for operator, enough := range map[string]bool{"$all": false, "$any": true} {
		v, there := p[operator]
		if !there {
			continue
		}
		return listFits(l, v, depth, operator, enough)
	}
	if not, there := p["$not"]; there {
		fits, err := locationFits(l, not, depth+1)
		return !fits, err
	}
	all := true
	for key, want := range p {
		fits, err := fieldFits(l, key, want)
		if err != nil {
			return false, err
		}
		all = all && fits
	}
	return all, nil
}

// listFits tells whether all predicates of a list hold or, with enough, any.
// An empty list holds for nothing.
func listFits(l catalog.LocationItem, v any, depth int, operator string, enough bool) (bool, error) {
	list, ok := v.([]any)
	if !ok {
		return false, badPredicate("%s takes a list", operator)
	}
	out := len(list) > 0 && !enough
	for _, sub := range list {
		fits, err := locationFits(l, sub, depth+1)
		if err != nil {
			return false, err
		}
		if fits == enough {
			out = enough
		}
	}
	return out, nil
}

func fieldFits(l catalog.LocationItem, key string, want any) (bool, error) {
	if strings.HasPrefix(key, "$") {
		return false, badPredicate("unknown logic operator '%s'", shortened(key))
	}
	have, ok := map[string]string{"id": l.ID, "type": l.Type, "target": l.Target, "entityref": l.EntityRef}[strings.ToLower(key)]
	if !ok {
		return false, badPredicate("expected key to be 'id', 'type', 'target', or 'entityRef', got '%s'", shortened(key))
	}
	switch want := want.(type) {
	case map[string]any:
		return matcherFits(have, want)
	case nil, []any:
		return false, badPredicate("expected value to be a primitive value or a matcher object")
	default:
		return strings.EqualFold(have, primitive(want)), nil
	}
}

func matcherFits(have string, m map[string]any) (bool, error) {
	for operator, v := range m {
		if len(m) > 1 {
			break
		}
		switch v := v.(type) {
		case bool:
			if operator == "$exists" {
				return v == (have != ""), nil
			}
		case []any:
			if operator == "$in" {
				return slices.ContainsFunc(v, func(x any) bool { return strings.EqualFold(have, primitive(x)) }), nil
			}
		case string:
			if operator == "$hasPrefix" {
				return len(v) <= len(have) && strings.EqualFold(have[:len(v)], v), nil
			}
		}
		if operator == "$contains" {
			return false, nil
		}
	}
	text, err := json.Marshal(m)
	if err != nil {
		return false, badPredicate("got unknown matcher object")
	}
	return false, badPredicate("got unknown matcher object '%s'", shortened(string(text)))
}

// primitive is a value of JSON as the text that it is compared as.
func primitive(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	text, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(text)
}

// shortened is a text that is shown again, as it is but for its end.
func shortened(s string) string {
	if r := []rune(s); len(r) > 100 {
		return string(r[:100]) + "…"
	}
	return s
}
