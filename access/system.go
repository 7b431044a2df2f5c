package access

import "strings"

// systemPrefix begins the subjects of Fairlead's own work. No credential gives
// one of these.
const systemPrefix = "system:fairlead/"

// System is Fairlead itself, at work of its own accord: on pull requests, say.
// Policy decides on what it does as on anybody else's acts, and the audit has
// it under system:fairlead/ and the name of the work. How often it acts is
// bounded by what it works on, and not by a quota.
func System(work string) Caller {
	return Caller{&identity{subject: systemPrefix + work, system: true}}
}

// System tells whether this is Fairlead itself.
func (c Caller) System() bool { return c.id != nil && c.id.system }

// reserved tells whether a subject is one that only Fairlead itself has.
func reserved(subject string) bool { return strings.HasPrefix(strings.ToLower(subject), systemPrefix) }
