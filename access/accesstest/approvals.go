package accesstest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// Approvals are requests for approval in memory.
type Approvals struct {
	mu       sync.Mutex
	requests []access.ApprovalRequest
	revision int64
}

// NewApprovals makes a place for requests that holds none.
func NewApprovals() *Approvals { return &Approvals{} }

// Claim uses up a granted request, or finds or makes one.
func (a *Approvals) Claim(ctx context.Context, r access.ApprovalRequest, most int) (access.Claim, error) {
	if err := ctx.Err(); err != nil {
		return access.Claim{}, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	pending := 0
	for i := range a.requests {
		have := &a.requests[i]
		state := have.At(r.RequestedAt).State
		if state == access.ApprovalPending && have.Subject == r.Subject && have.Agent == r.Agent {
			pending++
		}
		switch {
		case have.Binding != r.Binding:
		case state == access.ApprovalGranted:
			a.revision++
			have.State, have.UsedAt, have.Changed = access.ApprovalUsed, r.RequestedAt, a.revision
			return access.Claim{Request: *have, Used: true}, nil
		case state == access.ApprovalPending, state == access.ApprovalDenied && r.RequestedAt.Before(have.ExpiresAt):
			return access.Claim{Request: *have}, nil
		}
	}
	if pending >= most {
		return access.Claim{}, fault.New(fault.QuotaExceeded, "%d requests are pending", pending)
	}
	a.revision++
	r.ID, r.State, r.Changed = fmt.Sprintf("%08d", len(a.requests)+1), access.ApprovalPending, a.revision
	a.requests = append(a.requests, r)
	return access.Claim{Request: r, New: true}, nil
}

// ListApprovals gives requests, newest first, or by change.
func (a *Approvals) ListApprovals(ctx context.Context, q access.ApprovalQuery) ([]access.ApprovalRequest, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	is := func(want, have string) bool { return want == "" || want == have }
	var out []access.ApprovalRequest
	for _, r := range a.requests {
		r = r.At(q.Now)
		if is(q.ID, r.ID) && is(string(q.State), string(r.State)) && is(q.Subject, r.Subject) && is(q.Agent, r.Agent) && is(string(q.Action), string(r.Action)) &&
			is(q.Target, r.Target) && (q.Before == "" || r.ID < q.Before) && (!q.ByChange || r.Changed > q.After) {
			out = append(out, r)
		}
	}
	if q.ByChange {
		slices.SortFunc(out, func(x, y access.ApprovalRequest) int { return int(x.Changed - y.Changed) })
	} else {
		slices.Reverse(out)
	}
	return out[:min(len(out), q.Limit)], nil
}

// DecideApproval grants or denies a pending request.
func (a *Approvals) DecideApproval(ctx context.Context, d access.ApprovalDecision) (access.ApprovalRequest, error) {
	if err := ctx.Err(); err != nil {
		return access.ApprovalRequest{}, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for i := range a.requests {
		r := &a.requests[i]
		switch state := r.At(d.At).State; {
		case r.ID != d.ID:
		case state != access.ApprovalPending:
			return access.ApprovalRequest{}, fault.New(fault.Conflict, "request %s is %s", r.ID, state)
		default:
			a.revision++
			r.State, r.DecidedBy, r.DecidedAt, r.Reason, r.Changed = d.State, d.By, d.At, d.Reason, a.revision
			return *r, nil
		}
	}
	return access.ApprovalRequest{}, fault.New(fault.NotFound, "there is no request %s", d.ID)
}

// ApprovalsRevision grows with every change.
func (a *Approvals) ApprovalsRevision(ctx context.Context) (int64, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.revision, ctx.Err()
}

// Lock makes a guard over a policy (nil is the default policy), the service
// that decides on the requests of its acts, and the audit of both.
func Lock(t testing.TB, policy *access.Policy) (*access.Guard, *access.Service, *Log) {
	t.Helper()
	log, kept := NewLog(), NewApprovals()
	g, err := access.NewGuard(access.GuardConfig{Policy: policy, Log: log, Quota: NewQuota(), Approvals: kept})
	if err != nil {
		t.Fatal(err)
	}
	s := Service(t, policy, log)
	s.AttachApprovals(kept, g)
	return g, s, log
}
