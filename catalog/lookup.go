package catalog

import (
	"weak"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/catalog/index"
)

// Inhabitants are the components that live nearest above a path of a
// repository, by its entity.RepositoryKey, sorted, whoever may see them: a View
// tells that. There are none where nobody lives above the path.
func (s *Service) Inhabitants(key, at string) []string {
	return s.residents.above(key, at, func(string) bool { return true })
}

// Inhabited tells whether any component of a repository, by its
// entity.RepositoryKey, passes a test.
func (s *Service) Inhabited(key string, test func(ref string) bool) bool {
	return s.residents.any(key, test)
}

// Lives is the entity.RepositoryKey of the repository that a component says it
// lives in, "" where it says none, and its folder there; filed is that of its
// catalog file.
func Lives(e *Entity) (key, dir, filed string) {
	h := homeOf(e)
	return h.repository, h.dir, folderOf(e.From.Path)
}

// View is what one caller sees of the catalog at one moment.
type View struct {
	reading
	sources map[string]bool // of the entities seen; nil while nobody asked
	seeing  func(ref string) bool
}

// NewView is the caller's view of a catalog now. It is not safe for concurrent
// use.
func NewView(s *Service, who access.Caller) *View { return &View{reading: s.reading(who)} }

// Sight tells views apart that may differ in what is seen; equal ones do not.
type Sight struct {
	snapshot weak.Pointer[index.Snapshot] // keeps none that nobody else does
	scope    string
}

// Sight is that of the view.
func (v *View) Sight() Sight { return Sight{weak.Make(v.Snapshot), v.scope.Key()} }

// All tells that the caller sees everything.
func (v *View) All() bool { return v.scope.All() }

// Entity is the entity of a full reference, nil where the caller sees none.
func (v *View) Entity(ref string) *Entity { return v.Get(v.scope, ref) }

// Sees tells whether the caller sees an entity of a full reference.
func (v *View) Sees(ref string) bool {
	if v.seeing == nil {
		v.seeing = v.Seeing(v.scope)
	}
	return v.seeing(ref)
}

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
