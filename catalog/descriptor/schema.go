package descriptor

import (
	"slices"
	"strings"

	"github.com/fairlead-dev/fairlead/catalog/entity"
)

// shape is what a value has to be.
type shape uint8

const (
	text     shape = iota // a text that is not empty
	anyText               // a text
	flag                  // a text or a boolean
	mapping               // a mapping
	list                  // a list
	either                // a mapping, or a list of such mappings
	presence              // required or optional
)

// schema is what is asked of a value.
type schema struct {
	shape shape
	// fields are what is asked of a mapping's members, rest of its others.
	fields []rule
	rest   *schema
	// items is what is asked of a list's items; nil is nothing.
	items *schema
}

// rule is what is asked of one member of a mapping.
type rule struct {
	name string
	schema
	required bool
	// hint is an example, for whoever left it out.
	hint string
}

// relation is how a field of spec becomes an edge of the graph, out from the
// entity and back.
type relation struct {
	field       string
	defaultKind string
	out, back   string
}

// kind is what the catalog knows of one kind.
type kind struct {
	name      string
	versions  []string
	spec      schema
	relations []relation
	// generic kinds have no schema of their own.
	generic bool
}

// covers tells whether the schema says anything about a field of spec.
func (k *kind) covers(field string) bool {
	return slices.ContainsFunc(k.spec.fields, func(r rule) bool { return r.name == field })
}

// checkKind checks that the kind and its version are known and that spec has
// the shape it asks for.
func (p *Processor) checkKind(c *findings, root *entity.Object) *kind {
	name, version := root.String("kind"), root.String("apiVersion")
	k := p.kinds[name]
	if k == nil {
		p.unknownKind(c, root, name)
		return nil
	}
	if k.generic {
		return k
	}
	if !slices.Contains(k.versions, version) {
		if isAPIVersion(version) {
			c.add(root.Position("apiVersion"), "Write apiVersion: "+k.versions[0]+".",
				"apiVersion %s is not one that kind %s has", quote(version), name)
		}
		return nil
	}
	spec, there := root.Lookup("spec")
	if !there {
		c.add(root.At, "Add spec"+required(k.spec.fields)+".", "spec is missing: kind %s needs it", name)
		return k
	}
	if o, ok := spec.(*entity.Object); ok {
		k.spec.mapping(c, root.Position("spec"), o, "spec", "kind "+name)
	}
	return k
}

func (p *Processor) unknownKind(c *findings, root *entity.Object, name string) {
	if !isKind(name) {
		return
	}
	at := root.Position("kind")
	for known := range p.kinds {
		if strings.EqualFold(known, name) {
			c.add(at, "Write kind: "+known+".", "kind %s is not known: kinds are case-sensitive", quote(name))
			return
		}
	}
	c.add(at, "Use one of "+p.kindNames+", or have the kind added to catalog.kinds.", "kind %s is not known", quote(name))
}

// required lists the fields that a spec cannot do without.
func required(rules []rule) string {
	var names []string
	for _, r := range rules {
		if r.required {
			names = append(names, r.name)
		}
	}
	if len(names) == 0 {
		return ": {}"
	}
	return " with " + strings.Join(names, ", ")
}

// where is the path of a value, written out only for messages.
type where struct {
	parent, key string
	item        int
}

func (w where) String() string {
	if w.key == "" && w.item >= 0 {
		return index(w.parent, w.item)
	}
	return field(w.parent, w.key)
}

// check checks a value and all that it holds.
func (s *schema) check(c *findings, at entity.Position, v entity.Value, w where) {
	switch s.shape {
	case text:
		checkText(c, at, v, w)
	case anyText:
		if _, ok := v.(string); !ok {
			c.add(at, textFix(v), "%s is %s, not a text", w, show(v))
		}
	case flag:
		switch v.(type) {
		case string, bool:
		default:
			c.add(at, "Write a text or a boolean.", "%s is %s, neither a text nor a boolean", w, show(v))
		}
	case presence:
		if v != "required" && v != "optional" {
			c.add(at, "Write required or optional, or remove it.", "%s is %s", w, show(v))
		}
	default:
		s.container(c, at, v, w)
	}
}

func (s *schema) container(c *findings, at entity.Position, v entity.Value, w where) {
	switch v := v.(type) {
	case *entity.Object:
		if s.shape != list {
			s.mapping(c, at, v, w.String(), w.String())
			return
		}
	case entity.List:
		if s.shape == list {
			s.list(c, at, v, w)
			return
		}
		if s.shape == either {
			one := schema{shape: mapping, fields: s.fields, rest: s.rest}
			(&schema{shape: list, items: &one}).list(c, at, v, w)
			return
		}
	}
	want := map[shape]string{list: "a list", mapping: "a mapping", either: "a mapping or a list of mappings"}[s.shape]
	c.add(at, "Write "+want+", or remove it.", "%s is %s, not %s", w, show(v), want)
}

func (s *schema) list(c *findings, at entity.Position, l entity.List, w where) {
	if s.items == nil || len(l) == 0 {
		return
	}
	name := w.String()
	for i := range l {
		s.items.check(c, place(l[i].At, at), l[i].Value, where{parent: name, item: i})
	}
}

// mapping checks members; who names what needs those that are required.
func (s *schema) mapping(c *findings, at entity.Position, o *entity.Object, name, who string) {
	for i := range s.fields {
		r := &s.fields[i]
		v, there := o.Lookup(r.name)
		switch {
		case there:
			r.check(c, place(o.Position(r.name), at), v, where{parent: name, key: r.name})
		case r.required:
			c.add(at, "Add it, for example "+r.hint+".", "%s is missing: %s needs it", field(name, r.name), who)
		}
	}
	if s.rest == nil {
		return
	}
	for i := range o.Members {
		m := &o.Members[i]
		if !slices.ContainsFunc(s.fields, func(r rule) bool { return r.name == m.Key }) {
			s.rest.check(c, place(m.At, at), m.Value, where{parent: name, key: m.Key})
		}
	}
}

// checkText wants a text that is not empty.
func checkText(c *findings, at entity.Position, v entity.Value, w where) bool {
	s, ok := v.(string)
	switch {
	case !ok:
		c.add(at, textFix(v), "%s is %s, not a text", w, show(v))
	case s == "":
		c.add(at, "Give it a value or remove it.", "%s is empty", w)
	default:
		return true
	}
	return false
}

// textFix says how to make a text of something else.
func textFix(v entity.Value) string {
	switch v := v.(type) {
	case nil:
		return "Give it a value or remove it."
	case bool, float64:
		return "Put it in quotes, so that YAML reads it as text."
	case *entity.Object:
		if len(v.Members) == 1 {
			if key := v.Members[0].Key; strings.HasPrefix(key, "{") {
				return "Put the value in quotes: YAML reads {{ as a mapping."
			} else if strings.HasPrefix(key, "$") {
				return "Use $text, $json or $yaml: " + quote(key) + " is not a placeholder that is filled."
			}
		}
	}
	return "Write a single text."
}

// place is the first position that is known.
func place(at, otherwise entity.Position) entity.Position {
	if at.Line == 0 {
		return otherwise
	}
	return at
}
