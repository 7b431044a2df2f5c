package code

import "encoding/hex"

// gramSize is how many bytes a piece has that texts are found by.
const gramSize = 3

// Grams finds the pieces of texts: every three bytes in a row of one line,
// whatever their case, once. It is not safe for concurrent use.
type Grams struct {
	seen [1 << 18]uint64 // a bit for each piece
	used []uint32
}

// Words are the pieces of a text as words with a space after each.
func (g *Grams) Words(text string) string {
	folded := Fold(text)
	out := make([]byte, 0, len(folded))
	for i := 0; i+gramSize <= len(folded); i++ {
		a, b, c := folded[i], folded[i+1], folded[i+2]
		if a == '\n' || b == '\n' || c == '\n' {
			continue
		}
		n := uint32(a)<<16 | uint32(b)<<8 | uint32(c)
		if g.seen[n>>6]&(1<<(n&63)) != 0 {
			continue
		}
		g.seen[n>>6] |= 1 << (n & 63)
		g.used = append(g.used, n)
		out = append(hex.AppendEncode(out, []byte{a, b, c}), ' ')
	}
	for _, n := range g.used {
		g.seen[n>>6] = 0
	}
	g.used = g.used[:0]
	return string(out)
}

// gramsOf are the words of the pieces that a text with s in it has, each once;
// of many those spread over s.
func gramsOf(s string) []string {
	const most = 24
	folded := Fold(s)
	n := len(folded) - gramSize + 1
	step := max((n+most-1)/most, 1)
	var out []string
	seen := map[string]bool{}
	for i := 0; i < n; i += step {
		if piece := folded[i : i+gramSize]; !seen[piece] {
			seen[piece] = true
			out = append(out, hex.EncodeToString([]byte(piece)))
		}
	}
	return out
}
