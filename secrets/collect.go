package secrets

import (
	"context"
	"time"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// LeaseInput names a lease.
type LeaseInput struct {
	Lease string `json:"lease" jsonschema:"id of the lease"`
}

// The inputs of operations on one lease.
type (
	// CollectInput names the lease to collect.
	CollectInput = LeaseInput
	// ConfirmInput names the lease whose wrapping was opened.
	ConfirmInput = LeaseInput
	// ReportInput names the lease whose wrapping somebody else has opened.
	ReportInput = LeaseInput
	// BeatInput names the lease that is still wanted.
	BeatInput = LeaseInput
	// RevealInput names the lease whose values are wanted.
	RevealInput = LeaseInput
)

// Collect gives the holder of a lease what opens its wrapping. There is a new
// wrapping each time, of a credential that is issued anew under the same lease
// and ends when that does; the one before is worthless. Faults: not_found,
// forbidden (also for who does not hold it), failed_precondition (it is over,
// or opened already), conflict (another call is at it), unavailable.
func (s *Service) Collect(ctx context.Context, who access.Caller, in CollectInput) (*Loan, error) {
	r, err := s.readable(ctx, who, in.Lease)
	if err != nil {
		return nil, err
	}
	op := access.Op{Action: access.CollectCredentials, Operation: "collect_credentials", Resource: s.about(&r), Target: r.ID, Input: in}
	out, err := access.Do(ctx, s.cfg.Guard, who, op, func(ctx context.Context) (*issued, error) {
		return s.reissue(ctx, who, r)
	})
	if err != nil {
		return nil, err
	}
	return s.loan(&out.Record, out.wrapped), nil
}

// Reveal tells the holder of a lease the credential's values, of which there
// are new ones. Faults: those of Collect.
func (s *Service) Reveal(ctx context.Context, who access.Caller, in RevealInput) (*Plain, error) {
	r, err := s.readable(ctx, who, in.Lease)
	if err != nil {
		return nil, err
	}
	op := access.Op{Action: access.RevealCredentials, Operation: "reveal_credentials", Resource: s.about(&r), Target: r.ID, Input: in}
	return access.Do(ctx, s.cfg.Guard, who, op, func(ctx context.Context) (*Plain, error) {
		out, err := s.reissue(ctx, who, r)
		if err != nil {
			return nil, err
		}
		values, err := s.cfg.Custodian.Unwrap(ctx, *out.wrapped)
		out.wrapped.Token.Wipe()
		if err == nil {
			_, err = s.change(ctx, r.ID, s.opened)
		}
		if err != nil {
			for _, v := range values {
				v.Wipe()
			}
			return nil, err
		}
		plain := &Plain{Lease: r.ID, Values: make(map[string]Shown, len(values))}
		for field, v := range values {
			plain.Values[field] = Show(v)
		}
		return plain, nil
	})
}

// reissue has a credential issued anew under a lease that its holder has not
// opened. An account that there is goes first: nobody is left with a credential
// that the ledger does not know of.
func (s *Service) reissue(ctx context.Context, who access.Caller, r Record) (*issued, error) {
	if err := s.collectable(ctx, who, &r); err != nil {
		return nil, err
	}
	now := s.now()
	r.State, r.Wrapping, r.DueAt = Issuing, WrappingNone, now.Add(issueWithin)
	r, err := s.cfg.Ledger.SaveLease(ctx, r)
	if err != nil {
		return nil, err
	}
	how := way{toHand: true, again: true}
	if err := s.release(ctx, &r); err != nil {
		return nil, s.restore(ctx, r, err)
	}
	r.Handle, r.Accessor = "", ""
	return s.issue(ctx, who, r, how)
}

// restore has a lease be live whose account could not be taken back, so that it
// can be collected when the issuer answers again.
func (s *Service) restore(ctx context.Context, r Record, cause error) error {
	handle, accessor, now := r.Handle, r.Accessor, s.now()
	r.collectAgain(now)
	r.Handle, r.Accessor = handle, accessor
	if _, err := s.cfg.Ledger.SaveLease(keep(ctx), r); err != nil && fault.CodeOf(err) != fault.Conflict {
		s.cfg.Logger.WarnContext(ctx, "a lease that could not be collected ends", "lease", r.ID, "error", err)
	}
	return unissued(&r, cause)
}

// collectable tells by its error why a caller cannot collect a lease. One whose
// wrapping is gone was opened by somebody else.
func (s *Service) collectable(ctx context.Context, who access.Caller, r *Record) error {
	switch {
	case !holds(who, r):
		return fault.New(fault.Forbidden, "lease %s is held by %s, and nobody else may have what it lends", r.ID, r.Person).WithFix("Request a credential of your own.")
	case r.State != Live || !s.cfg.Now().Before(r.ExpiresAt):
		return notLive(r)
	case r.Wrapping == WrappingOpened:
		return fault.New(fault.FailedPrecondition, "the credential of lease %s was taken out of its wrapping already, and there is no second", r.ID).
			WithFix("Request another, with new: true.")
	case r.Wrapping != WrappingUnopened || r.HandedAt.IsZero() || !s.cfg.Now().Before(r.WrapEnds):
		return nil
	}
	there, err := s.cfg.Custodian.Unopened(ctx, r.Accessor)
	if err != nil || there {
		return err
	}
	looked := r.Accessor
	if _, err := s.change(ctx, r.ID, func(now *Record) error {
		if now.State == Live && now.Accessor != looked { // another call has had it wrapped anew
			return busy(now)
		}
		return s.alarm(now)
	}); err != nil {
		return err
	}
	s.raised(ctx, r)
	return opened(r.ID)
}

// opened is the fault of a wrapping that somebody else has opened.
func opened(id string) error {
	return fault.New(fault.FailedPrecondition, "the wrapping of lease %s was opened by somebody else, so the lease was revoked", id).
		WithFix("Find out who reads what you send or store, then request another.")
}

// busy is the fault of a lease that another call is at.
func busy(r *Record) error {
	return fault.New(fault.Conflict, "another call is having the credential of lease %s issued", r.ID).WithFix("Try again in a moment.")
}

func notLive(r *Record) error {
	if r.State == Issuing {
		return busy(r)
	}
	why := "its time is up"
	if r.Reason != "" {
		why = r.Reason
	}
	return fault.New(fault.FailedPrecondition, "lease %s is over: %s", r.ID, why).WithFix("Request another.")
}

// opened notes that the holder has the credential.
func (s *Service) opened(r *Record) error {
	if r.State != Live {
		return notLive(r)
	}
	now := s.now()
	r.Wrapping, r.Accessor, r.MissedAt = WrappingOpened, "", time.Time{}
	r.heard(now)
	r.DueAt = r.due(now)
	return nil
}

// Confirm says that the holder has opened the wrapping; otherwise somebody else
// has. Faults: not_found, forbidden, failed_precondition (it is over, or was
// not handed out).
func (s *Service) Confirm(ctx context.Context, who access.Caller, in ConfirmInput) (*Lease, error) {
	return s.asHolder(ctx, who, in, "confirm_credentials", func(r *Record) error {
		switch {
		case r.State == Live && r.Wrapping == WrappingOpened:
			return nil
		case r.State == Live && (r.Wrapping != WrappingUnopened || r.HandedAt.IsZero()):
			return fault.New(fault.FailedPrecondition, "what opens the wrapping of lease %s was given to nobody", r.ID).WithFix("Collect it first.")
		}
		return s.opened(r)
	})
}

// Report says that somebody else has opened the wrapping before its holder
// could. That is an alarm, and the lease is revoked. Faults: not_found,
// forbidden, failed_precondition (it is over).
func (s *Service) Report(ctx context.Context, who access.Caller, in ReportInput) (*Lease, error) {
	out, err := s.asHolder(ctx, who, in, "report_credentials", s.alarm)
	if err == nil {
		s.raised(ctx, &Record{ID: out.Lease, Service: out.Service, Person: out.Person, Agent: out.Agent})
		s.wake()
	}
	return out, err
}

// asHolder makes a change that only the holder makes.
func (s *Service) asHolder(ctx context.Context, who access.Caller, in LeaseInput, operation string, do func(*Record) error) (*Lease, error) {
	r, err := s.readable(ctx, who, in.Lease)
	if err != nil {
		return nil, err
	}
	op := access.Op{Action: access.CollectCredentials, Operation: operation, Resource: s.about(&r), Target: r.ID, Input: in, Holder: holds(who, &r)}
	return access.Do(ctx, s.cfg.Guard, who, op, func(ctx context.Context) (*Lease, error) {
		if !holds(who, &r) {
			return nil, notHolder(&r)
		}
		out, err := s.change(ctx, r.ID, do)
		if err != nil {
			return nil, err
		}
		return out.View(s.cfg.Now()), nil
	})
}

func notHolder(r *Record) error {
	return fault.New(fault.Forbidden, "lease %s is held by %s", r.ID, r.Person).WithFix("Only its holder says that of it.")
}

// alarm notes that somebody else has opened the wrapping, which ends the lease.
func (s *Service) alarm(r *Record) error {
	if r.State != Live {
		return notLive(r)
	}
	r.Alarm = true
	r.over(s.now(), "", "its wrapping was opened by somebody else", Revoked)
	return nil
}

// raised tells of an alarm.
func (s *Service) raised(ctx context.Context, r *Record) {
	s.cfg.Observe(HappenedAlarm)
	s.cfg.Logger.ErrorContext(ctx, "the wrapping of a credential was opened by somebody else; it is revoked", "lease", r.ID, "service", r.Service, "person", r.Person, "agent", r.Agent)
	op := access.Op{Action: access.RevokeCredentials, Operation: "report_credentials", Resource: access.Attributes{Ref: r.Service}, Target: r.ID,
		Input: map[string]string{"lease": r.ID, "reason": "its wrapping was opened by somebody else"}}
	s.cfg.Guard.Note(ctx, reaperWork, op, opened(r.ID))
	s.wake()
}

// beatEvery is how often at most a holder's word is written down.
const beatEvery = 5 * time.Second

// Beat says that the holder of a lease still wants it. One that is bound to a
// session, or that its holder has said so of once, ends 90s after the last word.
// It is no act of its own in the audit.
// Faults: not_found, forbidden, failed_precondition (it is over).
func (s *Service) Beat(ctx context.Context, who access.Caller, in BeatInput) (*Lease, error) {
	r, err := s.readable(ctx, who, in.Lease)
	if err != nil {
		return nil, err
	}
	if d := s.cfg.Policy.AllowHolder(who, access.CollectCredentials, s.about(&r)); !d.Allowed {
		return nil, fault.New(fault.Forbidden, "%s", d.Reason).WithFix("%s", d.Fix)
	}
	if !holds(who, &r) {
		return nil, notHolder(&r)
	}
	if r.State != Live && r.State != Issuing {
		return nil, notLive(&r)
	}
	if s.cfg.Now().Sub(r.BeatAt) >= beatEvery {
		r, err = s.change(ctx, r.ID, func(r *Record) error {
			if r.State != Live {
				return notLive(r)
			}
			r.BeatAt = s.now()
			r.DueAt = r.due(r.BeatAt)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return r.View(s.cfg.Now()), nil
}
