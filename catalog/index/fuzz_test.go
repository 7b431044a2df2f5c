package index

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/fairlead-dev/fairlead/catalog/entity"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// small is a snapshot to ask.
func small() *Snapshot {
	r := rand.New(rand.NewPCG(1, 2))
	var changes []Change
	for i := range 60 {
		changes = append(changes, randomRecord(r, i))
	}
	return Empty().Apply(changes)
}

func invalidOrNil(t *testing.T, err error) bool {
	t.Helper()
	if err != nil && fault.CodeOf(err) != fault.Invalid {
		t.Errorf("error is %v", err)
	}
	if err != nil && (len(err.Error()) > 2_000 || fault.From(err).Fix == "") {
		t.Errorf("error is %.100s… with fix %q", err, fault.From(err).Fix)
	}
	return err == nil
}

// FuzzPredicate reads predicates; those that are taken must answer as their
// own written form does.
func FuzzPredicate(f *testing.F) {
	r := rand.New(rand.NewPCG(5, 5))
	for range 30 {
		f.Add(randomPredicate(r, 3))
	}
	f.Add(`{"$all":[{"$not":{}},{"a":{"$in":[1e400,true]}}]}`)
	f.Add(`{"relations":{"$contains":{"type":"x","targetRef":{"$in":["y"]}}}}`)
	s, all := small(), everything()
	f.Fuzz(func(t *testing.T, text string) {
		p, err := ParsePredicate("query", []byte(text))
		if !invalidOrNil(t, err) || p == nil {
			return
		}
		again, err := ParsePredicate("query", MarshalQuery(p))
		if err != nil {
			t.Fatalf("%s, written as %s: %v", text, MarshalQuery(p), err)
		}
		a, b := s.List(all, Query{Where: p}, limit(10)), s.List(all, Query{Where: again}, limit(10))
		if a.Total != b.Total {
			t.Errorf("%s finds %d, written as %s %d", text, a.Total, MarshalQuery(p), b.Total)
		}
	})
}

func FuzzFilter(f *testing.F) {
	for _, s := range []string{"kind=component", "kind", "a=b,a=c,=", " , x = y ", "kind=Component,spec.type", "\u2003kind\ufeff=\x00"} {
		f.Add(s)
	}
	s, all := small(), everything()
	f.Fuzz(func(t *testing.T, text string) {
		p, err := ParseFilter([]string{text})
		if invalidOrNil(t, err) {
			s.List(all, Query{Where: p}, limit(10))
		}
	})
}

func FuzzCursor(f *testing.F) {
	s, all := small(), everything()
	c := Cursor{Query: []byte(`{"kind":"api"}`), OrderFields: []Sort{{"metadata.name", "desc"}}, OrderFieldValues: []string{"n1", "u"}, FullText: &TermFilter{Term: "x"}}
	f.Add(c.Encode())
	f.Add("eyJvcmRlckZpZWxkcyI6W10sIm9yZGVyRmllbGRWYWx1ZXMiOlsiYSJdfQ")
	f.Add("e30=")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := DecodeCursor(text)
		if !invalidOrNil(t, err) {
			return
		}
		p, err := ParsePredicate("query", c.Query)
		if !invalidOrNil(t, err) {
			return
		}
		m := c.Mark()
		q := Query{Where: p}
		if len(c.OrderFields) > 0 {
			q.Order = c.OrderFields[0].Field
		}
		s.List(all, q, Window{From: &m, Back: c.IsPrevious, Limit: 3, Count: true})
		if _, err := DecodeCursor(c.Encode()); err != nil {
			t.Errorf("written again it is no cursor: %v", err)
		}
	})
}

func FuzzLike(f *testing.F) {
	f.Add("a%b_", "xaybz")
	f.Add(`\`, "%")
	f.Fuzz(func(t *testing.T, term, text string) {
		l, err := NewTextFilter(term, []string{"x"}, "")
		if !invalidOrNil(t, err) || l == nil || len(text) > 1_000 {
			return
		}
		got := l.pattern.match(text)
		if plain := entity.Lower(jsTrim(term)); !strings.ContainsAny(plain, `%_\`) && got != strings.Contains(text, plain) {
			t.Errorf("%q like %q is %v", text, term, got)
		}
	})
}

func FuzzWords(f *testing.F) {
	f.Add("Turns carts into Überweisungen_2, naïve…")
	f.Fuzz(func(t *testing.T, text string) {
		eachWord(text, func(w string) bool {
			if w == "" || len(w) > maxWordSize || utf8.ValidString(text) && !utf8.ValidString(w) {
				t.Errorf("%q has the word %q", text, w)
			}
			return true
		})
		_, err := NewWords(text)
		invalidOrNil(t, err)
	})
}
