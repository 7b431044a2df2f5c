package access

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/fairlead-dev/fairlead/internal/fault"
)

// maxPending is how many requests of one caller may wait at once.
const maxPending = 100

// approved gives the approval by which an act may go on, a zero one where it
// needs none. Where it needs one that nobody has granted it asks for it. That
// refusal is recorded once: looking again how far the request has come is a
// read.
func (g *Guard) approved(ctx context.Context, who Caller, op Op, b Begun) (used Grant, err error) {
	need := g.policy.requires(who, op.Action, &op.Resource)
	if need == nil && op.Approvers != nil {
		need = &requirement{rule: "(the act itself)", by: *op.Approvers, expires: defaultApproval}
	}
	switch {
	case need == nil || op.decided != nil:
		return used, nil
	case op.Part.covers(need):
		return op.Part.Whole, nil
	case g.approvals == nil:
		return used, g.refuse(ctx, b, fault.From(errors.New("an act needs approval, and nothing keeps approvals")))
	}
	r, f := request(who, op, need, b)
	if f != nil {
		return used, g.refuse(ctx, b, f)
	}
	c, err := g.approvals.Claim(ctx, r, maxPending)
	b.Approval = c.Request.ID
	switch {
	case err != nil:
		return used, g.refuse(ctx, b, unclaimed(err))
	case c.Used:
		return Grant{ID: c.Request.ID, Rule: need.rule}, nil
	case c.New:
		return used, g.refuse(ctx, b, wanting(&c.Request))
	default:
		return used, wanting(&c.Request)
	}
}

// unclaimed is the fault of a claim that could not be answered.
func unclaimed(err error) *fault.Error {
	if f := fault.From(err); f.Code != fault.Internal {
		return f
	}
	return fault.New(fault.Unavailable, "approvals could not be looked up, so nothing was done").
		WithFix("Try again in a moment; the operators find the cause in the server's log.").Because(err)
}

// request makes the request for an act.
func request(who Caller, op Op, need *requirement, b Begun) (r ApprovalRequest, f *fault.Error) {
	plan := op.Plan
	if plan == nil {
		plan = op.Input
	}
	tree, err := jsonTree(plan)
	if err != nil {
		return r, fault.From(fmt.Errorf("the plan of %s is no JSON: %w", op.Operation, err))
	}
	hash, err := hashOf(tree)
	if err != nil {
		return r, fault.From(err)
	}
	shown, err := json.Marshal(masked(tree))
	if err != nil {
		return r, fault.From(err)
	}
	if len(shown) > maxPlan {
		return r, fault.New(fault.FailedPrecondition, "%s needs approval, and its plan has %d bytes, more than the %d that can be shown to who decides", op.Operation, len(shown), maxPlan).
			WithFix("Do it in parts.")
	}
	binding, err := hashOf([]any{op.Action, op.Operation, op.Resource.Ref, op.Resource.Environment, b.Target, who.Subject(), who.Agent(), hash, need.rule, need.by})
	if err != nil {
		return r, fault.From(err)
	}
	summary := op.Summary
	if summary == "" {
		summary = strings.TrimSuffix(op.Operation+" on "+b.Target, " on ")
	}
	now := time.Now()
	return ApprovalRequest{Binding: binding, Resource: op.Resource, By: need.by, Approval: Approval{
		State: ApprovalPending, Action: op.Action, Operation: op.Operation, Target: b.Target, Summary: plain(summary),
		Plan: shown, PlanHash: hash, Subject: who.Subject(), Agent: who.Agent(), Rule: need.rule, Approvers: need.by.List(),
		RequestedAt: now, ExpiresAt: now.Add(need.expires),
	}}, nil
}

// wanting is the fault of an act that nobody has approved.
func wanting(r *ApprovalRequest) *fault.Error {
	until := r.ExpiresAt.UTC().Format(time.RFC3339)
	f := fault.New(fault.ApprovalRequired, "%s needs approval: request %s is %s until %s", r.Summary, r.ID, r.State, until)
	switch who := strings.Join(r.Approvers, ", "); {
	case r.State == ApprovalDenied:
		f = fault.New(fault.Forbidden, "%s was denied by %s (request %s): %s", r.Summary, r.DecidedBy, r.ID, r.Reason).
			WithFix("Change what is to be done, or talk to %s; the same can be asked for again after %s.", r.DecidedBy, until)
	case who == "":
		f = f.WithFix("Nobody can grant it, as %s has no owner: have those who keep the policy name other approvers in rule %q.", r.Target, r.Rule)
	default:
		f = f.WithFix("Ask a person of %s, other than %s, to look at it and run `fairlead approvals grant %s`. Then do exactly the same again; until then that tells how far the request has come.", who, r.Subject, r.ID)
	}
	return f.WithDetail("approval", r.ID).WithDetail("state", string(r.State)).WithDetail("expiresAt", until).
		WithDetail("planHash", r.PlanHash).WithDetail("approvers", r.Approvers)
}
