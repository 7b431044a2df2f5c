// Package entity holds the catalog's vocabulary: references, descriptor
// values with the place each was written, entities as Backstage serves them,
// relations, and problems with file, line and column.
package entity

import "iter"

// Value is one descriptor value: nil, bool, float64, string, *Object or List.
// Numbers are IEEE doubles, as in JSON and JavaScript.
type Value = any

// Position is where something was written: line and column from 1; the zero
// Position is "unknown". Columns count runes.
type Position struct {
	Line   uint32 `json:"line"`
	Column uint32 `json:"column"`
}

// Member is one key of an Object with its value and the place of the key.
type Member struct {
	Key   string
	Value Value
	At    Position
}

// Item is one element of a List with the place where it stands.
type Item struct {
	Value Value
	At    Position
}

// List is an ordered list of values.
type List []Item

// Object is a mapping that keeps the order in which keys were written. The
// zero value is an empty object; a nil *Object reads as empty.
type Object struct {
	Members []Member
	// At is where the mapping starts.
	At Position
}

// Obj makes an Object from alternating keys and values, for generated data.
func Obj(pairs ...any) *Object {
	o := &Object{Members: make([]Member, 0, len(pairs)/2)}
	for i := 0; i+1 < len(pairs); i += 2 {
		o.Members = append(o.Members, Member{Key: pairs[i].(string), Value: pairs[i+1]})
	}
	return o
}

// Len is the number of keys.
func (o *Object) Len() int {
	if o == nil {
		return 0
	}
	return len(o.Members)
}

func (o *Object) find(key string) int {
	if o == nil {
		return -1
	}
	for i := range o.Members {
		if o.Members[i].Key == key {
			return i
		}
	}
	return -1
}

// Get is the value at key, nil where there is none.
func (o *Object) Get(key string) Value {
	v, _ := o.Lookup(key)
	return v
}

// Lookup is the value at key and whether the key is there at all.
func (o *Object) Lookup(key string) (Value, bool) {
	if i := o.find(key); i >= 0 {
		return o.Members[i].Value, true
	}
	return nil, false
}

// Position is where key was written; the object's own place where it is not.
func (o *Object) Position(key string) Position {
	if i := o.find(key); i >= 0 {
		return o.Members[i].At
	}
	if o == nil {
		return Position{}
	}
	return o.At
}

// Set replaces or appends a key, keeping the place of a key that was there.
func (o *Object) Set(key string, v Value) {
	if i := o.find(key); i >= 0 {
		o.Members[i].Value = v
		return
	}
	o.Members = append(o.Members, Member{Key: key, Value: v})
}

// Delete removes a key if it is there.
func (o *Object) Delete(key string) {
	if i := o.find(key); i >= 0 {
		o.Members = append(o.Members[:i:i], o.Members[i+1:]...)
	}
}

// All yields keys and values in order.
func (o *Object) All() iter.Seq2[string, Value] {
	return func(yield func(string, Value) bool) {
		if o == nil {
			return
		}
		for i := range o.Members {
			if !yield(o.Members[i].Key, o.Members[i].Value) {
				return
			}
		}
	}
}

// Object is the mapping at key; nil where there is none or it is no mapping.
func (o *Object) Object(key string) *Object {
	v, _ := o.Get(key).(*Object)
	return v
}

// String is the string at key; "" where there is none or it is no string.
func (o *Object) String(key string) string {
	v, _ := o.Get(key).(string)
	return v
}

// List is the list at key; nil where there is none or it is no list.
func (o *Object) List(key string) List {
	v, _ := o.Get(key).(List)
	return v
}

// Strings are the string items of the list at key, others left out.
func (o *Object) Strings(key string) []string {
	l := o.List(key)
	out := make([]string, 0, len(l))
	for _, it := range l {
		if s, ok := it.Value.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

// Clone copies v deeply, so that the copy can be changed.
func Clone(v Value) Value {
	switch v := v.(type) {
	case *Object:
		return v.Clone()
	case List:
		c := make(List, len(v))
		for i, it := range v {
			c[i] = Item{Value: Clone(it.Value), At: it.At}
		}
		return c
	default:
		return v
	}
}

// Clone copies the object deeply.
func (o *Object) Clone() *Object {
	if o == nil {
		return nil
	}
	c := &Object{Members: make([]Member, len(o.Members)), At: o.At}
	for i, m := range o.Members {
		c.Members[i] = Member{Key: m.Key, Value: Clone(m.Value), At: m.At}
	}
	return c
}
