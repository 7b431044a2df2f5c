package gitops

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/record"
)

// How fleets are looked after.
const (
	// fleetHold is how long a fleet is held without a word, fleetTurn how long
	// one turn goes on opening pull requests.
	fleetHold, fleetTurn = 2 * time.Minute, 20 * time.Second
	// fleetPause is when a fleet that waits is looked at again, fleetTrouble when
	// it is after the forge or the repository did not answer.
	fleetPause, fleetTrouble = 5 * time.Second, 30 * time.Second
	// lookEach is how old what is known of a pull request may be, times as many
	// as are open; lookMost how many are asked about in a turn.
	lookEach, lookMost = 5 * time.Second, 10
)

// DriveFleets goes on with the running fleets that are due, each by one replica
// at a time, at most so many.
func (s *Service) DriveFleets(ctx context.Context, most int) error {
	if s == nil || s.cfg.Fleets == nil {
		return nil
	}
	due, err := s.cfg.Fleets.Claims.DueFleets(ctx, s.cfg.Now(), most)
	if err != nil {
		return err
	}
	for _, id := range due {
		if one := s.driveFleet(ctx, id); one != nil {
			err = errors.Join(err, fmt.Errorf("fleet %s: %w", id, one))
		}
	}
	return err
}

// driveFleet has one turn at a fleet.
func (s *Service) driveFleet(ctx context.Context, id string) error {
	holder, now := record.NewID("turn", 40), s.cfg.Now()
	f, ok, err := s.cfg.Fleets.Claims.ClaimFleet(ctx, id, holder, now, now.Add(fleetHold))
	if err != nil || !ok {
		return err
	}
	d := &fleetTurnOf{Service: s, f: f, holder: holder, until: now.Add(fleetTurn), due: now.Add(fleetPause), runs: true}
	err = d.turn(ctx)
	if err != nil {
		d.due = s.cfg.Now().Add(fleetTrouble)
	}
	// What became of it is written down even if the server ends.
	return errors.Join(err, d.report(ctx))
}

// report lets the fleet go.
func (d *fleetTurnOf) report(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	d.f.UpdatedAt = d.cfg.Now().UTC().Truncate(time.Microsecond)
	return d.cfg.Fleets.Claims.ReportFleet(ctx, d.f, d.holder, d.due)
}

// fleetTurnOf is one turn at a fleet.
type fleetTurnOf struct {
	*Service
	f      FleetRecord
	who    access.Caller
	holder string
	// until is when the turn opens nothing more, due when the next one is.
	until, due time.Time
	// runs is false once somebody has stopped the fleet, or it has come to an
	// end in this turn.
	runs bool
	// looked is how many pull requests were asked about.
	looked int
}

// turn looks at what is open and opens what may be. What panics on the way is
// an error like others.
func (d *fleetTurnOf) turn(ctx context.Context) (err error) {
	defer fault.Catch(&err, "driving fleet %s", d.f.ID)
	if d.who, err = d.cfg.Fleets.Acting(d.f.Mandate, d.cfg.Now()); err != nil {
		d.stop(fault.From(err).Message, fault.From(err).Fix)
		return nil
	}
	d.f.Why = ""
	for _, step := range []struct {
		states []string
		do     func(ctx context.Context, m *FleetMember, all int) (more bool, err error)
	}{{[]string{MemberOpen, MemberMerged}, d.look}, {[]string{MemberApproval}, d.propose}, {[]string{MemberWaiting}, d.propose}} {
		if err := d.each(ctx, step.states, step.do); err != nil || !d.runs {
			return err
		}
		if err := d.settle(ctx); err != nil || !d.runs {
			return err
		}
	}
	return nil
}

// each does something to the members of the waves so far in some states, until it is
// told that there is no more to be done.
func (d *fleetTurnOf) each(ctx context.Context, states []string, do func(context.Context, *FleetMember, int) (bool, error)) error {
	found, err := d.cfg.Fleets.Reads.FleetMembers(ctx, MemberQuery{Fleet: d.f.ID, UpTo: d.f.Wave, States: states, After: -1, Limit: maxFleet, Bare: true})
	if err != nil {
		return err
	}
	for i := range found {
		if err := ctx.Err(); err != nil {
			return err
		}
		before := found[i].Member
		more, err := do(ctx, &found[i], len(found))
		if err == nil && !same(&before, &found[i].Member) {
			err = d.save(ctx, &found[i])
		}
		if err != nil || !more || !d.runs {
			return err
		}
	}
	return nil
}

// same tells whether nothing is to be written down of a member.
func same(a, b *Member) bool {
	return a.State == b.State && a.Reason == b.Reason && a.Fix == b.Fix && a.Proposal == b.Proposal && a.URL == b.URL && slices.Equal(a.Notes, b.Notes)
}

// save writes a member down; the turn ends where the fleet does not run any
// more.
func (d *fleetTurnOf) save(ctx context.Context, m *FleetMember) error {
	m.UpdatedAt = d.cfg.Now().UTC().Truncate(time.Microsecond)
	saving, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	ok, err := d.cfg.Fleets.Claims.SaveFleetMember(saving, *m, d.holder)
	if d.runs = d.runs && ok; d.runs && err == nil && m.State == MemberFailed {
		err = d.settle(ctx)
	}
	return err
}

// settle stops the fleet after too many failures, and goes to the next wave
// after all of one are done.
func (d *fleetTurnOf) settle(ctx context.Context) error {
	t, first, err := d.counted(ctx)
	if err != nil {
		return err
	}
	for d.f.Wave <= len(t.waves) && over(t.waves[:d.f.Wave]) && t.counts.Failed <= d.f.Spec.MaxFailures {
		d.f.Wave++
		d.due = d.cfg.Now()
	}
	switch {
	case t.counts.Failed > d.f.Spec.MaxFailures:
		d.stop(fmt.Sprintf("%d of %d services failed, more than the %d that may: %s is the first", t.counts.Failed, t.counts.Total, d.f.Spec.MaxFailures, first),
			fmt.Sprintf("Look at why, put it right and start it again: what failed is then tried again. To go on in spite of it, start it with maxFailures %d or more.", t.counts.Failed))
	case d.f.Wave > len(t.waves):
		d.f.Wave = len(t.waves)
		d.done()
	default:
		d.f.Next = d.waits(&t.counts)
	}
	return nil
}

// counted counts all members; first is the first that failed.
func (d *fleetTurnOf) counted(ctx context.Context) (t tally, first string, err error) {
	err = d.cfg.Fleets.Reads.TallyFleet(ctx, d.f.ID, func(m MemberTally) {
		if t.count(m); m.State == MemberFailed {
			first = cmp.Or(first, m.About.Ref)
		}
	})
	return t, first, err
}

// over tells whether nothing is to be done or waited for in waves.
func over(waves []FleetWave) bool {
	return !slices.ContainsFunc(waves, func(w FleetWave) bool { return w.Size > w.Done+w.Failed })
}

// waits says what a running fleet waits for.
func (d *fleetTurnOf) waits(c *FleetCounts) string {
	var parts []string
	for _, p := range []struct {
		n    int
		what string
	}{{c.Open, "to be reviewed and merged"}, {c.Approval, "to be approved"}, {c.Merged, "to be healthy"}} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.what))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return fmt.Sprintf("Wave %d waits for %s.", d.f.Wave, strings.Join(parts, ", "))
}

// stop ends the turn and has the fleet wait for a person.
func (d *fleetTurnOf) stop(why, next string) {
	d.runs, d.f.State, d.f.Why, d.f.Next = false, FleetStopped, why, next
}

// done ends the fleet.
func (d *fleetTurnOf) done() {
	d.runs, d.f.State, d.f.EndedAt, d.f.Why, d.f.Next = false, FleetDone, d.cfg.Now().UTC().Truncate(time.Microsecond), "", ""
}

// rest ends the turn until a time, for a reason.
func (d *fleetTurnOf) rest(wait time.Duration, why string) {
	d.due, d.f.Why = d.cfg.Now().Add(wait), why
}
