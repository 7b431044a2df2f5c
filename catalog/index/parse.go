package index

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/fairlead-dev/fairlead/catalog/entity"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// Bounds of what one filter or predicate may hold.
const (
	maxDepth      = 50
	maxConditions = 5_000
	maxValues     = 50_000
	maxFilterSize = 1 << 20 // bytes of filter strings
)

const predicateFix = "Write {\"field\": value}, {\"field\": {\"$in\": […]}}, $exists, $hasPrefix or $contains, combined by $all, $any and $not."

// ParsePredicate reads a predicate in Backstage's language; null or nothing
// is no condition. name is what errors call it.
func ParsePredicate(name string, data []byte) (*Predicate, error) {
	if s := strings.TrimSpace(string(data)); s == "" || s == "null" {
		return nil, nil
	}
	v, err := entity.ParseJSON(data)
	if err != nil {
		return nil, fault.New(fault.Invalid, "%s is not JSON: %v", name, err).WithFix(predicateFix)
	}
	return parsePredicate(name, v)
}

func parsePredicate(name string, v entity.Value) (*Predicate, error) {
	p := &predicateParser{}
	return p.predicate(name, v, 0)
}

// predicateParser counts what it has read.
type predicateParser struct{ conditions, values int }

func invalidAt(at, format string, args ...any) error {
	return fault.New(fault.Invalid, "invalid predicate at %s: %s", at, fmt.Sprintf(format, args...)).WithFix(predicateFix)
}

// invalid is for what Backstage has words for as well.
func invalid(format string, args ...any) error {
	return fault.New(fault.Invalid, format, args...).WithFix(predicateFix)
}

// show writes an offending value, shortened.
func show(v entity.Value) string {
	s := string(entity.AppendJSON(nil, v))
	if r := []rune(s); len(r) > 80 {
		s = string(r[:77]) + "…"
	}
	return s
}

func (p *predicateParser) predicate(at string, v entity.Value, depth int) (*Predicate, error) {
	if depth > maxDepth {
		return nil, fault.New(fault.Invalid, "the predicate is nested more than %d levels deep", maxDepth).WithFix("Flatten it: $all and $any take any number of parts.")
	}
	o, ok := v.(*entity.Object)
	if !ok {
		return nil, invalidAt(at, "expected an object, got %s", show(v))
	}
	for _, m := range o.Members {
		if strings.HasPrefix(m.Key, "$") {
			return p.operator(at, o, depth)
		}
	}
	all := &Predicate{op: opAll}
	for _, m := range o.Members {
		part, err := p.field(at+"."+m.Key, m.Key, m.Value)
		if err != nil {
			return nil, err
		}
		all.parts = append(all.parts, part)
	}
	if len(all.parts) == 1 {
		return all.parts[0], nil
	}
	return all, nil
}

// operator reads {"$all": […]}, {"$any": […]} or {"$not": …}.
func (p *predicateParser) operator(at string, o *entity.Object, depth int) (*Predicate, error) {
	m := o.Members[0]
	if len(o.Members) > 1 {
		return nil, invalidAt(at, "an operator must be the only key, got %s", show(o))
	}
	at += "." + m.Key
	switch m.Key {
	case "$not":
		part, err := p.predicate(at, m.Value, depth+1)
		if err != nil {
			return nil, err
		}
		return &Predicate{op: opNot, parts: []*Predicate{part}}, nil
	case "$all", "$any":
		out := &Predicate{op: opAll}
		if m.Key == "$any" {
			out.op = opAny
		}
		l, ok := m.Value.(entity.List)
		if !ok {
			return nil, invalidAt(at, "expected a list, got %s", show(m.Value))
		}
		for i := range l {
			if err := p.count(1, 0); err != nil {
				return nil, err
			}
			part, err := p.predicate(fmt.Sprintf("%s[%d]", at, i), l[i].Value, depth+1)
			if err != nil {
				return nil, err
			}
			out.parts = append(out.parts, part)
		}
		return out, nil
	default:
		return nil, invalidAt(at, "unknown operator; there are $all, $any and $not")
	}
}

// count keeps the bounds.
func (p *predicateParser) count(conditions, values int) error {
	if p.conditions += conditions; p.conditions > maxConditions {
		return fault.New(fault.Invalid, "the filter has more than %d conditions", maxConditions).WithFix("Use $in for many values of one field, or ask in parts.")
	}
	if p.values += values; p.values > maxValues {
		return fault.New(fault.Invalid, "the filter names more than %d values", maxValues).WithFix("Ask in parts.")
	}
	return nil
}

// field reads the condition on one field.
func (p *predicateParser) field(at, key string, v entity.Value) (*Predicate, error) {
	if first, n := utf8.DecodeRuneInString(key); first == '\n' || first == '\r' || strings.ContainsAny(key[n:], "\n\r\u2028\u2029") {
		return nil, invalidAt(at, "a field has no line breaks")
	}
	if err := p.count(1, 1); err != nil {
		return nil, err
	}
	if s, ok := primitive(v); ok {
		return Equals(key, s), nil
	}
	o, ok := v.(*entity.Object)
	if !ok {
		return nil, invalidAt(at, "expected a string, number, boolean or an operator, got %s", show(v))
	}
	// Of several operators the first of this order counts that has a value of
	// its type, as Backstage's schema picks them.
	if b, ok := o.Get("$exists").(bool); ok {
		if b {
			return Exists(key), nil
		}
		return &Predicate{op: opNot, parts: []*Predicate{Exists(key)}}, nil
	}
	if l, ok := o.Get("$in").(entity.List); ok {
		values, err := p.primitives(at+".$in", l)
		if err != nil {
			return nil, err
		}
		return Equals(key, values...), nil
	}
	if target, ok := o.Lookup("$contains"); ok {
		return p.contains(at+".$contains", key, target)
	}
	if s, ok := o.Get("$hasPrefix").(string); ok {
		return Prefix(key, s), nil
	}
	return nil, invalidAt(at, "expected $exists with a boolean, $in with a list, $hasPrefix with a string, or $contains, got %s", show(v))
}

// primitive is a string, number or boolean as the index writes it.
func primitive(v entity.Value) (string, bool) {
	switch v.(type) {
	case string, bool, float64:
		s, ok := text(v)
		return s, ok
	default:
		return "", false
	}
}

func (p *predicateParser) primitives(at string, l entity.List) ([]string, error) {
	if err := p.count(0, len(l)); err != nil {
		return nil, err
	}
	out := make([]string, len(l))
	for i := range l {
		s, ok := primitive(l[i].Value)
		if !ok {
			return nil, invalidAt(fmt.Sprintf("%s[%d]", at, i), "expected a string, number or boolean, got %s", show(l[i].Value))
		}
		out[i] = s
	}
	return out, nil
}

// contains reads what a list must contain: a primitive, or a relation.
func (p *predicateParser) contains(at, key string, v entity.Value) (*Predicate, error) {
	if s, ok := primitive(v); ok {
		return Equals(key, s), nil
	}
	o, ok := v.(*entity.Object)
	if !ok {
		return nil, invalidAt(at, "expected a string, number or boolean, or for relations an object, got %s", show(v))
	}
	if entity.Lower(key) != "relations" {
		return nil, invalid("Object form of $contains is not supported for field \"%s\"", entity.Lower(key))
	}
	return p.relation(at, o)
}

// relation reads {type, targetRef}.
func (p *predicateParser) relation(at string, o *entity.Object) (*Predicate, error) {
	var kind string
	var targets []string
	seen := map[string]bool{}
	for _, m := range o.Members {
		name := entity.Lower(m.Key)
		if seen[name] {
			return nil, invalid("Duplicate key \"%s\" in $contains for \"relations\"", m.Key)
		}
		seen[name] = true
		var err error
		switch name {
		case "type":
			kind, _ = m.Value.(string)
		case "targetref":
			targets, err = p.targets(at+"."+m.Key, m.Value)
		default:
			err = invalid("Unsupported key \"%s\" in $contains for \"relations\". Only \"type\" and \"targetRef\" are supported", m.Key)
		}
		if err != nil {
			return nil, err
		}
	}
	if kind == "" {
		return nil, invalid("The $contains operator for \"relations\" requires a \"type\" string property")
	}
	if targets == nil {
		return Exists("relations." + kind), nil
	}
	return Equals("relations."+kind, targets...), nil
}

func (p *predicateParser) targets(at string, v entity.Value) ([]string, error) {
	if s, ok := v.(string); ok {
		return []string{s}, nil
	}
	o, _ := v.(*entity.Object)
	l, ok := o.Get("$in").(entity.List)
	for i := range l {
		_, text := l[i].Value.(string)
		ok = ok && text
	}
	switch {
	case !ok || o.Len() != 1:
		return nil, invalid("Unsupported value in $contains for \"relations\": expected a string or { \"$in\": [strings] }, but got %s", show(v))
	case len(l) == 0:
		return nil, invalid("Empty \"$in\" array for $contains on \"relations\" is not allowed")
	}
	return p.primitives(at, l)
}

// ParseFilter reads Backstage's filter strings: alternatives, each of
// comma-separated key=value pairs that must all hold; a key alone exists, and
// a key given several times takes any of its values. nil is no condition.
func ParseFilter(filters []string) (*Predicate, error) {
	p := &predicateParser{}
	var any []*Predicate
	size := 0
	for _, f := range filters {
		if size += len(f); size > maxFilterSize {
			return nil, fault.New(fault.Invalid, "the filter is longer than %d bytes", maxFilterSize).WithFix("Ask in parts.")
		}
		part, err := p.filter(f)
		if err != nil {
			return nil, err
		}
		if part != nil {
			any = append(any, part)
		}
	}
	if len(any) < 2 {
		return All(any...), nil
	}
	return &Predicate{op: opAny, parts: any}, nil
}

func (p *predicateParser) filter(f string) (*Predicate, error) {
	var keys []string
	values := map[string][]string{}
	for statement := range strings.SplitSeq(f, ",") {
		statement = jsTrim(statement)
		if statement == "" {
			continue
		}
		key, value, valued := strings.Cut(statement, "=")
		if key = jsTrim(key); key == "" {
			return nil, fault.New(fault.Invalid, "Invalid filter, '%s' is not a valid statement (expected a string on the form a=b or a= or a)", statement).
				WithFix("Write key=value or key alone, several joined by commas, for example kind=component,spec.type=service.")
		}
		if err := p.count(1, 1); err != nil {
			return nil, err
		}
		if _, known := values[key]; !known {
			keys = append(keys, key)
			values[key] = nil
		}
		if valued {
			values[key] = append(values[key], jsTrim(value))
		}
	}
	parts := make([]*Predicate, len(keys))
	for i, key := range keys {
		parts[i] = Exists(key)
		if values[key] != nil {
			parts[i] = Equals(key, values[key]...)
		}
	}
	return All(parts...), nil
}

// jsTrim is JavaScript's trim: Unicode spaces, line ends and the BOM.
func jsTrim(s string) string {
	return strings.Trim(s, "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff")
}

// MarshalQuery writes a predicate for a cursor; nil for none.
func MarshalQuery(p *Predicate) json.RawMessage {
	if p == nil {
		return nil
	}
	return entity.AppendJSON(nil, p.json())
}
