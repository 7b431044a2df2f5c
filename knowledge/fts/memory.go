package fts

import (
	"container/list"
	"context"
	"math"
	"slices"
	"sync"
)

// The bounds of what is kept of words in memory.
const (
	// maxKept is how much it may be, in bytes; of more, what was not used for
	// longest is forgotten.
	maxKept = 32 << 20
	// maxChanges is how many changes of the index are remembered; a word that
	// missed more is looked for anew. One by which more than maxGone documents
	// go makes all words be looked for anew.
	maxChanges, maxGone = 1000, 1000
	// perPosting and perWord are the sizes of one document of a word, and of a
	// word beside them, in bytes.
	perPosting, perWord = 5, 200
)

// change is one of the index: the ids that went, and the lowest that came. All
// that come later are higher.
type change struct {
	low  int64
	gone []int64
}

// memory is which documents have the words that were looked for, kept up to
// date by what changed.
type memory struct {
	mu    sync.Mutex // guards what follows
	words map[string]*list.Element
	order list.List // of *kept, the one that was used last in front
	bytes int
	// changes are the last ones, of which version is the number of all.
	changes []change
	version int
	size    float64
	counted bool // size is that of version
}

type kept struct {
	*postings
	term    string
	version int
}

func (k *kept) bytes() int { return perWord + perPosting*len(k.ids) }

// changed notes a change once it can be read.
func (m *memory) changed(c change) {
	if len(c.gone) > maxGone {
		m.reset()
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.version++
	m.counted = false
	m.changes = append(m.changes, c)
	if len(m.changes) > maxChanges {
		m.changes = slices.Clone(m.changes[1:])
	}
}

// reset forgets everything.
func (m *memory) reset() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.version++
	m.words, m.bytes, m.changes, m.counted = nil, 0, nil, false
	m.order.Init()
}

// get gives what is known of a word, what changed since, and the version that
// this leads to; nil where it has to be looked for anew.
func (m *memory) get(term string) (*postings, change, int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	since := change{low: math.MaxInt64}
	e := m.words[term]
	if e == nil {
		return nil, since, m.version
	}
	k := e.Value.(*kept)
	missed := m.version - k.version
	if missed > len(m.changes) {
		return nil, since, m.version
	}
	m.order.MoveToFront(e)
	for _, c := range m.changes[len(m.changes)-missed:] {
		since.low, since.gone = min(since.low, c.low), append(since.gone, c.gone...)
	}
	return k.postings, since, m.version
}

// put keeps what was found of a word at a version.
func (m *memory) put(term string, p *postings, version int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if version < m.version-len(m.changes) { // there was a reset, or too much
		return
	}
	m.forget(m.words[term])
	if m.words == nil {
		m.words = map[string]*list.Element{}
	}
	k := &kept{p, term, version}
	m.words[term] = m.order.PushFront(k)
	for m.bytes += k.bytes(); m.bytes > maxKept && m.order.Len() > 1; {
		m.forget(m.order.Back())
	}
}

func (m *memory) forget(e *list.Element) {
	if e == nil {
		return
	}
	k := m.order.Remove(e).(*kept)
	m.bytes -= k.bytes()
	delete(m.words, k.term)
}

// size is how many documents there are.
func (x *Index) size(ctx context.Context) (float64, error) {
	x.memory.mu.Lock()
	n, counted, version := x.memory.size, x.memory.counted, x.memory.version
	x.memory.mu.Unlock()
	if counted {
		return n, nil
	}
	if err := x.read.QueryRowContext(ctx, "SELECT count(*) FROM cards").Scan(&n); err != nil {
		return 0, err
	}
	x.memory.mu.Lock()
	defer x.memory.mu.Unlock()
	if x.memory.version == version {
		x.memory.size, x.memory.counted = n, true
	}
	return n, nil
}
