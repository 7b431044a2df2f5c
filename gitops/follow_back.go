package gitops

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/fairlead-dev/fairlead/internal/fault"
)

// The least and most time between two looks at whether what has ended well or
// not was taken back.
const backSoonest, backLatest = time.Minute, 30 * time.Minute

// afterwards tells who wants to know that a proposal has ended, and for a while
// looks whether it is taken back.
func (s *Service) afterwards(ctx context.Context, r *Record, holder string) error {
	now := s.now()
	r.FollowAt = s.tellReceivers(ctx, r, holder)
	if !r.reversible() || now.Sub(r.Follow.MergedAt) > s.cfg.Follow.Within {
		return nil
	}
	again := pace(now, r.Follow.MergedAt, backSoonest, backLatest)
	if r.FollowAt.IsZero() || again.Before(r.FollowAt) {
		r.FollowAt = again
	}
	return s.takenBack(ctx, r)
}

// takenBack looks on the newest base whether the values that a proposal changed
// are those from before.
func (s *Service) takenBack(ctx context.Context, r *Record) error {
	if len(r.Touched) == 0 || r.Follow.RolledBack != nil || r.Asked == "" {
		return nil
	}
	_, base, err := s.cfg.Repositories.Open(ctx, r.Place)
	if err != nil {
		return err
	}
	if base.Commit == r.Course.Base || base.Commit == r.Follow.Merged {
		return nil
	}
	c, err := r.again()
	if err != nil {
		return nil //nolint:nilerr // it was written by another version; there is nothing to look for
	}
	p, err := s.plan(ctx, r.Place, c.edit)
	if err != nil { // what it changed is not there any more
		return lasting(err)
	}
	if p.commit != r.Follow.Merged && back(r.Touched, c.touched) {
		r.Follow.RolledBack = &RolledBack{At: s.now()}
		s.by(ctx, r, p.commit, c.touched[0].File)
	}
	r.Course.Replaced = r.Follow.RolledBack == nil && replaced(r.Touched, c.touched)
	r.Course.Base = p.commit
	return nil
}

// lasting leaves out of an error what trying again does not change.
func lasting(err error) error {
	if unavailable(err) {
		return err
	}
	return nil
}

// back tells whether all values that were changed would be changed again in the
// same way.
func back(changed []Touched, again []touchedPlace) bool {
	left := map[Touched]int{}
	for _, t := range again {
		left[Touched{File: t.File, From: t.From, To: t.To}]++
	}
	for _, t := range changed {
		key := Touched{File: t.File, From: t.From, To: t.To}
		if left[key]--; left[key] < 0 {
			return false
		}
	}
	return len(changed) > 0
}

// replaced tells whether what was changed has become something else again.
func replaced(changed []Touched, again []touchedPlace) bool {
	return slices.ContainsFunc(again, func(t touchedPlace) bool {
		return slices.ContainsFunc(changed, func(c Touched) bool { return c.File == t.File && c.To == t.To && c.From != t.From })
	})
}

// giveWay ends a proposal in whose place another change has come: what becomes
// of the deployment from now on says nothing of it any more.
func (s *Service) giveWay(r *Record) {
	f := &r.Follow
	switch {
	case !f.HealthyAt.IsZero():
		s.end(r, OutcomeHealthy, "it was healthy until another change took its place")
	case !f.DegradedAt.IsZero():
		s.end(r, OutcomeDegraded, f.Grounds...)
	default:
		s.end(r, OutcomeUnknown, "another change took its place before it was known how it does")
	}
}

// by finds out which commit took a proposal back, and whether that was a
// proposal.
func (s *Service) by(ctx context.Context, r *Record, base, file string) {
	b := r.Follow.RolledBack
	commit, when, err := s.cfg.Follow.Lineage.LastChange(ctx, r.Place, base, file)
	if err != nil || commit == "" {
		return
	}
	if b.Commit = commit; when.After(r.Follow.MergedAt) && when.Before(b.At) {
		b.At = when.UTC()
	}
	// One may not be known to be merged yet.
	later, err := s.cfg.Reads.Proposals(ctx, Query{Service: r.Service, Limit: maxPage})
	if err != nil {
		return
	}
	for i := range later {
		if o := &later[i]; o.ID != r.ID && (o.Pull.Merged == commit || o.Commit == commit) {
			b.Proposal = o.ID
		}
	}
}

// again is the change of a proposal, to be worked out anew.
func (r *Record) again() (*changing, error) {
	var in ProposeChangeInput
	if err := json.Unmarshal([]byte(r.Asked), &in); err != nil {
		return nil, fault.New(fault.FailedPrecondition, "what was asked for proposal %s cannot be read any more", r.ID).Because(err)
	}
	in.Service = r.Service
	return &changing{in: in, ref: r.Service, name: r.Service[strings.LastIndexByte(r.Service, '/')+1:], env: r.Environment, dir: r.Place.Dir}, nil
}
