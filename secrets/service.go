package secrets

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"time"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/feed"
	"github.com/fairlead-dev/fairlead/internal/record"
)

// Config is what a Service is made of; all but Bindings and what has a default
// is needed.
type Config struct {
	Policy    *access.Policy
	Guard     *access.Guard
	Catalog   *catalog.Service
	Issuer    Issuer
	Custodian Custodian
	Ledger    Ledger
	Reads     Reads
	Accounts  Accounts
	// Bindings are what leases can be bound to besides sessions; nil is nothing.
	Bindings Bindings
	// Limits and TTL bound what callers may ask for.
	Limits Limits
	TTL    TTLs
	// WrapTTL is how long a wrapping waits to be opened, 2m by default.
	WrapTTL time.Duration
	// Observe is told what happens that figures count; nil is nobody.
	Observe func(Happening)
	// Logger is told of what went wrong; nil is slog.Default.
	Logger *slog.Logger
	// Now is the time; nil is time.Now.
	Now func() time.Time
}

// Happening is something that figures count.
type Happening string

// What is counted.
const (
	HappenedLent    Happening = "lent"    // a credential was issued
	HappenedRevoked Happening = "revoked" // one was taken back
	HappenedRetried Happening = "retried" // its issuer did not take one back
	HappenedAlarm   Happening = "alarm"   // somebody else opened a wrapping
	HappenedStray   Happening = "stray"   // an account that no lease is known of was taken back
	HappenedLost    Happening = "lost"    // the account of a live lease was gone
)

// Service lends credentials; nil refuses all.
type Service struct {
	cfg  Config
	feed *feed.Feed[Record]
	// woken has the reaper look at once.
	woken chan struct{}
}

// New makes a Service. What it has lent is only taken back while Run runs.
func New(cfg Config) (*Service, error) {
	if cfg.Policy == nil || cfg.Guard == nil || cfg.Catalog == nil || cfg.Issuer == nil || cfg.Custodian == nil || cfg.Ledger == nil || cfg.Reads == nil || cfg.Accounts == nil {
		return nil, errors.New("secrets: Policy, Guard, Catalog, Issuer, Custodian, Ledger, Reads and Accounts are needed")
	}
	cfg.Limits, cfg.TTL = cfg.Limits.WithDefaults(), cfg.TTL.WithDefaults()
	if cfg.WrapTTL == 0 {
		cfg.WrapTTL = 2 * time.Minute
	}
	if cfg.Observe == nil {
		cfg.Observe = func(Happening) {}
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.Default()
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Service{cfg: cfg, feed: watched(cfg.Reads), woken: make(chan struct{}, 1)}, nil
}

// wake has the reaper look at once.
func (s *Service) wake() {
	select {
	case s.woken <- struct{}{}:
	default: // it is about to
	}
}

// there refuses where nothing lends credentials.
func (s *Service) there() error {
	if s != nil {
		return nil
	}
	return fault.New(fault.FailedPrecondition, "no vault is configured here").
		WithFix("Have the operators add the section vault to the configuration, for example: vault: {address: https://vault.example.com, auth: {tokenFile: vault.token}}")
}

// now is the time as it is kept.
func (s *Service) now() time.Time { return s.cfg.Now().UTC().Truncate(time.Microsecond) }

// about is what policy looks at in a lease that is there already: the service
// as it is, or as it was when it is not in the catalog any more. What makes
// requests wait for approval is not part of that: they have been approved.
func (s *Service) about(r *Record) access.Attributes {
	a, ok := s.cfg.Catalog.Snapshot().Attributes(r.Service)
	if !ok {
		a = r.About
	}
	a.Environment, a.Protected, a.Credential, a.Purpose = r.Environment, false, r.Offer.Name, r.Purpose
	return a
}

// holds tells whether a caller holds a lease: the person, and of agents the one
// that asked for it.
func holds(who access.Caller, r *Record) bool {
	return !who.IsZero() && !who.Anonymous() && who.Subject() == r.Person && (who.Agent() == "" || who.Agent() == r.Agent)
}

// readable finds a lease that the caller may see.
func (s *Service) readable(ctx context.Context, who access.Caller, id string) (Record, error) {
	if err := s.there(); err != nil {
		return Record{}, err
	}
	missing := fault.New(fault.NotFound, "there is no lease %q", clip(id, 80)).WithFix("List the credentials to see the leases.")
	if !record.IsID(id) {
		return Record{}, missing
	}
	r, err := s.cfg.Reads.Lease(ctx, id)
	switch {
	case fault.CodeOf(err) == fault.NotFound:
		return r, missing
	case err != nil:
		return r, err
	case !holds(who, &r) && !s.cfg.Policy.Scope(who, access.ReadCredentials).Allows(s.about(&r)):
		return r, missing
	}
	return r, nil
}

// changes is how often a change is tried on a lease that others change, too.
const changes = 8

// change reads a lease anew and writes it down with a change, again where
// somebody else was faster.
func (s *Service) change(ctx context.Context, id string, do func(*Record) error) (Record, error) {
	for n := 1; ; n++ {
		r, err := s.cfg.Reads.Lease(ctx, id)
		if err != nil {
			return r, err
		}
		if err := do(&r); err != nil {
			return r, err
		}
		r, err = s.cfg.Ledger.SaveLease(ctx, r)
		if err == nil || fault.CodeOf(err) != fault.Conflict || n == changes {
			return r, err
		}
	}
}

// explain is what is kept of an error.
func explain(err error) string {
	f := fault.From(err)
	text := strings.TrimSuffix(f.Message, ".")
	if f.Fix != "" {
		text += ". " + f.Fix
	}
	return clip(text, maxReason)
}
