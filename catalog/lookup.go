package catalog

import (
	"slices"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/catalog/entity"
)

// Inhabitants are the components that live nearest above a path of a
// repository, sorted, whoever may see them: Visible tells that. There are none
// where nobody lives above the path.
func (s *Service) Inhabitants(repository, at string) []string {
	var best []string
	nearest := -1
	for _, c := range s.residents.of(entity.RepositoryKey(repository)) {
		switch {
		case !below(at, c.dir) || len(c.dir) < nearest:
		case len(c.dir) > nearest:
			best, nearest = []string{c.ref}, len(c.dir)
		default:
			best = append(best, c.ref)
		}
	}
	slices.Sort(best)
	return best
}

// View is what one caller sees of the catalog at one moment.
type View struct {
	reading
	sources map[string]bool // of the entities seen; nil while nobody asked
}

// NewView is the caller's view of a catalog now. It is not safe for concurrent
// use.
func NewView(s *Service, who access.Caller) *View { return &View{reading: s.reading(who)} }

// All tells that the caller sees everything.
func (v *View) All() bool { return v.scope.All() }

// Entity is the entity of a full reference, nil where the caller sees none.
func (v *View) Entity(ref string) *Entity { return v.Get(v.scope, ref) }

// There tells whether an entity exists, whoever may see it.
func (v *View) There(ref string) bool {
	_, ok := v.Attributes(ref)
	return ok
}

// Source tells whether the caller sees an entity that came from a source.
func (v *View) Source(name string) bool {
	if v.sources == nil {
		v.sources = v.Sources(v.scope)
	}
	return v.sources[name]
}
