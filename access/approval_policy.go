package access

import (
	"slices"
	"strings"
	"time"
)

// effectApproval is the effect of rules that have acts wait for approval.
const effectApproval = "approval"

// How long a request for approval stands: if a rule does not say, and the
// bounds of what it may say.
const (
	defaultApproval = 24 * time.Hour
	minApproval     = time.Second
	maxApproval     = 30 * 24 * time.Hour
)

// approvalSpec is what a rules file says of who approves.
type approvalSpec struct {
	By      approverSpec  `yaml:"by"`
	Expires time.Duration `yaml:"expires"`
}

type approverSpec struct {
	Owners   bool     `yaml:"owners"`
	Groups   []string `yaml:"groups"`
	Roles    []string `yaml:"roles"`
	Subjects []string `yaml:"subjects"`
}

// approvalRule is what a rule asks for before an act.
type approvalRule struct {
	owners  bool
	by      Approvers
	expires time.Duration
}

// Approvers are those who may decide on a request: whoever is in one of the
// groups, has one of the roles or is one of the subjects. References are full.
type Approvers struct {
	Groups   []string `json:"groups,omitempty"`
	Roles    []string `json:"roles,omitempty"`
	Subjects []string `json:"subjects,omitempty"`
}

// Include tells whether the caller is one of them.
func (a *Approvers) Include(who Caller) bool {
	return slices.ContainsFunc(a.Groups, who.In) || slices.ContainsFunc(a.Roles, who.Has) || slices.Contains(a.Subjects, who.Subject())
}

// List names them: references, and role:NAME.
func (a *Approvers) List() []string {
	out := slices.Concat([]string{}, a.Groups, a.Subjects)
	for _, r := range a.Roles {
		out = append(out, "role:"+r)
	}
	return out
}

// approval checks and compiles the part of a rule that is about approval.
func (l *loader) approval(path string, s *ruleSpec) *approvalRule {
	at := path + ".approval"
	switch {
	case s.Effect != effectApproval && s.Approval == nil:
		return nil
	case s.Effect != effectApproval:
		l.add(at, "Write effect: approval in a rule of its own; it holds beside those that allow.", "only a rule with the effect approval says who approves")
		return nil
	case s.Approval == nil:
		l.add(path, "Add for example approval: {by: {owners: true, roles: [sre]}, expires: 24h}.", "the rule does not say who approves")
		return &approvalRule{}
	}
	l.acts(path+".actions", s.Actions)
	by := &s.Approval.By
	r := &approvalRule{owners: by.Owners, expires: s.Approval.Expires, by: Approvers{
		Groups:   l.exact(at+".by.groups", l.refs(at+".by.groups", by.Groups, "group")),
		Roles:    l.exact(at+".by.roles", slices.Clone(by.Roles)),
		Subjects: l.exact(at+".by.subjects", l.refs(at+".by.subjects", by.Subjects, "user")),
	}}
	if !by.Owners && len(by.Groups)+len(by.Roles)+len(by.Subjects) == 0 {
		l.add(at, "Name owners: true, groups, roles or subjects; one of them is enough to approve.", "it does not say who approves")
	}
	if r.expires == 0 {
		r.expires = defaultApproval
	}
	if r.expires < minApproval || r.expires > maxApproval {
		l.add(at+".expires", "Write for example 24h.", "%s is not between %s and %s", r.expires, minApproval, maxApproval)
	}
	return r
}

// acts refuses patterns of which every action only reads, as reading is never
// asked about.
func (l *loader) acts(path string, patterns []string) {
	matches, act := false, false
	for _, a := range Actions() {
		if anyGlob(patterns, string(a)) {
			matches, act = true, act || !a.Effect().ReadOnly && a != DecideApprovals
		}
	}
	if matches && !act {
		l.add(path, "Name actions that change something, such as catalog.refresh.", "nothing of this needs approval, whatever the policy says")
	}
}

// requirement is what policy asks for before an act that it allows.
type requirement struct {
	rule    string
	by      Approvers
	expires time.Duration
}

// requires is what the caller needs for an act, nil for nothing; the first
// rule in the order of the file says who approves. Deciding on requests itself
// needs no approval.
func (p *Policy) requires(who Caller, action Action, on *Attributes) *requirement {
	if p == nil || action == DecideApprovals {
		return nil
	}
	for i := range p.rules {
		r := &p.rules[i]
		if r.approval == nil || !r.who.match(who) || !anyGlob(r.actions, string(action)) {
			continue
		}
		if sel, some := r.on.of(who); some && sel.matches(on) {
			return &requirement{rule: r.name, by: r.approval.of(on.Owners), expires: r.approval.expires}
		}
	}
	return nil
}

// of puts a thing's owners in their place.
func (a *approvalRule) of(owners []string) Approvers {
	if !a.owners {
		owners = nil
	}
	return a.by.WithOwners(owners)
}

// WithOwners are these and the owners of a thing, by full reference.
func (a *Approvers) WithOwners(owners []string) Approvers {
	by := Approvers{Groups: slices.Clone(a.Groups), Roles: a.Roles, Subjects: slices.Clone(a.Subjects)}
	for _, o := range owners {
		if strings.HasPrefix(o, "user:") {
			by.Subjects = append(by.Subjects, o)
		} else {
			by.Groups = append(by.Groups, o)
		}
	}
	for _, list := range []*[]string{&by.Groups, &by.Subjects} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	return by
}

// asks tells whether a rule may ask the caller about requests of others.
func (p *Policy) asks(who Caller) bool {
	return p != nil && slices.ContainsFunc(p.rules, func(r rule) bool {
		return r.approval != nil && (r.approval.by.Include(who) || r.approval.owners && len(who.Groups()) > 0)
	})
}
