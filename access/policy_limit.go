package access

import "time"

// effectLimit is the effect of rules that bound what others allow.
const effectLimit = "limit"

// limitSpec is what a rules file says of a bound.
type limitSpec struct {
	// TTL is the longest that what the action gives may last.
	TTL time.Duration `yaml:"ttl"`
}

// limit checks the part of a rule that bounds.
func (l *loader) limit(path string, s *ruleSpec) time.Duration {
	at := path + ".limit"
	switch {
	case s.Effect != effectLimit && s.Limit == nil:
		return 0
	case s.Effect != effectLimit:
		l.add(at, "Write effect: limit in a rule of its own; it holds beside those that allow.", "only a rule with the effect limit bounds")
	case s.Limit == nil:
		l.add(path, "Add for example limit: {ttl: 15m}.", "the rule does not say what the limit is")
	case s.Limit.TTL < time.Second:
		l.add(at+".ttl", "Write for example 15m.", "%s is no time of at least 1s", s.Limit.TTL)
	default:
		l.lasting(path+".actions", s.Actions)
		return s.Limit.TTL
	}
	return 0
}

// lasting refuses patterns that match no action that a time bounds.
func (l *loader) lasting(path string, patterns []string) {
	for _, a := range []Action{RequestCredentials, RenewCredentials} {
		if anyGlob(patterns, string(a)) {
			return
		}
	}
	l.add(path, "Name secrets.request or secrets.renew.", "nothing of this gives what lasts for a time")
}

// Bound is the longest that what an action gives the caller may last, by the
// strictest of the rules with the effect limit, and that one's name; 0 and ""
// where none speaks. It lets nobody in.
func (p *Policy) Bound(who Caller, action Action, on Attributes) (ttl time.Duration, rule string) {
	if p == nil {
		return 0, ""
	}
	for i := range p.rules {
		r := &p.rules[i]
		if r.ttl == 0 || ttl > 0 && r.ttl >= ttl || !r.who.match(who) || !anyGlob(r.actions, string(action)) {
			continue
		}
		if sel, some := r.on.of(who); some && sel.matches(&on) {
			ttl, rule = r.ttl, r.name
		}
	}
	return ttl, rule
}

// AllowHolder is Allow for an act on what the caller holds: it needs no rule
// that allows it, and none may deny it.
func (p *Policy) AllowHolder(who Caller, action Action, on Attributes) Decision {
	d := p.Allow(who, action, on)
	if !d.Allowed && d.Rule == "" && p != nil && !who.IsZero() && !who.Anonymous() {
		return Decision{Allowed: true, Rule: ruleHolder, Reason: describe(who) + " holds it"}
	}
	return d
}

// ruleHolder is what the audit says of acts that need no rule.
const ruleHolder = "(the holder)"
