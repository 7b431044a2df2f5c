package access

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/feed"
)

// Bounds of a page of requests, and how many are looked at for it at a time.
const (
	defaultApprovals = 50
	maxApprovals     = 500
)

// approvalCursor tells the cursors of requests from others.
const approvalCursor = "approval:"

// AttachApprovals gives the service the requests that guard's acts make; it
// is called before the service is used.
func (s *Service) AttachApprovals(kept Approvals, guard *Guard) {
	s.approvals, s.guard = kept, guard
}

func (s *Service) approving(who Caller) error {
	switch {
	case who.IsZero() || who.Anonymous():
		return nobody()
	case s.approvals == nil || s.guard == nil:
		return fault.New(fault.Unavailable, "this server keeps no requests for approval").WithFix("Ask a server that does.")
	default:
		return nil
	}
}

// ListApprovalsInput selects requests; a field left out selects all.
type ListApprovalsInput struct {
	State   string `json:"state,omitempty" jsonschema:"only requests that are pending, granted, denied, used or expired"`
	Subject string `json:"subject,omitempty" jsonschema:"only requests by this person or machine, an entity reference"`
	Agent   string `json:"agent,omitempty" jsonschema:"only requests by this agent"`
	Action  string `json:"action,omitempty" jsonschema:"only this action, for example catalog.refresh"`
	Target  string `json:"target,omitempty" jsonschema:"only acts on this, as the requests name it"`
	Mine    bool   `json:"mine,omitempty" jsonschema:"only requests that you may decide on now"`
	Limit   int    `json:"limit,omitempty" jsonschema:"requests per page, 1 to 500, default 50"`
	Cursor  string `json:"cursor,omitempty" jsonschema:"nextCursor of the page before"`
}

// ApprovalPage is a page of requests, newest first.
type ApprovalPage struct {
	Items      []Approval `json:"items"`
	NextCursor string     `json:"nextCursor,omitempty" jsonschema:"cursor of the next page; absent on the last"`
}

// ListApprovals lists requests for approval that the caller may see, newest
// first: their own, those that they may decide on, and those on what they may
// do approvals.read. Faults: unauthenticated, invalid (a field), unavailable.
func (s *Service) ListApprovals(ctx context.Context, who Caller, in ListApprovalsInput) (*ApprovalPage, error) {
	if err := s.approving(who); err != nil {
		return nil, err
	}
	q, err := s.approvalQuery(in)
	if err != nil {
		return nil, err
	}
	limit, v := q.Limit, s.viewer(who)
	page := &ApprovalPage{Items: []Approval{}}
	for q.Limit = maxApprovals; ; {
		batch, err := s.approvals.ListApprovals(ctx, q)
		if err != nil {
			return nil, unclaimed(err)
		}
		for i := range batch {
			a, shown := v.shown(&batch[i])
			if !shown || in.Mine && !a.MayDecide {
				continue
			}
			if len(page.Items) == limit {
				page.NextCursor = approvalCursor + page.Items[limit-1].ID
				return page, nil
			}
			page.Items = append(page.Items, *a)
		}
		if len(batch) < q.Limit {
			return page, nil
		}
		q.Before = batch[len(batch)-1].ID
	}
}

// approvalQuery checks the input by the rules of the audit's.
func (s *Service) approvalQuery(in ListApprovalsInput) (q ApprovalQuery, err error) {
	states := []ApprovalState{"", ApprovalPending, ApprovalGranted, ApprovalDenied, ApprovalUsed, ApprovalExpired}
	if !slices.Contains(states, ApprovalState(in.State)) {
		return q, fault.New(fault.Invalid, "state: %q is no state of a request", clip(in.State, 80)).WithFix("Write pending, granted, denied, used or expired, or leave it out for all.")
	}
	before, ok := strings.CutPrefix(in.Cursor, approvalCursor)
	if in.Cursor != "" && (!ok || before == "") {
		return q, fault.New(fault.Invalid, "cursor %q is not one of the approvals'", clip(in.Cursor, 80)).WithFix("Give nextCursor of the page before as it is, or leave cursor out for the first page.")
	}
	a, err := s.query(ListAuditInput{Subject: in.Subject, Agent: in.Agent, Action: in.Action, Target: in.Target})
	if err != nil {
		return q, err
	}
	switch {
	case len(before) > maxText || plain(before) != before:
		return q, fault.New(fault.Invalid, "cursor is longer than %d bytes or holds control characters", maxText).WithFix("Give nextCursor of the page before as it is.")
	case in.Limit < 0 || in.Limit > maxApprovals:
		return q, fault.New(fault.Invalid, "limit is %d, not between 1 and %d", in.Limit, maxApprovals).WithFix("Ask for at most %d and go on with the cursor.", maxApprovals)
	case in.Limit == 0:
		in.Limit = defaultApprovals
	}
	return ApprovalQuery{State: ApprovalState(in.State), Subject: a.Subject, Agent: a.Agent, Action: a.Action, Target: a.Target,
		Before: before, Now: s.now(), Limit: in.Limit}, nil
}

// GetApprovalInput names a request.
type GetApprovalInput struct {
	ID string `json:"id" jsonschema:"id of the request, as the refusal or the list has it"`
}

// GetApproval gives one request. Faults: unauthenticated, not_found (also one
// that the caller may not see), unavailable.
func (s *Service) GetApproval(ctx context.Context, who Caller, in GetApprovalInput) (*Approval, error) {
	_, a, err := s.approval(ctx, who, in.ID)
	return a, err
}

// approval finds a request that the caller may see.
func (s *Service) approval(ctx context.Context, who Caller, id string) (*ApprovalRequest, *Approval, error) {
	if err := s.approving(who); err != nil {
		return nil, nil, err
	}
	missing := fault.New(fault.NotFound, "there is no request for approval %q", clip(plain(id), 80)).WithFix("List the requests to see their ids: fairlead approvals list.")
	if id == "" || len(id) > maxText || plain(id) != id {
		return nil, nil, missing
	}
	found, err := s.approvals.ListApprovals(ctx, ApprovalQuery{ID: id, Now: s.now(), Limit: 1})
	if err != nil {
		return nil, nil, unclaimed(err)
	}
	if len(found) == 1 {
		if a, ok := s.viewer(who).shown(&found[0]); ok {
			return &found[0], a, nil
		}
	}
	return nil, nil, missing
}

// viewer is a caller, and what policy says of them and requests.
type viewer struct {
	who          Caller
	read, decide Scope
}

func (s *Service) viewer(who Caller) viewer {
	return viewer{who, s.policy.Scope(who, ReadApprovals), s.policy.Scope(who, DecideApprovals)}
}

// shown gives a request as the caller sees it, if they may.
func (v viewer) shown(r *ApprovalRequest) (*Approval, bool) {
	a := r.Approval
	a.MayDecide = r.State == ApprovalPending && v.mayDecide(r).Allowed
	return &a, r.Subject == v.who.Subject() || r.By.Include(v.who) || v.read.Allows(r.Resource)
}

// mayDecide tells whether the caller may grant or deny a request: a person
// whom it names, who is not the one that asked, whichever token they show.
func (v viewer) mayDecide(r *ApprovalRequest) Decision {
	by, who := strings.Join(r.Approvers, ", "), describe(v.who)
	refused := func(why, fix string) Decision {
		return Decision{Rule: r.Rule, Reason: fmt.Sprintf("%s may not decide on request %s: %s", who, r.ID, why), Fix: fix}
	}
	rule, allowed := v.decide.decide(&r.Resource)
	switch {
	case v.who.Agent() != "":
		return refused("only persons approve, not agents", "Ask a person of "+by+" to decide with a token of their own.")
	case !strings.HasPrefix(v.who.Subject(), "user:"):
		return refused("only persons approve", "Ask a person of "+by+".")
	case v.who.Subject() == r.Subject:
		return refused("nobody approves their own", "Ask another person of "+by+".")
	case !r.By.Include(v.who):
		return refused("it is for "+by, "Ask one of them.")
	case rule != "" && !allowed:
		d := refused(fmt.Sprintf("rule %q denies it", rule), "Ask those who keep the policy to change that rule.")
		d.Rule = rule
		return d
	default:
		return Decision{Allowed: true, Rule: r.Rule, Reason: fmt.Sprintf("rule %q lets %s decide on request %s", r.Rule, who, r.ID)}
	}
}

// GrantApprovalInput names a request and says why it is granted.
type GrantApprovalInput struct {
	ID     string `json:"id" jsonschema:"id of the request"`
	Reason string `json:"reason,omitempty" jsonschema:"why, for the record and for who asked, at most 512 bytes"`
}

// GrantApproval lets the act that a request is about be done, once, by who
// asked, until the request expires. Faults: unauthenticated, forbidden (an
// agent, who asked, or not an approver), not_found, conflict (decided
// already, or expired), invalid (the reason), unavailable.
func (s *Service) GrantApproval(ctx context.Context, who Caller, in GrantApprovalInput) (*Approval, error) {
	return s.decide(ctx, who, Op{Operation: "grant_approval", Input: in}, ApprovalDecision{ID: in.ID, State: ApprovalGranted, Reason: in.Reason})
}

// DenyApprovalInput names a request and says why it is denied.
type DenyApprovalInput struct {
	ID     string `json:"id" jsonschema:"id of the request"`
	Reason string `json:"reason" jsonschema:"why, for the record and for who asked, at most 512 bytes"`
}

// DenyApproval keeps the act that a request is about from being done; the
// same cannot be asked for again before the request expires. Faults: those of
// GrantApproval, and invalid without a reason.
func (s *Service) DenyApproval(ctx context.Context, who Caller, in DenyApprovalInput) (*Approval, error) {
	if strings.TrimSpace(in.Reason) == "" {
		return nil, fault.New(fault.Invalid, "a request is denied without a reason").WithFix("Say in reason why, so that who asked knows what to change.")
	}
	return s.decide(ctx, who, Op{Operation: "deny_approval", Input: in}, ApprovalDecision{ID: in.ID, State: ApprovalDenied, Reason: in.Reason})
}

func (s *Service) decide(ctx context.Context, who Caller, op Op, what ApprovalDecision) (*Approval, error) {
	if len(what.Reason) > maxText {
		return nil, fault.New(fault.Invalid, "the reason has %d bytes, more than %d", len(what.Reason), maxText).WithFix("Say it in fewer words.")
	}
	r, _, err := s.approval(ctx, who, what.ID)
	if err != nil {
		return nil, err
	}
	d := s.viewer(who).mayDecide(r)
	op.Action, op.Resource, op.Target, op.decided, op.approval = DecideApprovals, r.Resource, r.ID, &d, r.ID
	return Do(ctx, s.guard, who, op, func(ctx context.Context) (*Approval, error) {
		what.By, what.Reason, what.At = who.Subject(), plain(what.Reason), s.now()
		out, err := s.approvals.DecideApproval(ctx, what)
		if err != nil {
			return nil, unclaimed(err)
		}
		a, _ := s.viewer(who).shown(&out)
		return a, nil
	})
}

// rounds is how often it is looked whether requests have changed.
const rounds = time.Second

// WatchApprovals gives requests that the caller may see as they are made and
// change, until ctx ends; mine leaves those out that they may not decide on.
// The channel is closed then, and at once for who may see none.
func (s *Service) WatchApprovals(ctx context.Context, who Caller, mine bool) <-chan Approval {
	if s.approving(who) != nil {
		return feed.None[Approval]()
	}
	return feed.Follow(ctx, rounds, s.approvals.ApprovalsRevision, s.changedApprovals, func(changed []ApprovalRequest, tell func(Approval) bool) {
		v := s.viewer(who)
		for i := range changed {
			a, shown := v.shown(&changed[i])
			if !shown || mine && !a.MayDecide {
				continue
			}
			if !tell(*a) {
				return
			}
		}
	})
}

// changedApprovals are the requests that have changed since a revision, and the
// last revision seen.
func (s *Service) changedApprovals(ctx context.Context, seen int64) ([]ApprovalRequest, int64) {
	now, err := s.approvals.ApprovalsRevision(ctx)
	if err != nil || now == seen {
		return nil, seen
	}
	batch, err := s.approvals.ListApprovals(ctx, ApprovalQuery{ByChange: true, After: seen, Now: s.now(), Limit: maxApprovals})
	switch {
	case err != nil:
		return nil, seen
	case len(batch) == 0:
		return nil, now
	}
	return batch, batch[len(batch)-1].Changed
}
