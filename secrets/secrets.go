// Package secrets is the room of credentials on loan: each is bound to a
// person, an agent and a task, lives for minutes, is revoked when the task
// ends, and is seen by no model. Fairlead sees none either: what it hands on is
// a token that opens the issuer's wrapping once, and it keeps neither.
package secrets

import (
	"context"
	"time"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/secrets/offer"
	"github.com/fairlead-dev/fairlead/secrets/value"
)

// Value is a secret in memory; see package value.
type Value = value.Value

// Offer is a credential that a service may lend; see package offer.
type Offer = offer.Offer

// The engines that credentials come from.
const (
	EngineDatabase   = offer.EngineDatabase
	EngineKV         = offer.EngineKV
	EnginePKI        = offer.EnginePKI
	EngineKubernetes = offer.EngineKubernetes
	EngineAWS        = offer.EngineAWS
	EngineGeneric    = offer.EngineGeneric
)

// Order is what an issuer is asked for: an offer, for whom and what.
type Order struct {
	// Lease is the id of the lease, unique for good.
	Lease string
	Offer Offer
	// TTL is the longest that it may live; MaxTTL is beyond what it is never
	// renewed, counted from now. WrapTTL is how long its wrapping may wait.
	TTL, MaxTTL, WrapTTL time.Duration
	// Person, Agent, Service, Environment and Task are told to the issuer, for
	// its own audit.
	Person, Agent, Service, Environment, Task string
	// Proof is the token that the caller showed, where that was somebody else's
	// and is exchanged for one of the issuer; zero for none.
	Proof access.Secret
}

// Account is what a credential hangs on at its issuer, and goes with.
type Account struct {
	// Handle names it; it gives no access to anything but its end.
	Handle string
	// Key draws the credential. It is not kept.
	Key Value
	// ExpiresAt is when it ends, and all that hangs on it.
	ExpiresAt time.Time
}

// Wrapped is a credential that the issuer keeps until its wrapping is opened,
// which works once.
type Wrapped struct {
	// Token opens it, and Accessor tells whether that has been done.
	Token    Value
	Accessor string
	// URL is where it is opened by a POST with the token as X-Vault-Token, and
	// Namespace what to send as X-Vault-Namespace, "" for nothing.
	URL, Namespace string
	// ExpiresAt is when the wrapping ends.
	ExpiresAt time.Time
	// CredentialExpiresAt is when the credential ends, as far as its issuer
	// says: never after its account.
	CredentialExpiresAt time.Time
}

// Issuer makes credentials and takes them back. Faults: unavailable (it is
// sealed, slow or gone), failed_precondition (it knows no such role or path, or
// does not let Fairlead), invalid (a name that it would not take).
type Issuer interface {
	// Open makes the account that a credential will hang on. Nothing is issued
	// yet, so that one which is forgotten here is harmless.
	Open(ctx context.Context, o Order) (Account, error)
	// Draw issues the credential, wrapped; the account's Key is wiped.
	Draw(ctx context.Context, o Order, a Account) (Wrapped, error)
	// Renew has an account live for a time from now, and tells until when it
	// and what hangs on it really will; not_found where it is gone.
	Renew(ctx context.Context, handle string, ttl time.Duration) (time.Time, error)
	// Revoke ends an account and all that hangs on it, and returns when the
	// issuer has taken that back; one that is gone already is success. The
	// accessor of a wrapping ends that: what is in it may be nothing that ends.
	Revoke(ctx context.Context, handle string) error
}

// Held is an account as its issuer knows it.
type Held struct {
	Handle string
	// Lease is the id that it was made for.
	Lease string
	// CreatedAt and ExpiresAt are its times.
	CreatedAt, ExpiresAt time.Time
}

// Custodian tells what an issuer has of this Fairlead.
type Custodian interface {
	// Unopened tells whether a wrapping is still there, by its accessor.
	Unopened(ctx context.Context, accessor string) (bool, error)
	// Accounts gives all accounts that this Fairlead has made, in any order,
	// until do returns false. Those of another Fairlead are left out.
	Accounts(ctx context.Context, do func(Held) bool) error
	// Unwrap opens a wrapping here, for callers that may see values; the fields
	// are the credential's.
	Unwrap(ctx context.Context, w Wrapped) (map[string]Value, error)
}
