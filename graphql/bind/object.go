package bind

import (
	"reflect"

	"github.com/fairlead-dev/fairlead/graphql/scalar"
)

// holdsObjects tells of an input of one object, of a list of objects, or of a
// number that may be left out.
func holdsObjects(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Struct, reflect.Pointer:
		return true
	case reflect.Slice:
		return t.Elem().Kind() == reflect.Struct
	}
	return false
}

// objectArgument makes the argument of an input object, of several, or of what
// is behind a pointer.
func objectArgument(t reflect.Type, optional bool) argument {
	switch t.Kind() {
	case reflect.Pointer:
		return behind(argumentOf("", t.Elem(), false), t)
	case reflect.Slice:
		return perhaps(several(argumentOf("", t.Elem(), false), t), optional)
	}
	fields, read := argsOf(t)
	return perhaps(argument{typ: fields, read: read}, optional)
}

// behind makes an argument that may be left out, for a pointer.
func behind(one argument, t reflect.Type) argument {
	return argument{typ: reflect.PointerTo(one.typ), read: func(given, to reflect.Value) error {
		if given.IsNil() {
			return nil
		}
		to.Set(reflect.New(t.Elem()))
		return one.read(given.Elem(), to.Elem())
	}}
}

// several makes an argument of a list.
func several(one argument, t reflect.Type) argument {
	return argument{typ: reflect.SliceOf(one.typ), read: func(given, to reflect.Value) error {
		to.Set(reflect.MakeSlice(t, given.Len(), given.Len()))
		for i := range given.Len() {
			if err := one.read(given.Index(i), to.Index(i)); err != nil {
				return err
			}
		}
		return nil
	}}
}

// perhaps makes an argument one that may be left out.
func perhaps(a argument, optional bool) argument {
	if !optional {
		return a
	}
	return argument{typ: reflect.PointerTo(a.typ), read: func(given, to reflect.Value) error {
		if given.IsNil() {
			return nil
		}
		return a.read(given.Elem(), to)
	}}
}

// jsonArgument makes an argument of any JSON value.
func jsonArgument(optional bool) argument {
	if optional {
		return argument{typ: reflect.TypeFor[*scalar.JSON](), read: readJSON}
	}
	return argument{typ: reflect.TypeFor[scalar.JSON](), read: func(given, to reflect.Value) error {
		to.SetBytes(given.Interface().(scalar.JSON).Raw)
		return nil
	}}
}
