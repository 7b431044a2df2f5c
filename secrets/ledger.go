package secrets

import (
	"context"
	"time"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/secrets/offer"
)

// Limits are how many leases there may be at once that are not over; 0 means
// the default.
type Limits struct {
	// PerAgent counts those that one agent holds for one person, 5 by default.
	PerAgent int `yaml:"perAgent"`
	// PerPerson counts those that one person holds, agents included, 20 by
	// default.
	PerPerson int `yaml:"perPerson"`
	// PerService counts those that one service has lent, 50 by default.
	PerService int `yaml:"perService"`
}

// WithDefaults puts the defaults in the place of zeros.
func (l Limits) WithDefaults() Limits {
	for _, f := range []struct {
		at *int
		by int
	}{{&l.PerAgent, 5}, {&l.PerPerson, 20}, {&l.PerService, 50}} {
		if *f.at == 0 {
			*f.at = f.by
		}
	}
	return l
}

// MinTTL is the shortest time that a credential can be asked for.
const MinTTL = offer.MinTTL

// TTLs bound how long credentials are lent for; 0 means the default.
type TTLs struct {
	// Default is the time where the caller says none, 15m by default.
	Default time.Duration `yaml:"default"`
	// Max is the most, renewals included, 1h by default.
	Max time.Duration `yaml:"max"`
}

// WithDefaults puts the defaults in the place of zeros.
func (t TTLs) WithDefaults() TTLs {
	if t.Max == 0 {
		t.Max = max(time.Hour, t.Default)
	}
	if t.Default == 0 {
		t.Default = min(15*time.Minute, t.Max)
	}
	return t
}

// Ledger is where leases are written down.
type Ledger interface {
	// AddLease keeps a new lease if the limits leave room for it:
	// quota_exceeded where they do not. One of the same person, agent and key
	// that did not fail is given back in its place, if it was asked for by the
	// same input; a conflict if not. Without a key, and where share is set, one
	// that is issuing or live, of the same input, person and agent is given
	// back. Several callers at once count one after the other.
	AddLease(ctx context.Context, r Record, l Limits, share bool) (Record, error)
	// SaveLease writes a record down if it is at the same version still, and
	// gives it with its next; a conflict where somebody else has changed it.
	SaveLease(ctx context.Context, r Record) (Record, error)
	// EndLeases decides that all those meant that are issuing or live are over:
	// they are revoking from now on, due at once, and end as revoked. It tells
	// how many those were.
	EndLeases(ctx context.Context, q Query, e End) (int, error)
	// ClaimLeases gives leases that are due, most at a time, earliest first,
	// and has them due at until, so that nobody else is given them before. next
	// is when the earliest of the others is due, zero where none is.
	ClaimLeases(ctx context.Context, now, until time.Time, most int) (due []Record, next time.Time, err error)
}

// End is why leases are over.
type End struct {
	At         time.Time
	By, Reason string
}

// Query selects leases; a zero field selects all.
type Query struct {
	ID, Service, Person, Agent, Name, BoundTo string
	State                                     State
	// Open leaves out those that have ended.
	Open bool
	// ChangedSince leaves out those that have not changed since.
	ChangedSince time.Time
	// Before lists those created before this time, and with the same time
	// those of lesser ids; zero lists from the newest.
	Before   time.Time
	BeforeID string
	// Limit is the most that are given.
	Limit int
}

// Reads is where leases are read.
type Reads interface {
	// Lease is one lease; not_found where there is none.
	Lease(ctx context.Context, id string) (Record, error)
	// Leases are those meant, newest first.
	Leases(ctx context.Context, q Query) ([]Record, error)
	// LeaseBindings are what live leases are bound to, each once, sessions left
	// out.
	LeaseBindings(ctx context.Context) ([]string, error)
	// LeaseFigures counts leases that have not ended.
	LeaseFigures(ctx context.Context, now time.Time) (Figures, error)
}

// Figures are how many leases there are.
type Figures struct {
	Issuing, Live, Revoking, Overdue int
}

// Accounts is where the ledger is held against what the issuer has.
type Accounts interface {
	// SeenAccounts notes that accounts were seen at a time, and gives those that
	// no lease that has not ended is known of.
	SeenAccounts(ctx context.Context, handles []string, at time.Time) (unknown []string, err error)
	// UnseenLeases are live leases with an account made before a time that was
	// not seen at or after since, most at a time.
	UnseenLeases(ctx context.Context, madeBefore, since time.Time, most int) ([]Record, error)
}

// Bindings knows what leases can be bound to besides sessions.
type Bindings interface {
	// May tells by its error why a caller may not bind a lease to something:
	// not_found, failed_precondition (it is over), invalid (kind).
	May(ctx context.Context, who access.Caller, kind, id string) error
	// Over tells whether it has come to its end, as has what is not known.
	Over(ctx context.Context, kind, id string) (bool, error)
}
