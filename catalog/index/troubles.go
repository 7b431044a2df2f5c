package index

import (
	"slices"

	"github.com/fairlead-dev/fairlead/catalog/entity"
)

// Trouble is what an entity says that does not hold: a relation to what cannot
// be shown, or with none that it is older than its file.
type Trouble struct {
	ID     uint32 // see Sees
	Entity *entity.Entity
	Lost   entity.Relation
}

// Troubles finds the troubles of all entities, by reference and then by the
// relation's type and target. It looks at every relation there is.
func (s *Snapshot) Troubles() []Trouble {
	var out []Trouble
	s.ids.Scan(func(ref string, id uint32) bool {
		sl := s.slots.get(id)
		if sl.entity == nil {
			return true
		}
		if sl.entity.From.StaleSince != "" {
			out = append(out, Trouble{ID: id, Entity: sl.entity})
		}
		var lost []entity.Relation
		for _, e := range sl.record.Edges {
			if e.Source != ref {
				continue
			}
			if to, ok := s.ids.Get(e.Target); !ok || !s.live.has(to) {
				lost = append(lost, entity.Relation{Type: e.Type, TargetRef: e.Target})
			}
		}
		slices.SortFunc(lost, compareEdges)
		for _, r := range slices.Compact(lost) {
			out = append(out, Trouble{ID: id, Entity: sl.entity, Lost: r})
		}
		return true
	})
	return out
}
