package index

import (
	"slices"
	"strings"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/catalog/entity"
)

// FacetCount is a value in its original case and how many rows have it.
type FacetCount struct {
	Value string
	Count int
}

// Facets counts the values of each key among the entities that a predicate
// keeps in scope, sorted by value.
func (s *Snapshot) Facets(scope access.Scope, keys []string, where *Predicate) [][]FacetCount {
	set := s.selected(scope, Query{Where: where})
	whole := where == nil && scope.All()
	out := make([][]FacetCount, len(keys))
	for i, k := range keys {
		if c := s.column(entity.Lower(k)); c != nil {
			out[i] = c.count(set, whole)
		}
	}
	return out
}

// count counts a column's values among a set; whole tells that the set leaves
// nothing out.
func (c *column) count(set bitset, whole bool) []FacetCount {
	var out []FacetCount
	run := 0 // where the counts of the current value begin in out
	last := ""
	for _, ch := range c.chunks {
		if ch.same {
			n := len(ch.ids)
			if !whole {
				n = set.among(ch.ids)
			}
			if n == 0 {
				continue
			}
			if ch.values[0] != last {
				run, last = len(out), ch.values[0]
			}
			out = tally(out, run, ch.orig(0), n)
			continue
		}
		for i, id := range ch.ids {
			if !set.has(id) {
				continue
			}
			if ch.values[i] != last {
				run, last = len(out), ch.values[i]
			}
			out = tally(out, run, ch.orig(i), 1)
		}
	}
	slices.SortFunc(out, func(a, b FacetCount) int { return strings.Compare(a.Value, b.Value) })
	return out
}

// tally counts n more of a value among those from run on: the spellings of one
// value stand together.
func tally(out []FacetCount, run int, orig string, n int) []FacetCount {
	for j := len(out) - 1; j >= run; j-- {
		if out[j].Value == orig {
			out[j].Count += n
			return out
		}
	}
	return append(out, FacetCount{orig, n})
}

// Batch are the entities of full references in lower case that a predicate
// keeps in scope, in the order asked; nil for the others.
func (s *Snapshot) Batch(scope access.Scope, refs []string, where *Predicate) []*entity.Entity {
	var set bitset
	if where != nil {
		set = s.match(where)
	}
	out := make([]*entity.Entity, len(refs))
	for i, ref := range refs {
		if sl, id, ok := s.slot(scope, ref); ok && (set == nil || set.has(id)) {
			out[i] = sl.entity
		}
	}
	return out
}

// Named are the entities in scope with a name, whatever its case, by ref.
func (s *Snapshot) Named(scope access.Scope, name string) []*entity.Entity {
	set := s.selected(scope, Query{Where: Equals("metadata.name", name)})
	var out []*entity.Entity
	set.each(func(id uint32) bool {
		out = append(out, s.slots.get(id).entity)
		return true
	})
	slices.SortFunc(out, func(a, b *entity.Entity) int { return strings.Compare(a.Ref.String(), b.Ref.String()) })
	return out
}
