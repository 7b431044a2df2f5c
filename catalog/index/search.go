package index

import (
	"cmp"
	"slices"
	"strings"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/catalog/entity"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// maxQueryWords is how many different words a search may hold.
const maxQueryWords = 16

// What the whole query matching a name or title is worth beyond its words.
const (
	worthName   = 4_000
	worthTitle  = 2_000
	worthPrefix = 1_000
)

// Hit is one entity found by words, and how well it fits.
type Hit struct {
	Entity *entity.Entity
	Ref    string // the entity's full reference
	Score  int
}

// Words is a search in words.
type Words struct {
	whole string
	words []string
}

// NewWords reads a search: every word must begin a word of the entity's name,
// title, tags, owner, kind, type, system or description.
func NewWords(query string) (*Words, error) {
	q := &Words{whole: entity.Lower(jsTrim(query))}
	eachWord(withoutNamespace(q.whole), func(word string) bool {
		if !slices.Contains(q.words, word) {
			q.words = append(q.words, word)
		}
		return len(q.words) <= maxQueryWords
	})
	if len(q.words) > maxQueryWords {
		return nil, fault.New(fault.Invalid, "the search holds more than %d different words", maxQueryWords).WithFix("Search for the few words that matter; every one must match.")
	}
	if len(q.words) == 0 && q.whole != "" {
		return nil, fault.New(fault.Invalid, "the search %q holds no word", query).WithFix("Search for letters or digits, or leave the query empty to list everything.")
	}
	return q, nil
}

// withoutNamespace leaves the namespace out of a full reference: it is no word
// of an entity.
func withoutNamespace(query string) string {
	ref, err := entity.ParseRef(query, "", "-")
	if err != nil || strings.ContainsAny(query, " \t\n") {
		return query
	}
	return ref.Kind + " " + ref.Name
}

// Search gives up to limit entities in scope that the predicate keeps and the
// words find, best first and by ref where they fit alike, and how many there
// are in all. after is the hit to go on from: its score and ref count.
func (s *Snapshot) Search(scope access.Scope, q *Words, p *Predicate, after *Hit, limit int) (hits []Hit, total int) {
	set := s.selected(scope, Query{Where: p})
	if q.whole == "" {
		return s.everything(set, after, limit), set.count()
	}
	scores := s.score(q, &set)
	set.each(func(id uint32) bool {
		total++
		sl := s.slots.get(id)
		h := Hit{Entity: sl.entity, Ref: sl.ref, Score: int(scores[id]) + q.bonus(sl)}
		if after == nil || compareHits(*after, h) < 0 {
			hits = insert(hits, h, limit)
		}
		return true
	})
	return hits, total
}

// everything is Search without words: all of a set fit alike.
func (s *Snapshot) everything(set bitset, after *Hit, limit int) []Hit {
	var hits []Hit
	from := ""
	if after != nil && after.Score <= 0 {
		from = after.Ref
	}
	s.ids.Ascend(from, func(ref string, id uint32) bool {
		if len(hits) == limit {
			return false
		}
		if set.has(id) && (from == "" || ref > from) {
			hits = append(hits, Hit{Entity: s.slots.get(id).entity, Ref: ref})
		}
		return true
	})
	return hits
}

func compareHits(a, b Hit) int {
	if a.Score != b.Score { // most are told apart without their refs
		return cmp.Compare(b.Score, a.Score)
	}
	return strings.Compare(a.Ref, b.Ref)
}

// insert puts a hit in its place among the best so far.
func insert(hits []Hit, h Hit, limit int) []Hit {
	if len(hits) == limit {
		if limit == 0 || compareHits(h, hits[limit-1]) >= 0 {
			return hits
		}
		hits = hits[:limit-1]
	}
	i, _ := slices.BinarySearchFunc(hits, h, compareHits)
	return slices.Insert(hits, i, h)
}

// wordPlace is where words are looked for, and what finding them there is
// worth.
type wordPlace struct {
	column string
	// single tells that each value is one word.
	single bool
	// refs tells that values are references, whose names alone count; kind
	// keeps those of one kind.
	refs bool
	kind string
	// exact and prefix are what a match of a whole word or of its beginning is
	// worth.
	exact, prefix uint16
}

func wordPlaces() []wordPlace {
	return []wordPlace{
		{column: wordsOfName, single: true, exact: 40, prefix: 32},
		{column: wordsOfTitle, single: true, exact: 28, prefix: 22},
		{column: "metadata.tags", exact: 18, prefix: 14},
		{column: "relations.ownedby", refs: true, exact: 12, prefix: 10},
		{column: "kind", exact: 8, prefix: 6},
		{column: "spec.type", exact: 8, prefix: 6},
		{column: "spec.lifecycle", exact: 8, prefix: 6},
		{column: "relations.partof", refs: true, kind: "system:", exact: 8, prefix: 6},
		{column: wordsOfDescription, single: true, exact: 4, prefix: 3},
	}
}

// score sums what each word is worth to each entity, and takes those out of
// the set that lack one.
func (s *Snapshot) score(q *Words, set *bitset) []uint16 {
	total := make([]uint16, s.slots.size) // sixteen words are worth less than a thousand
	best := make([]uint16, s.slots.size)
	for _, word := range q.words {
		clear(best)
		found := newBitset(s.slots.size)
		for _, p := range wordPlaces() {
			if c := s.column(p.column); c != nil {
				p.score(c, word, best, found)
			}
		}
		found.and(*set)
		*set = found
		found.each(func(id uint32) bool {
			total[id] += best[id]
			return true
		})
	}
	return total
}

// score notes what a word is worth to the entities of a column.
func (p wordPlace) score(c *column, word string, best []uint16, found bitset) {
	start := pos{}
	if p.single {
		start = c.lower(word)
	}
	c.runs(start, func(v string, ids []uint32) bool {
		worth := p.worth(v, word)
		if worth == 0 {
			return !p.single
		}
		for _, id := range ids {
			best[id] = max(best[id], worth)
			found.set(id)
		}
		return true
	})
}

// worth is what a word is worth to those who have a value.
func (p wordPlace) worth(v, word string) (worth uint16) {
	if !strings.HasPrefix(v, p.kind) {
		return 0
	}
	if p.refs {
		v = v[strings.LastIndexByte(v, '/')+1:]
	}
	eachWord(v, func(w string) bool {
		if strings.HasPrefix(w, word) {
			worth = max(worth, p.prefix)
		}
		if w == word {
			worth = p.exact
		}
		return worth < p.exact
	})
	return worth
}

// bonus is what the whole query is worth to an entity.
func (q *Words) bonus(sl *slot) int {
	name := sl.entity.Ref.Name
	switch {
	case q.whole == "":
		return 0
	case q.whole == name, q.whole == sl.ref:
		return worthName
	case strings.EqualFold(q.whole, sl.entity.Title()):
		return worthTitle
	case strings.HasPrefix(name, q.whole):
		return worthPrefix
	default:
		return 0
	}
}
