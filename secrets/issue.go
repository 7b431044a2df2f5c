package secrets

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// issueFor bounds the issuing of one credential; what is not done by
// issueWithin was cut short, and the reaper clears up after it. lookAgain is
// how often it is looked whether another call has issued one, and clearFor how
// long clearing up after a call that failed may take.
const (
	issueFor    = 30 * time.Second
	issueWithin = 60 * time.Second
	lookAgain   = 50 * time.Millisecond
	clearFor    = 10 * time.Second
)

// lend writes a lease down and has its credential issued, or gives the one that
// the caller has already. toHand tells that the caller gets the wrapping.
func (s *Service) lend(ctx context.Context, who access.Caller, r Record, share, toHand bool) (*issued, error) {
	made, err := s.cfg.Ledger.AddLease(ctx, r, s.cfg.Limits, share)
	switch {
	case err != nil:
		return nil, err
	case made.ID != r.ID:
		return s.settled(ctx, made)
	}
	s.wake() // which then knows when to look after it
	return s.issue(ctx, who, made, way{toHand: toHand})
}

// settled waits until another call has issued a lease.
func (s *Service) settled(ctx context.Context, r Record) (*issued, error) {
	ctx, cancel := context.WithTimeout(ctx, issueFor)
	defer cancel()
	for r.State == Issuing {
		select {
		case <-ctx.Done():
			return &issued{Record: r}, nil // it can be asked for again
		case <-time.After(lookAgain):
		}
		now, err := s.cfg.Reads.Lease(ctx, r.ID)
		if err != nil {
			return nil, err
		}
		r = now
	}
	if r.State == Failed {
		return nil, fault.New(fault.Unavailable, "the call that was asking for the same failed: %s", r.Reason).WithFix("Ask again.")
	}
	return &issued{Record: r}, nil
}

// order is what the issuer is asked for.
func (s *Service) order(who access.Caller, r *Record) Order {
	now := s.cfg.Now()
	return Order{Lease: r.ID, Offer: r.Offer, TTL: r.ExpiresAt.Sub(now), MaxTTL: r.Until.Sub(now), WrapTTL: min(s.cfg.WrapTTL, r.ExpiresAt.Sub(now)),
		Person: r.Person, Agent: r.Agent, Service: r.Service, Environment: r.Environment, Task: r.Task, Proof: who.Proof()}
}

// way is how a credential is issued.
type way struct {
	// toHand tells that the caller gets what opens the wrapping, again that the
	// lease was live before: then it stays so where the issuer cannot be reached.
	toHand, again bool
}

// issue has the credential of a lease issued that is issuing and has no
// account. Each step is written down before the next, so that whatever there is
// at the issuer hangs on an account that the ledger knows.
func (s *Service) issue(ctx context.Context, who access.Caller, r Record, how way) (*issued, error) {
	ctx, cancel := context.WithTimeout(ctx, issueFor)
	defer cancel()
	o := s.order(who, &r)
	account, err := s.cfg.Issuer.Open(ctx, o)
	if err != nil {
		return nil, s.abandon(ctx, r, "", how, err)
	}
	defer account.Key.Wipe()
	opened := r
	opened.Handle, opened.OpenedAt, opened.ExpiresAt = account.Handle, s.now(), sooner(r.ExpiresAt, account.ExpiresAt)
	opened, err = s.cfg.Ledger.SaveLease(ctx, opened)
	if err != nil {
		return nil, s.abandon(ctx, r, account.Handle, how, err)
	}
	r = opened
	w, err := s.cfg.Issuer.Draw(ctx, o, account)
	if err != nil {
		return nil, s.abandon(ctx, r, r.Handle, how, err)
	}
	if r, err = s.lent(ctx, r, &w, how.toHand); err != nil {
		w.Token.Wipe()
		return nil, s.abandon(ctx, r, r.Handle, how, err)
	}
	s.cfg.Observe(HappenedLent)
	if !how.toHand {
		w.Token.Wipe()
		return &issued{Record: r}, nil
	}
	return &issued{r, &w}, nil
}

// lent writes down that a credential was issued, and when it truly ends.
func (s *Service) lent(ctx context.Context, r Record, w *Wrapped, toHand bool) (Record, error) {
	now := s.now()
	next := r
	next.State, next.Wrapping, next.Accessor, next.WrapEnds = Live, WrappingUnopened, w.Accessor, w.ExpiresAt.UTC().Truncate(time.Microsecond)
	next.ExpiresAt, next.HandedAt, next.MissedAt = sooner(r.ExpiresAt, w.CredentialExpiresAt), time.Time{}, time.Time{}
	next.heard(now)
	if toHand {
		next.HandedAt = now
	}
	next.DueAt = next.due(now)
	saved, err := s.cfg.Ledger.SaveLease(ctx, next)
	if err != nil {
		return r, err
	}
	s.wake()
	return saved, nil
}

// sooner is the earlier of two times as they are kept; b may be unknown.
func sooner(a, b time.Time) time.Time {
	if b.IsZero() || a.Before(b) {
		return a
	}
	return b.UTC().Truncate(time.Microsecond)
}

// abandon clears up after a call that could not issue a credential, and gives
// the fault that its caller is told. What cannot be taken back now is left to
// the reaper.
func (s *Service) abandon(ctx context.Context, r Record, handle string, how way, cause error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), clearFor)
	defer cancel()
	now := s.now()
	r.Handle = handle
	r.over(now, "", "it was not issued: "+explain(cause), Failed)
	left := s.release(ctx, &r)
	switch {
	case left != nil: // to the reaper
	case how.again && fault.CodeOf(cause) == fault.Unavailable && now.Before(r.ExpiresAt):
		r.collectAgain(now)
	default:
		r.gone(now)
	}
	if _, err := s.cfg.Ledger.SaveLease(ctx, r); err != nil {
		left = errors.Join(left, s.overtaken(ctx, &r, err))
	}
	if left != nil {
		s.cfg.Logger.WarnContext(ctx, "a credential that was not issued is cleared up later", "lease", r.ID, "error", left)
	}
	s.wake()
	return unissued(&r, cause)
}

// overtaken ends a lease that could not be written down as it was abandoned.
// Somebody else may have decided that it is over meanwhile: the same then comes
// of it. Or it was written down before, and that was not told.
func (s *Service) overtaken(ctx context.Context, r *Record, why error) error {
	if fault.CodeOf(why) != fault.Conflict {
		return why
	}
	_, err := s.change(ctx, r.ID, func(now *Record) error {
		if now.State == Issuing || now.State == Live {
			now.over(s.now(), "", r.Reason, Failed)
		}
		return nil
	})
	return err
}

// unissued is what a caller is told.
func unissued(r *Record, cause error) error {
	f := fault.From(cause)
	if f.Code == fault.Conflict {
		return fault.New(fault.FailedPrecondition, "lease %s was ended while its credential was being issued", r.ID).WithFix("Ask again if it is still wanted.").Because(cause)
	}
	if f.Code == fault.Internal {
		return fmt.Errorf("issuing lease %s: %w", r.ID, cause)
	}
	return f.WithDetail("lease", r.ID)
}
