package fts

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/fairlead-dev/fairlead/knowledge"
)

// The bounds of one search.
const (
	// maxScored is how many documents one step of a search scores. FTS5 takes
	// about 4 µs for each.
	maxScored = 1000
	// maxLooked is how many documents one step looks at for those that the
	// caller may see.
	maxLooked = 4000
	// maxEnds is how many words a beginning of one stands for.
	maxEnds = 8
	// minBeginning is the shortest beginning of a word, in characters.
	minBeginning = 3
)

// scored ranks by title, names, headings and text, in this order.
const scored = "SELECT rowid, -bm25(words, 10.0, 6.0, 3.0, 1.0) FROM words WHERE words MATCH ?1"

// search is one search under way.
type search struct {
	*Index
	q     knowledge.Query
	found map[int64]*knowledge.Match
	more  bool
}

// Find gives matches of a query: those that have every word, and, where these
// are few, those that have some. Each of its few steps looks at a bounded
// number of documents; of common words it looks for those in titles and
// headings.
func (x *Index) Find(ctx context.Context, q knowledge.Query) (*knowledge.Found, error) {
	s := &search{Index: x, q: q, found: map[int64]*knowledge.Match{}}
	if len(q.Words) > 0 {
		if err := s.run(ctx); err != nil {
			return nil, fmt.Errorf("searching documents: %w", err)
		}
	}
	out := &knowledge.Found{More: s.more}
	for _, m := range s.found {
		out.Matches = append(out.Matches, *m)
	}
	return out, nil
}

func (s *search) run(ctx context.Context) error {
	counts, terms, err := s.terms(ctx)
	if err != nil {
		return err
	}
	all := strings.Join(terms, " AND ")
	if err := s.near(ctx, all, false); err != nil {
		return err
	}
	full, err := s.step(ctx, all, false)
	if err != nil {
		return err
	}
	if full {
		for _, columns := range []string{"{title names}: ", "{title names headings}: "} {
			if _, err := s.step(ctx, columns+"("+all+")", false); err != nil {
				return err
			}
		}
	}
	if len(terms) == 1 || len(s.found) >= s.q.Enough {
		return nil
	}
	if err := s.near(ctx, strings.Join(terms, " OR "), true); err != nil {
		return err
	}
	return s.some(ctx, counts, terms)
}

// some looks for documents that have some of the words: the rarest ones, as
// many as are scored at once.
func (s *search) some(ctx context.Context, counts []int, terms []string) error {
	order := make([]int, len(terms))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return counts[a] - counts[b] })
	var rare []string
	sum := 0
	for _, i := range order {
		if counts[i] == 0 {
			continue
		}
		if sum += counts[i]; sum > maxScored && len(rare) > 0 {
			s.more = true
			break
		}
		rare = append(rare, terms[i])
	}
	if len(rare) == 0 {
		return nil
	}
	_, err := s.step(ctx, strings.Join(rare, " OR "), true)
	return err
}

// terms are the words as FTS5 takes them, each with how many documents have
// it, as far as that is counted. A last word that no document has is taken for
// the beginning of one.
func (s *search) terms(ctx context.Context) (counts []int, terms []string, err error) {
	for i, w := range s.q.Words {
		term := quote(w)
		n, err := s.count(ctx, term)
		if err != nil {
			return nil, nil, err
		}
		if n == 0 && i == len(s.q.Words)-1 && len([]rune(w)) >= minBeginning {
			if ends, err := s.ends(ctx, w); err != nil {
				return nil, nil, err
			} else if len(ends) > 0 {
				term, n = "("+strings.Join(ends, " OR ")+")", maxScored/2
			}
		}
		counts, terms = append(counts, n), append(terms, term)
	}
	return counts, terms, nil
}

func quote(w string) string { return `"` + strings.ReplaceAll(w, `"`, `""`) + `"` }

func (s *search) count(ctx context.Context, match string) (n int, err error) {
	err = s.read.QueryRowContext(ctx, "SELECT count(*) FROM (SELECT 1 FROM words WHERE words MATCH ?1 LIMIT ?2)", match, maxScored+1).Scan(&n)
	return n, err
}

// ends are words that begin with w.
func (s *search) ends(ctx context.Context, w string) (out []string, err error) {
	rows, err := s.read.QueryContext(ctx, "SELECT term FROM vocabulary WHERE term >= ?1 AND term < ?2 LIMIT ?3", w, w+"\U0010FFFF", maxEnds)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var term string
		if err := rows.Scan(&term); err != nil {
			return nil, err
		}
		out = append(out, quote(term))
	}
	return out, rows.Err()
}

// near looks at the documents that are looked at in any case.
func (s *search) near(ctx context.Context, match string, part bool) error {
	if len(s.q.Near) == 0 {
		return nil
	}
	var ids strings.Builder
	for i, id := range s.q.Near {
		if i > 0 {
			ids.WriteByte(',')
		}
		fmt.Fprint(&ids, id)
	}
	rows, err := s.read.QueryContext(ctx, scored+" AND rowid IN ("+ids.String()+")", match)
	if err != nil {
		return err
	}
	_, err = s.take(rows, part)
	return err
}

// step scores documents that match, and tells whether there may be more.
func (s *search) step(ctx context.Context, match string, part bool) (full bool, err error) {
	// The newest come first: they are what one looks for if there are so many.
	rows, err := s.read.QueryContext(ctx, scored+" ORDER BY rowid DESC LIMIT ?2", match, maxLooked+1)
	if err != nil {
		return false, err
	}
	return s.take(rows, part)
}

// take reads matches until there are enough, and tells whether that was so.
func (s *search) take(rows *sql.Rows, part bool) (full bool, err error) {
	defer func() { err = errors.Join(err, rows.Close()) }()
	for looked, kept := 0, 0; rows.Next(); looked++ {
		if kept >= maxScored || looked >= maxLooked {
			s.more = true
			return true, nil
		}
		m := knowledge.Match{Part: part}
		if err := rows.Scan(&m.ID, &m.Text); err != nil {
			return false, err
		}
		if s.q.Keep != nil && !s.q.Keep(m.ID) {
			continue
		}
		kept++
		if s.found[m.ID] == nil {
			m.Text = max(m.Text, 0)
			s.found[m.ID] = &m
		}
	}
	return false, rows.Err()
}

// Apart writes names that are written together, such as HighErrorRate or
// disk_full, as words.
func Apart(s string) string {
	var b strings.Builder
	rs := []rune(s)
	for i, r := range rs {
		if i > 0 && unicode.IsUpper(r) && (unicode.IsLower(rs[i-1]) || unicode.IsDigit(rs[i-1]) || i+1 < len(rs) && unicode.IsLower(rs[i+1]) && unicode.IsUpper(rs[i-1])) {
			b.WriteByte(' ')
		}
		b.WriteRune(r)
	}
	return b.String()
}
