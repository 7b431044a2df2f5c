// Package engine runs GraphQL documents with graphql-go: within limits, for a
// known caller, and without telling anything of its inside. It knows no
// schema of its own.
package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strings"
	"time"

	gql "github.com/graph-gophers/graphql-go"
	gqlerrors "github.com/graph-gophers/graphql-go/errors"
	gqllog "github.com/graph-gophers/graphql-go/log"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/graphql/limit"
	"github.com/fairlead-dev/fairlead/graphql/overhttp"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/fault/beside"
)

// Config is what an Engine is made of.
type Config struct {
	// Schema is the schema in the schema definition language.
	Schema string
	// Root resolves it, as graphql-go has it; fields resolve too.
	Root any
	// Limits bound a document.
	Limits limit.Limits
	// Budget is the number of entities that one request may touch, 50,000 by
	// default.
	Budget int
	// MayIntrospect tells who may ask for the schema itself; nil is nobody.
	MayIntrospect func(context.Context, access.Caller) bool
	// Logger is told of panics and of defects in answers; nil is slog.Default.
	Logger *slog.Logger
}

// Engine runs documents; it is an overhttp.Engine.
type Engine struct {
	schema        *gql.Schema
	types         *ast.Schema
	limits        limit.Limits
	budget        int
	mayIntrospect func(context.Context, access.Caller) bool
	logger        *slog.Logger
}

// New makes an Engine; the error is a defect of the schema or its resolvers.
func New(cfg Config) (*Engine, error) {
	e := &Engine{limits: cfg.Limits.WithDefaults(), budget: cfg.Budget, mayIntrospect: cfg.MayIntrospect, logger: cfg.Logger}
	if e.logger == nil {
		e.logger = slog.Default()
	}
	if e.mayIntrospect == nil {
		e.mayIntrospect = func(context.Context, access.Caller) bool { return false }
	}
	if e.budget == 0 {
		e.budget = 50_000
	}
	var err error
	if e.types, err = gqlparser.LoadSchema(&ast.Source{Name: "schema.graphql", Input: cfg.Schema}); err != nil {
		return nil, err
	}
	e.schema, err = gql.ParseSchema(cfg.Schema, cfg.Root,
		gql.UseStringDescriptions(), gql.UseFieldResolvers(),
		gql.DisableFieldSelections(), // Request.Asks tells, and costs less
		gql.MaxPooledBufferCap(256<<10),
		gql.OverlapValidationLimit(20_000), gql.MaxSelections(e.limits.Cost),
		gql.RestrictIntrospection(introspects),
		gql.PanicHandler(masked{}), gql.Logger(gqllog.LoggerFunc(e.logPanic)),
		gql.SubscribeResolverTimeout(10*time.Second))
	return e, err
}

// prepared is a request that has passed the limits.
type prepared struct {
	e   *Engine
	who access.Caller
	p   overhttp.Params
	op  *limit.Operation
}

// Prepare checks a request before graphql-go sees it.
func (e *Engine) Prepare(ctx context.Context, who access.Caller, p overhttp.Params) (overhttp.Operation, *overhttp.Response) {
	op, err := e.limits.Check(e.types, p.Query, p.OperationName, p.Variables)
	if err != nil {
		return nil, &overhttp.Response{Errors: []overhttp.Error{syntaxError(err)}}
	}
	if op.Introspects && !e.mayIntrospect(ctx, who) {
		return nil, overhttp.Refuse(fault.New(fault.Forbidden, "policy does not show this caller the schema").
			WithFix("Send a token whose caller may do %s, or read the schema in the documentation.", access.ReadSchema))
	}
	if p.Variables, err = limit.Variables(e.types, op.OperationDefinition, p.Variables); err != nil {
		return nil, overhttp.Refuse(err)
	}
	return &prepared{e, who, p, op}, nil
}

func (p *prepared) Kind() overhttp.Kind { return overhttp.Kind(p.op.Operation) }

func (p *prepared) context(ctx context.Context) context.Context {
	ctx, stop := context.WithCancelCause(ctx)
	r := &Request{e: p.e, who: p.who, op: p.op, stop: stop}
	r.Refill()
	return context.WithValue(ctx, requestKey{}, r)
}

// Run runs a query or a mutation.
func (p *prepared) Run(ctx context.Context) *overhttp.Response {
	ctx = p.context(ctx)
	defer RequestOf(ctx).stop(nil)
	return p.e.response(ctx, p.e.schema.Exec(ctx, p.p.Query, p.p.OperationName, p.p.Variables))
}

// Subscribe runs a subscription.
func (p *prepared) Subscribe(ctx context.Context) <-chan *overhttp.Response {
	out := make(chan *overhttp.Response)
	own := p.context(ctx)
	in, err := p.e.schema.Subscribe(own, p.p.Query, p.p.OperationName, p.p.Variables)
	tell := func(resp *overhttp.Response) {
		select {
		case out <- resp:
		case <-ctx.Done():
		}
	}
	beside.Go(own, p.e.logger, "running a subscription in GraphQL", func() {
		defer close(out)
		defer RequestOf(own).stop(nil)
		if err != nil {
			tell(overhttp.Refuse(err))
			return
		}
		for v := range in {
			if resp, ok := v.(*gql.Response); ok {
				tell(p.e.response(own, resp))
			}
		}
		if over := exhausted(own); over != nil {
			tell(overhttp.Refuse(over))
		}
	})
	return out
}

// exhausted is why a request was ended, nil unless it used up what it had.
func exhausted(ctx context.Context) error {
	if f, ok := context.Cause(ctx).(*fault.Error); ok { //nolint:errorlint // the cause itself, as Request.stop was given it
		return f
	}
	return nil
}

func (e *Engine) tooLarge() *fault.Error {
	return fault.New(fault.Invalid, "the answer would be larger than %d bytes", e.limits.Answer).
		WithFix("Ask for fewer fields or fewer items, and page through the rest.")
}

// maxErrors is the number of errors told one by one.
const maxErrors = 50

func (e *Engine) response(ctx context.Context, r *gql.Response) *overhttp.Response {
	if over := exhausted(ctx); over != nil {
		return overhttp.Refuse(over)
	}
	if len(r.Data) > e.limits.Answer {
		return overhttp.Refuse(e.tooLarge())
	}
	out := &overhttp.Response{}
	if len(r.Data) > 0 {
		out.Data = r.Data
	}
	for i, q := range r.Errors {
		if i == maxErrors {
			out.Errors = append(out.Errors, overhttp.FromFault(fault.New(fault.Invalid, "there are %d more errors", len(r.Errors)-i)))
			break
		}
		out.Errors = append(out.Errors, e.error(ctx, q))
	}
	return out
}

// error renders an error of graphql-go's: faults as they are, what it says of
// the document with its own text, and everything else masked.
func (e *Engine) error(ctx context.Context, q *gqlerrors.QueryError) overhttp.Error {
	var out overhttp.Error
	var inner *fault.Error
	switch {
	case q.ResolverError != nil:
		out = overhttp.FromFault(q.ResolverError)
	case errors.As(q.Err, &inner), errors.Is(q.Err, context.Canceled), errors.Is(q.Err, context.DeadlineExceeded):
		out = overhttp.FromFault(q.Err)
	case q.Rule != "" || errors.Is(q.Err, gqlerrors.ErrSyntax):
		out = overhttp.FromFault(fault.New(fault.Invalid, "%s", e.withoutNames(ctx, q.Message)).WithFix("Compare the document with the schema, for example in GraphiQL."))
	case errors.Is(q.Err, gql.ErrTooManySelections):
		out = overhttp.FromFault(fault.New(fault.Invalid, "%s", q.Message).WithFix("Ask for fewer fields."))
	default:
		e.logger.Error("an answer in GraphQL could not be made", "error", q.Message, "path", q.Path)
		out = overhttp.FromFault(q)
	}
	for _, l := range q.Locations {
		out.Locations = append(out.Locations, overhttp.Location{Line: l.Line, Column: l.Column})
	}
	out.Path = q.Path
	return out
}

// withoutNames leaves out the names of the schema that graphql-go proposes,
// for callers who may not see it.
func (e *Engine) withoutNames(ctx context.Context, message string) string {
	short, _, proposes := strings.Cut(message, " Did you mean ")
	if proposes && !e.mayIntrospect(ctx, RequestOf(ctx).who) {
		return short
	}
	return message
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

// introspects is the second lock on the schema, behind Prepare's: what was
// not seen to ask for the schema is not answered with it.
func introspects(ctx context.Context) bool {
	r := RequestOf(ctx)
	return r != nil && r.op.Introspects
}

func (e *Engine) logPanic(_ context.Context, v any) {
	e.logger.Error("panic in a GraphQL resolver", "panic", v, "stack", string(debug.Stack()))
}

// masked tells nothing of a panic.
type masked struct{}

// MakePanicError gives the error that takes the panic's place.
func (masked) MakePanicError(_ context.Context, v any) *gqlerrors.QueryError {
	return gqlerrors.Errorf("%s", fault.From(fmt.Errorf("panic: %v", v)))
}
