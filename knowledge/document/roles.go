package document

import (
	"slices"
	"strings"
)

// Role is what a section of a runbook is for.
type Role string

// The sections that runbooks have in common.
const (
	Meaning    Role = "meaning"    // what the alert says
	Impact     Role = "impact"     // who is hurt, and how much
	Diagnosis  Role = "diagnosis"  // how to find the cause
	Mitigation Role = "mitigation" // what to do about it
)

// Roles are the four roles in the order in which one reads them.
func Roles() []Role { return []Role{Meaning, Impact, Diagnosis, Mitigation} }

// words are what headings of a role begin with, or end with.
func (r Role) words() []string {
	switch r {
	case Meaning:
		return []string{"meaning", "what it means", "what this means", "what does this alert mean", "what does it mean", "alert description", "description", "overview", "summary", "context", "what is happening"}
	case Impact:
		return []string{"impact", "severity", "effect", "effects", "consequences", "who is affected", "business impact", "user impact", "customer impact"}
	case Diagnosis:
		return []string{"diagnosis", "diagnose", "diagnostics", "diagnostic", "how to diagnose", "investigation", "investigate", "troubleshooting", "troubleshoot", "triage", "debugging", "debug", "symptoms", "root cause", "possible causes", "causes", "detection"}
	case Mitigation:
		return []string{"mitigation", "mitigate", "how to mitigate", "remediation", "remediate", "resolution", "resolve", "how to resolve", "how to fix", "fix", "solution", "recovery", "recover", "workaround", "rollback", "roll back", "actions", "what to do", "response", "procedure", "failover"}
	default:
		return nil
	}
}

// roleOf tells which role a heading has: it is one of the role's words, or
// begins or ends with one.
func roleOf(heading string) Role {
	h := strings.Join(strings.FieldsFunc(strings.ToLower(heading), func(r rune) bool {
		return (r < 'a' || r > 'z') && r < 128
	}), " ")
	if h == "" {
		return ""
	}
	for _, test := range []func(w string) bool{
		func(w string) bool { return h == w },
		func(w string) bool { return strings.HasPrefix(h, w+" ") },
		func(w string) bool { return strings.HasSuffix(h, " "+w) },
	} {
		for _, r := range Roles() {
			if slices.ContainsFunc(r.words(), test) {
				return r
			}
		}
	}
	return ""
}
