package access

import (
	"time"

	"github.com/fairlead-dev/fairlead/internal/fault"
)

// MandateTTL is how long a mandate holds whose token somebody else issued: who
// has it cannot be asked anew what groups they are in.
const MandateTTL = 24 * time.Hour

// Mandate is what a caller leaves behind so that work which they began goes on
// for them after their request: who they are, and by which credential, but
// never the credential itself. Authenticator.Resume makes a Caller of it.
type Mandate struct {
	Subject string   `json:"subject"`
	Agent   string   `json:"agent,omitempty"`
	Token   string   `json:"token"`
	Groups  []string `json:"groups,omitempty"`
	Roles   []string `json:"roles,omitempty"`
	// Issued tells that somebody else issued the token.
	Issued bool      `json:"issued,omitempty"`
	At     time.Time `json:"at"`
}

// Mandate is what the caller leaves behind at a time.
func (c Caller) Mandate(now time.Time) Mandate {
	return Mandate{Subject: c.Subject(), Agent: c.Agent(), Token: c.Token(), Groups: c.Groups(), Roles: c.Roles(), Issued: !c.Proof().IsZero(), At: now.UTC()}
}

// Resume makes the Caller of a mandate. A token of the configuration has to be
// in use still, for the same person and agent, and its groups and roles are
// those that it has now; one that somebody else issued counts as it was shown,
// for MandateTTL. What policy lets the caller do is asked at each act, as ever.
// Faults: unauthenticated.
func (a *Authenticator) Resume(m Mandate, now time.Time) (Caller, error) {
	gone := fault.New(fault.Unauthenticated, "the token %q of %s does not stand for them any more", clip(m.Token, 80), Acting(m.Subject, m.Agent)).
		WithFix("Have %s take it up again with a token that holds.", m.Subject)
	switch {
	case a == nil || m.Subject == "":
		return Caller{}, gone
	case !m.Issued:
		if id := a.tokens.named(m.Token); id != nil && id.subject == m.Subject && id.agent == m.Agent {
			return Caller{id: id}, nil
		}
		return Caller{}, gone
	case now.Sub(m.At) >= MandateTTL:
		return Caller{}, fault.New(fault.Unauthenticated, "%s began it more than %s ago, and what they may do now is not known before they show a token", Acting(m.Subject, m.Agent), MandateTTL).
			WithFix("Have %s take it up again.", m.Subject)
	}
	return Caller{id: &identity{subject: m.Subject, agent: m.Agent, token: m.Token, groups: m.Groups, roles: m.Roles}}, nil
}

// named is whom the token of a name stands for, nil where it is out of use.
func (t *tokens) named(name string) *identity {
	t.recheck()
	for _, id := range *t.table.Load() {
		if id != nil && id.token == name {
			return id
		}
	}
	return nil
}
