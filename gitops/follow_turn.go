package gitops

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/fault/beside"
	"github.com/fairlead-dev/fairlead/internal/record"
)

const (
	// turnFor bounds one look at a proposal; who looks has it for holdTurn, so
	// that another goes on where a server dies.
	turnFor, holdTurn = 20 * time.Second, 30 * time.Second
	// abreast is how many proposals are looked at at a time.
	abreast = 4
	// maxFails bounds how much longer is waited after each turn that came to
	// nothing.
	maxFails = 8
)

// Follow looks at the proposals whose time has come, at most so many: it asks
// forges about open pull requests, and what runs about merged ones, makes anew
// what is in conflict, and tells of what has ended. Each is looked at by one
// caller at a time, on whichever replica.
func (s *Service) Follow(ctx context.Context, most int) error {
	due, err := s.cfg.Reads.DueProposals(ctx, s.now(), most)
	if err != nil {
		return err
	}
	errs := make([]error, len(due))
	var all beside.All
	slots := make(chan struct{}, abreast)
	for i := range due {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			if err := s.turn(ctx, due[i].ID); err != nil {
				errs[i] = fmt.Errorf("proposal %s: %w", due[i].ID, err)
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// turn takes a proposal, looks at it once and lets it go.
func (s *Service) turn(ctx context.Context, id string) error {
	holder, now := record.NewID("turn", 40), s.now()
	r, ok, err := s.cfg.Records.ClaimProposal(ctx, id, holder, now, now.Add(holdTurn))
	if err != nil || !ok {
		return err
	}
	if !r.FollowAt.IsZero() && !r.FollowAt.After(now) { // else somebody has just done it
		err = s.advance(ctx, &r, holder)
		r.slow(s.now(), err)
	}
	saving, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	return errors.Join(err, s.save(saving, &r, holder, true))
}

// slow puts off the next turn where one came to nothing.
func (r *Record) slow(now time.Time, err error) {
	if err == nil {
		r.Course.Fails = 0
		return
	}
	r.Course.Fails = min(r.Course.Fails+1, maxFails)
	r.FollowAt = now.Add(2 * time.Second << r.Course.Fails)
}

// advance looks at a proposal once, and says when to do so again. What panics on
// the way is an error like others, and puts off the next turn as they do.
func (s *Service) advance(ctx context.Context, r *Record, holder string) (err error) {
	defer fault.Catch(&err, "following proposal %s", r.ID)
	bounded, cancel := context.WithTimeout(ctx, turnFor)
	defer cancel()
	switch {
	case r.State == Open:
		if err := s.lookAtPull(bounded, r); err != nil || r.State != Open {
			return err
		}
		return s.repair(ctx, r, holder)
	case r.State == Merged && r.Follow.Outcome == "":
		return s.lookAtLive(bounded, r)
	case r.Follow.Outcome != "":
		return s.afterwards(bounded, r, holder)
	}
	r.FollowAt = time.Time{}
	return nil
}

// lookAtPull asks the forge about an open pull request.
func (s *Service) lookAtPull(ctx context.Context, r *Record) error {
	soon := r.FollowAt.Before(r.CreatedAt) // there is news
	if r.FollowAt = s.now().Add(s.cfg.Follow.Every); soon {
		r.FollowAt = s.now().Add(lookAgain) // forges work out what follows of it
	}
	p, err := s.askForge(ctx, r)
	if err == nil {
		r.take(p, s.now())
	}
	return err
}

// askForge reads a proposal's pull request.
func (s *Service) askForge(ctx context.Context, r *Record) (p *Pull, err error) {
	forge := s.cfg.Forges[r.Place.Forge]
	if forge == nil {
		err = fault.New(fault.FailedPrecondition, "the forge %q is not configured any more", r.Place.Forge).WithFix("Have the operators add it under forges.")
	} else {
		p, err = forge.GetPull(ctx, r.Place.Name, r.Pull.Number)
	}
	if r.Course.Trouble = ""; err != nil {
		r.Course.Trouble = line(fault.From(err).Message, maxGround)
	}
	return p, err
}

// take notes a pull request as it was just read.
func (r *Record) take(p *Pull, now time.Time) {
	if len(p.Notes) > 0 {
		r.Notes = p.Notes
	}
	r.movement(p, now.UTC().Truncate(time.Microsecond))
	r.Pull, r.State, r.CheckedAt = *p, p.State, now.UTC().Truncate(time.Microsecond)
	r.Pull.Body = ""
	if r.Course.Ready.IsZero() && r.approvable() {
		r.Course.Ready = r.CheckedAt
	}
	if p.State != PullOpen && r.EndedAt.IsZero() {
		if r.EndedAt = p.Ended; r.EndedAt.IsZero() {
			r.EndedAt = r.CheckedAt
		}
	}
}

// movement notes what has happened to a pull request since it was last read.
func (r *Record) movement(p *Pull, now time.Time) {
	c, old := &r.Course, &r.Pull
	if c.Opened.IsZero() {
		c.Opened, c.Moved = now, now
	}
	same := old.Head == p.Head && old.Draft == p.Draft && old.State == p.State && slices.Equal(old.Checks, p.Checks) && slices.Equal(old.Approved, p.Approved) && slices.Equal(old.Rejected, p.Rejected)
	if !same {
		c.Moved = now
	}
	c.Trouble = ""
	switch {
	case p.Mergeable != MergeUnknown:
		c.Unsure = time.Time{}
	case c.Unsure.IsZero():
		c.Unsure = now
	}
}

// print is a digest of what callers are told.
func (r *Record) print() string {
	p := r.View()
	p.CheckedAt, p.UpdatedAt, p.Plan.Diff, p.Next = time.Time{}, time.Time{}, "", ""
	text, err := json.Marshal(p)
	if err != nil { // it is strings and times
		return ""
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}
