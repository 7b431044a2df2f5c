package knowledge

import (
	"context"
	"strings"
	"unicode"

	"github.com/fairlead-dev/fairlead/knowledge/document"
)

// maxPassage is the length of a passage, in characters; maxScan how much of a
// document is looked through for it, in bytes.
const (
	maxPassage = 300
	maxScan    = 256 << 10
)

// hit makes a hit of a document: its best section, and a passage of that.
func (r *reading) hit(ctx context.Context, c *Card, words []weighed) (KnowledgeHit, error) {
	h := KnowledgeHit{Handle: handleOf(c, ""), Standing: r.standing(c, c.Line)}
	e, err := r.index.Text(ctx, c.ID)
	if err != nil || e == nil || len(e.Sections) == 0 {
		return h, err
	}
	i := bestSection(e, words)
	s := e.Sections[i]
	h.Handle, h.Heading, h.Role, h.Source.Line = handleOf(c, s.Anchor), headingPath(e.Sections, i, c.Title), s.Role, s.Line
	h.Passage = passage(body(e, i), words)
	return h, nil
}

// body is a section's own text without its heading.
func body(e *Entry, i int) string {
	s := e.Sections[i]
	text := e.Text[s.Start:s.End]
	if s.Level > 0 {
		_, text, _ = strings.Cut(text, "\n")
	}
	return text
}

// weighed is a word that is looked for, and how much it tells.
type weighed struct {
	text   string
	weight float64
}

// weigh puts words and weights together. Within a document a rare word tells
// so much more than common ones that no number of them makes up for it.
func weigh(words []string, weights []float64) []weighed {
	out := make([]weighed, len(words))
	for i, w := range words {
		out[i] = weighed{w, weights[i] * weights[i]}
	}
	return out
}

// bestSection is the section that has the most of the words, those in headings
// counting for more; the first of several.
func bestSection(e *Entry, words []weighed) int {
	best, most := 0, -1.0
	scanned := 0
	for i, s := range e.Sections {
		text := body(e, i)
		if scanned += len(text); scanned > maxScan {
			break
		}
		if strings.TrimSpace(text) == "" {
			continue // its heading says it all
		}
		if score := 3*hits(s.Heading, words) + 2*hits(text, words); score > most {
			best, most = i, score
		}
	}
	return best
}

// hits is how much the words tell that a text has.
func hits(text string, words []weighed) float64 {
	found := make([]bool, len(words))
	sum, left := 0.0, len(words)
	eachWord(text, func(w string, _ int) bool {
		for i, want := range words {
			if !found[i] && alike(w, want.text) {
				found[i] = true
				sum += want.weight
				left--
			}
		}
		return left > 0
	})
	return sum
}

// eachWord visits the words of a text with their places until told to stop.
func eachWord(text string, visit func(word string, at int) bool) {
	start := -1
	for i, r := range text {
		in := unicode.IsLetter(r) || unicode.IsNumber(r)
		switch {
		case in && start < 0:
			start = i
		case !in && start >= 0:
			if !visit(text[start:i], start) {
				return
			}
			start = -1
		}
	}
	if start >= 0 {
		visit(text[start:], start)
	}
}

// alike tells whether a word of a text is likely a form of a word that is
// looked for: the index reduces words to stems, and so does this, roughly.
func alike(word, want string) bool {
	if len(word) < len(want)-3 || len(word) > len(want)+4 {
		return false
	}
	if strings.EqualFold(word, want) {
		return true
	}
	stem := len(want) - 2
	return stem >= 3 && len(word) >= stem && strings.EqualFold(word[:stem], want[:stem])
}

// passage is the piece of a text that has the most of the words, on one line.
func passage(text string, words []weighed) string {
	best, most := "", -1.0
	for par := range strings.SplitSeq(text, "\n\n") {
		par = strings.TrimSpace(par)
		if par == "" || strings.HasPrefix(par, "<!--") {
			continue
		}
		if n := hits(par, words); n > most {
			best, most = par, n
		}
	}
	start := 0
	if len(best) > maxPassage {
		eachWord(best, func(w string, at int) bool {
			for _, want := range words {
				if alike(w, want.text) {
					start = at
					return false
				}
			}
			return true
		})
	}
	lead := ""
	if start > 60 {
		lead, best = "… ", best[start-len(lastWords(best[:start], 40)):]
	}
	if len(best) > 8*maxPassage {
		best = best[:8*maxPassage]
	}
	rs := []rune(lead + strings.Join(strings.Fields(strings.ToValidUTF8(best, "")), " "))
	if len(rs) > maxPassage {
		rs = append(rs[:maxPassage-1], '…')
	}
	return string(rs)
}

// lastWords is the end of a text, at most n bytes, from the beginning of a
// word.
func lastWords(s string, n int) string {
	if len(s) > n {
		s = s[len(s)-n:]
	}
	if i := strings.IndexAny(s, " \n"); i >= 0 {
		s = s[i+1:]
	}
	return s
}

// headingPath is a section's headings from the top, without the title.
func headingPath(sections []document.Section, i int, title string) string {
	level := 7
	var parts []string
	for ; i >= 0 && level > 1; i-- {
		if s := sections[i]; s.Level > 0 && s.Level < level {
			level = s.Level
			if s.Heading != title {
				parts = append([]string{s.Heading}, parts...)
			}
		}
	}
	return strings.Join(parts, " › ")
}
