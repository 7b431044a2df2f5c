// Package record is what the records of the rooms have in common: their ids,
// and how a list of them, newest first, is read page by page.
package record

import (
	"crypto/rand"
	"encoding/base32"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"time"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/fairlead-dev/fairlead/internal/fault"
)

// maxID is the longest id, which is that of a label in DNS.
const maxID = 63

// NewID makes an id that is unique for good and fit for the name of a host, a
// branch or an object of Kubernetes: the words that it is about, as far as they
// go in so many bytes, and 60 random bits.
func NewID(words string, most int) string {
	var b strings.Builder
	for _, r := range norm.NFD.String(strings.ToLower(words)) {
		if b.Len() >= most {
			break
		}
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-") && !unicode.Is(unicode.Mn, r):
			b.WriteByte('-')
		}
	}
	var random [8]byte
	_, _ = rand.Read(random[:]) // it never fails
	tail := strings.ToLower(base32.StdEncoding.EncodeToString(random[:]))[:12]
	if b.Len() == 0 {
		return "x-" + tail
	}
	return strings.TrimRight(b.String(), "-") + "-" + tail
}

// IsID tells whether a text can be what NewID gives.
func IsID(s string) bool {
	return s != "" && len(s) <= maxID && !strings.ContainsFunc(s, func(r rune) bool {
		return r != '-' && (r < '0' || r > '9') && (r < 'a' || r > 'z')
	})
}

// Page is a part of a list, newest first: at most Limit records, which are older
// than Before, or as old and of an id below BeforeID.
type Page struct {
	Limit    int
	Before   time.Time
	BeforeID string
}

// List is a kind of list: its name in cursors, how many records a page has
// where nothing is said, and how many at most.
type List struct {
	Name        string
	Usual, Most int
}

// Page reads what a caller says of the page; 0 and "" say nothing. Faults:
// invalid.
func (l List) Page(limit int, cursor string) (p Page, err error) {
	if p.Limit = limit; limit == 0 {
		p.Limit = l.Usual
	}
	if limit < 0 || limit > l.Most {
		return p, fault.New(fault.Invalid, "limit is %d, not between 1 and %d", limit, l.Most).WithFix("Ask for at most %d and go on with the cursor.", l.Most)
	}
	if cursor == "" {
		return p, nil
	}
	name, rest, _ := strings.Cut(cursor, ":")
	at, id, _ := strings.Cut(rest, ":")
	micros, err := strconv.ParseInt(at, 10, 64)
	if name != l.Name || err != nil || !IsID(id) {
		return p, fault.New(fault.Invalid, "cursor %q is not one of the list of %s", clip(cursor), l.Name).
			WithFix("Give nextCursor of the page before as it is, or leave cursor out for the first page.")
	}
	p.Before, p.BeforeID = time.UnixMicro(micros).UTC(), id
	return p, nil
}

// All yields the records of a list that follow what a page follows, as many being
// read at a time as it is long; place is where a record stands in the list. An
// error in reading is the last that is yielded.
func All[R any](from Page, read func(Page) ([]R, error), place func(*R) (time.Time, string)) iter.Seq2[*R, error] {
	return func(yield func(*R, error) bool) {
		for p := from; ; {
			found, err := read(p)
			if err != nil {
				yield(nil, err)
				return
			}
			for i := range found {
				if !yield(&found[i], nil) {
					return
				}
			}
			if len(found) < p.Limit {
				return
			}
			p.Before, p.BeforeID = place(&found[len(found)-1])
		}
	}
}

// Collect reads records to the end.
func Collect[R any](all iter.Seq2[*R, error]) (out []R, err error) {
	for r, err := range all {
		if err != nil {
			return nil, err
		}
		out = append(out, *r)
	}
	return out, nil
}

// Cursor is how to go on after a record.
func (l List) Cursor(at time.Time, id string) string {
	return fmt.Sprintf("%s:%d:%s", l.Name, at.UnixMicro(), id)
}

func clip(s string) string {
	if r := []rune(s); len(r) > 80 {
		return string(r[:80]) + "…"
	}
	return s
}
