package index

import (
	"slices"
	"strings"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/catalog/entity"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// Bounds of ordering by several keys, each of which may bring an entity up
// once for each of its values.
const (
	maxOrders = 10
	maxLines  = 500_000
)

// Arrangement is a list of entities in the order that GET /entities has: by
// reference without keys, else by the values of the keys and then by uid.
// Entities without a value come last, those with several once for each.
type Arrangement struct {
	Where *Predicate
	// Order are search keys as the index writes them: none is found that
	// holds a capital letter.
	Order []Sort
	// Offset skips entities, Limit is the most to give; negative is no limit.
	Offset, Limit int
}

// taker takes a part of a list.
type taker struct {
	skip, limit int
	ids         []uint32
	more        bool
}

// take takes the next of the list and tells whether more is wanted.
func (t *taker) take(id uint32) bool {
	switch {
	case t.skip > 0:
		t.skip--
	case t.limit >= 0 && len(t.ids) == t.limit:
		t.more = true
		return false
	default:
		t.ids = append(t.ids, id)
	}
	return true
}

// Arrange gives the part of an arrangement that is asked for, and whether
// there is more after it.
func (s *Snapshot) Arrange(scope access.Scope, a Arrangement) (es []*entity.Entity, more bool, err error) {
	set := s.selected(scope, Query{Where: a.Where})
	t := &taker{skip: a.Offset, limit: a.Limit}
	switch len(a.Order) {
	case 0:
		s.byRef(set, t)
	case 1:
		s.byKey(set, a.Order[0], t)
	default:
		err = s.byKeys(set, a.Order, t)
	}
	for _, id := range t.ids {
		es = append(es, s.slots.get(id).entity)
	}
	return es, t.more, err
}

func (s *Snapshot) byRef(set bitset, t *taker) {
	s.ids.Scan(func(_ string, id uint32) bool { return !set.has(id) || t.take(id) })
}

// byUID takes a set by uid.
func (s *Snapshot) byUID(set bitset, t *taker) {
	if c := s.column("metadata.uid"); c != nil {
		c.forward(pos{}, func(ch *chunk, i int) bool { return !set.has(ch.ids[i]) || t.take(ch.ids[i]) })
	}
}

// byKey takes those with a value of one key, by value and then uid whichever
// way the values go, and then the others by uid.
func (s *Snapshot) byKey(set bitset, by Sort, t *taker) {
	c := s.column(by.Field)
	if c == nil {
		s.byUID(set, t)
		return
	}
	if by.Order == "desc" {
		c.runsBackward(func(ids []uint32) bool { return takeAll(set, ids, t) })
	} else {
		c.forward(pos{}, func(ch *chunk, i int) bool { return !set.has(ch.ids[i]) || t.take(ch.ids[i]) })
	}
	if t.more {
		return
	}
	rest, valued := slices.Clone(set), newBitset(s.slots.size)
	c.markValued(valued)
	for i := range rest {
		rest[i] &^= valued[i]
	}
	s.byUID(rest, t)
}

func takeAll(set bitset, ids []uint32, t *taker) bool {
	for _, id := range ids {
		if set.has(id) && !t.take(id) {
			return false
		}
	}
	return true
}

// runsBackward calls f with the entities that have each value, the last value
// first, until f says stop.
func (c *column) runsBackward(f func(ids []uint32) bool) {
	var ids []uint32 // of the value v, which may go on in the chunk before
	v := ""
	for k := len(c.chunks) - 1; k >= 0; k-- {
		ch := c.chunks[k]
		for end := len(ch.ids); end > 0; {
			start := end - 1
			for start > 0 && ch.values[start-1] == ch.values[end-1] {
				start--
			}
			if ids != nil && ch.values[start] != v && !f(ids) {
				return
			}
			if ch.values[start] != v {
				ids = nil
			}
			v, ids = ch.values[start], slices.Concat(ch.ids[start:end], ids)
			end = start
		}
	}
	if ids != nil {
		f(ids)
	}
}

// line is an entity with one value, or none, of each key.
type line struct {
	id     uint32
	values []*string
}

// byKeys takes a set by several keys.
func (s *Snapshot) byKeys(set bitset, by []Sort, t *taker) error {
	if len(by) > maxOrders {
		return fault.New(fault.Invalid, "the list is ordered by %d fields; the limit is %d", len(by), maxOrders).WithFix("Order by the few fields that matter.")
	}
	var lines []line
	all := &taker{limit: -1}
	s.byUID(set, all)
	for _, id := range all.ids {
		lines = append(lines, line{id: id})
	}
	for _, o := range by {
		if lines = s.column(o.Field).spread(lines); len(lines) > maxLines {
			return fault.New(fault.Invalid, "the fields to order by have too many values").WithFix("Order by one field, or narrow the filter.")
		}
	}
	slices.SortStableFunc(lines, func(a, b line) int {
		for i := range by {
			if d := compareValues(a.values[i], b.values[i], by[i].Order == "desc"); d != 0 {
				return d
			}
		}
		return 0
	})
	for _, l := range lines {
		if !t.take(l.id) {
			break
		}
	}
	return nil
}

// spread makes of each line as many as its entity has rows in the column.
func (c *column) spread(lines []line) []line {
	values := map[uint32][]*string{}
	if c != nil {
		c.forward(pos{}, func(ch *chunk, i int) bool {
			values[ch.ids[i]] = append(values[ch.ids[i]], &ch.values[i])
			return true
		})
		for _, id := range c.nulls {
			values[id] = append(values[id], nil)
		}
	}
	out := make([]line, 0, len(lines))
	for _, l := range lines {
		vs := values[l.id]
		if vs == nil {
			vs = []*string{nil}
		}
		for _, v := range vs {
			out = append(out, line{l.id, append(slices.Clip(l.values), v)})
		}
		if len(out) > maxLines {
			break
		}
	}
	return out
}

// compareValues puts what has no value last, whichever way the others go.
func compareValues(a, b *string, down bool) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return 1
	case b == nil:
		return -1
	case down:
		return strings.Compare(*b, *a)
	default:
		return strings.Compare(*a, *b)
	}
}
