package compare

import (
	"cmp"
	"slices"
	"strings"

	"github.com/fairlead-dev/fairlead/catalog/entity"
)

// relations compares the relations that entities name themselves: those in
// the other direction follow from them.
func (c *comparison) relations() Relations {
	out := Relations{Broken: []Relation{}, Made: []Relation{}, Dropped: []Relation{}, Unknown: []Relation{}}
	for ref, now := range c.is {
		was := named(c.was[ref].Description)
		for _, e := range own(now.Description) {
			c.judge(&out, now.Description, e, was[e])
		}
	}
	for ref, was := range c.was {
		now, there := c.is[ref]
		if !there {
			continue
		}
		still := named(now.Description)
		for _, e := range own(was.Description) {
			if !still[e] {
				out.Dropped = append(out.Dropped, was.relation(e))
			}
		}
	}
	for _, l := range [][]Relation{out.Broken, out.Made, out.Dropped, out.Unknown} {
		slices.SortFunc(l, func(a, b Relation) int {
			return cmp.Or(cmp.Compare(a.Source, b.Source), cmp.Compare(a.Type, b.Type), cmp.Compare(a.Target, b.Target))
		})
	}
	return out
}

// judge files one relation of now.
func (c *comparison) judge(out *Relations, d *Description, e entity.Edge, before bool) {
	_, was := c.was[e.Target]
	_, is := c.is[e.Target]
	is = is || c.stale[e.Target]
	switch {
	case was && !is:
		out.Broken = append(out.Broken, d.relation(e))
	case before:
	case is:
		out.Made = append(out.Made, d.relation(e))
	default:
		out.Unknown = append(out.Unknown, d.relation(e))
	}
}

// own are the relations that a description names from its own entity.
func own(d *Description) []entity.Edge {
	if d == nil {
		return nil
	}
	out := make([]entity.Edge, 0, len(d.Edges)/2)
	for _, e := range d.Edges {
		if e.Source == d.Ref {
			out = append(out, e)
		}
	}
	return out
}

func named(d *Description) map[entity.Edge]bool {
	out := map[entity.Edge]bool{}
	for _, e := range own(d) {
		out[e] = true
	}
	return out
}

func (d *Description) relation(e entity.Edge) Relation {
	r := Relation{Source: e.Source, Type: e.Type, Target: e.Target, Place: d.Place, Owner: d.Owner}
	if line := d.line(e.Target); line > 0 {
		r.Line = line
	}
	return r
}

// line is where a field of spec names an entity, 0 where none is found to.
func (d *Description) line(target string) uint32 {
	if d.lines == nil {
		d.lines = d.named()
	}
	if line, there := d.lines[target]; there {
		return line
	}
	_, name, _ := strings.Cut(target, ":")
	return d.lines[anyKind+":"+name]
}

// anyKind stands for the kind of a reference that leaves it out.
const anyKind = "?"

// named are the first lines on which spec names what may be entities.
func (d *Description) named() map[string]uint32 {
	out := map[string]uint32{}
	namespace := cmp.Or(d.Content.Object("metadata").String("namespace"), entity.DefaultNamespace)
	add := func(v entity.Value, line uint32) {
		s, _ := v.(string)
		ref, err := entity.ParseRef(s, anyKind, namespace)
		if err != nil {
			return
		}
		if _, again := out[ref.String()]; !again {
			out[ref.String()] = line
		}
	}
	spec := d.Content.Object("spec")
	for i := range spec.Len() {
		m := &spec.Members[i]
		add(m.Value, m.At.Line)
		l, _ := m.Value.(entity.List)
		for i := range l {
			add(l[i].Value, l[i].At.Line)
		}
	}
	return out
}
