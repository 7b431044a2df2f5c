// Package bind makes what graphql-go resolves fields with from the operations
// of the rooms: their inputs become arguments and their outputs types, by
// reflection, so that nothing of a room is written down a second time.
package bind

import (
	"context"
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/graphql/engine"
	"github.com/fairlead-dev/fairlead/graphql/filter"
	"github.com/fairlead-dev/fairlead/graphql/scalar"
)

// Near is what the views of one answer share.
type Near interface {
	// Link is what looks up the entity of a reference, "" for none; all links
	// of an answer are made before the first is followed. It has the type
	// Binder.Link.
	Link(ref string) any
	// Given is the node of an entity that the answer holds itself, nil for
	// nil. It has the type Binder.Node.
	Given(e *catalog.Entity) any
	// Count is told how many bytes a text takes.
	Count(bytes int)
}

// Binder binds operations.
type Binder struct {
	// Recorder is told of every call.
	Recorder access.Recorder
	// Near begins what the views of an answer share; done is called when the
	// answer has been viewed.
	Near func(ctx context.Context) (near Near, done func())
	// Link and Node are the types of Near's values.
	Link, Node reflect.Type
}

// Verb is an operation of a room.
type Verb[I, O any] = func(context.Context, access.Caller, I) (*O, error)

// Invoke runs an operation for the caller of a request.
func Invoke[I, O any](ctx context.Context, rec access.Recorder, op string, action access.Action, target string, in I, do Verb[I, O]) (*O, error) {
	call := access.Call{Door: "graphql", Operation: op, Action: action, Who: engine.RequestOf(ctx).Who(), Target: target}
	return access.Invoke(ctx, rec, call, in, do)
}

// Operation makes the resolver of a field from an operation: its arguments
// from the operation's input, what it answers from the output.
func Operation[I, O any](b *Binder, op string, action access.Action, do Verb[I, O]) any {
	args, read := argsOf(reflect.TypeFor[I]())
	out := b.view(reflect.TypeFor[*O](), false)
	in := []reflect.Type{reflect.TypeFor[context.Context]()}
	if args.NumField() > 0 {
		in = append(in, args)
	}
	typ := reflect.FuncOf(in, []reflect.Type{out.typ, reflect.TypeFor[error]()}, false)
	return reflect.MakeFunc(typ, func(given []reflect.Value) []reflect.Value {
		ctx := given[0].Interface().(context.Context)
		input := reflect.New(reflect.TypeFor[I]()).Elem()
		var answer *O
		var err error
		if len(given) > 1 {
			err = read(given[1], input)
		}
		if err == nil {
			answer, err = Invoke(ctx, b.Recorder, op, action, access.Target(input), input.Interface().(I), do)
		}
		if err != nil {
			return []reflect.Value{reflect.Zero(out.typ), reflect.ValueOf(err)}
		}
		near, done := b.Near(ctx)
		v := out.of(reflect.ValueOf(answer), near)
		done()
		return []reflect.Value{v, reflect.Zero(reflect.TypeFor[error]())}
	}).Interface()
}

// argument is one field of an input and how graphql-go fills it.
type argument struct {
	to   []int
	typ  reflect.Type
	read func(given, to reflect.Value) error
}

// argsOf makes the struct that graphql-go puts a field's arguments into, and
// what reads it into the operation's input. Pages are called first and after
// in GraphQL.
func argsOf(t reflect.Type) (reflect.Type, func(given, to reflect.Value) error) {
	var fields []reflect.StructField
	var args []argument
	for _, f := range reflect.VisibleFields(t) {
		name, opts, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !f.IsExported() || f.Tag.Get("jsonschema") == "-" || name == "" || name == "-" {
			continue
		}
		if renamed, ok := map[string]string{"limit": "first", "cursor": "after"}[name]; ok {
			name = renamed
		}
		arg := argumentOf(name, f.Type, strings.Contains(opts, "omitempty"))
		arg.to = f.Index
		args = append(args, arg)
		fields = append(fields, exported(name, arg.typ))
	}
	return reflect.StructOf(fields), func(given, to reflect.Value) error {
		for i, a := range args {
			if err := a.read(given.Field(i), to.FieldByIndex(a.to)); err != nil {
				return err
			}
		}
		return nil
	}
}

func argumentOf(name string, t reflect.Type, optional bool) argument {
	if name == "filter" {
		return argument{typ: reflect.TypeFor[*filter.Filter](), read: readFilter}
	}
	if t == reflect.TypeFor[json.RawMessage]() {
		return jsonArgument(optional)
	}
	if holdsObjects(t) {
		return objectArgument(t, optional)
	}
	typ := t
	if t.Kind() == reflect.Int {
		typ = reflect.TypeFor[int32]()
	}
	if !optional {
		return argument{typ: typ, read: func(given, to reflect.Value) error {
			to.Set(given.Convert(t))
			return nil
		}}
	}
	return argument{typ: reflect.PointerTo(typ), read: func(given, to reflect.Value) error {
		if !given.IsNil() {
			to.Set(given.Elem().Convert(t))
		}
		return nil
	}}
}

func readFilter(given, to reflect.Value) error {
	list, err := given.Interface().(*filter.Filter).Strings()
	to.Set(reflect.ValueOf(list))
	return err
}

func readJSON(given, to reflect.Value) error {
	if !given.IsNil() {
		to.SetBytes(given.Interface().(*scalar.JSON).Raw)
	}
	return nil
}

// Resolver makes a resolver of functions by field name.
func Resolver(fields map[string]any) any {
	names := make([]string, 0, len(fields))
	for name := range fields {
		names = append(names, name)
	}
	slices.Sort(names)
	var typed []reflect.StructField
	for _, name := range names {
		typed = append(typed, exported(name, reflect.TypeOf(fields[name])))
	}
	v := reflect.New(reflect.StructOf(typed))
	for i, name := range names {
		v.Elem().Field(i).Set(reflect.ValueOf(fields[name]))
	}
	return v.Interface()
}
