package index

import (
	"sort"
	"strings"
)

// pos is a place among a column's entries; chunk == len(chunks) is the end.
type pos struct{ chunk, i int }

// lower is the place of the first entry whose value is not below v.
func (c *column) lower(v string) pos {
	k := sort.Search(len(c.chunks), func(k int) bool { return c.chunks[k].last() >= v })
	if k == len(c.chunks) {
		return pos{k, 0}
	}
	return pos{k, sort.SearchStrings(c.chunks[k].values, v)}
}

// after is the place of the first entry that sorts after (v, id's uid), or at
// it.
func (c *column) seek(v, id string, uid uidOf, inclusive bool) pos {
	past := func(ch *chunk, i int) bool {
		if r := strings.Compare(ch.values[i], v); r != 0 {
			return r > 0
		}
		r := strings.Compare(uid(ch.ids[i]), id)
		return r > 0 || inclusive && r == 0
	}
	k := sort.Search(len(c.chunks), func(k int) bool { return past(c.chunks[k], len(c.chunks[k].ids)-1) })
	if k == len(c.chunks) {
		return pos{k, 0}
	}
	ch := c.chunks[k]
	return pos{k, sort.Search(len(ch.ids), func(i int) bool { return past(ch, i) })}
}

// forward calls f with every entry from p on until f says stop.
func (c *column) forward(p pos, f func(ch *chunk, i int) bool) {
	for k, i := p.chunk, p.i; k < len(c.chunks); k, i = k+1, 0 {
		for ch := c.chunks[k]; i < len(ch.ids); i++ {
			if !f(ch, i) {
				return
			}
		}
	}
}

// backward calls f with every entry before p, last first, until f says stop.
func (c *column) backward(p pos, f func(ch *chunk, i int) bool) {
	for k, i := p.chunk, p.i; k >= 0; k-- {
		if k == len(c.chunks) {
			continue
		}
		ch := c.chunks[k]
		if k != p.chunk {
			i = len(ch.ids)
		}
		for i--; i >= 0; i-- {
			if !f(ch, i) {
				return
			}
		}
	}
}

// runs calls f with the values from p on and the entities that have each,
// until f says stop. A value comes up again for each chunk that holds it.
func (c *column) runs(p pos, f func(v string, ids []uint32) bool) {
	for k, i := p.chunk, p.i; k < len(c.chunks); k, i = k+1, 0 {
		ch := c.chunks[k]
		for i < len(ch.ids) {
			v, end := ch.values[i], i+1
			switch {
			case ch.last() == v:
				end = len(ch.ids)
			case ch.values[end] == v:
				end += sort.Search(len(ch.ids)-end, func(j int) bool { return ch.values[end+j] != v })
			}
			if !f(v, ch.ids[i:end]) {
				return
			}
			i = end
		}
	}
}

// markEqual adds the entities whose value is v.
func (c *column) markEqual(b bitset, v string) {
	c.runs(c.lower(v), func(value string, ids []uint32) bool {
		if value != v {
			return false
		}
		for _, id := range ids {
			b.set(id)
		}
		return true
	})
}

// markPrefix adds the entities whose value starts with prefix.
func (c *column) markPrefix(b bitset, prefix string) {
	c.forward(c.lower(prefix), func(ch *chunk, i int) bool {
		if !strings.HasPrefix(ch.values[i], prefix) {
			return false
		}
		b.set(ch.ids[i])
		return true
	})
}

// markValued adds the entities that have a value.
func (c *column) markValued(b bitset) {
	for _, ch := range c.chunks {
		for _, id := range ch.ids {
			b.set(id)
		}
	}
}

// markExisting adds the entities that have a row, with a value or without.
func (c *column) markExisting(b bitset) {
	c.markValued(b)
	for _, id := range c.nulls {
		b.set(id)
	}
}
