package gitops

import (
	"context"
	"time"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/catalog/entity"
	"github.com/fairlead-dev/fairlead/internal/feed"
	"github.com/fairlead-dev/fairlead/internal/record"
)

// WatchInput selects the proposals to be told of; a field left out selects all.
type WatchInput struct {
	// ID is of one proposal, Service the entity that they are about: a full
	// reference or the bare name of a component.
	ID, Service string
}

// Watch gives proposals that the caller may see as they are made and come
// along, without their diffs, until ctx ends; several changes within a second
// are told as one. The channel is closed then, and at once for who may see none.
func (s *Service) Watch(ctx context.Context, who access.Caller, in WatchInput) <-chan Proposal {
	if s == nil || s.cfg.Policy.Scope(who, access.ReadProposals).None() {
		return feed.None[Proposal]()
	}
	in.Service = entity.CompleteRef(in.Service, "component")
	return feed.Watch(ctx, s.feed, func(changed []Record, tell func(Proposal) bool) {
		scope := s.cfg.Policy.Scope(who, access.ReadProposals)
		for i := range changed {
			r := &changed[i]
			if in.ID != "" && r.ID != in.ID || in.Service != "" && r.Service != in.Service || !scope.Allows(s.about(r)) {
				continue
			}
			if !tell(r.listed()) {
				return
			}
		}
	})
}

// watched are the proposals that have changed of late.
func watched(reads Reads) *feed.Feed[Record] {
	read := func(ctx context.Context, since time.Time) ([]Record, error) {
		return record.Collect(each(ctx, reads, Query{ChangedSince: since}))
	}
	return feed.New(read, func(r *Record) string { return r.ID }, func(r *Record) string { return r.ChangedAt.String() })
}
