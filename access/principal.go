package access

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/fairlead-dev/fairlead/internal/fault"
)

// Principal is whom a token that somebody else issued stands for, once it has
// been verified.
type Principal struct {
	// Subject is the person: a name, or a reference of the kind user.
	Subject string
	// Agent names the agent acting for the person, "" for none.
	Agent string
	// Groups are names or references of groups; what is neither is left out.
	Groups []string
	// Roles are who has a role: references of groups or users, or "*".
	Roles map[string][]string
	// Credential is what logs and the audit call the token, never its value.
	Credential string
	// Job is the job of CI that the token was issued to; zero for none.
	Job Job
}

// Verifier verifies tokens that others issue. It must be safe for concurrent
// use.
type Verifier interface {
	// Verify tells whom a token stands for. An error is a fault: that the
	// token does not hold, or that this cannot be told now.
	Verify(ctx context.Context, token string) (*Principal, error)
}

// callerOf makes the Caller of a verified token.
func callerOf(p *Principal) (Caller, error) {
	if p == nil {
		return Caller{}, fault.From(errors.New("the verifier names nobody"))
	}
	subject, err := fullRef(p.Subject, "user")
	if err != nil || !strings.HasPrefix(subject, "user:") {
		return Caller{}, fault.New(fault.Unauthenticated, "the token's subject %q is no user of the catalog", clip(p.Subject, 80)).
			WithFix("Have the operators name another subjectClaim under auth.oidc, or the user under its subjects.")
	}
	if err := checkName(p.Agent); p.Agent != "" && err != nil {
		return Caller{}, fault.New(fault.Unauthenticated, "the name of the token's agent %v", err).WithFix("Have the operators name another agentClaim under auth.oidc.")
	}
	id := &identity{subject: subject, agent: p.Agent, token: p.Credential, groups: groupRefs(p.Groups), job: p.Job}
	id.roles = rolesOf(p.Roles, id)
	return Caller{id: id}, nil
}

// groupRefs are the full references of groups.
func groupRefs(names []string) []string {
	var out []string
	for _, n := range names {
		if full, err := fullRef(n, "group"); err == nil && strings.HasPrefix(full, "group:") {
			out = append(out, full)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// rolesOf are the roles that somebody has by name or by a group.
func rolesOf(roles map[string][]string, id *identity) []string {
	var out []string
	for role, members := range roles {
		if slices.ContainsFunc(members, func(m string) bool {
			full, err := fullRef(m, "group")
			return m == "*" || err == nil && (full == id.subject || slices.Contains(id.groups, full))
		}) {
			out = append(out, role)
		}
	}
	slices.Sort(out)
	return out
}
