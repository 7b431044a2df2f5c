package scrub

import (
	"encoding/binary"
	"slices"
)

// idle is the state in which nothing that came so far could be the beginning
// of a value. A state is its number with what is known of it below; 0 is none.
const idle = int32(1<<known | quiet)

// maxStates bounds the states that are kept, a kibibyte each and what their
// nodes take; beyond it all are made anew.
const (
	maxStates = 2048
	maxNodes  = 1 << 20
)

// What is known of a state.
const (
	// matched: a value ends here.
	matched = 1 << iota
	// quiet: nothing is begun.
	quiet
	// telling: what is begun shows more of a value than may be shown.
	telling
	// known is how many bits that takes.
	known = iota
)

// dfa is a Set as an automaton of one state at a time, made as it is needed.
// It is used by one goroutine.
type dfa struct {
	set   *Set
	next  []int32   // by state and byte; 0 is not known yet
	nodes [][]int32 // those of a state, the start left out
	ids   map[string]int32
	kept  int
	seen  []uint32 // by node: the turn in which it was last met
	turn  uint32
	work  []int32
	key   []byte
}

func newDFA(s *Set) *dfa {
	d := &dfa{set: s, seen: make([]uint32, len(s.deep))}
	d.reset()
	return d
}

func (d *dfa) reset() {
	d.next, d.nodes, d.kept = make([]int32, 512), make([][]int32, 2), 0
	d.ids = map[string]int32{string([]byte{quiet}): idle}
}

// wipe forgets what is known of the values.
func (d *dfa) wipe() {
	clear(d.next)
	d.reset()
}

// step is the state behind a byte, with what is known of it.
func (d *dfa) step(state int32, c byte) int32 {
	if n := d.next[index(state, c)]; n != 0 {
		return n
	}
	return d.explore(state, c)
}

// index is where the state behind a byte stands.
func index(state int32, c byte) int { return int(state>>known)<<8 | int(c) }

// explore works out a state that was not needed before.
func (d *dfa) explore(state int32, c byte) int32 {
	d.turn++
	d.work = d.work[:0]
	flags := byte(0)
	meet := func(n int32) {
		switch {
		case n == acceptNode:
			flags |= matched
		case d.seen[n] != d.turn:
			d.seen[n] = d.turn
			d.work = append(d.work, n)
			if d.set.deep[n] {
				flags |= telling
			}
		}
	}
	for _, n := range d.set.starts[c] {
		meet(n)
	}
	for _, from := range d.nodes[state>>known] {
		d.set.each(from, c, meet)
	}
	if len(d.work) == 0 {
		flags |= quiet
	}
	return d.intern(state, c, flags)
}

// each gives the nodes that a byte leads to from another.
func (s *Set) each(from int32, c byte, do func(int32)) {
	for i := s.first[from]; i < s.first[from+1]; i++ {
		if s.by[i] == c {
			do(s.to[i])
		}
	}
}

// intern gives the state of the nodes that are being worked on.
func (d *dfa) intern(from int32, c, flags byte) int32 {
	slices.Sort(d.work)
	d.key = append(d.key[:0], flags)
	for _, n := range d.work {
		d.key = binary.LittleEndian.AppendUint32(d.key, uint32(n)) //nolint:gosec // a node is no negative number
	}
	to, ok := d.ids[string(d.key)]
	if ok {
		d.next[index(from, c)] = to
		return to
	}
	if len(d.nodes) >= maxStates || d.kept > maxNodes {
		d.reset()
		from = 0 // it is not known any more
	}
	to = int32(len(d.nodes))<<known | int32(flags) //nolint:gosec // at most maxStates
	d.ids[string(d.key)] = to
	d.next = append(d.next, make([]int32, 256)...)
	d.nodes = append(d.nodes, slices.Clone(d.work))
	d.kept += len(d.work)
	if from != 0 {
		d.next[index(from, c)] = to
	}
	return to
}
