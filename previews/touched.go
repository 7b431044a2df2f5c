package previews

import (
	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/catalog/entity"
	"github.com/fairlead-dev/fairlead/catalog/index"
)

// touch sets what policy looks at in making a preview: its service, and the
// environment that it uses, which is protected where the catalog says so, or
// where the service's previews are.
func touch(r *Record, e *catalog.Entity) {
	r.About = index.AttributesOf(e)
	r.About.Environment, r.About.Protected = r.Template.Environment, r.Template.Protected || protects(e, r.Template.Environment)
}

// protects tells whether an entity has a protected environment of a name.
func protects(e *catalog.Entity, environment string) bool {
	for _, it := range e.Spec().Object("fairlead").List("environments") {
		if o, ok := it.Value.(*entity.Object); ok && environment != "" && o.String("name") == environment && o.Get("protected") == true {
			return true
		}
	}
	return false
}

// extending is what policy looks at in having a preview live longer: its
// service as it is now, and the environment as it was. Removing one uses no
// environment any more.
func (s *Service) extending(r *Record) access.Attributes {
	a := s.about(r)
	a.Environment, a.Protected = r.About.Environment, r.About.Protected
	return a
}
