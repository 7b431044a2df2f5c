package access

// Attributes are what policy may look at in a catalog entity. Refs are full
// and in lower case; kind, namespace and type are in lower case too.
type Attributes struct {
	Ref       string
	Kind      string
	Namespace string
	Type      string
	Owners    []string
	Tags      []string
}

// Scope is what a caller may read, compiled from policy to data. The zero
// Scope holds nothing.
type Scope struct {
	all   bool
	key   string
	allow []Selector
	deny  []Selector
}

// All tells whether every entity is in scope, so that no filter is needed.
func (s Scope) All() bool { return s.all && len(s.deny) == 0 }

// None tells whether nothing is in scope.
func (s Scope) None() bool { return !s.all && len(s.allow) == 0 }

// Key identifies the scope's content: equal keys mean equal scopes, so that
// what was computed for one may be kept for the other.
func (s Scope) Key() string { return s.key }

// Allows tells whether an entity is in scope: deny beats allow.
func (s Scope) Allows(a Attributes) bool {
	if !s.all && !matchesAny(s.allow, a) {
		return false
	}
	return !matchesAny(s.deny, a)
}

func matchesAny(sels []Selector, a Attributes) bool {
	for i := range sels {
		if sels[i].matches(a) {
			return true
		}
	}
	return false
}
