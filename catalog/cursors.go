package catalog

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/fairlead-dev/fairlead/catalog/index"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// cursors are the cursors that go on after each entity of a page.
func cursors(c *index.Cursor, l index.Listing) []string {
	out := make([]string, len(l.Marks))
	at := *c
	at.IsPrevious = false
	encode := at.Encoder()
	for i, m := range l.Marks {
		out[i] = encode(m)
	}
	return out
}

// CursorFrom turns a cursor of EntityPage.Cursors into one that goes on after
// its entity or, with back, gives what comes before it, and in either case
// counts anew. A cursor that is none is an invalid fault.
func CursorFrom(cursor string, back bool) (string, error) {
	c, err := index.DecodeCursor(cursor)
	if err != nil {
		return "", err
	}
	c.IsPrevious, c.TotalItems = back, nil
	return c.Encode(), nil
}

// SameQuestion checks that what is asked beside a cursor is what was asked
// when the cursor was given, for callers who repeat it; asking nothing beside
// it is the same.
func SameQuestion(in ListEntitiesInput) error {
	c, err := index.DecodeCursor(in.Cursor)
	if err != nil {
		return err
	}
	in.Cursor = ""
	asked, err := cursorOf(in)
	if err != nil {
		return err
	}
	query, err := json.Marshal(asked.Query) // as cursors write it
	if err != nil {
		return err
	}
	none := len(asked.Query) == 0 && len(asked.OrderFields) == 0 && asked.FullText == nil
	if none || bytes.Equal(c.Query, query) && slices.Equal(c.OrderFields, asked.OrderFields) && sameText(c.FullText, asked.FullText) {
		return nil
	}
	return fault.New(fault.Invalid, "the cursor belongs to a question with another filter, query, order or text").
		WithFix("Repeat what was asked for the page that gave the cursor, or start again without a cursor.")
}

func sameText(a, b *index.TermFilter) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Term == b.Term && slices.Equal(a.Fields, b.Fields)
}
