package index

import (
	"strings"
	"unicode/utf8"

	"github.com/fairlead-dev/fairlead/catalog/entity"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// maxTerm is the longest full-text term, in bytes.
const maxTerm = 1_000

// TextFilter keeps entities one of whose values for one of the fields is like
// a term.
type TextFilter struct {
	pattern like
	fields  []string
}

// NewTextFilter makes a filter of a term as SQL's LIKE '%term%' reads it: %
// stands for any text, _ for one character, \ takes the next as it is. Nil for
// a term of nothing but spaces. Without fields (nil) the order field counts,
// else metadata.uid; an empty list of fields matches nothing.
func NewTextFilter(term string, fields []string, orderField string) (*TextFilter, error) {
	if len(term) > maxTerm {
		return nil, fault.New(fault.Invalid, "the full-text term is %d bytes long; the limit is %d", len(term), maxTerm).WithFix("Search for a shorter text.")
	}
	term = entity.Lower(jsTrim(term))
	if term == "" {
		return nil, nil
	}
	if fields == nil {
		if orderField == "" {
			orderField = "metadata.uid"
		}
		fields = []string{orderField}
	}
	t := &TextFilter{pattern: newLike(term)}
	for _, f := range fields {
		t.fields = append(t.fields, entity.Lower(f))
	}
	return t, nil
}

// mark adds the entities of among that the filter keeps.
func (t *TextFilter) mark(s *Snapshot, among bitset) bitset {
	out := newBitset(s.slots.size)
	for _, f := range t.fields {
		c := s.column(f)
		if c == nil {
			continue
		}
		for _, ch := range c.chunks {
			for i, id := range ch.ids {
				if among.has(id) && !out.has(id) && t.pattern.match(ch.values[i]) {
					out.set(id)
				}
			}
		}
	}
	return out
}

// like is a pattern that may match anywhere in a text.
type like struct {
	plain string // where there are no wildcards
	runes []likeRune
}

type likeRune struct {
	r   rune
	any bool // one character, whatever it is
	run bool // any text
}

func newLike(term string) like {
	if !strings.ContainsAny(term, `%_\`) {
		return like{plain: term}
	}
	l := like{runes: []likeRune{{run: true}}}
	rs := []rune(term)
	for i := 0; i < len(rs); i++ {
		switch {
		case rs[i] == '%':
			l.add(likeRune{run: true})
		case rs[i] == '_':
			l.add(likeRune{any: true})
		case rs[i] == '\\' && i+1 < len(rs):
			i++
			l.add(likeRune{r: rs[i]})
		case rs[i] == '\\':
			// It takes the closing % of the pattern as it is.
			l.add(likeRune{r: '%'})
			return l
		default:
			l.add(likeRune{r: rs[i]})
		}
	}
	l.add(likeRune{run: true})
	return l
}

func (l *like) add(r likeRune) {
	if r.run && l.runes[len(l.runes)-1].run {
		return
	}
	l.runes = append(l.runes, r)
}

func (l *like) match(s string) bool {
	if l.runes == nil {
		return strings.Contains(s, l.plain)
	}
	return l.wild(s)
}

// wild walks text and pattern together; on a mismatch the latest run of any
// text takes one more character.
func (l *like) wild(s string) bool {
	p, star, mark := 0, -1, 0
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case p < len(l.runes) && l.runes[p].run:
			star, mark = p, i
			p++
		case p < len(l.runes) && (l.runes[p].any || l.runes[p].r == r):
			p++
			i += n
		case star >= 0:
			_, n = utf8.DecodeRuneInString(s[mark:])
			mark += n
			p, i = star+1, mark
		default:
			return false
		}
	}
	for p < len(l.runes) && l.runes[p].run {
		p++
	}
	return p == len(l.runes)
}
