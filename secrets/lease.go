package secrets

import (
	"time"

	"github.com/fairlead-dev/fairlead/access"
)

// State is how far a lease has come.
type State string

// The states of a lease. Nothing follows Revoked, Expired and Failed.
const (
	Issuing  State = "issuing"  // accepted; its issuer is being asked
	Live     State = "live"     // lent
	Revoking State = "revoking" // over; its issuer has not taken it back yet
	Revoked  State = "revoked"  // taken back before its time
	Expired  State = "expired"  // its time was up, and its issuer has it back
	Failed   State = "failed"   // could not be issued; nothing of it is left
)

// Ended tells whether nothing of a lease is left.
func (s State) Ended() bool { return s == Revoked || s == Expired || s == Failed }

// Wrapping is how far a credential has got to who holds its lease.
type Wrapping string

// A credential waits in a wrapping, or has been taken out of one. Without one
// it has to be collected.
const (
	WrappingNone     Wrapping = "none"
	WrappingUnopened Wrapping = "unopened"
	WrappingOpened   Wrapping = "opened"
)

// Session is what a lease is bound to that ends unless its holder says, again
// and again, that it is still wanted.
const Session = "session"

// Job is what a lease is to be bound to that ends with the job of CI which asks
// for it. A job whose lease is bound to nothing else gets it so.
const Job = "job"

// Record is everything that is kept of a lease. There is nothing secret in it.
type Record struct {
	ID string
	// Service is the full reference of the entity that lends Offer, which is
	// as it was then, for Environment; "" is none in particular.
	Service, Environment string
	Offer                Offer
	// About is what policy looked at.
	About access.Attributes
	// Person and Agent asked for it, with Key, "" for none; InputHash tells
	// whether a later use of the key asks for the same.
	Person, Agent, Key, InputHash string
	// Purpose and Task are why.
	Purpose, Task string
	// BoundTo is what it ends with: "session", "preview:ID", "proposal:ID",
	// "job:" and an access.Job, or
	// "" for its time alone.
	BoundTo string
	// CreatedAt is when it was accepted, ExpiresAt when it ends, and Until the
	// time beyond which nobody renews it.
	CreatedAt, ExpiresAt, Until time.Time

	State State
	// Handle is its account at the issuer, made at OpenedAt; "" while there is
	// none.
	Handle   string
	OpenedAt time.Time
	// Wrapping is where the credential is. Accessor is the wrapping's, and
	// WrapEnds its end. HandedAt is when its token was given to the holder, zero
	// where nobody has it, and MissedAt when it was first seen to be gone.
	Wrapping                     Wrapping
	Accessor                     string
	WrapEnds, HandedAt, MissedAt time.Time
	// BeatAt is when the holder was last heard of; zero for one that is not
	// bound to a session and of which the holder has never said so.
	BeatAt time.Time
	// EndedAt is when it was decided that it is over, by EndedBy ("" is Fairlead
	// itself) because of Reason; Ends is the state that it then comes to, and
	// GoneAt when it did.
	EndedAt, GoneAt time.Time
	EndedBy, Reason string
	Ends            State
	// Alarm tells that somebody else has opened its wrapping.
	Alarm bool
	// Tries counts how often its issuer was asked in vain to take it back.
	Tries int
	// DueAt is when it has to be looked after next.
	DueAt time.Time
	// Version grows with each change.
	Version int64
}

// OverdueAfter is how long a revocation may take until it is called overdue.
const OverdueAfter = time.Minute

// Overdue tells whether it is over for a minute, and its issuer has not taken
// it back.
func (r *Record) Overdue(now time.Time) bool {
	return r.State == Revoking && now.Sub(r.EndedAt) > OverdueAfter
}

// over decides that a lease is over.
func (r *Record) over(now time.Time, by, reason string, ends State) {
	r.State, r.Ends, r.EndedAt, r.EndedBy, r.Reason = Revoking, ends, now, by, clip(reason, maxReason)
	r.DueAt, r.Tries = now, 0
}

// collectAgain has a lease be live with nothing at its issuer.
func (r *Record) collectAgain(now time.Time) {
	r.State, r.Ends, r.EndedAt, r.Reason = Live, "", time.Time{}, ""
	r.Handle, r.Wrapping, r.Accessor = "", WrappingNone, ""
	r.HandedAt, r.MissedAt = time.Time{}, time.Time{}
	r.DueAt = r.due(now)
}

// gone notes that nothing is left.
func (r *Record) gone(now time.Time) {
	r.State, r.GoneAt, r.DueAt, r.Accessor = r.Ends, now, time.Time{}, ""
	if r.Wrapping == WrappingUnopened {
		r.Wrapping = WrappingNone
	}
}

// How often things are looked at: a session's holder is given sessionEnds to be
// heard of, wrappings that wait are looked at each lookEvery, and one that is
// gone may be confirmed within confirmWithin.
const (
	sessionEnds   = 90 * time.Second
	lookEvery     = 5 * time.Second
	confirmWithin = 10 * time.Second
	// clockSkew is how far the issuer's clock may be from ours.
	clockSkew = 2 * time.Second
)

// due is when a live lease has to be looked after next.
func (r *Record) due(now time.Time) time.Time {
	at := r.ExpiresAt
	if !r.BeatAt.IsZero() {
		at = earliest(at, r.BeatAt.Add(sessionEnds))
	}
	if r.Wrapping != WrappingUnopened {
		return at
	}
	at = earliest(at, r.lapses())
	switch {
	case !r.MissedAt.IsZero():
		return earliest(at, r.MissedAt.Add(confirmWithin))
	case r.waits() && now.Before(r.WrapEnds):
		return earliest(at, now.Add(lookEvery))
	}
	return at
}

// heard notes that the holder was heard of, where that counts.
func (r *Record) heard(now time.Time) {
	if !r.BeatAt.IsZero() {
		r.BeatAt = now
	}
}

// waits tells whether somebody has what opens the wrapping and has not said that
// they did.
func (r *Record) waits() bool { return r.Wrapping == WrappingUnopened && !r.HandedAt.IsZero() }

// lapses is when nobody opens the wrapping any more, or says that they did.
func (r *Record) lapses() time.Time {
	if r.HandedAt.IsZero() {
		return r.WrapEnds
	}
	return r.WrapEnds.Add(confirmWithin)
}

func earliest(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// Lease is a credential on loan as callers see it. It gives access to nothing.
type Lease struct {
	Lease       string   `json:"lease" jsonschema:"id of the lease"`
	Service     string   `json:"service" jsonschema:"full reference of the entity that lends it"`
	Name        string   `json:"name" jsonschema:"the credential's name there"`
	Environment string   `json:"environment,omitempty" jsonschema:"the environment that it is for"`
	State       State    `json:"state" jsonschema:"issuing, live, revoking, revoked, expired or failed"`
	ExpiresAt   string   `json:"expiresAt" jsonschema:"when it ends, RFC 3339 in UTC"`
	Wrapping    Wrapping `json:"wrapping" jsonschema:"unopened: it waits for its holder; opened: its holder has it; none: it has to be collected"`
	Owner       string   `json:"owner,omitempty" jsonschema:"who owns the service"`
	Person      string   `json:"person" jsonschema:"who holds it"`
	Agent       string   `json:"agent,omitempty" jsonschema:"the agent that asked for the person"`
	Purpose     string   `json:"purpose,omitempty"`
	Task        string   `json:"task,omitempty"`
	BoundTo     string   `json:"boundTo,omitempty" jsonschema:"what it ends with: session, preview:ID, proposal:ID or job:NAME"`
	CreatedAt   string   `json:"createdAt"`
	EndedAt     string   `json:"endedAt,omitempty" jsonschema:"when it was decided that it is over"`
	EndedBy     string   `json:"endedBy,omitempty" jsonschema:"who decided that; absent for Fairlead itself"`
	Reason      string   `json:"reason,omitempty" jsonschema:"why it is over"`
	Overdue     bool     `json:"overdue,omitempty" jsonschema:"it is over for a minute, and the issuer has not taken it back"`
	Alarm       bool     `json:"alarm,omitempty" jsonschema:"somebody else opened its wrapping"`
}

// View is the record as callers see it.
func (r *Record) View(now time.Time) *Lease {
	return &Lease{Lease: r.ID, Service: r.Service, Name: r.Offer.Name, Environment: r.Environment, State: r.State, ExpiresAt: stamp(r.ExpiresAt), Wrapping: r.Wrapping,
		Owner: ownerOf(&r.About), Person: r.Person, Agent: r.Agent, Purpose: r.Purpose, Task: r.Task, BoundTo: r.BoundTo, CreatedAt: stamp(r.CreatedAt),
		EndedAt: stamp(r.EndedAt), EndedBy: r.EndedBy, Reason: r.Reason, Overdue: r.Overdue(now), Alarm: r.Alarm}
}

func ownerOf(a *access.Attributes) string {
	if len(a.Owners) == 0 {
		return ""
	}
	return a.Owners[0]
}

// stamp writes a time; "" for the zero time.
func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// maxReason bounds what is kept of a reason, in bytes.
const maxReason = 600

// clip shortens what comes from elsewhere.
func clip(s string, most int) string {
	if len(s) <= most {
		return s
	}
	cut := most
	for cut > 0 && s[cut]&0xC0 == 0x80 { // not inside a character
		cut--
	}
	return s[:cut] + "…"
}
