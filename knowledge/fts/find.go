package fts

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/fairlead-dev/fairlead/internal/fault/beside"
	"github.com/fairlead-dev/fairlead/knowledge"
)

// The bounds of one search.
const (
	// maxScored is how many documents FTS5 scores, which takes about 2 µs for
	// each, and how many are given.
	maxScored = 1000
	// maxEnds is how many words a beginning of one stands for.
	maxEnds = 8
	// minBeginning is the shortest beginning of a word, in characters.
	minBeginning = 3
	// maxTerms is how many words are looked for.
	maxTerms = 16
	// leastShare is the least share of a question's weight that a document
	// must hold, if it does not hold every word.
	leastShare = 0.2
)

// scored ranks by title, names, headings and text, in this order.
const scored = "SELECT rowid, -bm25(words, 10.0, 6.0, 3.0, 1.0) FROM words WHERE words MATCH ?1"

// word is one that is looked for.
type word struct {
	match string // as FTS5 takes it
	*postings
	count int // how many documents have it
	// weight is how much the word tells: the fewer documents have it, the more.
	weight float64
	// exact tells that FTS5 scores it, in how often a document has it.
	exact bool
}

// Find gives matches of a query: those that have every word, and, where these
// are few, those that have some, best first and at most 1,000. Which documents
// have a word is kept in memory; of the rarest words it also matters how often
// a document has them, of others only where.
func (x *Index) Find(ctx context.Context, q knowledge.Query) (*knowledge.Found, error) {
	out := &knowledge.Found{Weights: make([]float64, len(q.Words))}
	words, err := x.words(ctx, q.Words[:min(len(q.Words), maxTerms)])
	if err != nil {
		return nil, fmt.Errorf("searching documents: %w", err)
	}
	p := x.pads.Get().(*pad)
	defer x.pads.Put(p)
	s := selection{Query: q, Found: out, pad: p}
	for i, w := range words {
		out.Weights[i] = w.weight
		if w.count > 0 {
			s.total += w.weight
			s.every |= 1 << i
		}
	}
	if err := x.score(ctx, words, p.tally(words)); err != nil {
		return nil, fmt.Errorf("searching documents: %w", err)
	}
	s.choose(words)
	return out, nil
}

// words finds out which documents have each word. A last word that no document
// has is taken for the beginning of one.
func (x *Index) words(ctx context.Context, list []string) ([]word, error) {
	terms, err := x.terms.of(ctx, list)
	if err != nil {
		return nil, err
	}
	n := float64(x.memory.documents().live.GetCardinality())
	out := make([]word, len(list))
	g, ctx := beside.WithContext(ctx)
	g.SetLimit(2) // the index has few connections, and each reads as fast as a core can
	for i, text := range list {
		g.Go(func() (err error) {
			w := word{match: quote(text)}
			if w.postings, err = x.postings(ctx, terms[i], w.match); err != nil {
				return err
			}
			if w.count = w.postings.count(); w.count == 0 && i == len(list)-1 && len([]rune(text)) >= minBeginning {
				if w, err = x.beginning(ctx, text); err != nil {
					return err
				}
			}
			df := min(float64(w.count), n)
			w.weight = math.Log(1 + (n-df+0.5)/(df+0.5))
			out[i] = w
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	exact(out)
	return out, nil
}

// exact picks the rarest words for FTS5 to score, as many as it does in time.
func exact(words []word) {
	order := make([]int, len(words))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return words[a].count - words[b].count })
	sum := 0
	for _, i := range order {
		if sum += words[i].count; sum > maxScored {
			return
		}
		words[i].exact = words[i].count > 0
	}
}

// beginning is the words that begin with a text, as one.
func (x *Index) beginning(ctx context.Context, text string) (word, error) {
	w := word{match: quote(text), postings: nobody()}
	terms, written, err := x.ends(ctx, text)
	if err != nil {
		return w, err
	}
	var match []string
	for i, term := range terms {
		if written[i] == "" {
			continue
		}
		p, err := x.postings(ctx, term, quote(written[i]))
		if err != nil {
			return w, err
		}
		w.postings, match = w.with(p), append(match, quote(written[i]))
	}
	if len(match) > 0 {
		w.apart()
		w.match, w.count = "("+strings.Join(match, " OR ")+")", w.postings.count()
	}
	return w, nil
}

func quote(w string) string { return `"` + strings.ReplaceAll(w, `"`, `""`) + `"` }

// ends are terms that begin with w, and words that become them.
func (x *Index) ends(ctx context.Context, w string) (terms, written []string, err error) {
	terms, err = x.vocabulary(ctx, "SELECT term FROM vocabulary WHERE term >= ?1 AND term < ?2 LIMIT ?3", w, w+"\U0010FFFF", maxEnds)
	if err != nil || len(terms) == 0 {
		return nil, nil, err
	}
	written, err = x.terms.written(ctx, terms)
	return terms, written, err
}

// vocabulary gives terms of the index.
func (x *Index) vocabulary(ctx context.Context, query string, args ...any) (out []string, err error) {
	rows, err := x.read.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var term string
		if err := rows.Scan(&term); err != nil {
			return nil, err
		}
		out = append(out, term)
	}
	return out, rows.Err()
}

// score adds how well FTS5 finds that the rarest words match.
func (x *Index) score(ctx context.Context, words []word, all []candidate) (err error) {
	var terms []string
	for _, w := range words {
		if w.exact {
			terms = append(terms, w.match)
		}
	}
	if len(terms) == 0 {
		return nil
	}
	rows, err := x.read.QueryContext(ctx, scored, strings.Join(terms, " OR "))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var id int64
		var score float64
		if err := rows.Scan(&id, &score); err != nil {
			return err
		}
		if i, found := slices.BinarySearchFunc(all, id, func(c candidate, id int64) int { return int(int64(c.id) - id) }); found {
			all[i].score += float32(max(score, 0))
		}
	}
	return rows.Err()
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
