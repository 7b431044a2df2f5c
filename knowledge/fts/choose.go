package fts

import (
	"math/bits"
	"slices"

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

// blockSize is how many ids are tallied at a time; they may be far apart.
const blockSize = 1 << 9

// tally goes once through the documents of all words, and gives those that
// have some in the order of their ids.
func tally(words []word) []candidate {
	var out []candidate
	var block [blockSize]candidate
	at := make([]int, len(words))
	for {
		low, more := lowest(words, at)
		if !more {
			return out
		}
		low -= low % blockSize
		for i := range words {
			w, bit := &words[i], uint16(1)<<i
			for ; at[i] < len(w.ids) && w.ids[at[i]]-low < blockSize; at[i]++ {
				c := &block[w.ids[at[i]]-low]
				c.words |= bit
				if !w.exact {
					c.score += float32(w.weight) * w.where[at[i]].value()
				}
			}
		}
		for i := range block {
			if c := block[i]; c.words != 0 {
				c.id = low + uint32(i)
				out = append(out, c)
			}
		}
		clear(block[:])
	}
}

// lowest is the lowest id that is still to come.
func lowest(words []word, at []int) (low uint32, more bool) {
	for i, w := range words {
		if at[i] < len(w.ids) && (!more || w.ids[at[i]] < low) {
			low, more = w.ids[at[i]], true
		}
	}
	return low, more
}

// selection is the choice of matches among candidates.
type selection struct {
	knowledge.Query
	*knowledge.Found
	every uint16  // the bits of all words that any document has
	total float64 // the weight of those words
}

// choose takes the candidates that have every word, and those with some where
// these are few.
func (s *selection) choose(words []word, all []candidate) {
	shares, near := s.shares(words), s.near(all)
	var some []candidate
	for _, c := range all {
		switch {
		case near[c.id]:
			if s.Keep == nil || s.Keep(int64(c.id)) {
				s.take(c, shares)
			}
		case c.words == s.every:
			some = append(some, c)
		}
	}
	if s.best(some, shares); len(s.Matches) >= s.Enough {
		return
	}
	some = some[:0]
	for _, c := range all {
		if c.words != s.every && shares[c.words] >= leastShare && !near[c.id] {
			some = append(some, c)
		}
	}
	s.best(some, shares)
}

// shares are how much of the question's weight each choice of words holds, 0 to
// 1.
func (s *selection) shares(words []word) []float64 {
	out := make([]float64, 1<<len(words))
	for i := range out[1:] {
		set := uint(i + 1)
		out[set] = out[set&(set-1)]
		if w := words[bits.TrailingZeros(set)]; len(w.ids) > 0 {
			out[set] += w.weight / s.total
		}
	}
	out[s.every] = 1
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
func (s *selection) best(some []candidate, shares []float64) {
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
func (s *selection) take(c candidate, shares []float64) {
	s.Matches = append(s.Matches, knowledge.Match{ID: int64(c.id), Text: float64(c.score), Share: shares[c.words]})
}
