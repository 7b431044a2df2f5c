package descriptor

import (
	"slices"
	"strings"

	"github.com/fairlead-dev/fairlead/catalog/entity"
)

// shape is what a field of spec has to be.
type shape uint8

const (
	text     shape = iota // a text that is not empty
	texts                 // a list of such texts
	profile               // a mapping of texts
	presence              // required or optional
	list                  // any list
)

// rule is one field of a kind's spec.
type rule struct {
	name     string
	shape    shape
	required bool
	// hint tells what belongs there, for whoever left it out.
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
	rules     []rule
	relations []relation
	// generic kinds have no schema of their own.
	generic bool
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
		c.add(root.Position("apiVersion"), "Write apiVersion: "+k.versions[0]+".",
			"apiVersion %s is not one that kind %s has", quote(version), name)
		return nil
	}
	spec, there := root.Lookup("spec")
	if !there {
		c.add(root.At, "Add spec"+required(k.rules)+".", "spec is missing: kind %s needs it", name)
		return k
	}
	if o, ok := spec.(*entity.Object); ok {
		checkSpec(c, o, root.Position("spec"), k)
	}
	return k
}

func (p *Processor) unknownKind(c *findings, root *entity.Object, name string) {
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

func checkSpec(c *findings, spec *entity.Object, at entity.Position, k *kind) {
	for i := range k.rules {
		r := &k.rules[i]
		v, there := spec.Lookup(r.name)
		switch {
		case there:
			checkField(c, spec.Position(r.name), v, r)
		case r.required:
			c.add(at, "Add it, for example "+r.hint+".", "spec.%s is missing: kind %s needs it", r.name, k.name)
		}
	}
}

func checkField(c *findings, at entity.Position, v entity.Value, r *rule) {
	switch r.shape {
	case text:
		checkText(c, at, v, "spec", r.name)
	case texts:
		checkTexts(c, at, v, "spec."+r.name)
	case list:
		if _, ok := v.(entity.List); !ok {
			c.add(at, "Write a list.", "spec.%s is %s, not a list", r.name, show(v))
		}
	case profile:
		o, ok := v.(*entity.Object)
		if !ok {
			c.add(at, "Write a mapping with displayName, email and picture, or remove it.", "spec.%s is %s, not a mapping", r.name, show(v))
			return
		}
		for _, name := range []string{"displayName", "email", "picture"} {
			if v, there := o.Lookup(name); there {
				checkText(c, o.Position(name), v, "spec.profile", name)
			}
		}
	case presence:
		if v != "required" && v != "optional" {
			c.add(at, "Write required or optional, or remove it.", "spec.%s is %s", r.name, show(v))
		}
	}
}

// checkText wants a text that is not empty.
func checkText(c *findings, at entity.Position, v entity.Value, parent, name string) bool {
	s, ok := v.(string)
	switch {
	case !ok:
		c.add(at, textFix(v), "%s is %s, not a text", field(parent, name), show(v))
	case s == "":
		c.add(at, "Give it a value or remove it.", "%s is empty", field(parent, name))
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

// checkTexts wants a list of texts that are not empty.
func checkTexts(c *findings, at entity.Position, v entity.Value, name string) {
	l, ok := v.(entity.List)
	if !ok {
		c.add(at, "Write a list, or remove it.", "%s is %s, not a list", name, show(v))
		return
	}
	for i := range l {
		switch s, ok := l[i].Value.(string); {
		case !ok:
			c.add(place(l[i].At, at), textFix(l[i].Value), "%s is %s, not a text", index(name, i), show(l[i].Value))
		case s == "":
			c.add(place(l[i].At, at), "Give it a value or remove it.", "%s is empty", index(name, i))
		}
	}
}

// place is the first position that is known.
func place(at, otherwise entity.Position) entity.Position {
	if at.Line == 0 {
		return otherwise
	}
	return at
}
