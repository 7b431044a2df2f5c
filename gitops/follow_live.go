package gitops

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// The least and most time between two looks at what is merged: a tenth of the
// time since then.
const (
	soonest, rarest = 2 * time.Second, time.Minute
)

// forgotten is how long a service or environment may not be in the catalog after
// something of it was merged, before it counts as gone.
const forgotten = 10 * time.Minute

// pace is when to look again at what began at a time.
func pace(now, began time.Time, least, most time.Duration) time.Time {
	return now.Add(min(max(now.Sub(began)/10, least), most))
}

// lookAtLive asks how far a merged proposal has come: whether what runs holds
// it, how that is doing, and whether it was taken back.
func (s *Service) lookAtLive(ctx context.Context, r *Record) error {
	now, f := s.now(), &r.Follow
	r.FollowAt = pace(now, f.MergedAt, soonest, rarest)
	if now.Sub(f.MergedAt) > s.cfg.Follow.Within {
		s.late(r)
		return nil
	}
	h, live, err := s.live(ctx, r)
	switch code := fault.CodeOf(err); {
	case err != nil && code == fault.NotFound && now.Sub(f.MergedAt) < forgotten:
		// The catalog may have lost it for a moment.
		f.Waits = line("to be known where it is deployed: "+fault.From(err).Message, maxGround)
		return nil
	case err != nil && (code == fault.FailedPrecondition || code == fault.NotFound || code == fault.Invalid):
		// Nobody says what runs.
		s.end(r, OutcomeMerged, line(fault.From(err).Message, maxGround))
		return nil
	case err != nil:
		f.Waits = "Argo CD could not be asked"
		return err
	}
	back := s.takenBack(ctx, r) // what cannot be told now takes nothing from the rest
	if f.RolledBack != nil && f.HealthyAt.IsZero() {
		s.end(r, OutcomeRolledBack, f.Grounds...)
		return nil
	}
	if r.Course.Replaced {
		s.giveWay(r)
		return nil
	}
	if live {
		f.synced(h, now)
	}
	return errors.Join(back, s.judged(ctx, r, h, live))
}

// late ends what did not come to its end in time.
func (s *Service) late(r *Record) {
	f := &r.Follow
	waits := f.Waits
	if !r.Course.Unwell.IsZero() {
		s.end(r, OutcomeDegraded, f.Grounds...)
		return
	}
	s.end(r, OutcomeUnknown, "it did not become known within "+span(s.cfg.Follow.Within)+": "+cmp.Or(waits, "it is not live"))
}

// live asks how a proposal's environment is doing, and tells whether what is
// live there holds what was merged. Where it does not, Argo CD is asked to look
// for it.
func (s *Service) live(ctx context.Context, r *Record) (h *DeploymentHealth, live bool, err error) {
	who := access.System(followWork)
	for _, revision := range []string{"", r.Follow.Merged} {
		if revision == "" || len(revision) >= minRevision {
			if h, err = s.cfg.Follow.Health.GetDeploymentHealth(ctx, who, GetDeploymentHealthInput{Service: r.Service, Environment: r.Environment, Revision: revision}); err != nil {
				return nil, false, err
			}
		}
		if h.Live == nil {
			return h, false, nil
		}
		if live, err = s.holds(ctx, r, h.Live.Revision); live || err != nil {
			return h, live, err
		}
	}
	return h, false, nil
}

// holds tells whether one of the revisions, as they are listed, has what was
// merged.
func (s *Service) holds(ctx context.Context, r *Record, revisions string) (bool, error) {
	f := &r.Follow
	if revisions == r.Course.Lacks {
		return false, nil
	}
	for revision := range strings.SplitSeq(revisions, ", ") {
		if revision == "" {
			continue
		}
		if revision == f.Merged || revision == f.Synced || revision == f.Healthy {
			return true, nil
		}
		has, err := s.cfg.Follow.Lineage.Contains(ctx, r.Place, revision, f.Merged)
		switch {
		case has:
			return true, nil
		case err != nil && unavailable(err):
			return false, err
		}
	}
	r.Course.Lacks = revisions
	return false, nil
}

// synced notes the first revision with the proposal that was synced.
func (f *Follow) synced(h *DeploymentHealth, now time.Time) {
	if f.Synced != "" {
		return
	}
	f.Synced, f.SyncedAt = h.Live.Revision, h.Live.At
	if h.Sync != nil && f.SyncedAt.Before(f.MergedAt) { // it was synced without a change to anything that runs
		f.SyncedAt = h.Sync.ComparedAt
	}
	if f.SyncedAt.IsZero() || f.SyncedAt.After(now) {
		f.SyncedAt = now
	}
}

// judged goes by the verdict on what is live.
func (s *Service) judged(ctx context.Context, r *Record, h *DeploymentHealth, live bool) error {
	f, c, now := &r.Follow, &r.Course, s.now()
	ground := ""
	if len(h.Grounds) > 0 {
		ground = h.Grounds[0]
	}
	switch {
	case h.Verdict == DegradedVerdict && (live || s.syncFailed(ctx, r, h)):
		s.unwell(r, h.Grounds)
		return nil
	case !live:
		f.Waits = line("to be live: "+cmp.Or(ground, "another revision is"), maxGround)
		return nil
	case h.Verdict != HealthyVerdict:
		if c.Unwell.IsZero() && f.HealthyAt.IsZero() || h.Verdict == ProgressingVerdict {
			f.Waits = line("to be healthy: "+ground, maxGround)
		}
		return nil
	}
	if c.Unwell = (time.Time{}); f.HealthyAt.IsZero() {
		f.Healthy, f.HealthyAt = h.Live.Revision, now
	}
	until := f.HealthyAt.Add(s.cfg.Follow.Verify)
	if now.Before(until) {
		f.Waits = "whether it stays healthy until " + stamp(until)
		if r.FollowAt = pace(now, f.MergedAt, soonest, rarest); r.FollowAt.After(until) {
			r.FollowAt = until
		}
		return nil
	}
	return s.verified(ctx, r, until)
}

// syncFailed tells whether the last sync was to have what was merged.
func (s *Service) syncFailed(ctx context.Context, r *Record, h *DeploymentHealth) bool {
	op := h.Operation
	if op == nil || op.Phase != OperationFailed && op.Phase != OperationError || op.FinishedAt.Before(r.Follow.MergedAt) {
		return false
	}
	has, err := s.holds(ctx, r, op.Revision)
	return has && err == nil
}

// unwell notes that it is not well, and ends it where it stays so for as long
// as what is healthy is watched.
func (s *Service) unwell(r *Record, grounds []string) {
	f, c, now := &r.Follow, &r.Course, s.now()
	f.Grounds, f.Healthy, f.HealthyAt, f.Waits = grounds, "", time.Time{}, "to become healthy, or to be taken back"
	if f.DegradedAt.IsZero() {
		f.DegradedAt = now
	}
	if c.Unwell.IsZero() {
		c.Unwell = now
	}
	if over := c.Unwell.Add(s.cfg.Follow.Verify); !now.Before(over) {
		s.end(r, OutcomeDegraded, grounds...)
	} else if r.FollowAt.After(over) {
		r.FollowAt = over
	}
}

// verified compares what is measured before and after, and ends it.
func (s *Service) verified(ctx context.Context, r *Record, until time.Time) error {
	f := &r.Follow
	w, err := s.cfg.Follow.Health.CompareWindows(ctx, access.System(followWork), CompareWindowsInput{Service: r.Service, Environment: r.Environment,
		Before: f.MergedAt, After: until, Length: s.cfg.Follow.Verify})
	if err != nil {
		w = &Window{From: f.HealthyAt, Until: until, Outcome: WindowUnmeasured, Grounds: []string{line(fault.From(err).Message, maxGround)}}
	}
	f.Window = w
	if w.Outcome != WindowRegressed {
		f.Grounds = nil
		s.end(r, OutcomeHealthy)
		return nil
	}
	if f.DegradedAt.IsZero() {
		f.DegradedAt = s.now()
	}
	s.end(r, OutcomeDegraded, w.Grounds...)
	return nil
}
