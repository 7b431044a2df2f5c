package compare

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/fairlead-dev/fairlead/catalog/entity"
)

// fields are the fields that differ between two descriptors, in the order in
// which they are written now; those that are gone come last.
func fields(before, after *entity.Object) []Field {
	out := []Field{}
	each(before, after, func(key string, was, is entity.Value) {
		if key == "metadata" || key == "spec" {
			out = append(out, below(key+".", was, is)...)
			return
		}
		out = append(out, field(key, was, is))
	})
	return out
}

// below are the fields of metadata or spec that differ; labels and
// annotations are told one by one.
func below(prefix string, was, is entity.Value) []Field {
	a, _ := was.(*entity.Object)
	b, _ := is.(*entity.Object)
	if a == nil && b == nil {
		return []Field{field(prefix[:len(prefix)-1], was, is)}
	}
	var out []Field
	each(a, b, func(key string, was, is entity.Value) {
		switch name := prefix + key; name {
		case "metadata.annotations", "metadata.labels":
			out = append(out, below(name+".", was, is)...)
		default:
			out = append(out, field(name, was, is))
		}
	})
	return out
}

// each calls differs for every key whose values differ; null is as good as
// nothing.
func each(before, after *entity.Object, differs func(key string, was, is entity.Value)) {
	old, now := lookup(before), lookup(after)
	for i := range after.Len() {
		m := &after.Members[i]
		if was, _ := old(m.Key); !equal(was, m.Value) {
			differs(m.Key, was, m.Value)
		}
	}
	for i := range before.Len() {
		m := &before.Members[i]
		if _, there := now(m.Key); !there && m.Value != nil {
			differs(m.Key, m.Value, nil)
		}
	}
}

// lookup is Lookup in a time that does not grow with the object.
func lookup(o *entity.Object) func(string) (entity.Value, bool) {
	const few = 16
	if o.Len() <= few {
		return o.Lookup
	}
	all := make(map[string]entity.Value, o.Len())
	for k, v := range o.All() {
		all[k] = v
	}
	return func(key string) (entity.Value, bool) {
		v, ok := all[key]
		return v, ok
	}
}

func field(name string, was, is entity.Value) Field {
	return Field{Name: name, Before: encoded(was), After: encoded(is)}
}

func encoded(v entity.Value) json.RawMessage {
	if v == nil {
		return nil
	}
	return entity.AppendJSON(nil, v)
}

// equal compares values; the order of keys makes no difference.
func equal(a, b entity.Value) bool {
	switch a := a.(type) {
	case *entity.Object:
		b, ok := b.(*entity.Object)
		return ok && equalObjects(a, b)
	case entity.List:
		b, ok := b.(entity.List)
		return ok && slices.EqualFunc(a, b, func(x, y entity.Item) bool { return equal(x.Value, y.Value) })
	default:
		return bytes.Equal(entity.AppendJSON(nil, a), entity.AppendJSON(nil, b))
	}
}

func equalObjects(a, b *entity.Object) bool {
	if a.Len() != b.Len() {
		return false
	}
	other := lookup(b)
	for k, v := range a.All() {
		if w, there := other(k); !there || !equal(v, w) {
			return false
		}
	}
	return true
}
