package rest

import (
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/fairlead-dev/fairlead/internal/fault"
)

// shape is what a value of a request may be, by Backstage's own description of
// its API. What is wrong is said in the words that its back end says it in.
type shape struct {
	kind string // object, array, string or number; integer in a query alone
	// keys are those of an object, in the order in which they are looked at;
	// closed objects have no others.
	keys   []shapeKey
	closed bool
	each   *shape   // of an array's items
	among  []string // that a string is one of
}

type shapeKey struct {
	name     string
	required bool
	shape    shape
}

func texts() shape { return shape{kind: "array", each: &shape{kind: "string"}} }

// fault says what is wrong with a value at a place such as request/body, nil
// for nothing.
func (s *shape) fault(at string, v any) error {
	if !s.fits(v) {
		return fault.New(fault.Invalid, "%s must be %s", at, s.kind)
	}
	switch v := v.(type) {
	case string:
		return s.amongst(at, v)
	case []any:
		for i := range v {
			if s.each == nil {
				break
			}
			if s.each.fault(at, v[i]) != nil { // places are named for what is wrong alone
				return s.each.fault(fmt.Sprintf("%s/%d", at, i), v[i])
			}
		}
	case map[string]any:
		return s.members(at, v)
	}
	return nil
}

func (s *shape) fits(v any) bool {
	switch v := v.(type) {
	case string:
		return s.kind == "string"
	case float64:
		return s.kind == "number" || s.kind == "integer" && v == math.Trunc(v)
	case []any:
		return s.kind == "array"
	case map[string]any:
		return s.kind == "object"
	default:
		return false
	}
}

func (s *shape) amongst(at, v string) error {
	if s.among == nil || slices.Contains(s.among, v) {
		return nil
	}
	return fault.New(fault.Invalid, "%s must be equal to one of the allowed values: %s", at, strings.Join(s.among, ", "))
}

func (s *shape) members(at string, o map[string]any) error {
	known := map[string]bool{}
	for i := range s.keys {
		k := &s.keys[i]
		known[k.name] = true
		if _, there := o[k.name]; !there && k.required {
			return fault.New(fault.Invalid, "%s must have required property '%s'", at, k.name)
		}
	}
	for name := range o {
		if s.closed && !known[name] {
			return fault.New(fault.Invalid, "%s must NOT have additional properties", at).WithFix("Leave out %s.", clip(name))
		}
	}
	for i := range s.keys {
		k := &s.keys[i]
		if v, there := o[k.name]; there {
			if err := k.shape.fault(at+"/"+k.name, v); err != nil {
				return err
			}
		}
	}
	return nil
}

// body checks a JSON body, nothing being an empty object, and gives it.
func (s *shape) body(data []byte) (map[string]any, error) {
	var v any = map[string]any{}
	if len(data) > 0 {
		if err := json.Unmarshal(data, &v); err != nil {
			return nil, fault.New(fault.Invalid, "the body is not valid JSON").WithFix("Send one JSON object.")
		}
	}
	if err := s.fault("request/body", v); err != nil {
		return nil, err
	}
	o, _ := v.(map[string]any) // all bodies are described as objects
	return o, nil
}

// textsOf are the strings of a list that has been checked.
func textsOf(v any) []string {
	l, _ := v.([]any)
	out := make([]string, 0, len(l))
	for _, item := range l {
		if s, ok := item.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

// queryValues reads a query as Backstage's back end does: name[] and name[0]
// are name. It gives the names in the order in which they come as well.
func queryValues(raw string) (url.Values, []string, error) {
	values, order := url.Values{}, []string(nil)
	for pair := range strings.SplitSeq(raw, "&") {
		if pair == "" {
			continue
		}
		name, value, _ := strings.Cut(pair, "=")
		name, err1 := url.QueryUnescape(name)
		value, err2 := url.QueryUnescape(value)
		if err1 != nil || err2 != nil {
			return nil, nil, fault.New(fault.Invalid, "the query of the URL is malformed").WithFix("Percent-encode its values: %%, & and + among them.")
		}
		if base, index, ok := strings.Cut(name, "["); ok && strings.Trim(index, "0123456789") == "]" {
			name = base
		}
		if !values.Has(name) {
			order = append(order, name)
		}
		values.Add(name, value)
	}
	return values, order, nil
}

// queryFault checks a query by a closed object's shape.
func (s *shape) queryFault(values url.Values, order []string) error {
	for _, name := range order {
		switch {
		case !slices.ContainsFunc(s.keys, func(k shapeKey) bool { return k.name == name }):
			return fault.New(fault.Invalid, "Unknown query parameter '%s'", name).WithFix("%s", s.names())
		case len(values[name]) == 1 && values[name][0] == "":
			return fault.New(fault.Invalid, "Empty value found for query parameter '%s'", name).WithFix("Give it a value, or leave it out.")
		}
	}
	for _, k := range s.keys {
		if k.required && !values.Has(k.name) {
			return fault.New(fault.Invalid, "request/query must have required property '%s'", k.name)
		}
	}
	for _, k := range s.keys {
		if err := k.valuesFault(values[k.name]); err != nil {
			return err
		}
	}
	return nil
}

func (s *shape) names() string {
	var names []string
	for _, k := range s.keys {
		names = append(names, k.name)
	}
	if len(names) == 0 {
		return "There are none here."
	}
	return "There are " + strings.Join(names, ", ") + "."
}

// valuesFault checks what a parameter of a query is given.
func (k *shapeKey) valuesFault(values []string) error {
	at := "request/query/" + k.name
	switch {
	case len(values) == 0 || k.shape.kind == "array":
		return nil
	case len(values) > 1:
		return fault.New(fault.Invalid, "%s must be %s", at, k.shape.kind).WithFix("Give it once.")
	case k.shape.kind != "integer":
		return k.shape.fault(at, values[0])
	}
	n, err := strconv.ParseFloat(values[0], 64)
	if err != nil {
		return fault.New(fault.Invalid, "%s must be integer", at)
	}
	if err := k.shape.fault(at, n); err != nil {
		return err
	}
	if n < 0 {
		return fault.New(fault.Invalid, "%s must be >= 0", at)
	}
	return nil
}
