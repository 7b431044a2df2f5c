package descriptor

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// globNode is one part of a segment's pattern.
type globNode struct {
	// op is 'c' for a character, '?', '*' for any text, '[' for a set, and
	// '(' for a group, of which how says how often: ! @ + * or ?.
	op     byte
	how    byte
	char   rune
	ranges [][2]rune
	not    bool
	alts   [][]globNode
}

// parseGlob reads a pattern up to the end of its group.
func parseGlob(s string, depth int) (nodes []globNode, rest string, ok bool) {
	for s != "" {
		switch {
		case depth > 0 && (s[0] == '|' || s[0] == ')'):
			return nodes, s, true
		case len(s) > 1 && s[1] == '(' && strings.IndexByte("!@+*?", s[0]) >= 0:
			g, after, ok := parseGroup(s, depth+1)
			if !ok {
				return nil, s, false
			}
			nodes, s = append(nodes, g), after
		case s[0] == '*' || s[0] == '?':
			nodes, s = append(nodes, globNode{op: s[0]}), s[1:]
		case s[0] == '[':
			if set, after, ok := parseSet(s); ok {
				nodes, s = append(nodes, set), after
				continue
			}
			fallthrough
		default:
			r, n := utf8.DecodeRuneInString(s)
			nodes, s = append(nodes, globNode{op: 'c', char: r}), s[n:]
		}
	}
	return nodes, s, depth == 0
}

func parseGroup(s string, depth int) (globNode, string, bool) {
	g := globNode{op: '(', how: s[0]}
	if depth > maxNesting {
		return g, s, false
	}
	s = s[1:]
	for s != "" && s[0] != ')' {
		alt, after, ok := parseGlob(s[1:], depth)
		if !ok {
			return g, s, false
		}
		g.alts, s = append(g.alts, alt), after
	}
	if s == "" {
		return g, s, false
	}
	return g, s[1:], true
}

// parseSet reads [a-c], [!a] or [^a]; ok is false where the bracket is but a
// character.
func parseSet(s string) (globNode, string, bool) {
	set := globNode{op: '['}
	body := s[1:]
	if body != "" && (body[0] == '!' || body[0] == '^') {
		set.not, body = true, body[1:]
	}
	for first := true; body != "" && (first || body[0] != ']'); first = false {
		lo, n := utf8.DecodeRuneInString(body)
		body = body[n:]
		hi := lo
		if len(body) > 1 && body[0] == '-' && body[1] != ']' {
			hi, n = utf8.DecodeRuneInString(body[1:])
			body = body[1+n:]
		}
		set.ranges = append(set.ranges, [2]rune{lo, hi})
	}
	if body == "" {
		return set, s, false
	}
	return set, body[1:], true
}

func (n *globNode) takes(r rune) bool {
	switch n.op {
	case 'c':
		return n.char == r
	case '?':
		return true
	}
	in := slices.ContainsFunc(n.ranges, func(x [2]rune) bool { return x[0] <= r && r <= x[1] })
	return in != n.not
}

// segment is a name that is matched. The dot of a hidden one is taken by a
// dot in the pattern alone.
type segment struct {
	runes  []rune
	hidden bool
}

// at is the set of positions that holds i alone.
func (s *segment) at(i int) []bool {
	set := make([]bool, len(s.runes)+1)
	set[i] = true
	return set
}

// open tells whether anything but a dot may take the sign at i.
func (s *segment) open(i int) bool { return i > 0 || !s.hidden }

// advance gives the positions that nodes can lead to from those in from:
// every node is looked at once for all of them.
func (s *segment) advance(nodes []globNode, from []bool) []bool {
	set := slices.Clone(from)
	for i := range nodes {
		n := &nodes[i]
		switch n.op {
		case '*':
			for j := 1; j < len(set); j++ {
				set[j] = set[j] || set[j-1] && s.open(j-1)
			}
		case '(':
			set = s.group(n, set)
		default:
			for j := len(s.runes) - 1; j >= 0; j-- {
				set[j+1] = set[j] && n.takes(s.runes[j]) && (n.op == 'c' || s.open(j))
			}
			set[0] = false
		}
	}
	return set
}

func (s *segment) group(n *globNode, from []bool) []bool {
	if n.how == '!' {
		return s.others(n, from)
	}
	out := s.once(n, from)
	for repeated := n.how == '+' || n.how == '*'; repeated; {
		more := union(out, s.once(n, out))
		repeated = !slices.Equal(more, out)
		out = more
	}
	if n.how == '*' || n.how == '?' {
		out = union(out, from)
	}
	return out
}

// once is where one of the alternatives leads.
func (s *segment) once(n *globNode, from []bool) []bool {
	out := make([]bool, len(from))
	for _, alt := range n.alts {
		out = union(out, s.advance(alt, from))
	}
	return out
}

// others is where every text leads that is none of the alternatives.
func (s *segment) others(n *globNode, from []bool) []bool {
	out := make([]bool, len(from))
	for i := range from {
		if !from[i] {
			continue
		}
		ends := s.once(n, s.at(i))
		for j := i; j < len(out) && (j == i || s.open(i)); j++ {
			out[j] = out[j] || !ends[j]
		}
	}
	return out
}

func union(a, b []bool) []bool {
	out := slices.Clone(a)
	for i, in := range b {
		out[i] = out[i] || in
	}
	return out
}

// expand writes out {a,b} and {1..3}; ok is false where that gives too many.
func expand(pattern string, depth int) (out []string, ok bool) {
	open, end := brace(pattern)
	if open < 0 {
		return []string{pattern}, true
	}
	rest, ok := expand(pattern[end+1:], depth)
	if !ok || depth > maxNesting {
		return nil, false
	}
	for _, alt := range alternatives(pattern[open+1 : end]) {
		inner, ok := expand(alt, depth+1)
		if !ok || len(out)+len(inner)*len(rest) > maxBraces {
			return nil, false
		}
		for _, x := range inner {
			for _, y := range rest {
				out = append(out, pattern[:open]+x+y)
			}
		}
	}
	return out, true
}

// brace finds the first pair of braces that stands for alternatives.
func brace(s string) (open, end int) {
	for open = 0; open < len(s); open++ {
		if s[open] != '{' {
			continue
		}
		depth := 0
		for end = open; end < len(s); end++ {
			if s[end] == '{' {
				depth++
			} else if s[end] == '}' {
				if depth--; depth == 0 {
					break
				}
			}
		}
		if end < len(s) && alternatives(s[open+1:end]) != nil {
			return open, end
		}
	}
	return -1, -1
}

// alternatives splits what stands in braces; nil where it is but text.
func alternatives(body string) []string {
	var out []string
	depth, start := 0, 0
	for i := 0; i < len(body); i++ {
		switch body[i] {
		case '{':
			depth++
		case '}':
			depth--
		case ',':
			if depth == 0 {
				out = append(out, body[start:i])
				start = i + 1
			}
		}
	}
	if out != nil {
		return append(out, body[start:])
	}
	return span(body)
}

// span writes out a..c, 1..3 and 03..01.
func span(body string) []string {
	from, to, ok := strings.Cut(body, "..")
	if !ok || from == "" || to == "" {
		return nil
	}
	width := 0
	a, errA := strconv.Atoi(from)
	b, errB := strconv.Atoi(to)
	letters := errA != nil && errB != nil && len(from) == 1 && len(to) == 1
	switch {
	case letters:
		a, b = int(from[0]), int(to[0])
	case errA != nil || errB != nil || max(a-b, b-a) > maxBraces:
		return nil
	case from[0] == '0' || to[0] == '0':
		width = max(len(from), len(to))
	}
	var out []string
	for i := a; ; i += cmp.Compare(b, a) {
		if letters {
			out = append(out, string([]byte{byte(i & 0x7f)}))
		} else {
			out = append(out, fmt.Sprintf("%0*d", width, i))
		}
		if i == b {
			return out
		}
	}
}
