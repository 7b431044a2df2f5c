package graphql

import (
	"context"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/gitops"
	"github.com/fairlead-dev/fairlead/graphql/engine"
	"github.com/fairlead-dev/fairlead/secrets"
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

// credentialChange resolves the type CredentialChange.
type credentialChange struct {
	Lease, Service, Name, Environment, State, ExpiresAt, Wrapping, Owner, Person, Agent, Purpose, Task, BoundTo, CreatedAt, EndedAt, EndedBy, Reason string
	Alarm                                                                                                                                            bool
}

type credentialChangedArgs struct{ Lease, Service, Person, Agent *string }

// CredentialChanged tells of credentials on loan until ctx ends.
func (s *subscription) CredentialChanged(ctx context.Context, args credentialChangedArgs) (<-chan *credentialChange, error) {
	in := s.d.secrets.Watch(ctx, engine.RequestOf(ctx).Who(), secrets.WatchInput{Lease: given(args.Lease), Service: given(args.Service), Person: given(args.Person), Agent: given(args.Agent)})
	return watch(ctx, s.d, "watch_credentials", access.ReadCredentials, in, func(_ context.Context, l secrets.Lease) *credentialChange {
		return &credentialChange{l.Lease, l.Service, l.Name, l.Environment, string(l.State), l.ExpiresAt, string(l.Wrapping), l.Owner, l.Person, l.Agent, l.Purpose, l.Task, l.BoundTo,
			l.CreatedAt, l.EndedAt, l.EndedBy, l.Reason, l.Alarm}
	}), nil
}

// auditAppended resolves the type AuditAppended.
type auditAppended struct {
	Entries []auditChange
	Many    bool
}

// auditChange resolves the type AuditChange.
type auditChange struct {
	ID, Time, Action, Operation, Target, Subject, Agent, Approval, Status, Code, Message, Took string
}

// AuditAppended tells of entries of the audit until ctx ends.
func (s *subscription) AuditAppended(ctx context.Context, args struct{ Subject, Agent *string }) (<-chan *auditAppended, error) {
	in := s.d.access.WatchAudit(ctx, engine.RequestOf(ctx).Who(), access.WatchAuditInput{Subject: given(args.Subject), Agent: given(args.Agent)})
	return watch(ctx, s.d, "watch_audit", access.ReadAudit, in, func(_ context.Context, a access.Appended) *auditAppended {
		out := &auditAppended{Entries: make([]auditChange, len(a.Entries)), Many: a.Many}
		for i, e := range a.Entries {
			out.Entries[i] = auditChange{e.ID, e.Time, string(e.Action), e.Operation, e.Target, e.Subject, e.Agent, e.Approval, string(e.Status), e.Code, e.Message, e.Took}
		}
		return out
	}), nil
}

// ingestionChange resolves the type IngestionChange.
type ingestionChange struct {
	Sources []string
	Many    bool
}

// IngestionChanged tells of sources until ctx ends.
func (s *subscription) IngestionChanged(ctx context.Context, args struct{ Source *string }) (<-chan *ingestionChange, error) {
	in := s.d.catalog.WatchIngestion(ctx, engine.RequestOf(ctx).Who(), given(args.Source))
	return watch(ctx, s.d, "watch_ingestion", access.ReadCatalog, in, func(_ context.Context, c catalog.IngestionChange) *ingestionChange {
		return &ingestionChange{c.Sources, c.Many}
	}), nil
}

// given is an argument that may be left out.
func given(arg *string) string {
	if arg == nil {
		return ""
	}
	return *arg
}
