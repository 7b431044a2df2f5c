package graphql

import (
	"context"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/gitops"
	"github.com/fairlead-dev/fairlead/graphql/engine"
)

// proposalChange resolves the type ProposalChange.
type proposalChange struct {
	ID, Service, Environment, Title, State, URL, Merged, Synced, Healthy, Outcome, Waits, Next string
	Degraded, RolledBack                                                                       bool
	Blocking                                                                                   []string
}

type proposalChangedArgs struct{ ID, Service *string }

// ProposalChanged tells of proposals until ctx ends.
func (s *subscription) ProposalChanged(ctx context.Context, args proposalChangedArgs) (<-chan *proposalChange, error) {
	var which gitops.WatchInput
	if args.ID != nil {
		which.ID = *args.ID
	}
	if args.Service != nil {
		which.Service = *args.Service
	}
	in := s.d.gitops.Watch(ctx, engine.RequestOf(ctx).Who(), which)
	return watch(ctx, s.d, "watch_proposals", access.ReadProposals, in, func(_ context.Context, p gitops.Proposal) *proposalChange {
		f := &p.Follow
		c := &proposalChange{ID: p.ID, Service: p.Service, Environment: p.Environment, Title: p.Title, State: p.State, URL: p.URL, Merged: f.Merged, Synced: f.Synced, Healthy: f.Healthy,
			Outcome: f.Outcome, Waits: f.Waits, Next: p.Next, Degraded: !f.DegradedAt.IsZero(), RolledBack: f.RolledBack != nil, Blocking: []string{}}
		for _, b := range p.Blocking {
			c.Blocking = append(c.Blocking, b.What+": "+b.Detail)
		}
		return c
	}), nil
}
