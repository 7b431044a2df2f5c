package record_test

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/record"
)

func TestIDs(t *testing.T) {
	for words, want := range map[string]string{
		"checkout":                 `^checkout-[a-z2-7]{12}$`,
		"Bestellung für Ölfässer!": `^bestellung-fur-olfa-[a-z2-7]{12}$`,
		"--a  b--":                 `^a-b-[a-z2-7]{12}$`,
		"":                         `^x-[a-z2-7]{12}$`,
		"日本":                       `^x-[a-z2-7]{12}$`,
	} {
		id := record.NewID(words, 19)
		if !regexp.MustCompile(want).MatchString(id) || !record.IsID(id) || id == record.NewID(words, 19) {
			t.Errorf("%q is %q", words, id)
		}
	}
	for _, s := range []string{"", "a/b", "A", "a b", "../a", strings.Repeat("a", 64), "é"} {
		if record.IsID(s) {
			t.Errorf("%q passes for an id", s)
		}
	}
}

func TestPages(t *testing.T) {
	l := record.List{Name: "leases", Usual: 50, Most: 200}
	at := time.Date(2026, 11, 30, 1, 2, 3, 4000, time.UTC)
	next := l.Cursor(at, "a-b")
	if p, err := l.Page(7, next); err != nil || p.Limit != 7 || !p.Before.Equal(at) || p.BeforeID != "a-b" {
		t.Errorf("%s: %+v, %v", next, p, err)
	}
	if p, err := l.Page(0, ""); err != nil || p.Limit != 50 || !p.Before.IsZero() {
		t.Errorf("nothing said: %+v, %v", p, err)
	}
	for _, c := range []struct {
		limit  int
		cursor string
	}{{-1, ""}, {201, ""}, {0, "x"}, {0, "previews:1:a"}, {0, "leases:x:a"}, {0, "leases:1:"}, {0, "leases:1:a b"}, {0, "leases::"}, {0, strings.Repeat("ü", 1000)}} {
		if _, err := l.Page(c.limit, c.cursor); fault.CodeOf(err) != fault.Invalid || len(err.Error()) > 500 {
			t.Errorf("%d %q: %v", c.limit, c.cursor, err)
		}
	}
}

// TestAll reads a list to its end, and no further than it is wanted.
func TestAll(t *testing.T) {
	type row struct {
		at time.Time
		id string
	}
	at := time.Date(2026, 11, 30, 1, 2, 3, 0, time.UTC)
	list := []row{{at, "c"}, {at, "b"}, {at, "a"}, {at.Add(-time.Second), "z"}, {at.Add(-time.Hour), "y"}}
	for most := 1; most < 8; most++ {
		for from := range list {
			var asked []record.Page
			start := record.Page{Limit: most}
			if from > 0 {
				start.Before, start.BeforeID = list[from-1].at, list[from-1].id
			}
			down := errors.New("down")
			fails := -1
			read := func(p record.Page) ([]row, error) {
				if asked = append(asked, p); len(asked) == fails {
					return nil, down
				}
				i := 0
				for i < len(list) && !p.Before.IsZero() && (list[i].at.After(p.Before) || list[i].at.Equal(p.Before) && list[i].id >= p.BeforeID) {
					i++
				}
				return slices.Clone(list[i:min(i+p.Limit, len(list))]), nil
			}
			all := record.All(start, read, func(r *row) (time.Time, string) { return r.at, r.id })
			if got, err := record.Collect(all); err != nil || !slices.Equal(got, list[from:]) {
				t.Errorf("%d at a time from %d: %v, %v", most, from, got, err)
			}
			pages := len(asked)
			asked = nil
			for r := range all {
				if r.id != list[from].id || len(asked) != 1 {
					t.Errorf("%d at a time from %d: the first is %v, after %d looks", most, from, r, len(asked))
				}
				break
			}
			asked, fails = nil, pages
			if got, err := record.Collect(all); !errors.Is(err, down) || got != nil {
				t.Errorf("%d at a time from %d: %v, %v where the last page fails", most, from, got, err)
			}
		}
	}
}
