// Package scrub takes secret values out of what a program writes, as it writes
// it: as they are and in the encodings that programs put them into. It is a
// guard against accidents. A program that means to give a value away can
// always write it in a way that nobody looks for.
package scrub

import (
	"bytes"
	"unicode/utf8"

	"github.com/fairlead-dev/fairlead/secrets/value"
)

const (
	// Mask stands where a value was.
	Mask = "•••"
	// MinLength is the length in bytes below which a value is not looked for:
	// it would be found in half of all lines.
	MinLength = 4
	// MaxBytes bounds in bytes what a Set looks for, all values together.
	MaxBytes = 64 << 10
)

const (
	// pieceLength is how much of a value is looked for at a time, in bytes;
	// pieceOverlap is how much of it belongs to the piece before, so that a
	// text in base64 shows nothing of the seam.
	pieceLength  = 128
	pieceOverlap = 3
	// minLine is how long a line of a value is that is looked for by itself.
	minLine = 8
)

// Set is what is looked for. It holds the values, spread out; Wipe forgets
// them.
type Set struct {
	// starts are the nodes that a byte leads to from nowhere.
	starts [256][]int32
	// first, to and by are the edges of all nodes, ordered by where they begin:
	// those of node n are first[n] up to first[n+1].
	first []int32
	to    []int32
	by    []byte
	// deep are the nodes that know more of a value than may be shown.
	deep []bool
	// longest bounds how long a match is, in bytes.
	longest int
}

// New makes a Set of values; those that are shorter than MinLength are left
// out. Together they have at most MaxBytes.
func New(values ...value.Value) *Set {
	b := newBuilder()
	for _, v := range values {
		v.Reveal(func(secret []byte) {
			for _, p := range pieces(secret) {
				b.add(p)
			}
		})
	}
	return b.set()
}

// Wipe forgets the values; nothing is found from then on.
func (s *Set) Wipe() {
	clear(s.by)
	clear(s.to)
	clear(s.first)
	for i := range s.starts {
		s.starts[i] = nil
	}
}

// In tells whether any value is in a text, in any encoding.
func (s *Set) In(text []byte) bool {
	d := newDFA(s)
	state := idle
	for _, c := range text {
		if state = d.step(state, c); state&matched != 0 {
			return true
		}
	}
	return false
}

// pieces cuts a value into what is looked for: itself, without white space
// around it, and its lines; each in pieces of a bounded length.
func pieces(secret []byte) [][]byte {
	var out [][]byte
	add := func(p []byte) {
		for _, piece := range cut(p) {
			if len(piece) >= MinLength && !contains(out, piece) {
				out = append(out, piece)
			}
		}
	}
	add(secret)
	add(bytes.TrimSpace(secret))
	if !bytes.ContainsAny(bytes.TrimSpace(secret), "\n\r") {
		return out
	}
	for line := range bytes.FieldsFuncSeq(secret, func(r rune) bool { return r == '\n' || r == '\r' }) {
		// The armor of PEM is no secret.
		if line = bytes.TrimSpace(line); len(line) >= minLine && !bytes.HasPrefix(line, []byte("-----")) {
			add(line)
		}
	}
	return out
}

func contains(all [][]byte, p []byte) bool {
	for _, have := range all {
		if bytes.Equal(have, p) {
			return true
		}
	}
	return false
}

// cut cuts at characters, into pieces of about the same length that overlap.
func cut(p []byte) [][]byte {
	n := (len(p) + pieceLength - 1) / pieceLength
	if n <= 1 {
		return [][]byte{p}
	}
	var out [][]byte
	for i := range n {
		from, to := i*len(p)/n, (i+1)*len(p)/n
		if i > 0 {
			from -= pieceOverlap
		}
		for from > 0 && i > 0 && !utf8.RuneStart(p[from]) {
			from--
		}
		for to < len(p) && !utf8.RuneStart(p[to]) {
			to++
		}
		out = append(out, p[from:to])
	}
	return out
}
