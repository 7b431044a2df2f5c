package index

import (
	"cmp"
	"slices"
	"sort"
	"strings"
)

// A chunk is split when it grows beyond chunkMax entries, into pieces of
// about chunkSize.
const (
	chunkSize = 256
	chunkMax  = 512
)

// chunk is a run of a column's entries, ordered by value, then uid. It is
// never changed.
type chunk struct {
	values []string
	origs  []string // nil where every original equals its value
	ids    []uint32
	same   bool // all values are one, and so are the originals
}

func (c *chunk) last() string { return c.values[len(c.values)-1] }

func (c *chunk) orig(i int) string {
	if c.origs == nil {
		return c.values[i]
	}
	return c.origs[i]
}

// column holds every row of one search key, ordered by value, then uid, and
// the entities whose row has no value. It is never changed.
type column struct {
	chunks []*chunk
	nulls  []uint32 // ascending
	n      int      // rows with a value
}

// change is one row that appears in or vanishes from a column. order ranks
// entities by uid among those of one Apply.
type change struct {
	value, orig string
	id, order   uint32
}

// delta is what happens to one column.
type delta struct {
	add, del         []change
	addNull, delNull []uint32
}

// uidOf gives the uid of an entity number.
type uidOf func(uint32) string

func compareChange(a, b change) int {
	if c := strings.Compare(a.value, b.value); c != 0 {
		return c
	}
	return cmp.Compare(a.order, b.order)
}

// cancel drops the pairs of sorted changes that undo each other.
func cancel(add, del []change) ([]change, []change) {
	a, d := add[:0], del[:0]
	i, j := 0, 0
	for i < len(add) && j < len(del) {
		switch c := compareChange(add[i], del[j]); {
		case c < 0:
			a = append(a, add[i])
			i++
		case c > 0:
			d = append(d, del[j])
			j++
		default:
			if add[i].orig != del[j].orig {
				a, d = append(a, add[i]), append(d, del[j])
			}
			i, j = i+1, j+1
		}
	}
	return append(a, add[i:]...), append(d, del[j:]...)
}

// apply gives the column with a delta done to it, sharing the chunks that
// nothing happened to. The receiver may be nil; the result is nil where no
// row is left.
func (c *column) apply(d *delta, uid uidOf) *column {
	inOrder(d.add)
	inOrder(d.del)
	if len(d.del) > 0 {
		d.add, d.del = cancel(d.add, d.del)
	}
	if len(d.delNull) > 0 && len(d.addNull) > 0 {
		d.addNull, d.delNull = without(d.addNull, d.delNull), without(d.delNull, d.addNull)
	}
	if c != nil && d.empty() {
		return c
	}
	if c == nil {
		c = &column{}
	}
	next := &column{chunks: c.chunks, nulls: mergeNulls(c.nulls, d.addNull, d.delNull), n: c.n + len(d.add) - len(d.del)}
	if len(d.add)+len(d.del) > 0 {
		m := merger{uid: uid, add: d.add, del: d.del, out: make([]*chunk, 0, len(c.chunks)+len(d.add)/chunkSize+1)}
		m.merge(c.chunks)
		next.chunks = m.out
	}
	if next.n == 0 && len(next.nulls) == 0 {
		return nil
	}
	return next
}

// without gives what is in a and not in b.
func without(a, b []uint32) []uint32 {
	drop := make(map[uint32]bool, len(b))
	for _, id := range b {
		drop[id] = true
	}
	out := make([]uint32, 0, len(a))
	for _, id := range a {
		if !drop[id] {
			out = append(out, id)
		}
	}
	return out
}

func mergeNulls(old, add, del []uint32) []uint32 {
	if len(add)+len(del) == 0 {
		return old
	}
	out := append(without(old, del), add...)
	slices.Sort(out)
	return slices.Compact(out)
}

// merger works changes into chunks.
type merger struct {
	uid      uidOf
	add, del []change
	out      []*chunk
	buf      []change // the entries of the chunks being rebuilt
}

// before tells whether a change sorts before the i-th entry of a chunk.
func (m *merger) before(x *change, c *chunk, i int) bool {
	if r := strings.Compare(x.value, c.values[i]); r != 0 {
		return r < 0
	}
	return x.id != c.ids[i] && m.uid(x.id) < m.uid(c.ids[i])
}

func (m *merger) merge(chunks []*chunk) {
	for k, c := range chunks {
		// A chunk owns the changes that sort before the first entry of the next.
		na, nd := len(m.add), len(m.del)
		if k+1 < len(chunks) {
			next := chunks[k+1]
			na = sort.Search(len(m.add), func(i int) bool { return !m.before(&m.add[i], next, 0) })
			nd = sort.Search(len(m.del), func(i int) bool { return !m.before(&m.del[i], next, 0) })
		}
		if na == 0 && nd == 0 && !m.wants(c) {
			m.flush()
			m.out = append(m.out, c)
			continue
		}
		m.rebuild(c, m.add[:na], m.del[:nd])
		m.add, m.del = m.add[na:], m.del[nd:]
		m.shed()
	}
	if len(m.buf) == 0 {
		m.write(m.add)
		return
	}
	m.buf = append(m.buf, m.add...)
	m.flush()
}

// wants tells whether an untouched chunk should be joined to the remains of
// the chunk before it, so that deletions leave no trail of tiny chunks.
func (m *merger) wants(c *chunk) bool {
	return len(m.buf) > 0 && len(m.buf) < chunkSize/4 && len(m.buf)+len(c.ids) <= chunkMax
}

// rebuild appends a chunk's entries to the buffer with changes worked in.
func (m *merger) rebuild(c *chunk, add, del []change) {
	at := 0
	for len(add)+len(del) > 0 {
		// The place of a row that appears, and that of one that vanishes.
		in, out := len(c.ids), len(c.ids)
		if len(add) > 0 {
			in = m.behind(&add[0], c, at)
		}
		if len(del) > 0 {
			out = m.behind(&del[0], c, at) - 1
		}
		if len(del) == 0 || len(add) > 0 && in <= out {
			m.take(c, at, in)
			m.buf = append(m.buf, add[0])
			add, at = add[1:], in
			continue
		}
		if out >= at && del[0].id == c.ids[out] && del[0].value == c.values[out] {
			m.take(c, at, out)
			at = out + 1
		}
		del = del[1:]
	}
	m.take(c, at, len(c.ids))
}

// behind is the place of the first entry of a chunk, from one on, that a change
// sorts before. It looks near first, as changes may be many.
func (m *merger) behind(x *change, c *chunk, from int) int {
	to, step := from, 1
	for to < len(c.ids) && !m.before(x, c, to) {
		from, to, step = to+1, to+step, 2*step
	}
	return from + sort.Search(min(to, len(c.ids))-from, func(i int) bool { return m.before(x, c, from+i) })
}

// take appends some of a chunk's entries to the buffer.
func (m *merger) take(c *chunk, from, to int) {
	for i := from; i < to; i++ {
		m.buf = append(m.buf, change{value: c.values[i], orig: c.orig(i), id: c.ids[i]})
	}
}

// shed writes the buffer out unless it is so small that the next chunk may
// take it in.
func (m *merger) shed() {
	if len(m.buf) >= chunkSize/4 {
		m.flush()
	}
}

// flush writes the buffer out.
func (m *merger) flush() {
	m.write(m.buf)
	m.buf = m.buf[:0]
}

// write writes entries out as chunks of even size.
func (m *merger) write(entries []change) {
	n, pieces := len(entries), 1
	if n == 0 {
		return
	}
	if n > chunkMax {
		pieces = (n + chunkSize - 1) / chunkSize
	}
	for p := range pieces {
		m.out = append(m.out, newChunk(entries[p*n/pieces:(p+1)*n/pieces]))
	}
}

func newChunk(entries []change) *chunk {
	c := &chunk{values: make([]string, len(entries)), ids: make([]uint32, len(entries)), same: true}
	for i := range entries {
		c.same = c.same && entries[i].value == entries[0].value && entries[i].orig == entries[0].orig
		c.values[i], c.ids[i] = entries[i].value, entries[i].id
		if c.origs == nil && entries[i].orig != entries[i].value {
			c.origs = make([]string, len(entries))
			copy(c.origs, c.values[:i])
		}
		if c.origs != nil {
			c.origs[i] = entries[i].orig
		}
	}
	return c
}
