package index

import (
	"slices"
	"strconv"
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
				return nil, fault.New(fault.Invalid, `Invalid field "%s", array type fields are not supported`, f).WithFix("Name the list itself, for example metadata.tags.")
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
	out := &draft{}
	for _, f := range p.fields {
		if path, v, ok := find(whole, f); ok {
			out.put(path, v)
		}
	}
	return e.WithJSON(entity.AppendJSON(nil, out.value()))
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
// a part that is no key is joined to the next. The parts of a list are its
// places and its length.
func find(o *entity.Object, parts []string) (path []string, v entity.Value, ok bool) {
	key := ""
	v = o
	for _, part := range parts {
		key += part
		next, has := member(v, key)
		if !has {
			key += "."
			continue
		}
		path, v, key = append(path, key), next, ""
	}
	return path, v, key == ""
}

// member is one part of a value.
func member(v entity.Value, key string) (entity.Value, bool) {
	switch v := v.(type) {
	case *entity.Object:
		return v.Lookup(key)
	case entity.List:
		if i, ok := place(key); ok && i < len(v) {
			return v[i].Value, true
		}
		return float64(len(v)), key == "length"
	default:
		return nil, false
	}
}

// maxPlace is the place in a list below which a made list may reach.
const maxPlace = 10_000

// place reads a number as the place in a list.
func place(key string) (int, bool) {
	i, err := strconv.Atoi(key)
	return i, err == nil && i >= 0 && i < maxPlace && strconv.Itoa(i) == key
}

// draft is a part of the output under way: an object or, where the first part
// put into it is a place, a list.
type draft struct {
	list bool
	keys []string
	// values are those of keys: drafts, or values of the entity that are there
	// as a whole.
	values []any
}

func newDraft(first string) *draft {
	_, list := place(first)
	return &draft{list: list}
}

// put puts a value at a path. What is there as a whole is left alone.
func (d *draft) put(path []string, v entity.Value) {
	for i, key := range path {
		k := slices.Index(d.keys, key)
		last := i == len(path)-1
		switch {
		case k < 0 && last:
			d.keys, d.values = append(d.keys, key), append(d.values, v)
		case k < 0:
			d.keys, d.values, k = append(d.keys, key), append(d.values, newDraft(path[i+1])), len(d.keys)
		case last:
			d.values[k] = v
		}
		if last {
			return
		}
		next, ours := d.values[k].(*draft)
		if !ours {
			return
		}
		d = next
	}
}

// value is what was put together; the places of a list that were left out are
// null, and what is no place in it is lost.
func (d *draft) value() entity.Value {
	out, list := &entity.Object{}, entity.List{}
	for k, key := range d.keys {
		v := d.values[k]
		if inner, ours := v.(*draft); ours {
			v = inner.value()
		}
		if i, ok := place(key); ok && d.list {
			for len(list) <= i {
				list = append(list, entity.Item{})
			}
			list[i].Value = v
			continue
		}
		out.Set(key, v)
	}
	if d.list {
		return list
	}
	return out
}
