package mcp

import (
	"fmt"

	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/catalog/entity"
)

// The cuts that an entity too large for an answer goes through, one after the
// other until it is small enough: texts to so many characters, lists and
// mappings to so many items.
func cuts() []struct{ text, items int } {
	return []struct{ text, items int }{{4000, 200}, {1000, 100}, {300, 40}, {120, 15}, {60, 5}}
}

// trimEntity makes a copy of an entity without its longest texts and lists,
// which notes what was cut and where the whole of it is to be had; nil if no
// cut makes it small enough.
func trimEntity(e *catalog.Entity) *catalog.Entity {
	if len(omitted(e)) > 0 {
		return nil // it was trimmed as far as it goes
	}
	for _, c := range cuts() {
		t := &trimmer{text: c.text, items: c.items}
		root, _ := t.value("", e.Root).(*entity.Object)
		cut := &catalog.Entity{Ref: e.Ref, Root: root, Relations: e.Relations, Status: e.Status, From: e.From}
		if len(e.Relations) > c.items {
			t.note("relations", len(e.Relations), "entries")
			cut.Relations = e.Relations[:c.items]
		}
		if len(e.Status) > c.items {
			t.note("status", len(e.Status), "entries")
			cut.Status = e.Status[:c.items]
		}
		if len(t.notes) > 20 {
			t.notes = append(t.notes[:20:20], entity.Item{Value: "…"})
		}
		root.Set("omitted", append(t.notes, entity.Item{Value: "all of it: GET /api/v1/entities/" + e.Ref.String()}))
		if len(cut.AppendJSON(nil))+len(renderEntity(cut)) <= maxAnswer {
			return cut
		}
	}
	return nil
}

// omitted are the notes of what trimEntity cut.
func omitted(e *catalog.Entity) []string { return e.Root.Strings("omitted") }

type trimmer struct {
	text, items int
	notes       entity.List
}

func (t *trimmer) note(path string, n int, unit string) {
	t.notes = append(t.notes, entity.Item{Value: fmt.Sprintf("%s: cut, %d %s in all", path, n, unit)})
}

// value is a copy of v without what is too long in it.
func (t *trimmer) value(path string, v entity.Value) entity.Value {
	switch v := v.(type) {
	case string:
		if r := []rune(v); len(r) > t.text {
			t.note(path, len(r), "characters")
			return string(r[:t.text]) + "…"
		}
		return v
	case entity.List:
		return t.list(path, v)
	case *entity.Object:
		return t.object(path, v)
	default:
		return v
	}
}

func (t *trimmer) list(path string, l entity.List) entity.List {
	if len(l) > t.items {
		t.note(path, len(l), "items")
		l = l[:t.items]
	}
	out := make(entity.List, len(l))
	for i, it := range l {
		out[i].Value = t.value(path+"[]", it.Value)
	}
	return out
}

func (t *trimmer) object(path string, o *entity.Object) *entity.Object {
	out := &entity.Object{}
	if o == nil {
		return out
	}
	members := o.Members
	if len(members) > t.items {
		t.note(path, len(members), "keys")
		members = members[:t.items]
	}
	for _, m := range members {
		at := m.Key
		if path != "" {
			at = path + "." + m.Key
		}
		out.Set(m.Key, t.value(at, m.Value))
	}
	return out
}
