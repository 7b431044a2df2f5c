package access

import (
	"regexp"
	"strings"
)

// An expression with many alternatives is slow, and most texts hold no secret.
// So the places where a match may begin are looked for first, and expressions
// are tried there alone. What comes out is what they would make of the whole
// text: TestRedactFinds and FuzzRedact hold it to that.

// signs are texts of which every match has one, in lower case, by the bytes
// that they begin with, in both cases.
type signs [256][]string

func newSigns(all ...string) *signs {
	s := &signs{}
	for _, sign := range all {
		first := sign[0]
		s[first] = append(s[first], sign)
		if 'a' <= first && first <= 'z' {
			s[first-'a'+'A'] = append(s[first-'a'+'A'], sign)
		}
	}
	return s
}

// next is the first place from one on where there is a sign, in any case; -1
// where there is none.
func (s *signs) next(text string, from int) int {
	for i := from; i < len(text); i++ {
		for _, sign := range s[text[i]] {
			if begins(text[i:], sign) {
				return i
			}
		}
	}
	return -1
}

// begins tells whether a text begins with a sign, in any case.
func begins(text, sign string) bool {
	if len(text) < len(sign) {
		return false
	}
	for i := 1; i < len(sign); i++ { // the first is known
		b := text[i]
		if 'A' <= b && b <= 'Z' {
			b += 'a' - 'A'
		}
		if b != sign[i] {
			return false
		}
	}
	return true
}

// disguised tells whether a text has letters beyond ASCII that expressions take
// for an s or a k; signs are not found with those.
func disguised(s string) bool { return strings.Contains(s, "\u017f") || strings.Contains(s, "\u212a") }

// inWord tells whether a byte is one of a word's to an expression.
func inWord(b byte) bool {
	return b == '_' || '0' <= b && b <= '9' || 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z'
}

// finder finds the matches of an expression.
type finder struct {
	signs *signs
	// here matches at the beginning of a text alone; within is for places inside
	// of a word.
	here, within *regexp.Regexp
	// runs tells that matches begin where the letters, digits, underscores and
	// hyphens around a sign do.
	runs bool
}

// each visits the matches from left to right: their places, as
// regexp.FindStringSubmatchIndex gives them, from the beginning of the text.
func (f *finder) each(text string, visit func(at []int)) {
	done := 0 // the end of the last match
	for from := 0; ; {
		p := f.signs.next(text, from)
		if p < 0 {
			return
		}
		begin, end := p, p+1
		if f.runs {
			begin, end = runAround(text, p, done)
		}
		re := f.here
		if begin > 0 && inWord(text[begin-1]) {
			re = f.within
		}
		at := re.FindStringSubmatchIndex(text[begin:])
		if at == nil {
			from = end
			continue
		}
		for i := range at {
			if at[i] >= 0 {
				at[i] += begin
			}
		}
		visit(at)
		from, done = at[1], at[1]
	}
}

// runAround is the run of letters, digits, underscores and hyphens around a
// place, from another one on.
func runAround(text string, p, from int) (begin, end int) {
	begin, end = p, p
	for begin > from && (inWord(text[begin-1]) || text[begin-1] == '-') {
		begin--
	}
	for end < len(text) && (inWord(text[end]) || text[end] == '-') {
		end++
	}
	return begin, end
}
