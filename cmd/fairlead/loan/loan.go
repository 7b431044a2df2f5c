// Package loan uses a credential that is on loan: it takes it out of its
// wrapping at the issuer itself, lends it to one program, keeps it out of what
// that program writes, and gives it back when the program ends.
package loan

import (
	"encoding/json"
	"time"

	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/secrets/value"
)

// Loan is a lease, and what opens its wrapping, as the server answers it.
type Loan struct {
	Status
	Service string `json:"service"`
	Name    string `json:"name"`
	Engine  string `json:"engine"`
	// Env are the environment variables that the service names, each with the
	// field of the credential that it takes.
	Env  map[string]string `json:"env"`
	Wrap *Wrap             `json:"wrap"`
}

// Status is how a lease is.
type Status struct {
	Lease     string    `json:"lease"`
	State     string    `json:"state"`
	ExpiresAt time.Time `json:"expiresAt"`
	Wrapping  string    `json:"wrapping"`
	Reason    string    `json:"reason"`
}

// The states of a lease that matter here.
const (
	stateLive     = "live"
	stateRevoking = "revoking"
)

// Wrap opens a wrapping, once.
type Wrap struct {
	Token     secret    `json:"token"`
	UnwrapURL string    `json:"unwrapURL"`
	Namespace string    `json:"namespace"`
	ExpiresAt time.Time `json:"expiresAt"`
}

// secret is a Value that is read from JSON.
type secret struct{ value.Value }

// UnmarshalText takes the value.
func (s *secret) UnmarshalText(text []byte) error {
	s.Value = value.New(append([]byte(nil), text...))
	return nil
}

// Parse reads a loan and wipes what it was read from. A loan without a wrapping
// cannot be used, and is a fault.
func Parse(raw json.RawMessage) (*Loan, error) {
	defer clear(raw)
	l := &Loan{}
	if err := json.Unmarshal(raw, l); err != nil || l.Lease == "" {
		return nil, fault.New(fault.Unavailable, "the server's answer is not of the expected form").
			WithFix("Use versions of fairlead and fairleadd that belong together.")
	}
	switch {
	case l.Wrap != nil && !l.Wrap.Token.IsZero():
		return l, nil
	case l.Wrapping == "opened":
		return l, fault.New(fault.FailedPrecondition, "the credential of lease %s was taken out of its wrapping already", l.Lease).
			WithFix("Request another: fairlead creds exec %s %s -- CMD", l.Service, l.Name)
	}
	return l, fault.New(fault.Forbidden, "you may hold lease %s, but not use what it lends", l.Lease).
		WithFix("The person whom the agent acts for uses it: fairlead creds exec --lease %s -- CMD, with a token of their own.", l.Lease)
}
