package bind

import (
	"encoding/json"
	"reflect"
	"strings"
	"time"

	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/graphql/scalar"
)

// A view is how graphql-go gets to see a Go type of the rooms: as a type with
// fields that it can resolve (32-bit integers, pointers for what may be
// absent) and the names that the JSON of every other door has. It is made by
// reflection, so that no type of a room is written down a second time.
type view struct {
	typ reflect.Type
	of  func(v reflect.Value, near Near) reflect.Value
}

// view makes the view of a type; optional values are null where they are
// zero.
func (b *Binder) view(t reflect.Type, optional bool) view {
	switch t {
	case reflect.TypeFor[time.Time]():
		return view{reflect.TypeFor[*scalar.Time](), func(v reflect.Value, _ Near) reflect.Value {
			if v.IsZero() {
				return reflect.Zero(reflect.TypeFor[*scalar.Time]())
			}
			return reflect.ValueOf(&scalar.Time{At: v.Interface().(time.Time)})
		}}
	case reflect.TypeFor[json.RawMessage]():
		return view{reflect.TypeFor[*scalar.JSON](), func(v reflect.Value, near Near) reflect.Value {
			if v.Len() == 0 {
				return reflect.Zero(reflect.TypeFor[*scalar.JSON]())
			}
			near.Count(v.Len())
			return reflect.ValueOf(&scalar.JSON{Raw: v.Bytes()})
		}}
	case reflect.TypeFor[*catalog.Entity]():
		return view{b.Node, func(v reflect.Value, near Near) reflect.Value {
			return reflect.ValueOf(near.Given(v.Interface().(*catalog.Entity)))
		}}
	}
	switch t.Kind() {
	case reflect.String:
		return plain(reflect.TypeFor[string](), optional)
	case reflect.Int, reflect.Int64, reflect.Uint32:
		return plain(reflect.TypeFor[int32](), optional)
	case reflect.Float64:
		return plain(reflect.TypeFor[float64](), optional)
	case reflect.Bool:
		return plain(reflect.TypeFor[bool](), false)
	case reflect.Pointer:
		return pointer(b.view(t.Elem(), false))
	case reflect.Slice:
		return list(b.view(t.Elem(), false))
	case reflect.Struct:
		return b.object(t)
	}
	panic("bind: no view of " + t.String())
}

// plain views a type by converting it.
func plain(to reflect.Type, optional bool) view {
	if !optional {
		return view{to, func(v reflect.Value, near Near) reflect.Value {
			near.Count(sizeOf(v))
			return v.Convert(to)
		}}
	}
	return view{reflect.PointerTo(to), func(v reflect.Value, near Near) reflect.Value {
		if v.IsZero() {
			return reflect.Zero(reflect.PointerTo(to))
		}
		near.Count(sizeOf(v))
		p := reflect.New(to)
		p.Elem().Set(v.Convert(to))
		return p
	}}
}

// sizeOf is the size in an answer of a value that may be long.
func sizeOf(v reflect.Value) int {
	if v.Kind() == reflect.String {
		return v.Len()
	}
	return 0
}

// pointer views what may be absent.
func pointer(elem view) view {
	typ, ready := elem.typ, elem.typ.Kind() == reflect.Pointer
	if !ready {
		typ = reflect.PointerTo(elem.typ)
	}
	return view{typ, func(v reflect.Value, near Near) reflect.Value {
		if v.IsNil() {
			return reflect.Zero(typ)
		}
		of := elem.of(v.Elem(), near)
		if ready {
			return of
		}
		p := reflect.New(elem.typ)
		p.Elem().Set(of)
		return p
	}}
}

func list(elem view) view {
	typ := reflect.SliceOf(elem.typ)
	return view{typ, func(v reflect.Value, near Near) reflect.Value {
		out := reflect.MakeSlice(typ, v.Len(), v.Len())
		for i := range v.Len() {
			out.Index(i).Set(elem.of(v.Index(i), near))
		}
		return out
	}}
}

// member is a field of a view and where its value comes from.
type member struct {
	from []int
	view view
}

// object views a struct. One that has a ref also gets the entity of that ref;
// all refs of an answer are looked up together.
func (b *Binder) object(t reflect.Type) view {
	var fields []reflect.StructField
	var members []member
	var ref []int
	for _, f := range reflect.VisibleFields(t) {
		name, opts, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !f.IsExported() || f.Anonymous || name == "" || name == "-" {
			continue
		}
		v := b.view(f.Type, strings.Contains(opts, "omitempty"))
		if name == "ref" || name == "entityRef" {
			ref = f.Index
		}
		fields = append(fields, exported(name, v.typ))
		members = append(members, member{f.Index, v})
	}
	if ref != nil {
		fields = append(fields, exported("entity", b.Link))
	}
	typ := reflect.StructOf(fields)
	return view{reflect.PointerTo(typ), func(v reflect.Value, near Near) reflect.Value {
		out := reflect.New(typ)
		for i, m := range members {
			out.Elem().Field(i).Set(m.view.of(v.FieldByIndex(m.from), near))
		}
		if ref != nil {
			out.Elem().Field(len(members)).Set(reflect.ValueOf(near.Link(v.FieldByIndex(ref).String())))
		}
		return out
	}}
}

func exported(name string, typ reflect.Type) reflect.StructField {
	return reflect.StructField{Name: strings.ToUpper(name[:1]) + name[1:], Type: typ}
}
