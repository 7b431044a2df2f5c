package index

import (
	"slices"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/catalog/entity"
)

// Query says which entities are asked for, and in which order.
type Query struct {
	Where *Predicate
	Text  *TextFilter
	// Order is the search key to order by, in any case; entities without a
	// value for it are left out, and those with several come up once for
	// each. "" orders by uid.
	Order string
	// Descending turns the order round.
	Descending bool
}

// Mark is a place in an order: the value and uid of an entity. With no order
// field both are the uid.
type Mark struct{ Value, UID string }

// Window is the part of the answer that is asked for.
type Window struct {
	// From is the place to go on from; nil begins at the start.
	From *Mark
	// Back asks for what comes before From, nearest kept.
	Back bool
	// Offset skips entities.
	Offset int
	// Limit is the most entities to give; negative is no limit.
	Limit int
	// Count asks for Total.
	Count bool
}

// Listing is a part of the answer to a Query, in order.
type Listing struct {
	Entities []*entity.Entity
	Marks    []Mark // of each entity
	First    Mark   // of the first entity, if there is any
	Last     Mark   // of the last
	More     bool   // there are more in the direction asked
	Total    int    // entities in all, if asked
}

// List answers a query within a scope.
func (s *Snapshot) List(scope access.Scope, q Query, w Window) Listing {
	set, order := s.selected(scope, q), "metadata.uid"
	if q.Order != "" {
		order = entity.Lower(q.Order)
	}
	c := s.column(order)
	if c == nil {
		return Listing{}
	}
	var out Listing
	if w.Count {
		out.Total = s.total(set, c, q.Order != "")
	}
	if w.Limit == 0 {
		return out
	}
	keep := func(ch *chunk, i int) bool { return set.has(ch.ids[i]) }
	if q.Text != nil && q.Order != "" && len(q.Text.fields) == 1 && q.Text.fields[0] == order {
		keep = func(ch *chunk, i int) bool { return set.has(ch.ids[i]) && q.Text.pattern.match(ch.values[i]) }
	}
	s.fill(&out, c, q.Descending != w.Back, w, keep)
	return out
}

// selected is the set of entities in scope that the query keeps; it must not
// be changed.
func (s *Snapshot) selected(scope access.Scope, q Query) bitset {
	set := s.visible(scope)
	if q.Where != nil {
		b := s.match(q.Where)
		b.and(set)
		set = b
	}
	if q.Text != nil {
		set = q.Text.mark(s, set)
	}
	return set
}

func (s *Snapshot) total(set bitset, c *column, ordered bool) int {
	if !ordered {
		return set.count()
	}
	valued := newBitset(s.slots.size)
	c.markValued(valued)
	valued.and(set)
	return valued.count()
}

// fill walks the column from the window's start and takes what keep keeps.
func (s *Snapshot) fill(out *Listing, c *column, down bool, w Window, keep func(*chunk, int) bool) {
	var marks []Mark
	skip := w.Offset
	take := func(ch *chunk, i int) bool {
		if !keep(ch, i) {
			return true
		}
		if skip > 0 {
			skip--
			return true
		}
		if w.Limit >= 0 && len(out.Entities) == w.Limit {
			out.More = true
			return false
		}
		sl := s.slots.get(ch.ids[i])
		out.Entities = append(out.Entities, sl.entity)
		marks = append(marks, Mark{ch.values[i], sl.uid})
		return true
	}
	if down {
		p := pos{len(c.chunks), 0}
		if w.From != nil {
			p = c.seek(w.From.Value, w.From.UID, s.uid, true)
		}
		c.backward(p, take)
	} else {
		p := pos{}
		if w.From != nil {
			p = c.seek(w.From.Value, w.From.UID, s.uid, false)
		}
		c.forward(p, take)
	}
	if w.Back {
		slices.Reverse(out.Entities)
		slices.Reverse(marks)
	}
	out.Marks = marks
	if len(marks) > 0 {
		out.First, out.Last = marks[0], marks[len(marks)-1]
	}
}
