package access

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Selector picks entities. Every list that is not empty must match; an empty
// Selector matches everything. References are full and in lower case, as are
// kinds, namespaces and types. Among a rule's owners the word "own" stands for
// the groups of the caller.
type Selector struct {
	Refs       []string `yaml:"refs,omitempty" json:"refs,omitempty"`
	Kinds      []string `yaml:"kinds,omitempty" json:"kinds,omitempty"`
	Namespaces []string `yaml:"namespaces,omitempty" json:"namespaces,omitempty"`
	Types      []string `yaml:"types,omitempty" json:"types,omitempty"`
	Owners     []string `yaml:"owners,omitempty" json:"owners,omitempty"`
	Tags       []string `yaml:"tags,omitempty" json:"tags,omitempty"`
	// Environments and Protected pick acts by the environment that they touch;
	// no read touches one.
	Environments []string `yaml:"environments,omitempty" json:"environments,omitempty"`
	Protected    bool     `yaml:"protected,omitempty" json:"protected,omitempty"`
	// Credentials and Purposes pick acts by the credential that they are about,
	// and by what it is said to be for.
	Credentials []string `yaml:"credentials,omitempty" json:"credentials,omitempty"`
	Purposes    []string `yaml:"purposes,omitempty" json:"purposes,omitempty"`
}

// own, among the owners of a rule's selector, is any of the caller's groups.
const own = "own"

func (s *Selector) matches(a *Attributes) bool {
	return oneOf(s.Refs, a.Ref) && oneOf(s.Kinds, a.Kind) && oneOf(s.Namespaces, a.Namespace) &&
		oneOf(s.Types, a.Type) && overlap(s.Owners, a.Owners) && overlap(s.Tags, a.Tags) &&
		oneOf(s.Environments, a.Environment) && (!s.Protected || a.Protected) &&
		oneOf(s.Credentials, a.Credential) && oneOf(s.Purposes, a.Purpose)
}

func (s *Selector) empty() bool {
	return len(s.Refs)+len(s.Kinds)+len(s.Namespaces)+len(s.Types)+len(s.Owners)+len(s.Tags)+len(s.Environments)+len(s.Credentials)+len(s.Purposes) == 0 && !s.Protected
}

// text is the selector's canonical form: its lists are already sorted.
func (s *Selector) text() string {
	text, err := json.Marshal(s)
	if err != nil { // strings always marshal; a shared key would mix up callers
		panic(err)
	}
	return string(text)
}

// of puts the caller's groups in the place of "own". ok is false where no
// owner is left, which must not become a selector that any owner satisfies.
func (s Selector) of(who Caller) (Selector, bool) {
	if !slices.Contains(s.Owners, own) {
		return s, true
	}
	owners := slices.DeleteFunc(slices.Clone(s.Owners), func(o string) bool { return o == own })
	if who.id != nil {
		owners = append(owners, who.id.groups...)
	}
	slices.Sort(owners)
	s.Owners = slices.Compact(owners)
	return s, len(s.Owners) > 0
}

func oneOf(want []string, have string) bool { return len(want) == 0 || slices.Contains(want, have) }

func overlap(want, have []string) bool {
	return len(want) == 0 || slices.ContainsFunc(have, func(h string) bool { return slices.Contains(want, h) })
}

// Policy says who may do what. It is data: rules, read once and never
// changed. The nil Policy allows nothing.
type Policy struct{ rules []rule }

type rule struct {
	name    string
	deny    bool
	who     callers
	actions []string // globs
	on      Selector
	// approval is set where the rule neither allows nor denies, but has what
	// other rules allow wait for approval.
	approval *approvalRule
	// ttl is set where the rule neither allows nor denies, but bounds how long
	// what other rules allow may last.
	ttl time.Duration
}

// callers picks callers. Anonymous ones are picked by anonymous alone; of the
// others, every list that is not empty must match, and at least one is not.
type callers struct {
	subjects, agents, groups, roles []string // globs
	anonymous                       bool
}

func (c *callers) match(who Caller) bool {
	switch {
	case who.id == nil:
		return false
	case who.id.anonymous:
		return c.anonymous
	case len(c.subjects)+len(c.agents)+len(c.groups)+len(c.roles) == 0:
		return false
	default:
		return picks(c.subjects, who.id.subject) && picks(c.agents, who.id.agent) &&
			picks(c.groups, who.id.groups...) && picks(c.roles, who.id.roles...)
	}
}

// picks tells whether a pattern picks one of the values; having none is the
// empty value, which only the empty pattern picks.
func picks(patterns []string, values ...string) bool {
	if len(patterns) == 0 {
		return true
	}
	if len(values) == 0 {
		return anyGlob(patterns, "")
	}
	return slices.ContainsFunc(values, func(v string) bool { return anyGlob(patterns, v) })
}

// Scope is what the caller may read, or act on, under an action.
func (p *Policy) Scope(who Caller, action Action) Scope {
	if p == nil {
		return Scope{}
	}
	var allow, deny []grant
	for i := range p.rules {
		r := &p.rules[i]
		if r.approval != nil || r.ttl > 0 || !r.who.match(who) || !anyGlob(r.actions, string(action)) {
			continue
		}
		on, some := r.on.of(who)
		switch {
		case !some:
		case r.deny:
			deny = append(deny, grant{r.name, on})
		default:
			allow = append(allow, grant{r.name, on})
		}
	}
	return newScope(allow, deny)
}

// Decision is the answer to whether a caller may do something.
type Decision struct {
	// Allowed is the answer.
	Allowed bool
	// Rule is the name of the rule that decided, "" where none spoke.
	Rule string
	// Reason says why, in a sentence.
	Reason string
	// Fix says what would make it possible; "" where it is.
	Fix string
}

// Allow tells whether the caller may do the action to a thing; the zero
// Attributes stand for no thing in the catalog. It decides as Scope does.
func (p *Policy) Allow(who Caller, action Action, on Attributes) Decision {
	rule, ok := p.Scope(who, action).decide(&on)
	d := Decision{Allowed: ok, Rule: rule}
	name, thing := describe(who), ""
	if on.Ref != "" {
		thing = " on " + on.Ref
	}
	switch {
	case ok:
		d.Reason = fmt.Sprintf("rule %q allows %s%s to %s", rule, action, thing, name)
	case rule != "":
		d.Reason = fmt.Sprintf("rule %q denies %s%s to %s", rule, action, thing, name)
		d.Fix = "Ask those who keep the policy to change that rule."
	default:
		d.Reason = fmt.Sprintf("no rule allows %s%s to %s", action, thing, name)
		d.Fix = p.remedy(who, action, on)
	}
	return d
}

// remedy tells what would have let the caller in.
func (p *Policy) remedy(who Caller, action Action, on Attributes) string {
	switch {
	case who.IsZero(), who.Anonymous():
		return "Send a token; anonymous callers may only read."
	case len(on.Owners) > 0:
		return fmt.Sprintf("Ask its owner, %s, to do it or to take you in, or those who keep the policy for a rule that allows %s.", strings.Join(on.Owners, " or "), action)
	default:
		return fmt.Sprintf("Ask those who keep the policy for a role or a rule that allows %s.", action)
	}
}

// describe names a caller for a message: person, and agent if there is one.
func describe(who Caller) string {
	switch {
	case who.IsZero():
		return "nobody"
	case who.Anonymous():
		return "an anonymous caller"
	case who.Agent() != "":
		return fmt.Sprintf("%s, acting for %s", who.Agent(), who.Subject())
	default:
		return who.Subject()
	}
}
