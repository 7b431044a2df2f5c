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

// Every yields all entities that can be shown, whoever may see them: for
// decisions, and not for answers.
func (s *Snapshot) Every() iter.Seq[*entity.Entity] { return s.entities(s.live) }

// In yields the entities in scope, in no order.
func (s *Snapshot) In(scope access.Scope) iter.Seq[*entity.Entity] {
	return s.entities(s.visible(scope))
}

// Count is how many entities are in scope.
func (s *Snapshot) Count(scope access.Scope) int { return s.visible(scope).count() }

func (s *Snapshot) entities(of bitset) iter.Seq[*entity.Entity] {
	return func(yield func(*entity.Entity) bool) {
		of.each(func(id uint32) bool { return yield(s.slots.get(id).entity) })
	}
}

// Sources are the names of the sources that the entities in scope came from.
// The caller must not change them.
func (s *Snapshot) Sources(scope access.Scope) map[string]bool {
	return s.scopes.from(scope.Key(), func() map[string]bool { return s.sources(s.visible(scope)) })
}

// Seeing tells of full references whether a scope holds such an entity. It is
// for those who ask of many.
func (s *Snapshot) Seeing(scope access.Scope) func(ref string) bool {
	seen := s.visible(scope)
	return func(ref string) bool {
		id, ok := s.ids.Get(ref)
		return ok && seen.has(id)
	}
}

// Sees is Seeing by the numbers that the snapshot's entities have.
func (s *Snapshot) Sees(scope access.Scope) func(id uint32) bool { return s.visible(scope).has }

// Giving are the names of the sources that any entities came from, whoever may
// see them. The caller must not change them.
func (s *Snapshot) Giving() map[string]bool {
	return s.scopes.from("all", func() map[string]bool { return s.sources(s.live) })
}

func (s *Snapshot) sources(of bitset) map[string]bool {
	out := map[string]bool{}
	of.each(func(id uint32) bool {
		out[s.slots.get(id).entity.From.Source] = true
		return true
	})
	return out
}
