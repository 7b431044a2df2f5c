package fts

import (
	"math/bits"
	"slices"
	"sort"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/fairlead-dev/fairlead/knowledge"
)

// candidate is a document that has some of the words.
type candidate struct {
	id    uint32
	score float32
	words uint16 // which of them, a bit for each
}

// before orders candidates: the better ones first, then the newer ones.
func (c candidate) before(o candidate) bool {
	return c.score > o.score || c.score == o.score && c.id > o.id
}

// window is how many ids are tallied at a time: those of one of a bitmap's
// containers.
const window = 1 << 16

// pad is where one search counts.
type pad struct {
	score     [window]float32
	words     [window]uint16
	all, some []candidate
}

// cursor goes through the documents that have a word in one part.
type cursor struct {
	from roaring.ManyIntIterable
	buf  [128]uint32
	rest []uint32 // of buf, those that are still to come
	bit  uint16
	add  float32
}

func (c *cursor) fill() {
	if len(c.rest) == 0 {
		c.rest = c.buf[:c.from.NextMany(c.buf[:])]
	}
}

// count counts the documents below an id; low is the first of the window.
func (c *cursor) count(p *pad, low, end uint64) {
	for c.fill(); len(c.rest) > 0; c.fill() {
		n := len(c.rest)
		if uint64(c.rest[n-1]) >= end {
			n = sort.Search(n, func(i int) bool { return uint64(c.rest[i]) >= end })
		}
		for _, id := range c.rest[:n] {
			at := uint16(uint64(id) - low) //nolint:gosec // below window
			p.words[at] |= c.bit
			p.score[at] += c.add
		}
		if c.rest = c.rest[n:]; len(c.rest) > 0 {
			return
		}
	}
}

// tally goes once through the documents of all words, and gives those that
// have some in the order of their ids.
func (p *pad) tally(words []word) []candidate {
	var lists []*cursor
	var sets []*roaring.Bitmap
	for i, w := range words {
		for in, set := range w.postings {
			if set.IsEmpty() {
				continue
			}
			c := &cursor{from: set.ManyIterator(), bit: 1 << i}
			if !w.exact {
				c.add = float32(w.weight) * part(in).value()
			}
			lists, sets = append(lists, c), append(sets, set)
		}
	}
	p.all = p.all[:0]
	every := &cursor{from: roaring.FastOr(sets...).ManyIterator()}
	for every.fill(); len(every.rest) > 0; every.fill() {
		low := uint64(every.rest[0] / window * window)
		for _, c := range lists {
			c.count(p, low, low+window)
		}
		p.collect(every, low, low+window)
	}
	return p.all
}

// collect takes what was counted of a window off the pad.
func (p *pad) collect(every *cursor, low, end uint64) {
	for every.fill(); len(every.rest) > 0; every.fill() {
		for i, id := range every.rest {
			if uint64(id) >= end {
				every.rest = every.rest[i:]
				return
			}
			at := uint16(uint64(id) - low) //nolint:gosec // below window
			p.all = append(p.all, candidate{id, p.score[at], p.words[at]})
			p.score[at], p.words[at] = 0, 0
		}
		every.rest = nil
	}
}

// selection is the choice of matches among candidates.
type selection struct {
	knowledge.Query
	*knowledge.Found
	*pad
	every uint16  // the bits of all words that any document has
	total float64 // the weight of those words
}

// choose takes the candidates that have every word, and those with some where
// these are few.
func (s *selection) choose(words []word) {
	shares, near := s.shares(words), s.near(s.all)
	s.Matches = make([]knowledge.Match, 0, min(len(s.all), maxScored+len(near)))
	s.some = s.some[:0]
	for _, c := range s.all {
		switch {
		case len(near) > 0 && near[c.id]:
			if s.Keep == nil || s.Keep(int64(c.id)) {
				s.take(c, shares)
			}
		case c.words == s.every:
			s.some = append(s.some, c)
		}
	}
	if s.best(s.some, shares); len(s.Matches) >= s.Enough {
		return
	}
	s.some = s.some[:0]
	for _, c := range s.all {
		if c.words != s.every && shares.of(c.words) >= leastShare && (len(near) == 0 || !near[c.id]) {
			s.some = append(s.some, c)
		}
	}
	s.best(s.some, shares)
}

// shares are how much of the question's weight each choice of words holds, 0 to
// 1: that of the first eight words, and that of the others.
type shares struct {
	low, high [1 << 8]float64
	every     uint16
}

func (s *shares) of(set uint16) float64 {
	if set == s.every {
		return 1
	}
	return s.low[set&0xff] + s.high[set>>8]
}

func (s *selection) shares(words []word) *shares {
	out := &shares{every: s.every}
	for half, sums := range []*[1 << 8]float64{&out.low, &out.high} {
		for i := range sums[1:] {
			set := uint(i + 1)
			sums[set] = sums[set&(set-1)]
			if at := bits.TrailingZeros(set) + 8*half; at < len(words) && s.every>>at&1 == 1 {
				sums[set] += words[at].weight / s.total
			}
		}
	}
	return out
}

// near are the candidates that are taken in any case.
func (s *selection) near(all []candidate) map[uint32]bool {
	out := map[uint32]bool{}
	for _, id := range s.Near {
		if i, found := slices.BinarySearchFunc(all, id, func(c candidate, id int64) int { return int(int64(c.id) - id) }); found {
			out[all[i].id] = true
		}
	}
	return out
}

// patience is how many candidates a caller may be refused, beyond as many as
// they were given, before all others are looked through first.
const patience = 1000

// best takes the best of some candidates.
func (s *selection) best(some []candidate, shares *shares) {
	heapify(some)
	keep, refused := s.Keep, 0
	for len(some) > 0 {
		if len(s.Matches) >= maxScored {
			s.More = true
			return
		}
		c := some[0]
		some[0] = some[len(some)-1]
		some = some[:len(some)-1]
		sink(some, 0)
		if keep != nil && !keep(int64(c.id)) {
			if refused++; refused > patience+len(s.Matches) {
				some = slices.DeleteFunc(some, func(c candidate) bool { return !keep(int64(c.id)) })
				heapify(some)
				keep = nil
			}
			continue
		}
		s.take(c, shares)
	}
}

func heapify(some []candidate) {
	for i := len(some)/2 - 1; i >= 0; i-- {
		sink(some, i)
	}
}

// sink puts a heap with the best candidate on top in order again.
func sink(heap []candidate, i int) {
	for {
		top := i
		for c := 2*i + 1; c <= 2*i+2 && c < len(heap); c++ {
			if heap[c].before(heap[top]) {
				top = c
			}
		}
		if top == i {
			return
		}
		heap[i], heap[top] = heap[top], heap[i]
		i = top
	}
}

// take makes a match of a candidate.
func (s *selection) take(c candidate, shares *shares) {
	s.Matches = append(s.Matches, knowledge.Match{ID: int64(c.id), Text: float64(c.score), Share: shares.of(c.words)})
}
