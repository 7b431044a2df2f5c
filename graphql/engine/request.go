package engine

import (
	"context"
	"sync/atomic"

	gql "github.com/graph-gophers/graphql-go"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// Request is what the resolvers of one request share. graphql-go hands a
// resolver nothing of the request but its context.
type Request struct {
	who  access.Caller
	left atomic.Int64
	most int64
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

// Spend takes from what the request may touch: one for an entity, or for half
// a KiB of JSON. When nothing is left the error is an invalid fault.
func (r *Request) Spend(n int) error {
	if r.left.Add(int64(-n)) >= 0 {
		return nil
	}
	return fault.New(fault.Invalid, "the answer would touch more than %d entities, counting half a KiB of JSON as one", r.most).
		WithFix("Ask for fewer related entities with first, or page through entities with a filter.")
}

// Refill gives the request all of what it may touch again: each event of a
// subscription counts for itself.
func (r *Request) Refill() { r.left.Store(r.most) }

// Selected tells whether the document asks for a field below the one that is
// being resolved, given as a dotted path.
func Selected(ctx context.Context, path string) bool { return gql.HasSelectedField(ctx, path) }
