package catalog

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"hash/fnv"
	"strconv"
	"strings"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/catalog/index"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// Sizes of a page of search results.
const (
	defaultHits = 20
	maxHits     = 100
	hitText     = 240 // characters of a hit's description
)

// searchCursor is the hit that a page ended with, and for which search.
type searchCursor struct {
	Score int    `json:"s"`
	Ref   string `json:"r"`
	For   string `json:"q"`
}

// SearchCatalog finds entities by words, best first: every word must begin a
// word of the name, title, tags, owner, kind, type, system or description.
func (s *Service) SearchCatalog(_ context.Context, who access.Caller, in SearchCatalogInput) (*SearchResults, error) {
	limit, err := between("limit", in.Limit, defaultHits, maxHits)
	if err != nil {
		return nil, err
	}
	words, err := index.NewWords(in.Query)
	if err != nil {
		return nil, err
	}
	p, err := index.ParseFilter(in.Filter)
	if err != nil {
		return nil, err
	}
	search := searchID(in)
	after, err := searchAfter(in.Cursor, search)
	if err != nil {
		return nil, err
	}
	r := s.reading(who)
	hits, total := r.Search(r.scope, words, p, after, limit+1)
	out := &SearchResults{Hits: make([]SearchHit, 0, min(len(hits), limit)), Total: total}
	for i, h := range hits {
		if i == limit {
			last := hits[limit-1]
			out.NextCursor = encodeCursor(searchCursor{last.Score, last.Ref, search})
			break
		}
		out.Hits = append(out.Hits, hitOf(h.Entity))
	}
	return out, nil
}

// between reads a size that may be left out.
func between(name string, n, standard, most int) (int, error) {
	switch {
	case n == 0:
		return standard, nil
	case n < 0 || n > most:
		return 0, fault.New(fault.Invalid, "%s is %d, not between 1 and %d", name, n, most).
			WithFix("Give a number in that range, or leave it out for %d.", standard)
	default:
		return n, nil
	}
}

// searchID tells searches apart, so that no cursor is used with another.
func searchID(in SearchCatalogInput) string {
	h := fnv.New64a()
	for _, part := range append([]string{in.Query}, in.Filter...) {
		_, _ = h.Write([]byte(part + "\x00"))
	}
	return strconv.FormatUint(h.Sum64(), 36)
}

func encodeCursor(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return "" // cursors are plain structs
	}
	return base64.RawURLEncoding.EncodeToString(b)
}

func decodeCursor(text string, v any) error {
	b, err := base64.RawURLEncoding.DecodeString(text)
	if err == nil {
		err = json.Unmarshal(b, v)
	}
	if err != nil {
		return fault.New(fault.Invalid, "malformed cursor %.60q", text).WithFix("Use the cursor of the page before as it was given, or leave it out to start again.")
	}
	return nil
}

func searchAfter(cursor, search string) (*index.Hit, error) {
	if cursor == "" {
		return nil, nil
	}
	var c searchCursor
	if err := decodeCursor(cursor, &c); err != nil {
		return nil, err
	}
	if c.For != search {
		return nil, fault.New(fault.Invalid, "the cursor belongs to another search").WithFix("Repeat query and filter as they were, or leave the cursor out.")
	}
	return &index.Hit{Ref: c.Ref, Score: c.Score}, nil
}

func hitOf(e *Entity) SearchHit {
	hit := SearchHit{
		Ref: e.Ref.String(), Title: e.Title(), Description: shorten(e.Description(), hitText),
		Type: e.Type(), Lifecycle: e.Spec().String("lifecycle"), Owner: e.Owner(),
	}
	for _, t := range e.Targets("partOf") {
		if strings.HasPrefix(t, "system:") {
			hit.System = t
			break
		}
	}
	return hit
}

// shorten puts a text on one line and cuts it to n characters.
func shorten(s string, n int) string {
	if len(s) > 16*n {
		s = s[:16*n] // fields below need not see all of a long text
	}
	r := []rune(strings.Join(strings.Fields(strings.ToValidUTF8(s, "")), " "))
	if len(r) <= n {
		return string(r)
	}
	return strings.TrimRight(string(r[:n-1]), " ") + "…"
}
