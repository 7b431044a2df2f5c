package secrets

import (
	"context"
	"iter"
	"strings"
	"time"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/catalog/entity"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/record"
)

// GetInput names a lease.
type GetInput = LeaseInput

// Get is one lease. Faults: not_found.
func (s *Service) Get(ctx context.Context, who access.Caller, in GetInput) (*Lease, error) {
	r, err := s.readable(ctx, who, in.Lease)
	if err != nil {
		return nil, err
	}
	return r.View(s.cfg.Now()), nil
}

// ListInput selects leases; a field left out selects all.
type ListInput struct {
	Service string `json:"service,omitempty" jsonschema:"only of this entity"`
	Person  string `json:"person,omitempty" jsonschema:"only held by this person"`
	Agent   string `json:"agent,omitempty" jsonschema:"only of this agent"`
	Name    string `json:"name,omitempty" jsonschema:"only of this credential"`
	State   string `json:"state,omitempty" jsonschema:"only in this state; all for those that have ended, too"`
	Limit   int    `json:"limit,omitempty" jsonschema:"1 to 200, default 50"`
	Cursor  string `json:"cursor,omitempty" jsonschema:"nextCursor of the page before"`
}

// Page is a page of leases, newest first.
type Page struct {
	Items      []Lease `json:"items"`
	NextCursor string  `json:"nextCursor,omitempty" jsonschema:"cursor of the next page; absent on the last"`
}

// pages are those of the list of leases.
func pages() record.List { return record.List{Name: "leases", Usual: 50, Most: 200} }

// batch is how many records are read at once.
const batch = 200

// anyState selects leases that have ended, too.
const anyState = "all"

// List lists leases that the caller holds or may see, newest first. Faults:
// invalid (a field).
func (s *Service) List(ctx context.Context, who access.Caller, in ListInput) (*Page, error) {
	if err := s.there(); err != nil {
		return nil, err
	}
	q, err := listQuery(in)
	if err != nil {
		return nil, err
	}
	out, now, last := &Page{Items: []Lease{}}, s.cfg.Now(), (*Record)(nil)
	scope := s.cfg.Policy.Scope(who, access.ReadCredentials)
	if scope.None() {
		if who.IsZero() || who.Anonymous() || q.Person != "" && q.Person != who.Subject() {
			return out, nil
		}
		q.Person = who.Subject() // none of others is in scope
	}
	for r, err := range each(ctx, s.cfg.Reads, q) {
		switch {
		case err != nil:
			return nil, err
		case !holds(who, r) && !scope.Allows(s.about(r)):
			continue
		case len(out.Items) == q.Limit:
			out.NextCursor = pages().Cursor(last.CreatedAt, last.ID)
			return out, nil
		}
		out.Items, last = append(out.Items, *r.View(now)), r
	}
	return out, nil
}

// each yields the leases that are meant, newest first, as many as there are.
func each(ctx context.Context, reads Reads, q Query) iter.Seq2[*Record, error] {
	return record.All(record.Page{Limit: batch, Before: q.Before, BeforeID: q.BeforeID}, func(p record.Page) ([]Record, error) {
		q.Limit, q.Before, q.BeforeID = p.Limit, p.Before, p.BeforeID
		return reads.Leases(ctx, q)
	}, func(r *Record) (time.Time, string) { return r.CreatedAt, r.ID })
}

// listQuery checks the input.
func listQuery(in ListInput) (q Query, err error) {
	for field, text := range map[string]string{"service": in.Service, "person": in.Person, "agent": in.Agent, "name": in.Name, "state": in.State, "cursor": in.Cursor} {
		if err := checkText(field, text, 300); err != nil {
			return q, err
		}
	}
	q = Query{Service: entity.CompleteRef(in.Service, "component"), Person: entity.CompleteRef(in.Person, "user"), Agent: in.Agent, Name: in.Name, State: State(in.State), Open: in.State == "", Limit: in.Limit}
	switch q.State {
	case anyState:
		q.State = ""
	case "", Issuing, Live, Revoking, Revoked, Expired, Failed:
	default:
		return q, fault.New(fault.Invalid, "state: there is no state %q", clip(in.State, 80)).WithFix("There are issuing, live, revoking, revoked, expired and failed; all selects all of them.")
	}
	page, err := pages().Page(in.Limit, in.Cursor)
	q.Limit, q.Before, q.BeforeID = page.Limit, page.Before, page.BeforeID
	return q, err
}

// RenewInput puts off a lease's end.
type RenewInput struct {
	Lease string `json:"lease" jsonschema:"id of the lease"`
	TTL   string `json:"ttl" jsonschema:"how long it is wanted from now on, for example 15m; at least 30s. See expiresAt for what it got"`
}

// Renew has a lease live for a time from now, as far as what bounded the
// request, policy and the issuer let it. Faults: not_found, forbidden,
// approval_required, invalid (ttl), failed_precondition (it is over, or can be
// renewed no further), unavailable.
func (s *Service) Renew(ctx context.Context, who access.Caller, in RenewInput) (*Lease, error) {
	r, err := s.readable(ctx, who, in.Lease)
	if err != nil {
		return nil, err
	}
	ttl, err := duration("ttl", in.TTL)
	if err != nil {
		return nil, err
	}
	about := s.about(&r)
	about.Protected = r.About.Protected
	op := access.Op{Action: access.RenewCredentials, Operation: "renew_credentials", Resource: about, Target: r.ID, Input: in}
	return access.Do(ctx, s.cfg.Guard, who, op, func(ctx context.Context) (*Lease, error) {
		if bound, _ := s.cfg.Policy.Bound(who, access.RenewCredentials, about); bound > 0 {
			ttl = min(ttl, bound)
		}
		return s.renew(ctx, &r, ttl)
	})
}

func (s *Service) renew(ctx context.Context, r *Record, ttl time.Duration) (*Lease, error) {
	now := s.now()
	until := earliest(now.Add(ttl), r.Until)
	switch {
	case r.State != Live || !now.Before(r.ExpiresAt):
		return nil, notLive(r)
	case !until.After(r.ExpiresAt) && r.ExpiresAt.Equal(r.Until):
		return nil, fault.New(fault.FailedPrecondition, "lease %s may last until %s, %s from its beginning, and no longer", r.ID, stamp(r.Until), r.Until.Sub(r.CreatedAt)).
			WithFix("Request another when it has ended.")
	}
	until, lost, err := s.renewAt(ctx, r, now, until)
	if err != nil {
		return nil, err
	}
	out, err := s.change(ctx, r.ID, func(r *Record) error {
		if r.State != Live {
			return notLive(r)
		}
		if lost {
			r.over(now, "", "its account was gone at the issuer", Expired)
			return nil
		}
		r.ExpiresAt = until
		r.DueAt = r.due(now)
		return nil
	})
	s.wake()
	switch {
	case err != nil:
		return nil, err
	case lost:
		s.cfg.Observe(HappenedLost)
		return nil, notLive(&out)
	}
	return out.View(s.cfg.Now()), nil
}

// renewAt has the issuer renew an account, and tells when that truly ends, or
// that it is lost.
func (s *Service) renewAt(ctx context.Context, r *Record, now, until time.Time) (ends time.Time, lost bool, err error) {
	if r.Handle == "" {
		return until, false, nil
	}
	ctx, cancel := context.WithTimeout(ctx, issueFor)
	defer cancel()
	truly, err := s.cfg.Issuer.Renew(ctx, r.Handle, until.Sub(now))
	if fault.CodeOf(err) == fault.NotFound {
		return until, true, nil
	}
	return sooner(until, truly), false, err
}

// RevokeInput names a lease to end.
type RevokeInput = LeaseInput

// revokeWait is how long a revocation is waited for.
const revokeWait = 2 * time.Second

// Revoke ends a lease now. It answers when the issuer has taken the credential
// back, or after 2s; state tells which. One that is over stays as it is.
// Faults: not_found, forbidden (who neither holds it nor is let by a rule).
func (s *Service) Revoke(ctx context.Context, who access.Caller, in RevokeInput) (*Lease, error) {
	r, err := s.readable(ctx, who, in.Lease)
	if err != nil {
		return nil, err
	}
	about := s.about(&r)
	about.Environment = "" // ending one touches none
	op := access.Op{Action: access.RevokeCredentials, Operation: "revoke_credentials", Resource: about, Target: r.ID, Input: in, Holder: holds(who, &r)}
	return access.Do(ctx, s.cfg.Guard, who, op, func(ctx context.Context) (*Lease, error) {
		if r, err = s.change(ctx, r.ID, func(r *Record) error {
			if r.State == Live || r.State == Issuing {
				now := s.now()
				r.over(now, who.Name(), "it was revoked", Revoked)
				r.DueAt = now.Add(revokeWait)
			}
			return nil
		}); err != nil {
			return nil, err
		}
		s.wake()
		return s.takeBack(ctx, r).View(s.cfg.Now()), nil
	})
}

// takeBack has the issuer take back what is over, in the time that a caller
// waits; the reaper goes on with what takes longer.
func (s *Service) takeBack(ctx context.Context, r Record) *Record {
	if r.State != Revoking {
		return &r
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), revokeWait)
	defer cancel()
	out, err := s.end(ctx, r)
	if err != nil {
		s.cfg.Logger.WarnContext(ctx, "a credential is not taken back yet", "lease", r.ID, "error", err)
		s.wake()
	}
	return &out
}

// RevokeAllInput selects whose leases to end; at least one is given.
type RevokeAllInput struct {
	Person  string `json:"person,omitempty" jsonschema:"those that this person holds, an entity reference"`
	Agent   string `json:"agent,omitempty" jsonschema:"those that this agent asked for, for whomever"`
	Service string `json:"service,omitempty" jsonschema:"those that this entity has lent, a full reference or a component's bare name"`
	Reason  string `json:"reason,omitempty" jsonschema:"why, for the record"`
}

// AllRevoked is what came of ending leases.
type AllRevoked struct {
	Leases int  `json:"leases" jsonschema:"how many were ended by this"`
	Done   bool `json:"done" jsonschema:"the issuer has taken all of them back; otherwise that goes on"`
}

// RevokeAll ends all leases of a person, an agent or a service at once, or of
// those who are all that is given. It answers when the issuer has taken them
// back, or after 2s. Who may secrets.revoke on everything may do it, on a
// service who may on that, and a person to all of their own. Faults: invalid (a
// field), forbidden.
func (s *Service) RevokeAll(ctx context.Context, who access.Caller, in RevokeAllInput) (*AllRevoked, error) {
	if err := s.there(); err != nil {
		return nil, err
	}
	for field, text := range map[string]string{"person": in.Person, "agent": in.Agent, "service": in.Service, "reason": in.Reason} {
		if err := checkText(field, text, 300); err != nil {
			return nil, err
		}
	}
	q := Query{Person: entity.CompleteRef(in.Person, "user"), Agent: in.Agent, Service: entity.CompleteRef(in.Service, "component")}
	if q == (Query{}) {
		return nil, fault.New(fault.Invalid, "it is not said whose leases to end").WithFix("Name a person, an agent or a service.")
	}
	op := access.Op{Action: access.RevokeCredentials, Operation: "revoke_all_credentials", Target: strings.Join(strings.Fields(q.Person+" "+q.Agent+" "+q.Service), " "), Input: in,
		Holder: q.Person != "" && q.Person == who.Subject() && (who.Agent() == "" || who.Agent() == q.Agent)}
	if q.Service != "" {
		op.Resource.Ref = q.Service
		if a, ok := s.cfg.Catalog.Snapshot().Attributes(q.Service); ok {
			op.Resource = a
		}
	}
	return access.Do(ctx, s.cfg.Guard, who, op, func(ctx context.Context) (*AllRevoked, error) {
		reason := "all of " + op.Target + " was revoked"
		if in.Reason != "" {
			reason += ": " + in.Reason
		}
		n, err := s.cfg.Ledger.EndLeases(ctx, q, End{At: s.now(), By: who.Name(), Reason: reason})
		if err != nil {
			return nil, err
		}
		s.wake()
		return &AllRevoked{Leases: n, Done: s.allEnded(ctx, q)}, nil
	})
}

// allEnded waits until none of those meant is left to be taken back.
func (s *Service) allEnded(ctx context.Context, q Query) bool {
	q.State, q.Limit = Revoking, 1
	for until := time.Now().Add(revokeWait); ; {
		left, err := s.cfg.Reads.Leases(ctx, q)
		if err == nil && len(left) == 0 {
			return true
		}
		if !time.Now().Before(until) {
			return false
		}
		select {
		case <-ctx.Done():
			return false
		case <-time.After(lookAgain):
		}
	}
}
