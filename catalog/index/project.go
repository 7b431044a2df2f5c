package index

import (
	"slices"
	"strings"

	"github.com/fairlead-dev/fairlead/catalog/entity"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// Projection narrows entities to some of their fields. The nil Projection
// keeps everything.
type Projection struct{ fields [][]string }

// NewProjection reads dotted paths, several to a string where commas stand
// between them; nil for none.
func NewProjection(fields []string) (*Projection, error) {
	var seen []string
	p := &Projection{}
	for _, list := range fields {
		for f := range strings.SplitSeq(list, ",") {
			f = jsTrim(f)
			if f == "" || slices.Contains(seen, f) {
				continue
			}
			if strings.Contains(f, "[") {
				return nil, fault.New(fault.Invalid, "invalid field %q: fields within lists cannot be picked", f).WithFix("Name the list itself, for example metadata.tags.")
			}
			if seen = append(seen, f); len(seen) > maxFields {
				return nil, fault.New(fault.Invalid, "more than %d fields are asked for", maxFields).WithFix("Leave fields out to get whole entities.")
			}
			p.fields = append(p.fields, strings.Split(f, "."))
		}
	}
	if len(p.fields) == 0 {
		return nil, nil
	}
	return p, nil
}

const maxFields = 200

// Apply gives the entity served with the chosen fields alone.
func (p *Projection) Apply(e *entity.Entity) *entity.Entity {
	if p == nil || e == nil {
		return e
	}
	whole := document(e)
	out, own := &entity.Object{}, map[*entity.Object]bool{}
	for _, f := range p.fields {
		if path, v, ok := find(whole, f); ok {
			place(own, out, path, v)
		}
	}
	return e.WithJSON(entity.AppendJSON(nil, out))
}

// document is everything that an entity's JSON holds.
func document(e *entity.Entity) *entity.Object {
	o := shallow(e.Root)
	rel := make(entity.List, len(e.Relations))
	for i, r := range e.Relations {
		rel[i].Value = entity.Obj("type", r.Type, "targetRef", r.TargetRef)
	}
	o.Set("relations", rel)
	if len(e.Status) > 0 {
		items := make(entity.List, len(e.Status))
		for i, s := range e.Status {
			items[i].Value = s
		}
		o.Set("status", entity.Obj("items", items))
	}
	return o
}

// find follows a path whose parts may have been cut out of keys with dots:
// a part that is no key is joined to the next.
func find(o *entity.Object, parts []string) (path []string, v entity.Value, ok bool) {
	key := ""
	v = o
	for _, part := range parts {
		key += part
		at, _ := v.(*entity.Object)
		next, has := at.Lookup(key)
		if !has {
			key += "."
			continue
		}
		path, v, key = append(path, key), next, ""
	}
	return path, v, key == ""
}

// place puts a value at a path of the output. own are the objects made for
// it; any other is part of the entity, there as a whole, and is left alone.
func place(own map[*entity.Object]bool, out *entity.Object, path []string, v entity.Value) {
	for _, key := range path[:len(path)-1] {
		next := out.Object(key)
		if next == nil {
			next = &entity.Object{}
			own[next] = true
			out.Set(key, next)
		}
		if !own[next] {
			return
		}
		out = next
	}
	out.Set(path[len(path)-1], v)
}
