package engine

import (
	"context"
	"sync/atomic"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/graphql/limit"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// Request is what the resolvers of one request share. graphql-go hands a
// resolver nothing of the request but its context.
type Request struct {
	e   *Engine
	who access.Caller
	op  *limit.Operation
	// entities and bytes are what is left of what it may touch and answer.
	entities, bytes atomic.Int64
	stop            context.CancelCauseFunc
}

type requestKey struct{}

// RequestOf is the request that a resolver's context belongs to, nil outside
// of one.
func RequestOf(ctx context.Context) *Request {
	r, _ := ctx.Value(requestKey{}).(*Request)
	return r
}

// Who sends the request.
func (r *Request) Who() access.Caller { return r.who }

// Asks tells whether the document asks anywhere for a field of a type.
func (r *Request) Asks(typ, field string) bool {
	return r.op.Asks(r.e.types.Types[typ].Fields.ForName(field))
}

// Spend takes from the number of entities that the request may touch. When
// nothing is left it ends the request; the error is an invalid fault.
func (r *Request) Spend(n int) error {
	if r.entities.Add(int64(-n)) >= 0 {
		return nil
	}
	err := fault.New(fault.Invalid, "the answer would touch more than %d entities", r.e.budget).
		WithFix("Ask for fewer related entities with first, or page through entities with a filter.")
	r.stop(err)
	return err
}

// Charge takes the size in bytes of a value that stands in the answer once
// from what the answer may hold, and ends the request when nothing is left.
func (r *Request) Charge(n int) {
	if r.bytes.Add(int64(-n)) < 0 {
		r.stop(r.e.tooLarge())
	}
}

// ChargeCopies is Charge for a value that aliases can repeat without asking
// for it again.
func (r *Request) ChargeCopies(n int) { r.Charge(n * r.op.Copies) }

// Refill gives the request all of what it may touch and answer again: each
// event of a subscription counts for itself.
func (r *Request) Refill() {
	r.entities.Store(int64(r.e.budget))
	r.bytes.Store(int64(r.e.limits.Answer))
}
