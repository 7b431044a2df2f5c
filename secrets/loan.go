package secrets

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
)

// Loan is a lease and, for who may have it, what opens its wrapping.
type Loan struct {
	Lease
	Wrap   *Wrap             `json:"wrap,omitempty" jsonschema:"what the credential is taken out of; absent for who may not have it, or has it already"`
	Env    map[string]string `json:"env" jsonschema:"environment variables, each with the field of the credential that it takes"`
	Engine string            `json:"engine" jsonschema:"database, kv, pki, kubernetes, aws or generic"`
}

// Wrap opens a credential's wrapping, once: by a POST to UnwrapURL with the
// token as X-Vault-Token.
type Wrap struct {
	Token     Shown  `json:"token" jsonschema:"opens the wrapping once"`
	UnwrapURL string `json:"unwrapURL"`
	Namespace string `json:"namespace,omitempty" jsonschema:"to be sent as X-Vault-Namespace"`
	ExpiresAt string `json:"expiresAt" jsonschema:"when the wrapping ends, RFC 3339 in UTC"`
}

// Plain is a credential in the open.
type Plain struct {
	Lease  string           `json:"lease" jsonschema:"id of the lease"`
	Values map[string]Shown `json:"values" jsonschema:"the credential's fields"`
}

// Shown is a Value that a caller is told, once: it becomes JSON, which wipes
// it. To all else it is what a Value is.
type Shown struct{ held Value }

// Show has a value told to a caller.
func Show(v Value) Shown { return Shown{v} }

// errTold refuses to tell a value that is wiped.
var errTold = errors.New("a credential's value is told once")

// MarshalJSON writes the value as a JSON text and wipes it. It is the one place
// of the room where a value becomes text.
func (s Shown) MarshalJSON() (text []byte, err error) {
	err = errTold
	s.held.Reveal(func(secret []byte) {
		if len(secret) > 0 {
			text, err = json.Marshal(string(secret))
		}
	})
	s.held.Wipe()
	return text, err
}

// Format writes the mask whatever the verb.
func (s Shown) Format(f fmt.State, verb rune) { s.held.Format(f, verb) }

// LogValue gives the mask.
func (s Shown) LogValue() slog.Value { return s.held.LogValue() }

// LogValue names the lease alone.
func (l Loan) LogValue() slog.Value { return slog.StringValue(l.Lease.Lease) }

// LogValue names the lease alone.
func (p Plain) LogValue() slog.Value { return slog.StringValue(p.Lease) }

// loan is the record for its holder; w is nil where nothing is handed over.
func (s *Service) loan(r *Record, w *Wrapped) *Loan {
	l := &Loan{Lease: *r.View(s.cfg.Now()), Env: r.Offer.Variables(), Engine: r.Offer.Engine}
	if w != nil {
		l.Wrap = &Wrap{Token: Show(w.Token), UnwrapURL: w.URL, Namespace: w.Namespace, ExpiresAt: stamp(w.ExpiresAt)}
	}
	return l
}
