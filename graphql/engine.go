package graphql

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"sync/atomic"

	gql "github.com/graph-gophers/graphql-go"
	gqlerrors "github.com/graph-gophers/graphql-go/errors"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/graphql/limit"
	"github.com/fairlead-dev/fairlead/graphql/overhttp"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// request is what the resolvers of one request share. graphql-go hands a
// resolver nothing of the request but its context.
type request struct {
	who  access.Caller
	left atomic.Int64 // entities that may still be touched
	most int64
}

type requestKey struct{}

func requestOf(ctx context.Context) *request {
	r, _ := ctx.Value(requestKey{}).(*request)
	return r
}

// spend takes from what the request may touch: one for an entity, or for half
// a KiB of JSON.
func (r *request) spend(n int) error {
	if r.left.Add(int64(-n)) >= 0 {
		return nil
	}
	return fault.New(fault.Invalid, "the answer would touch more than %d entities, counting half a KiB of JSON as one", r.most).
		WithFix("Ask for fewer related entities with first, or page through entities with a filter.")
}

// refill gives the request all of what it may touch again: each event of a
// subscription counts for itself.
func (r *request) refill() { r.left.Store(r.most) }

// prepared is a request that has passed the limits.
type prepared struct {
	d   *door
	who access.Caller
	p   overhttp.Params
	op  *limit.Operation
}

// Prepare checks a request before graphql-go sees it.
func (d *door) Prepare(_ context.Context, who access.Caller, p overhttp.Params) (overhttp.Operation, *overhttp.Response) {
	op, err := d.limits.Check(d.types, p.Query, p.OperationName, p.Variables)
	if err != nil {
		return nil, &overhttp.Response{Errors: []overhttp.Error{syntaxError(err)}}
	}
	if op.Introspects && who.Anonymous() && !d.anonymous {
		return nil, overhttp.Refuse(fault.New(fault.Forbidden, "the schema is not shown to anonymous callers").
			WithFix("Send the header Authorization: Bearer TOKEN."))
	}
	if p.Variables, err = limit.Variables(d.types, op.OperationDefinition, p.Variables); err != nil {
		return nil, overhttp.Refuse(err)
	}
	return &prepared{d, who, p, op}, nil
}

func (p *prepared) Kind() overhttp.Kind { return overhttp.Kind(p.op.Operation) }

func (p *prepared) context(ctx context.Context) context.Context {
	r := &request{who: p.who, most: p.d.entities}
	r.refill()
	return context.WithValue(ctx, requestKey{}, r)
}

// Run runs a query or a mutation.
func (p *prepared) Run(ctx context.Context) *overhttp.Response {
	return p.d.response(p.d.schema.Exec(p.context(ctx), p.p.Query, p.p.OperationName, p.p.Variables))
}

// Subscribe runs a subscription.
func (p *prepared) Subscribe(ctx context.Context) <-chan *overhttp.Response {
	out := make(chan *overhttp.Response)
	in, err := p.d.schema.Subscribe(p.context(ctx), p.p.Query, p.p.OperationName, p.p.Variables)
	go func() {
		defer close(out)
		if err != nil {
			out <- overhttp.Refuse(err)
			return
		}
		for v := range in {
			resp, ok := v.(*gql.Response)
			if !ok {
				continue
			}
			select {
			case out <- p.d.response(resp):
			case <-ctx.Done():
			}
		}
	}()
	return out
}

// maxErrors is the number of errors told one by one.
const maxErrors = 50

func (d *door) response(r *gql.Response) *overhttp.Response {
	out := &overhttp.Response{}
	if len(r.Data) > 0 {
		out.Data = json.RawMessage(r.Data)
	}
	for i, e := range r.Errors {
		if i == maxErrors {
			out.Errors = append(out.Errors, overhttp.FromFault(fault.New(fault.Invalid, "there are %d more errors", len(r.Errors)-i)))
			break
		}
		out.Errors = append(out.Errors, d.error(e))
	}
	return out
}

// error renders an error of graphql-go's: faults as they are, what it says of
// the document with its own text, and everything else masked.
func (d *door) error(e *gqlerrors.QueryError) overhttp.Error {
	var out overhttp.Error
	var inner *fault.Error
	switch {
	case e.ResolverError != nil:
		out = overhttp.FromFault(e.ResolverError)
	case errors.As(e.Err, &inner), errors.Is(e.Err, context.Canceled), errors.Is(e.Err, context.DeadlineExceeded):
		out = overhttp.FromFault(e.Err)
	case e.Rule != "" || errors.Is(e.Err, gqlerrors.ErrSyntax):
		out = overhttp.FromFault(fault.New(fault.Invalid, "%s", e.Message).WithFix("Compare the document with the schema, for example in GraphiQL."))
	case errors.Is(e.Err, gql.ErrTooManySelections):
		out = overhttp.FromFault(fault.New(fault.Invalid, "%s", e.Message).WithFix("Ask for fewer fields."))
	default:
		d.logger.Error("an answer in GraphQL could not be made", "error", e.Message, "path", e.Path)
		out = overhttp.FromFault(e)
	}
	for _, l := range e.Locations {
		out.Locations = append(out.Locations, overhttp.Location{Line: l.Line, Column: l.Column})
	}
	out.Path = e.Path
	return out
}

// syntaxError renders what is wrong with a document before it is validated.
func syntaxError(err error) overhttp.Error {
	var g *gqlerror.Error
	if !errors.As(err, &g) {
		return overhttp.FromFault(err)
	}
	out := overhttp.FromFault(fault.New(fault.Invalid, "the GraphQL document is malformed: %s", g.Message).
		WithFix("Correct it at the line and column in locations."))
	for _, l := range g.Locations {
		out.Locations = append(out.Locations, overhttp.Location{Line: l.Line, Column: l.Column})
	}
	return out
}

// mayIntrospect is the second lock on the schema, behind Prepare's.
func (d *door) mayIntrospect(ctx context.Context) bool {
	r := requestOf(ctx)
	return r != nil && (d.anonymous || !r.who.Anonymous())
}

func (d *door) logPanic(_ context.Context, v any) {
	d.logger.Error("panic in a GraphQL resolver", "panic", v, "stack", string(debug.Stack()))
}

// masked tells nothing of a panic.
type masked struct{}

// MakePanicError gives the error that takes the panic's place.
func (masked) MakePanicError(_ context.Context, v any) *gqlerrors.QueryError {
	return gqlerrors.Errorf("%s", fault.From(fmt.Errorf("panic: %v", v)))
}
