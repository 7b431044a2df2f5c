package secrets

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/fault/beside"
)

// reaperWork is what the audit calls what ends leases by itself.
const reaperWork = "credentials"

// How the reaper works: claims leases are taken at a time, for claimFor,
// workers looked after at once, each for lookFor at most; it sleeps for
// longestNap at most, and asks each bindingsEvery whether what leases are bound
// to is over.
const (
	claims        = 64
	claimFor      = 40 * time.Second
	workers       = 16
	lookFor       = 8 * time.Second
	shortestNap   = 20 * time.Millisecond
	longestNap    = 15 * time.Second
	bindingsEvery = time.Second
	soonAgain     = 5 * time.Second // after trouble
)

// Between two tries of a revocation there is firstTry, then as much time as it
// has been in vain, up to lastTry. However often callers try meanwhile, it is not
// put off for longer.
const (
	firstTry = time.Second
	lastTry  = 30 * time.Second
)

// Run ends leases until ctx does: those whose time is up, whose session or
// binding is over, whose wrapping somebody else has opened, and what the issuer
// has that no lease is known of. Whatever it was at when it ends is gone on
// with by the next, or by another replica. It gives nil.
func (s *Service) Run(ctx context.Context) error {
	if s == nil {
		<-ctx.Done()
		return nil
	}
	var loops beside.All
	always := func(doing string, loop func()) {
		loops.Go(func() { beside.Always(ctx, s.cfg.Logger, doing, loop) })
	}
	always("ending leases", func() { s.reaping(ctx) })
	always("looking at what leases are bound to", func() {
		s.every(ctx, bindingsEvery, "what leases are bound to cannot be looked at", s.Unbind)
	})
	always("holding the ledger against the issuer", func() {
		s.every(ctx, reconcileEvery, "the ledger cannot be held against the issuer", s.Reconcile)
	})
	loops.Wait()
	return nil
}

// every does something at once and then again and again.
func (s *Service) every(ctx context.Context, pause time.Duration, trouble string, do func(context.Context) error) {
	for {
		err := do(ctx)
		again := pause
		if err != nil && ctx.Err() == nil {
			s.cfg.Logger.WarnContext(ctx, trouble, "error", err)
			again = min(max(pause, soonAgain), longestNap)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(again):
		}
	}
}

// reaping does turns.
func (s *Service) reaping(ctx context.Context) {
	for ctx.Err() == nil {
		next, err := s.Reap(ctx)
		nap := longestNap
		switch {
		case err != nil && ctx.Err() == nil:
			s.cfg.Logger.WarnContext(ctx, "leases that are due cannot be looked at", "error", err)
			nap = firstTry
		case !next.IsZero():
			nap = min(max(next.Sub(s.cfg.Now()), shortestNap), longestNap)
		}
		select {
		case <-ctx.Done():
		case <-s.woken:
		case <-time.After(nap):
		}
	}
}

// Reap looks once after all leases that are due, and tells when the next one
// is; zero for none that is known of.
func (s *Service) Reap(ctx context.Context) (next time.Time, err error) {
	for ctx.Err() == nil {
		now := s.now()
		due, next, err := s.cfg.Ledger.ClaimLeases(ctx, now, now.Add(claimFor), claims)
		if err != nil || len(due) == 0 {
			return next, err
		}
		s.lookAfter(ctx, due) // and again: what came of these may be due already
	}
	return time.Time{}, ctx.Err()
}

// lookAfter looks after leases, several at a time.
func (s *Service) lookAfter(ctx context.Context, due []Record) {
	var wg beside.All
	slots := make(chan struct{}, workers)
	for _, r := range due {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			one, cancel := context.WithTimeout(ctx, lookFor)
			defer cancel()
			if err := s.look(one, r); err != nil && ctx.Err() == nil && fault.CodeOf(err) != fault.Conflict {
				s.cfg.Logger.WarnContext(ctx, "a lease could not be looked after", "lease", r.ID, "state", r.State, "tries", r.Tries, "error", err)
			}
		})
	}
	wg.Wait()
}

// look looks after one lease.
func (s *Service) look(ctx context.Context, r Record) (err error) {
	defer fault.Catch(&err, "looking after lease %s", r.ID)
	now := s.now()
	switch {
	case r.State == Revoking:
		_, err := s.end(ctx, r)
		return err
	case r.State == Issuing:
		r.over(now, "", "its issuing was cut short", Failed)
	case r.State != Live:
		return nil
	case !now.Before(r.ExpiresAt):
		r.over(now, "", "its time was up", Expired)
	case !r.BeatAt.IsZero() && now.Sub(r.BeatAt) >= sessionEnds:
		r.over(now, "", fmt.Sprintf("its session is over: its holder was last heard of at %s", stamp(r.BeatAt)), Revoked)
	case r.waits() && (now.Before(r.WrapEnds) || !r.MissedAt.IsZero()):
		return s.lookAtWrapping(ctx, r)
	case r.Wrapping == WrappingUnopened && !now.Before(r.lapses()):
		return s.unwrapped(ctx, r)
	default:
		r.DueAt = r.due(now)
		_, err := s.cfg.Ledger.SaveLease(ctx, r)
		return err
	}
	return s.over(ctx, r)
}

// over writes down that a lease is over before its credential is taken back: if
// its holder changes it meanwhile, it is not.
func (s *Service) over(ctx context.Context, r Record) (err error) {
	r.DueAt = s.now().Add(claimFor)
	if r, err = s.cfg.Ledger.SaveLease(ctx, r); err != nil {
		return err
	}
	if r.Alarm {
		s.raised(ctx, &r)
	}
	_, err = s.end(ctx, r)
	return err
}

// end has the issuer take back what is over and writes down what came of that.
func (s *Service) end(ctx context.Context, r Record) (Record, error) {
	left := s.release(ctx, &r)
	now := s.now()
	next := r
	if left == nil {
		next.gone(now)
	} else {
		next.Tries++
		next.DueAt = now.Add(min(max(now.Sub(r.EndedAt), firstTry), lastTry))
	}
	out, err := s.cfg.Ledger.SaveLease(keep(ctx), next)
	switch {
	case fault.CodeOf(err) == fault.Conflict && left == nil:
		return s.again(ctx, r.ID)
	case err != nil:
		return r, err
	case left != nil:
		s.cfg.Observe(HappenedRetried)
		return out, left
	}
	s.cfg.Observe(HappenedRevoked)
	return out, nil
}

// release has the issuer take back all that there is of a lease: its wrapping,
// which may hold what no account ends, and its account.
func (s *Service) release(ctx context.Context, r *Record) error {
	for _, handle := range []string{r.Accessor, r.Handle} {
		if handle == "" {
			continue
		}
		if err := s.cfg.Issuer.Revoke(ctx, handle); err != nil {
			return err
		}
	}
	return nil
}

// keep is a context in which what was done is written down even where the time
// for doing it is over.
func keep(ctx context.Context) context.Context { return context.WithoutCancel(ctx) }

// again is a lease that somebody else has changed while its account was taken
// back: it is due, and the account is gone by then.
func (s *Service) again(ctx context.Context, id string) (Record, error) {
	return s.change(keep(ctx), id, func(r *Record) error {
		if !r.State.Ended() {
			r.DueAt = s.now()
		}
		return nil
	})
}

// unwrapped takes back what nobody can open any more. The lease stays: its
// holder can collect it.
func (s *Service) unwrapped(ctx context.Context, r Record) error {
	now, handle := s.now(), r.Handle
	r.collectAgain(now)
	r.Handle, r.DueAt = handle, now.Add(claimFor)
	r, err := s.cfg.Ledger.SaveLease(ctx, r)
	if err != nil {
		return err
	}
	if handle != "" {
		if err := s.cfg.Issuer.Revoke(ctx, handle); err != nil {
			return err
		}
	}
	r.collectAgain(now)
	_, err = s.cfg.Ledger.SaveLease(keep(ctx), r)
	return err
}

// lookAtWrapping looks whether a wrapping that was handed out is there still.
// One that is not was opened: its holder says so soon, or it was somebody else.
func (s *Service) lookAtWrapping(ctx context.Context, r Record) error {
	there, err := s.cfg.Custodian.Unopened(ctx, r.Accessor)
	if err != nil {
		return err
	}
	now := s.now()
	switch {
	case there:
		r.MissedAt = time.Time{}
	case r.MissedAt.IsZero() && now.Before(r.WrapEnds.Add(-clockSkew)):
		r.MissedAt = now
	case !r.MissedAt.IsZero() && now.Sub(r.MissedAt) >= confirmWithin:
		if err := s.alarm(&r); err != nil {
			return err
		}
		return s.over(ctx, r)
	}
	r.DueAt = r.due(now)
	_, err = s.cfg.Ledger.SaveLease(ctx, r)
	return err
}

// Unbind ends the leases whose bindings are over.
func (s *Service) Unbind(ctx context.Context) error {
	if s.cfg.Bindings == nil {
		return nil
	}
	all, err := s.cfg.Reads.LeaseBindings(ctx)
	if err != nil {
		return err
	}
	for _, to := range all {
		kind, id, _ := strings.Cut(to, ":")
		over, one := s.cfg.Bindings.Over(ctx, kind, id)
		if one == nil && over {
			one = s.Ended(ctx, to)
		}
		if one != nil { // of others it may be known
			err = errors.Join(err, fmt.Errorf("%s: %w", to, one))
		}
	}
	return err
}

// Ended ends the leases that are bound to something, which is over: preview:ID
// or proposal:ID. Who knows that says so to have it done at once; it is found
// anyway within seconds.
func (s *Service) Ended(ctx context.Context, to string) error {
	if s == nil || to == "" || to == Session {
		return nil
	}
	reason := "it was bound to " + to + ", which is over"
	n, err := s.cfg.Ledger.EndLeases(ctx, Query{BoundTo: to}, End{At: s.now(), Reason: reason})
	if err != nil || n == 0 {
		return err
	}
	s.wake()
	s.cfg.Guard.Note(ctx, reaperWork, access.Op{Action: access.RevokeCredentials, Operation: "revoke_all_credentials", Target: to, Input: map[string]any{"leases": n, "reason": reason}}, nil)
	return nil
}
