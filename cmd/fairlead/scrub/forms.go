package scrub

import (
	"encoding/base64"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// The two nodes that every automaton has.
const (
	startNode  = int32(0)
	acceptNode = int32(1)
)

// builder makes the automaton of all forms of all values.
type builder struct {
	edges   []edge
	deep    []bool
	longest int
}

type edge struct {
	from, to int32
	by       byte
}

func newBuilder() *builder { return &builder{deep: make([]bool, 2)} }

// add looks for a value in all its forms.
func (b *builder) add(v []byte) {
	b.text(v)
	b.hexadecimal(v)
	for pad := range 3 {
		b.base64(v, pad)
	}
	b.longest = max(b.longest, 8*len(v)+64)
}

func (b *builder) node(deep bool) int32 {
	b.deep = append(b.deep, deep)
	return int32(len(b.deep) - 1) //nolint:gosec // a Set is of at most MaxBytes, some twenty nodes each
}

func (b *builder) edge(from int32, by byte, to int32) {
	b.edges = append(b.edges, edge{from, to, by})
}

// digit leads on by a hexadecimal digit in either case.
func (b *builder) digit(from int32, d byte, to int32) {
	const digits = "0123456789abcdef"
	c := digits[d&15]
	b.edge(from, c, to)
	if c >= 'a' {
		b.edge(from, c-'a'+'A', to)
	}
}

// word leads on by several bytes.
func (b *builder) word(from int32, w string, to int32) {
	for i := range len(w) - 1 {
		next := b.node(b.deep[from] || b.deep[to])
		b.edge(from, w[i], next)
		from = next
	}
	b.edge(from, w[len(w)-1], to)
}

// chain makes the nodes between the units of a form, the first of which is the
// start and the last a match.
func (b *builder) chain(units int) []int32 {
	out := make([]int32, units+1)
	for i := range out {
		// Three units may be shown, but no more than a third of them.
		out[i] = b.node(i > min(3, units/3))
	}
	out[0], out[units] = startNode, acceptNode
	return out
}

// text looks for the bytes as they are or escaped, each for itself, for
// programs differ in what they escape.
func (b *builder) text(v []byte) {
	at := b.chain(len(v))
	for i := 0; i < len(v); i++ {
		slash := b.char(at[i], v[i], at[i+1])
		if r, size := utf8.DecodeRune(v[i:]); size > 1 {
			b.unicode(slash, r, at[i+size])
		}
	}
}

// char leads on by one byte of a text in any of its forms, and gives the node
// behind a backslash.
func (b *builder) char(from int32, c byte, to int32) int32 {
	deep := b.deep[from]
	b.edge(from, c, to)
	high, low := b.node(deep), b.node(deep)
	b.digit(high, c>>4, low)
	b.digit(low, c, to)
	b.edge(from, '=', high) // quoted-printable
	b.percent(from, c, low)
	slash := b.node(deep)
	b.edge(from, '\\', slash)
	b.edge(slash, '\\', slash) // escaped again, as JSON within JSON is
	b.edge(slash, 'x', high)
	b.word(slash, "u00", high)
	b.octal(slash, c, to)
	if name := strings.IndexByte("\a\b\t\n\v\f\r\x1b\x00", c); name >= 0 {
		b.edge(slash, "abtnvfre0"[name], to)
	}
	if !alphanumeric(c) {
		b.edge(slash, c, to)
	}
	b.marks(from, c, to)
	return slash
}

// percent is the form of URLs, also of URLs within URLs.
func (b *builder) percent(from int32, c byte, low int32) {
	sign, two := b.node(b.deep[from]), b.node(b.deep[from])
	b.edge(from, '%', sign)
	b.edge(sign, '2', two)
	b.edge(two, '5', sign)
	b.digit(sign, c>>4, low)
}

func (b *builder) octal(slash int32, c byte, to int32) {
	b.word(slash, string([]byte{'0' + c>>6, '0' + c>>3&7, '0' + c&7}), to)
}

// marks are the forms that only some characters have: in HTML, and in quotes
// of shells, SQL and CSV.
func (b *builder) marks(from int32, c byte, to int32) {
	var forms []string
	switch c {
	case ' ':
		forms = []string{"+", "%2B", "%2b"}
	case '&':
		forms = []string{"&amp;", "&#38;"}
	case '<':
		forms = []string{"&lt;", "&#60;"}
	case '>':
		forms = []string{"&gt;", "&#62;"}
	case '"':
		forms = []string{"&quot;", "&#34;", `""`}
	case '\'':
		forms = []string{"&apos;", "&#39;", "''", `'\''`, `'"'"'`}
	}
	for _, f := range forms {
		b.word(from, f, to)
	}
}

// unicode is the form \uXXXX of a character of several bytes.
func (b *builder) unicode(slash int32, r rune, to int32) {
	units := utf16.Encode([]rune{r})
	at := slash
	for i, u := range units {
		if i > 0 {
			next := b.node(b.deep[slash])
			b.edge(at, '\\', next)
			b.edge(next, '\\', next)
			at = next
		}
		end := to
		if i < len(units)-1 {
			end = b.node(b.deep[slash])
		}
		b.unit(at, u, end)
		at = end
	}
}

func (b *builder) unit(from int32, u uint16, to int32) {
	next := b.node(b.deep[from])
	b.edge(from, 'u', next)
	for shift := 12; shift > 0; shift -= 4 {
		digit := b.node(b.deep[from])
		b.digit(next, byte(u>>shift&15), digit)
		next = digit
	}
	b.digit(next, byte(u&15), to)
}

// hexadecimal looks for digits in either case, with or without something
// between bytes.
func (b *builder) hexadecimal(v []byte) {
	at := b.chain(len(v))
	for i, c := range v {
		half := b.node(b.deep[at[i]])
		b.digit(at[i], c>>4, half)
		b.digit(half, c, at[i+1])
		if i > 0 {
			for _, between := range []byte(" :-\n") {
				b.edge(at[i], between, at[i])
			}
		}
	}
}

// base64 looks for what a longer text in base64 has of a value that begins pad
// bytes (modulo 3) after the text, in both alphabets and over line breaks. The
// characters that also hold something else are left out, but for the last of
// the whole text.
func (b *builder) base64(v []byte, pad int) {
	bits := 8 * (pad + len(v))
	text := base64.RawStdEncoding.EncodeToString(append(make([]byte, pad), v...))
	from, to := (8*pad+5)/6, bits/6
	at := b.chain(to - from)
	for i := range to - from {
		b.char64(at[i], text[from+i], at[i+1])
		if i > 0 {
			b.edge(at[i], '\n', at[i])
			b.edge(at[i], '\r', at[i])
		}
	}
	// What the text ends with, if it ends with the value.
	last := at[to-from-1]
	for _, c := range []byte(text[to-1:] + "==")[:len(text)-to+1+(3-(pad+len(v))%3)%3] {
		next := b.node(false)
		b.char64(last, c, acceptNode)
		b.char64(last, c, next)
		last = next
	}
}

func (b *builder) char64(from int32, c byte, to int32) {
	b.edge(from, c, to)
	switch c {
	case '+':
		b.edge(from, '-', to)
		b.word(from, "%2B", to)
		b.word(from, "%2b", to)
	case '/':
		b.edge(from, '_', to)
		b.word(from, "%2F", to)
		b.word(from, "%2f", to)
		b.word(from, `\/`, to)
	case '=':
		b.word(from, "%3D", to)
		b.word(from, "%3d", to)
	}
}

func alphanumeric(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// set puts the automaton into its final form, and forgets the builder's.
func (b *builder) set() *Set {
	n := len(b.deep)
	s := &Set{first: make([]int32, n+1), to: make([]int32, len(b.edges)), by: make([]byte, len(b.edges)), deep: b.deep, longest: b.longest}
	for _, e := range b.edges {
		s.first[e.from+1]++
		if e.from == startNode {
			s.starts[e.by] = append(s.starts[e.by], e.to)
		}
	}
	for i := range n {
		s.first[i+1] += s.first[i]
	}
	next := append([]int32(nil), s.first...)
	for _, e := range b.edges {
		s.to[next[e.from]], s.by[next[e.from]] = e.to, e.by
		next[e.from]++
	}
	clear(b.edges)
	return s
}
