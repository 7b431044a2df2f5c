package access

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
)

// Attributes are what policy may look at in a catalog entity. Refs are full
// and in lower case; kind, namespace and type are in lower case too.
type Attributes struct {
	Ref       string
	Kind      string
	Namespace string
	Type      string
	Owners    []string
	Tags      []string
	// Environment is the environment of the entity that an act touches, "" for
	// none, and Protected tells whether the catalog says that it is protected.
	Environment string
	Protected   bool
	// Credential is the credential that an act is about, "" for none, and
	// Purpose what the caller says that it is for.
	Credential string
	Purpose    string
}

// Scope is what a caller may read, compiled from policy to data. The zero
// Scope holds nothing.
type Scope struct {
	all   bool
	key   string
	allow []grant
	deny  []grant
}

// grant is a selector and the rule it comes from. Its owners are real: "own"
// has been replaced by the caller's groups.
type grant struct {
	rule string
	on   Selector
}

// All tells whether every entity is in scope, so that no filter is needed.
func (s Scope) All() bool { return s.all && len(s.deny) == 0 }

// None tells whether nothing is in scope.
func (s Scope) None() bool { return !s.all && len(s.allow) == 0 }

// Key identifies the scope's content: equal keys mean equal scopes, so that
// what was computed for one may be kept for the other. The key of a scope that
// holds nothing is "".
func (s Scope) Key() string { return s.key }

// Allows tells whether an entity is in scope: deny beats allow.
func (s Scope) Allows(a Attributes) bool {
	_, ok := s.decide(&a)
	return ok
}

// decide names the rule that lets an entity in or keeps it out: the first
// that denies it, else the first that allows it, else none.
func (s Scope) decide(a *Attributes) (rule string, ok bool) {
	if i := matching(s.deny, a); i >= 0 {
		return s.deny[i].rule, false
	}
	if i := matching(s.allow, a); i >= 0 {
		return s.allow[i].rule, true
	}
	return "", false
}

func matching(grants []grant, a *Attributes) int {
	return slices.IndexFunc(grants, func(g grant) bool { return g.on.matches(a) })
}

// newScope compiles grants. What a grant for everything makes superfluous
// stays, because it may name the rule, but does not count for the key.
func newScope(allow, deny []grant) Scope {
	everything := func(g grant) bool { return g.on.empty() }
	if slices.ContainsFunc(deny, everything) {
		return Scope{deny: deny}
	}
	s := Scope{all: slices.ContainsFunc(allow, everything), allow: allow, deny: deny}
	switch {
	case s.None():
		s.key = ""
	case s.All():
		s.key = "all"
	default:
		s.key = s.digest()
	}
	return s
}

func (s Scope) digest() string {
	content := struct{ Allow, Deny []string }{Deny: texts(s.deny)}
	if !s.all {
		content.Allow = texts(s.allow)
	}
	text, err := json.Marshal(content)
	if err != nil { // strings always marshal; a shared key would mix up callers
		panic(err)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
}

func texts(grants []grant) []string {
	out := make([]string, len(grants))
	for i := range grants {
		out[i] = grants[i].on.text()
	}
	slices.Sort(out)
	return slices.Compact(out)
}
