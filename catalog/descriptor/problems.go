package descriptor

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/fairlead-dev/fairlead/catalog/entity"
)

// maxProblems is how many problems of one document are told, and those of
// parsing and envelopes of one file; of the others only the number is.
const maxProblems = 100

// fewerFrom is the document of a file from which on fewer are told: a tenth
// of a hundred documents each, one of a thousand.
const fewerFrom = 10

// limitOf is how many problems of a file's document are told.
func limitOf(document int) int {
	return max(1, min(maxProblems, maxProblems*fewerFrom/(document+1)))
}

// maxShown is how many bytes of an offending value a message quotes.
const maxShown = 80

// The names of errors, as Backstage has them.
const (
	inputError      = "InputError"
	notFoundError   = "NotFoundError"
	notAllowedError = "NotAllowedError"
)

// findings gathers the problems of one document.
type findings struct {
	list []entity.Problem
	// limit is how many are listed; 0 is maxProblems.
	limit int
	more  int
	last  entity.Position
	// told are places whose trouble has been told: what follows from it is
	// left out.
	told map[entity.Position]struct{}
}

// add notes an error at a place.
func (c *findings) add(at entity.Position, fix, format string, args ...any) {
	c.note(at, inputError, fix, format, args...)
}

func (c *findings) note(at entity.Position, name, fix, format string, args ...any) {
	if _, told := c.told[at]; told && at.Line > 0 {
		return
	}
	if len(c.list) >= cmp.Or(c.limit, maxProblems) {
		c.more++
		c.last = at
		return
	}
	c.list = append(c.list, entity.Problem{
		Severity: entity.SeverityError, Name: name, Fix: fix,
		Message: fmt.Sprintf(format, args...), Line: at.Line, Column: at.Column,
	})
}

// any tells whether anything was found.
func (c *findings) any() bool { return len(c.list) > 0 }

// problems are the findings in the order of the document, with a last one
// that counts those left out.
func (c *findings) problems() []entity.Problem {
	slices.SortStableFunc(c.list, func(a, b entity.Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	if c.more == 0 {
		return c.list
	}
	return append(c.list, entity.Problem{
		Severity: entity.SeverityError, Name: inputError,
		Message: fmt.Sprintf("%d more problems are not listed", c.more),
		Fix:     "Put those listed right first.",
		Line:    c.last.Line, Column: c.last.Column,
	})
}

// show names a value for a message: what it is and, if short enough, itself.
func show(v entity.Value) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return "the boolean " + strconv.FormatBool(v)
	case float64:
		return "the number " + entity.FormatNumber(v)
	case string:
		return quote(v)
	case entity.List:
		return "a list"
	default:
		return "a mapping"
	}
}

// quote quotes a text, cut where it is long.
func quote(s string) string {
	if len(s) <= maxShown {
		return strconv.Quote(s)
	}
	cut := maxShown
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return strconv.Quote(s[:cut]) + "… (" + strconv.Itoa(len(s)) + " bytes)"
}

// field is the path of a member, for messages; keys that would read badly are
// quoted.
func field(parent, key string) string {
	if len(key) > maxShown || strings.ContainsAny(key, ". []\"\n\t") || key == "" {
		return parent + "[" + quote(key) + "]"
	}
	return parent + "." + key
}

// index is the path of a list's item, for messages.
func index(parent string, i int) string { return parent + "[" + strconv.Itoa(i) + "]" }
