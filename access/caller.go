// Package access is the lock: who is calling, whether they may, how often,
// and the record of it. It hangs on the rooms, below every door, so that the
// same caller meets the same rules whichever way they come in.
package access

import "slices"

// Caller is who asks: a person, and the agent acting for them if there is
// one. It has no exported fields and only an Authenticator makes one; the zero
// Caller is nobody and may do nothing.
type Caller struct{ id *identity }

type identity struct {
	subject   string
	agent     string
	groups    []string
	roles     []string
	token     string // the name of the credential, never its value
	proof     Secret // the token itself, where somebody else issued it
	job       Job
	anonymous bool
	system    bool
}

// Subject is the person, or the machine, as a full entity reference such as
// user:default/alice. "" for nobody.
func (c Caller) Subject() string {
	if c.id == nil {
		return ""
	}
	return c.id.subject
}

// Agent names the agent acting for the subject, "" where a person acts
// directly.
func (c Caller) Agent() string {
	if c.id == nil {
		return ""
	}
	return c.id.agent
}

// Groups are the groups the subject belongs to, as full entity references.
func (c Caller) Groups() []string {
	if c.id == nil {
		return nil
	}
	return slices.Clone(c.id.groups)
}

// Roles are the caller's roles: reader, developer, sre, admin or others that
// the policy names.
func (c Caller) Roles() []string {
	if c.id == nil {
		return nil
	}
	return slices.Clone(c.id.roles)
}

// Token names the credential that was shown, never its value.
func (c Caller) Token() string {
	if c.id == nil {
		return ""
	}
	return c.id.token
}

// Proof is the token that was shown, where somebody else issued it, for the one
// place that exchanges it at who takes the same issuer's; zero otherwise.
func (c Caller) Proof() Secret {
	if c.id == nil {
		return Secret{}
	}
	return c.id.proof
}

// Name names the caller in records: the person, or the agent for the person.
func (c Caller) Name() string { return Acting(c.Subject(), c.Agent()) }

// Acting names a person in records, or the agent that acted for them; "" is no
// agent.
func Acting(person, agent string) string {
	if agent != "" {
		return agent + " for " + person
	}
	return person
}

// IsZero tells whether this is nobody.
func (c Caller) IsZero() bool { return c.id == nil }

// Anonymous tells whether the caller showed no credential and was let in as
// an anonymous reader.
func (c Caller) Anonymous() bool { return c.id != nil && c.id.anonymous }

// Has tells whether the caller has a role.
func (c Caller) Has(role string) bool { return c.id != nil && slices.Contains(c.id.roles, role) }

// In tells whether the caller is in a group, given as a full reference.
func (c Caller) In(group string) bool { return c.id != nil && slices.Contains(c.id.groups, group) }
