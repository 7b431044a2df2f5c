package index

import (
	"iter"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/catalog/entity"
)

// Kind yields the entities in scope of one kind, given in lower case.
func (s *Snapshot) Kind(scope access.Scope, kind string) iter.Seq[*entity.Entity] {
	return func(yield func(*entity.Entity) bool) {
		c := s.column("kind")
		if c == nil {
			return
		}
		found := newBitset(s.slots.size)
		c.markEqual(found, kind)
		found.and(s.visible(scope))
		found.each(func(id uint32) bool { return yield(s.slots.get(id).entity) })
	}
}
