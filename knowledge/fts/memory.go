package fts

import (
	"container/list"
	"context"
	"sync"

	"github.com/RoaringBitmap/roaring/v2"
)

// The bounds of what is kept of words in memory.
const (
	// maxKept is how much it may be, in bytes; of more, what was not used for
	// longest is forgotten.
	maxKept = 32 << 20
	// perWord is the size of a word beside its documents, in bytes.
	perWord = 500
)

// moment is the documents that there are between two changes of the index. It
// is never changed.
type moment struct {
	number int // of the changes before
	live   *roaring.Bitmap
	// next is an id that none has; those that come later have it or higher
	// ones.
	next uint32
}

// memory is which documents have the words that were looked for, kept up to
// date by what changed.
type memory struct {
	mu    sync.Mutex // guards what follows
	now   moment
	words map[string]*list.Element
	order list.List // of *kept, the one that was used last in front
	bytes int
}

type kept struct {
	*postings
	key, match string
	as         moment // the postings are of
	size       int
}

// changed notes a change once it can be read.
func (m *memory) changed(gone, came *roaring.Bitmap) {
	m.mu.Lock()
	defer m.mu.Unlock()
	live := roaring.AndNot(m.now.live, gone)
	live.Or(came)
	m.now.number++
	m.now.live = live
	if !came.IsEmpty() {
		m.now.next = max(m.now.next, came.Maximum()+1)
	}
}

// documents are those that there are.
func (m *memory) documents() moment {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.now
}

// get gives what is known of a word, nil where that is nothing, and what there
// is now.
func (m *memory) get(key string) (*kept, moment) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.words[key]
	if e == nil {
		return nil, m.now
	}
	m.order.MoveToFront(e)
	return e.Value.(*kept), m.now
}

// put keeps what was found of a word.
func (m *memory) put(k *kept) {
	k.size = perWord + k.bytes()
	m.mu.Lock()
	defer m.mu.Unlock()
	if old := m.words[k.key]; old != nil {
		if old.Value.(*kept).as.number > k.as.number {
			return // somebody else was later
		}
		m.forget(old)
	}
	if m.words == nil {
		m.words = map[string]*list.Element{}
	}
	m.words[k.key] = m.order.PushFront(k)
	for m.bytes += k.size; m.bytes > maxKept && m.order.Len() > 1; {
		m.forget(m.order.Back())
	}
}

func (m *memory) forget(e *list.Element) {
	k := m.order.Remove(e).(*kept)
	m.bytes -= k.size
	delete(m.words, k.key)
}

// postings finds the documents that have a word or several, known by key and to
// FTS5 by match.
func (x *Index) postings(ctx context.Context, key, match string) (*postings, error) {
	if key == "" {
		return nobody(), nil
	}
	k, now := x.memory.get(key)
	if k != nil && k.as.number == now.number {
		return k.postings, nil
	}
	var p *postings
	var err error
	switch {
	case k == nil:
		p, err = x.look(ctx, match, 0)
	case k.as.next < now.next:
		var more *postings
		more, err = x.look(ctx, match, k.as.next)
		if err == nil {
			p = k.among(now.live).with(more)
		}
	default:
		p = k.among(now.live)
	}
	if err != nil {
		return nil, err
	}
	x.memory.put(&kept{postings: p, key: key, match: match, as: now})
	return p, nil
}

// held is how much memory all words take, in bytes.
func (m *memory) held() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.bytes
}
