package descriptor

import (
	"fmt"
	"slices"

	"github.com/fairlead-dev/fairlead/catalog/entity"
)

// edges derives the relations that a kind's fields stand for, both ways.
func edges(c *findings, k *kind, self entity.Ref, root *entity.Object) []entity.Edge {
	if len(k.relations) == 0 {
		return nil
	}
	spec, source := root.Object("spec"), self.String()
	out := make([]entity.Edge, 0, 2*references(k, spec))
	for i := range k.relations {
		r := &k.relations[i]
		v := spec.Get(r.field)
		if !truthy(v) {
			continue
		}
		covered := k.covers(r.field)
		link := func(v entity.Value, at entity.Position, name string) {
			if s, ok := v.(string); covered && (!ok || s == "") {
				return
			}
			ref, err := reference(v, r.defaultKind, self.Namespace)
			if err != "" {
				c.add(at, refFix(r), "%s %s", name, err)
				return
			}
			target := ref.String()
			out = append(out, entity.Edge{Source: source, Type: r.out, Target: target},
				entity.Edge{Source: target, Type: r.back, Target: source})
		}
		at := spec.Position(r.field)
		l, ok := v.(entity.List)
		if !ok {
			link(v, at, "spec."+r.field)
		}
		for i := range l {
			link(l[i].Value, place(l[i].At, at), index("spec."+r.field, i))
		}
	}
	return distinct(out)
}

// references is how many references a kind's fields hold.
func references(k *kind, spec *entity.Object) int {
	n := 0
	for i := range k.relations {
		switch v := spec.Get(k.relations[i].field).(type) {
		case nil:
		case entity.List:
			n += len(v)
		default:
			n++
		}
	}
	return n
}

func refFix(r *relation) string {
	if r.defaultKind == "" {
		return "Write it as kind:name or kind:namespace/name, for example component:default/shop."
	}
	return "Write it as name, namespace/name or kind:namespace/name."
}

// reference reads a reference: a text, or in fields that no schema covers a
// mapping of kind, namespace and name. The second result says what is wrong.
func reference(v entity.Value, defaultKind, namespace string) (entity.Ref, string) {
	switch v := v.(type) {
	case string:
		return textReference(v, defaultKind, namespace)
	case *entity.Object:
		return objectReference(v, entity.Ref{Kind: defaultKind, Namespace: namespace})
	default:
		return entity.Ref{}, "is " + show(v) + ", not a reference"
	}
}

func objectReference(o *entity.Object, ref entity.Ref) (entity.Ref, string) {
	parts := []struct {
		key  string
		into *string
	}{{"kind", &ref.Kind}, {"namespace", &ref.Namespace}, {"name", &ref.Name}}
	for _, part := range parts {
		switch s := o.Get(part.key).(type) {
		case nil:
		case string:
			*part.into = s
		default:
			return ref, fmt.Sprintf("has the %s %s, which is not a text", part.key, show(s))
		}
	}
	if ref.Kind == "" || ref.Namespace == "" || ref.Name == "" {
		return ref, "is a mapping that lacks a kind or a name"
	}
	return ref, ""
}

func textReference(s, defaultKind, namespace string) (entity.Ref, string) {
	ref, err := entity.ParseRef(s, defaultKind, namespace)
	if err == nil {
		return ref, ""
	}
	if ref, err := entity.ParseRef(s, "component", namespace); err == nil && ref.Name == s {
		return ref, quote(s) + " names no kind"
	}
	return ref, quote(s) + " is not a reference"
}

// few is how many edges are compared with each other rather than hashed.
const few = 32

func distinctFew(in []entity.Edge) []entity.Edge {
	out := in[:0]
	for _, e := range in {
		if !slices.Contains(out, e) {
			out = append(out, e)
		}
	}
	return out
}

// distinct removes repetitions, keeping order.
func distinct(in []entity.Edge) []entity.Edge {
	if len(in) <= few {
		return distinctFew(in)
	}
	seen := make(map[entity.Edge]struct{}, len(in))
	out := in[:0]
	for _, e := range in {
		if _, dup := seen[e]; !dup {
			seen[e] = struct{}{}
			out = append(out, e)
		}
	}
	return out
}
