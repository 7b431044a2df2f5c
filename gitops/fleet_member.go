package gitops

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// fleetPart is what a member's proposal is part of.
type fleetPart struct {
	id            string
	wave          int
	title         string
	binding       string
	approvedWhole access.Grant
}

// propose opens the pull request of a member, or goes on with the one of its
// key. more is false where no other is to be opened in this turn.
func (d *fleetTurnOf) propose(ctx context.Context, m *FleetMember, _ int) (more bool, err error) {
	if !d.cfg.Now().Before(d.until) {
		d.due = d.cfg.Now()
		return false, nil
	}
	c, err := d.site(ctx, d.who, d.wish(m))
	if err == nil {
		if more, err = d.pace(ctx, c.at.Forge); err != nil || !more {
			return false, err
		}
		c.part = &fleetPart{id: d.f.ID, wave: m.Wave, title: d.f.Title, binding: m.Binding, approvedWhole: d.f.Approval}
		var p *Proposal
		if p, err = d.ProposeFiles(ctx, d.who, c.proposal()); err == nil {
			m.proposed(p)
			return true, nil
		}
	}
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	return d.refused(m, fault.From(err)), nil
}

// pace waits for the forge's turn to be given another pull request.
func (d *fleetTurnOf) pace(ctx context.Context, forge string) (ok bool, err error) {
	for _, rate := range d.cfg.Fleets.Pace[forge] {
		wait, err := d.cfg.Fleets.Quota.Take(ctx, fmt.Sprintf("fleet %s %s", forge, rate), rate)
		if err != nil {
			return false, err
		}
		if wait > 0 {
			d.paced(forge, rate, wait)
			return false, nil
		}
	}
	return true, nil
}

// paced rests until a forge may be given another pull request, and says so where
// that takes a while.
func (d *fleetTurnOf) paced(forge string, rate access.Rate, wait time.Duration) {
	why := ""
	if wait > fleetPause {
		why = fmt.Sprintf("it waits until %s: %s opens at most %s", d.cfg.Now().Add(wait).UTC().Format(time.RFC3339), forge, rate)
	}
	d.rest(wait, why)
}

// proposed notes what became of a member's proposal.
func (m *FleetMember) proposed(p *Proposal) {
	m.Proposal, m.URL, m.Notes, m.Reason, m.Fix = p.ID, p.URL, p.Notes, "", ""
	switch p.State {
	case Unchanged:
		m.State, m.Reason = MemberUnchanged, "it came to be so meanwhile"
	default:
		m.State = MemberOpen
	}
}

// refused notes why a member could not be proposed. more is false where the
// turn ends with that: whom it asks does not answer, or the caller has lost the
// right.
func (d *fleetTurnOf) refused(m *FleetMember, f *fault.Error) (more bool) {
	switch {
	case f.Code == fault.ApprovalRequired:
		m.State, m.Reason, m.Fix = MemberApproval, f.Message, f.Fix
		return true
	case f.Code == fault.Unavailable, f.Code == fault.QuotaExceeded, f.Code == fault.Internal, f.RetryAfter > 0:
		d.rest(max(f.RetryAfter, cmp.Or(map[fault.Code]time.Duration{fault.Conflict: fleetPause}[f.Code], fleetTrouble)), clip(m.Service+": "+f.Message, 500))
		return false
	}
	m.State, m.Reason, m.Fix = MemberFailed, clip(f.Message, 500), clip(f.Fix, 500)
	if f.Code == fault.Forbidden || f.Code == fault.Unauthenticated {
		d.stop(clip(m.Service+": "+f.Message, 500), "Have somebody start it again who may do it, or plan it without that service. "+f.Fix)
	}
	return true
}

// look sees what has become of a member's proposal.
func (d *fleetTurnOf) look(ctx context.Context, m *FleetMember, all int) (more bool, err error) {
	r, err := d.cfg.Reads.Proposal(ctx, m.Proposal)
	if fault.CodeOf(err) == fault.NotFound {
		m.fail("its proposal is gone", "Plan it again.")
		return true, nil
	}
	if err != nil {
		return false, err
	}
	if age := d.cfg.Now().Sub(r.CheckedAt); r.State == Open && d.looked < lookMost && age > max(fleetTrouble, time.Duration(all)*lookEach) {
		d.looked++
		if fresh, err := d.refreshed(ctx, r); err == nil { // else it is followed by others all the same
			r = fresh
		}
	}
	if r.State == Pushed {
		return true, d.lookAtBranch(ctx, m)
	}
	d.judge(m, &r)
	return true, ctx.Err()
}

func (m *FleetMember) fail(reason, fix string) {
	m.State, m.Reason, m.Fix = MemberFailed, reason, fix
}

// judge is what a proposal makes of its member.
func (d *fleetTurnOf) judge(m *FleetMember, r *Record) {
	m.URL, m.Reason, m.Fix = r.Pull.URL, "", ""
	switch r.State {
	case Preparing: // left half way: the same key goes on with it
		m.State = MemberWaiting
	case Open:
		m.State = MemberOpen
		m.stuck(r, d.cfg.Now())
	case Unchanged:
		m.State = MemberDone
	case Closed:
		m.fail("its pull request was closed without being merged", "Ask who closed it, and why.")
	case Merged:
		m.merged(&r.Follow, d.f.Spec.Until)
	}
}

// stuck fails a member whose pull request nobody will merge as it is. What only
// waits for reviewers, or is made anew by itself, is not stuck.
func (m *FleetMember) stuck(r *Record, now time.Time) {
	for _, b := range r.blocking(now) {
		switch {
		case b.What == BlockedByChecks, b.What == BlockedByApproval, b.What == BlockedByStillness,
			b.What == BlockedByReview && len(r.Pull.Rejected) > 0, b.What == BlockedByConflict && r.Course.Repairs >= maxRepairs:
			m.fail("it is stuck: "+clip(b.Detail, 400), clip(b.Next, 400))
			return
		}
	}
}

// merged is what a merged proposal makes of its member.
func (m *FleetMember) merged(f *Follow, until string) {
	switch {
	case until != UntilHealthy || f.Outcome == OutcomeHealthy:
		m.State = MemberDone
	case f.Outcome == "":
		m.State, m.Reason = MemberMerged, f.Waits
	case f.Outcome == OutcomeMerged:
		m.fail("it is merged, and nobody tells whether it is healthy", "Look yourself; say in the catalog which application of Argo CD the environment is.")
	default:
		m.fail(clip(strings.Join(append([]string{"it is merged, and " + strings.ReplaceAll(f.Outcome, "_", " ")}, f.Grounds...), ": "), 400), f.next())
	}
}

// lookAtBranch sees whether what was pushed to a repository without a forge is
// on its base by now.
func (d *fleetTurnOf) lookAtBranch(ctx context.Context, m *FleetMember) error {
	left, err := d.left(ctx, m)
	switch {
	case ctx.Err() != nil || fault.CodeOf(err) == fault.Unavailable: // it is looked at again
	case err != nil:
		m.fail(fault.From(err).Message, fault.From(err).Fix)
	case left == 0:
		m.merged(&Follow{Outcome: OutcomeMerged}, d.f.Spec.Until)
	}
	return ctx.Err()
}

// left is how many files are not as wanted.
func (d *fleetTurnOf) left(ctx context.Context, m *FleetMember) (int, error) {
	c, err := d.site(ctx, d.who, d.wish(m))
	if err != nil {
		return 0, err
	}
	p, err := d.plan(ctx, c.at, c.edit)
	if err != nil {
		return 0, err
	}
	return len(p.files), nil
}

// wish is what is asked of one member.
func (d *fleetTurnOf) wish(m *FleetMember) ProposeChangeInput {
	in := &d.f.Spec
	return ProposeChangeInput{Service: m.Service, Environment: in.Environment, Change: in.Change, Reason: in.Reason, Evidence: in.Evidence, Key: "fleet/" + d.f.ID + "/" + m.Service}
}

// asPlanned makes the change if it is the one that was planned: it does the same
// to the same values, or nothing any more.
func (c *changing) asPlanned(ctx context.Context, base Files) ([]File, error) {
	files, err := c.edit(ctx, base)
	if err != nil || len(c.touched) == 0 {
		return files, err
	}
	return files, c.bound()
}

// bound refuses another change than was planned.
func (c *changing) bound() error {
	binding, err := c.binding()
	if err == nil && binding != c.part.binding {
		err = fault.New(fault.FailedPrecondition, "%s of %s is not what it was when the fleet was planned: it would be another change than the one that was looked at", c.env, c.ref).
			WithFix("Plan it again.")
	}
	return err
}
