package gitops

import (
	"context"
	"fmt"
	"time"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// maxTold is how many services who approves a fleet is told by name.
const maxTold = 300

// StartFleet has a planned fleet begin: its proposals are opened wave by wave by
// work in the background, as acts of the caller, by what they may do then. One
// that is paused or stopped goes on, and what failed without having been closed
// by people is tried again. It is one act for the quota; where policy wants an
// approval it is bound to the plan of the whole, and counts for each service for
// which the same rule asks for one. One that runs is given as it is. Faults:
// not_found, forbidden (it is somebody else's, or a rule denies it),
// approval_required, conflict (the plan is another than meant), and
// failed_precondition (it has ended, is older than a day, or there is nothing to
// propose).
func (s *Service) StartFleet(ctx context.Context, who access.Caller, in StartFleetInput) (*Fleet, error) {
	f, err := s.readableFleet(ctx, who, in.ID)
	if err != nil {
		return nil, err
	}
	if f.Person != who.Subject() {
		return nil, fault.New(fault.Forbidden, "%s was planned by %s", f.ID, f.Person).WithFix("Plan one of your own, or have %s start it.", f.Person)
	}
	if f.State == FleetRunning {
		return s.fleetView(ctx, who, &f, GetFleetInput{})
	}
	if err := s.startable(ctx, who, &f, in); err != nil {
		return nil, err
	}
	next := f
	if in.MaxFailures > 0 {
		next.Spec.MaxFailures = in.MaxFailures
	}
	told, err := s.told(ctx, &f)
	if err != nil {
		return nil, err
	}
	op := s.startOp(who, &next, told)
	if f.State != FleetPlanned && next.Spec.MaxFailures <= f.Spec.MaxFailures { // it goes on with what was agreed to
		op.Part = &access.Part{Whole: f.Approval}
	}
	_, err = access.Do(ctx, s.cfg.Guard, who, op, func(ctx context.Context) (*FleetRecord, error) {
		now := s.cfg.Now().UTC().Truncate(time.Microsecond)
		next.State, next.Why, next.Next, next.Agent, next.Mandate, next.UpdatedAt = FleetRunning, "", "", who.Agent(), who.Mandate(now), now
		next.Wave = max(next.Wave, 1)
		if next.StartedAt.IsZero() {
			next.StartedAt = now
		}
		if g := access.GrantOf(ctx); g.ID != "" {
			next.Approval = g
		}
		ok, err := s.cfg.Fleets.Writes.MoveFleet(ctx, next, f.State != FleetPlanned, f.State)
		if err == nil && !ok {
			err = fault.New(fault.Conflict, "somebody else has started or ended %s at this moment", f.ID).WithFix("Look at it.")
		}
		return &next, err
	})
	if err != nil {
		return nil, err
	}
	return s.fleetView(ctx, who, &next, GetFleetInput{})
}

// startable refuses what cannot begin or go on.
func (s *Service) startable(ctx context.Context, who access.Caller, f *FleetRecord, in StartFleetInput) error {
	switch {
	case f.State != FleetPlanned && f.State != FleetPaused && f.State != FleetStopped:
		return fault.New(fault.FailedPrecondition, "%s is %s", f.ID, f.State).WithFix("Plan another one.")
	case in.PlanHash != "" && in.PlanHash != f.PlanHash:
		return fault.New(fault.Conflict, "the plan of %s is %s, not %s", f.ID, f.PlanHash, clip(in.PlanHash, 80)).WithFix("Look at it, and start it with its own hash.")
	case f.State == FleetPlanned && s.cfg.Now().Sub(f.CreatedAt) > planTTL:
		return fault.New(fault.FailedPrecondition, "%s was planned more than %s ago", f.ID, planTTL).WithFix("Plan it again.")
	case in.MaxFailures < 0 || in.MaxFailures > maxFleet:
		return fault.New(fault.Invalid, "maxFailures is %d, not between 0 and %d", in.MaxFailures, maxFleet).WithFix("Give how many may fail before it stops.")
	}
	t, err := s.tally(ctx, who, f)
	if c := &t.counts; err == nil && c.Waiting+c.Approval+c.Open+c.Merged+c.Failed == 0 {
		err = fault.New(fault.FailedPrecondition, "%s has nothing to propose: %d of %d services are so already, %d have no such environment, %d are refused", f.ID, c.Unchanged, c.Total, c.Absent, c.Refused).
			WithFix("Look at why they are refused, and plan it again.")
	}
	return err
}

// told are the services that are to be changed, as far as who approves is told
// them by name.
func (s *Service) told(ctx context.Context, f *FleetRecord) (names []string, err error) {
	found, err := s.cfg.Fleets.Reads.FleetMembers(ctx, MemberQuery{Fleet: f.ID, States: []string{MemberWaiting, MemberApproval, MemberOpen, MemberMerged, MemberDone, MemberFailed}, After: -1, Limit: maxTold + 1, Bare: true})
	for i := range found[:min(len(found), maxTold)] {
		names = append(names, found[i].Service)
	}
	if len(found) > maxTold {
		names = append(names, "… and more: see fleet "+f.ID)
	}
	return names, err
}

// startOp is starting a fleet, as the lock sees it.
func (s *Service) startOp(who access.Caller, f *FleetRecord, services []string) access.Op {
	in := &f.Spec
	return access.Op{Action: access.RunFleet, Operation: "start_fleet", Target: f.ID, Holder: f.Person == who.Subject(), Input: map[string]any{"id": f.ID, "plan": f.PlanHash},
		Resource: access.Attributes{Environment: in.Environment, Protected: f.Protected}, Summary: fmt.Sprintf("Propose to many services: %s", f.Title),
		Plan: map[string]any{"fleet": f.ID, "plan": f.PlanHash, "environment": in.Environment, "change": in.Change, "reason": in.Reason, "evidence": append([]string{}, in.Evidence...),
			"query": in.Query, "waves": in.Waves, "until": in.Until, "maxFailures": in.MaxFailures, "services": append([]string{}, services...)}}
}

// StopFleet pauses a fleet that runs: no proposal is opened any more but one
// that is being opened right now, and those that are open stay so. With Cancel
// it is ended for good, whatever it does. Its person may do so, and whom a rule
// allows gitops.fleet on everything. Faults: not_found, forbidden,
// failed_precondition (it has ended, or does not run).
func (s *Service) StopFleet(ctx context.Context, who access.Caller, in StopFleetInput) (*Fleet, error) {
	f, err := s.readableFleet(ctx, who, in.ID)
	if err != nil {
		return nil, err
	}
	if len(in.Reason) > maxReason {
		return nil, fault.New(fault.Invalid, "reason has %d bytes, more than %d", len(in.Reason), maxReason).WithFix("Say it shorter.")
	}
	to, from := FleetPaused, []string{FleetRunning}
	if in.Cancel {
		to, from = FleetCancelled, []string{FleetPlanned, FleetRunning, FleetPaused, FleetStopped}
	}
	op := access.Op{Action: access.RunFleet, Operation: "stop_fleet", Target: f.ID, Holder: f.Person == who.Subject(), Input: in, Summary: "Have " + f.ID + " be " + to}
	next := f
	_, err = access.Do(ctx, s.cfg.Guard, who, op, func(ctx context.Context) (*FleetRecord, error) {
		now := s.cfg.Now().UTC().Truncate(time.Microsecond)
		next.State, next.UpdatedAt, next.Why, next.Next = to, now, "by "+who.Name(), "Start it again to go on."
		if in.Reason != "" {
			next.Why += ": " + line(in.Reason, 300)
		}
		if in.Cancel {
			next.EndedAt, next.Next = now, "Close those of its pull requests that are not to be merged."
		}
		if f.State == to {
			return &next, nil
		}
		ok, err := s.cfg.Fleets.Writes.MoveFleet(ctx, next, false, from...)
		if err == nil && !ok {
			err = fault.New(fault.FailedPrecondition, "%s is %s", f.ID, f.State).WithFix("Look at it: what does not run cannot be paused, and what has ended stays so.")
		}
		return &next, err
	})
	if err != nil {
		return nil, err
	}
	return s.fleetView(ctx, who, &next, GetFleetInput{})
}
