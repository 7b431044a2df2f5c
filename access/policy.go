package access

import "slices"

// Selector picks entities. Every list that is not empty must match; an empty
// Selector matches everything.
type Selector struct {
	Refs       []string `yaml:"refs,omitempty" json:"refs,omitempty"`
	Kinds      []string `yaml:"kinds,omitempty" json:"kinds,omitempty"`
	Namespaces []string `yaml:"namespaces,omitempty" json:"namespaces,omitempty"`
	Types      []string `yaml:"types,omitempty" json:"types,omitempty"`
	Owners     []string `yaml:"owners,omitempty" json:"owners,omitempty"`
	Tags       []string `yaml:"tags,omitempty" json:"tags,omitempty"`
}

func (s *Selector) matches(a Attributes) bool {
	return oneOf(s.Refs, a.Ref) && oneOf(s.Kinds, a.Kind) && oneOf(s.Namespaces, a.Namespace) &&
		oneOf(s.Types, a.Type) && overlap(s.Owners, a.Owners) && overlap(s.Tags, a.Tags)
}

func oneOf(want []string, have string) bool { return len(want) == 0 || slices.Contains(want, have) }

func overlap(want, have []string) bool {
	return len(want) == 0 || slices.ContainsFunc(have, func(h string) bool { return slices.Contains(want, h) })
}

// Policy says who may do what. It is data: rules, read once and never
// changed. The nil Policy allows nothing.
type Policy struct{}

// Scope is what the caller may read under an action.
func (p *Policy) Scope(who Caller, action Action) Scope { return Scope{} }
