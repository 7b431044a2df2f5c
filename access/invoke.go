package access

import (
	"context"
	"reflect"

	"github.com/fairlead-dev/fairlead/internal/fault"
)

// Call is one use of an operation, as the request log, metrics and traces
// see it. It is the same for the same operation in every door but for Door.
type Call struct {
	// Door is graphql, mcp or rest.
	Door string
	// Operation is the operation's name in snake_case, for example get_entity.
	Operation string
	// Action is what policy calls it.
	Action Action
	// Who asks.
	Who Caller
	// Target is what it is about, where one thing can be named. A Recorder
	// gets it as it goes into the audit: secrets masked, long texts cut.
	Target string
}

// Recorder is told of every call. The function that Begin returns is called
// once with the outcome; the context it returns carries the trace.
type Recorder interface {
	Begin(ctx context.Context, call Call) (context.Context, func(err error))
}

// Target names what an operation's input, a struct, is about: the first of its
// fields that names something and is given; "" for none.
func Target(in reflect.Value) string {
	for _, name := range []string{"Ref", "EntityRef", "Service", "Repository", "Source", "Target", "ID", "Lease"} {
		if f := in.FieldByName(name); f.IsValid() && f.Kind() == reflect.String && f.String() != "" {
			return f.String()
		}
	}
	return ""
}

// Invoke runs an operation for a door: it records the call, turns a panic
// into an internal fault and every error into a *fault.Error.
func Invoke[I, O any](ctx context.Context, rec Recorder, call Call, in I, do func(context.Context, Caller, I) (*O, error)) (out *O, err error) {
	call.Target = plain(call.Target)
	ctx, end := rec.Begin(ctx, call)
	defer func() {
		if p := recover(); p != nil {
			out, err = nil, fault.From(panicked(call.Operation, p))
		}
		end(err)
	}()
	out, err = do(ctx, call.Who, in)
	if err != nil {
		return nil, fault.From(err)
	}
	return out, nil
}
