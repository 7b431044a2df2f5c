package knowledge

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/knowledge/document"
)

// The bounds of a search.
const (
	defaultHits = 8
	maxHits     = 20
	maxQuery    = 1000 // bytes
	maxWords    = 16   // that are looked for
	maxNear     = 200  // documents of the service asked about
	// searchTime ends a search that would take longer.
	searchTime = 5 * time.Second
)

// SearchKnowledge finds documents by words, best first: by how well the words
// match, how official a document is, how near to the service asked about, and
// whether it still holds. A document with all words comes before one with
// some. Every hit is one document, with a passage of the section that matches
// best.
func (s *Service) SearchKnowledge(ctx context.Context, who access.Caller, in SearchKnowledgeInput) (*KnowledgeHits, error) {
	if s == nil {
		return nil, notThere()
	}
	limit, err := searchLimit(in.Limit)
	if err != nil {
		return nil, err
	}
	words, err := queryWords(in.Query)
	if err != nil {
		return nil, err
	}
	if in.Kind != "" && !slices.Contains(document.Kinds(), document.Kind(in.Kind)) {
		return nil, fault.New(fault.Invalid, "kind: there is no kind %.60q", in.Kind).WithFix("Known: runbook, answer, skill, adr, rules, contributing, doc, readme.")
	}
	after, err := afterOf(in)
	if err != nil {
		return nil, err
	}
	r := s.reading(who)
	if err := r.ask(ctx, who, in.Service); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, searchTime)
	defer cancel()
	ranked, found, err := r.search(ctx, in, words)
	if err != nil {
		return nil, err
	}
	telling := weigh(words, found.Weights)
	out := &KnowledgeHits{Hits: []KnowledgeHit{}, Total: len(ranked), More: found.More}
	for i, h := range ranked {
		if after != nil && !after.before(h) {
			continue
		}
		if len(out.Hits) == limit {
			out.NextCursor = cursorOf(ranked[i-1], in)
			break
		}
		hit, err := r.hit(ctx, h.Card, telling)
		if err != nil {
			return nil, err
		}
		out.Hits = append(out.Hits, hit)
	}
	return out, nil
}

func searchLimit(n int) (int, error) {
	switch {
	case n == 0:
		return defaultHits, nil
	case n < 0 || n > maxHits:
		return 0, fault.New(fault.Invalid, "limit is %d, not between 1 and %d", n, maxHits).
			WithFix("Give a number in that range, or leave it out for %d.", defaultHits)
	default:
		return n, nil
	}
}

// queryWords takes a query apart: words of letters and digits in lower case,
// each once. Words that say nothing are left out if there are others.
func queryWords(query string) ([]string, error) {
	if len(query) > maxQuery {
		return nil, fault.New(fault.Invalid, "the query is longer than %d bytes", maxQuery).WithFix("Ask in fewer words.")
	}
	var all, telling []string
	for _, w := range strings.FieldsFunc(strings.ToLower(query), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.Is(unicode.M, r) }) {
		if slices.Contains(all, w) {
			continue
		}
		all = append(all, w)
		if !silent(w) {
			telling = append(telling, w)
		}
	}
	if len(telling) > 0 {
		all = telling
	}
	if len(all) == 0 {
		return nil, fault.New(fault.Invalid, "the query holds no word").WithFix("Write what to find, for example: checkout latency runbook.")
	}
	return all[:min(len(all), maxWords)], nil
}

// silent tells whether a word of English says nothing of what is looked for.
func silent(w string) bool {
	switch w {
	case "a", "an", "and", "are", "as", "at", "be", "been", "but", "by", "can", "could", "do", "does", "for", "from", "had", "has", "have",
		"how", "i", "if", "in", "into", "is", "it", "its", "me", "my", "of", "on", "or", "our", "please", "s", "should", "so", "that", "the",
		"their", "them", "then", "there", "these", "they", "this", "to", "us", "was", "we", "were", "what", "when", "where", "which", "who",
		"whom", "why", "will", "with", "would", "you", "your":
		return true
	}
	return false
}

// ask makes a service the one that is asked about.
func (r *reading) ask(ctx context.Context, who access.Caller, service string) error {
	if service == "" {
		return nil
	}
	e, err := r.catalog.GetEntity(ctx, who, catalog.GetEntityInput{Ref: service})
	if err != nil {
		return err
	}
	r.subject = subject{ref: e.Ref.String(), source: e.From.Source, owner: e.Owner(), system: systemOf(e)}
	r.lives, r.dir, r.filed = catalog.Lives(e)
	return nil
}

// ranked is a document and its place in the order of hits.
type ranked struct {
	*Card
	score float64
}

func compare(a, b ranked) int {
	return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.Source, b.Source), cmp.Compare(a.Path, b.Path))
}

func (r *reading) search(ctx context.Context, in SearchKnowledgeInput, words []string) ([]ranked, *Found, error) {
	keep := func(id int64) bool {
		c := r.library.card(id)
		return c != nil && (in.Kind == "" || string(c.Kind) == in.Kind) && r.sees(c)
	}
	found, err := r.index.Find(ctx, Query{Words: words, Near: r.nearest(), Enough: maxHits, Keep: keep})
	if err != nil {
		return nil, nil, err
	}
	now, key := time.Now(), document.AlertKey(in.Query)
	out := make([]ranked, 0, len(found.Matches))
	for _, m := range found.Matches {
		if c := r.library.card(m.ID); c != nil { // it may be gone by now
			out = append(out, ranked{c, r.score(c, m, key, now)})
		}
	}
	slices.SortFunc(out, compare)
	return out, found, nil
}

// nearest are documents of the service asked about, which are looked at
// whatever else is found.
func (r *reading) nearest() []int64 {
	if r.ref == "" {
		return nil
	}
	var out []int64
	for _, sh := range r.library.of(func(name string, s *shelf) bool {
		return name == r.source || s.key != "" && s.key == r.lives
	}) {
		some := slices.DeleteFunc(slices.Clone(sh.named), func(c *Card) bool { return !slices.Contains(c.refs, r.ref) })
		for dir, f := range sh.folders {
			if under(dir, r.dir) || under(dir, r.filed) {
				some = append(some, sh.filed[f]...)
			}
		}
		for _, c := range some {
			if r.nearTo(c) >= 4 {
				out = append(out, c.ID)
			}
		}
	}
	slices.Sort(out)
	out = slices.Compact(out)
	return out[:min(len(out), maxNear)]
}

// place in the order of hits that a page ended with, and for which search.
type pageEnd struct {
	Score  float64 `json:"s"`
	Source string  `json:"n"`
	Path   string  `json:"p"`
	For    string  `json:"q"`
}

func (p *pageEnd) before(h ranked) bool {
	return compare(ranked{&Card{Source: p.Source, Path: p.Path}, p.Score}, h) < 0
}

// searchID tells searches apart, so that no cursor is used with another.
func searchID(in SearchKnowledgeInput) string {
	h := fnv.New64a()
	for _, part := range []string{in.Query, in.Service, in.Kind} {
		_, _ = h.Write([]byte(part + "\x00"))
	}
	return strconv.FormatUint(h.Sum64(), 36)
}

func cursorOf(last ranked, in SearchKnowledgeInput) string {
	text, err := json.Marshal(pageEnd{last.score, last.Source, last.Path, searchID(in)})
	if err != nil {
		return "" // it is a plain struct
	}
	return base64.RawURLEncoding.EncodeToString(text)
}

func afterOf(in SearchKnowledgeInput) (*pageEnd, error) {
	if in.Cursor == "" {
		return nil, nil
	}
	var p pageEnd
	text, err := base64.RawURLEncoding.DecodeString(in.Cursor)
	if err == nil {
		err = json.Unmarshal(text, &p)
	}
	switch {
	case err != nil:
		return nil, fault.New(fault.Invalid, "malformed cursor %.60q", in.Cursor).WithFix("Use the cursor of the page before as it was given, or leave it out to start again.")
	case p.For != searchID(in):
		return nil, fault.New(fault.Invalid, "the cursor belongs to another search").WithFix("Repeat query, service and kind as they were, or leave the cursor out.")
	default:
		return &p, nil
	}
}
