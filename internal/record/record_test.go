package record_test

import (
	"regexp"
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
