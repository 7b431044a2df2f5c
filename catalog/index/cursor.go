package index

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strings"

	"github.com/fairlead-dev/fairlead/catalog/entity"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// maxCursor is the longest cursor that is read, in bytes.
const maxCursor = 4 << 20

// Sort is one field to order by, as cursors write it.
type Sort struct {
	Field string `json:"field"`
	Order string `json:"order"` // asc or desc
}

// TermFilter is a full-text filter as cursors write it.
type TermFilter struct {
	Term   string   `json:"term"`
	Fields []string `json:"fields,omitempty"`
}

// Cursor is where a page ends and what was asked, in the form that
// Backstage's client decodes.
type Cursor struct {
	Query       json.RawMessage `json:"query,omitempty"`
	OrderFields []Sort          `json:"orderFields"`
	FullText    *TermFilter     `json:"fullTextFilter,omitempty"`
	// OrderFieldValues is the place: a value and a uid, or with no order
	// field the uid alone.
	OrderFieldValues     []string `json:"orderFieldValues"`
	FirstSortFieldValues []string `json:"firstSortFieldValues,omitempty"`
	IsPrevious           bool     `json:"isPrevious"`
	TotalItems           *int     `json:"totalItems,omitempty"`
}

const cursorFix = "Use a cursor exactly as an earlier answer gave it, or leave it out to start again."

func badCursor(format string, args ...any) error {
	return fault.New(fault.Invalid, "malformed cursor: "+format, args...).WithFix(cursorFix)
}

// Encode writes the cursor as text.
func (c *Cursor) Encode() string {
	b, err := json.Marshal(c)
	if err != nil {
		return "" // the query is JSON that was parsed before
	}
	return base64.StdEncoding.EncodeToString(b)
}

// Encoder writes the cursor at one place after another: what they share is
// written once.
func (c Cursor) Encoder() func(m Mark) string {
	c.OrderFieldValues = []string{}
	const empty = `"orderFieldValues":[]`
	b, err := json.Marshal(&c)
	i := bytes.LastIndex(b, []byte(empty)) // after it come only strings, whose quotes are escaped
	if err != nil || i < 0 {
		return func(Mark) string { return "" } // as Encode
	}
	head, tail := b[:i+len(empty)-1], b[i+len(empty)-1:]
	ordered := len(c.OrderFields) > 0
	var buf []byte
	return func(m Mark) string {
		buf = append(buf[:0], head...)
		for i, v := range m.Values(ordered) {
			if i > 0 {
				buf = append(buf, ',')
			}
			buf = entity.AppendString(buf, v)
		}
		return base64.StdEncoding.EncodeToString(append(buf, tail...))
	}
}

// DecodeCursor reads a cursor, whoever wrote it: base64 in either alphabet,
// padded or not.
func DecodeCursor(text string) (*Cursor, error) {
	if len(text) > maxCursor {
		return nil, badCursor("it is %d bytes long", len(text))
	}
	plain := strings.TrimRight(strings.NewReplacer("-", "+", "_", "/").Replace(strings.TrimSpace(text)), "=")
	data, err := base64.RawStdEncoding.DecodeString(plain)
	if err != nil {
		return nil, badCursor("it is not base64")
	}
	var raw struct {
		Cursor
		Filter json.RawMessage `json:"filter"`
	}
	if err := json.Unmarshal(data, &raw); err != nil {
		return nil, badCursor("it holds no cursor")
	}
	c := &raw.Cursor
	if len(raw.Filter) > 0 {
		if err := c.adopt(raw.Filter); err != nil {
			return nil, err
		}
	}
	return c, c.check()
}

// adopt adds the filter of older cursors to the query.
func (c *Cursor) adopt(filter json.RawMessage) error {
	v, err := entity.ParseJSON(filter)
	if err != nil {
		return badCursor("its filter is not JSON")
	}
	legacy, err := (&predicateParser{}).legacy("cursor.filter", v, 0)
	if err != nil {
		return err
	}
	query, err := ParsePredicate("cursor.query", c.Query)
	if err != nil {
		return err
	}
	c.Query = MarshalQuery(All(legacy, query))
	return nil
}

func (c *Cursor) check() error {
	for _, f := range c.OrderFields {
		if f.Field == "" || f.Order != "asc" && f.Order != "desc" {
			return badCursor("an order field needs a field and asc or desc")
		}
	}
	want := 1
	if len(c.OrderFields) > 0 {
		want = 2
	}
	if len(c.OrderFieldValues) != want {
		return badCursor("expected %d orderFieldValues, got %d", want, len(c.OrderFieldValues))
	}
	return nil
}

// Mark is the place that the cursor stands at.
func (c *Cursor) Mark() Mark {
	v := c.OrderFieldValues
	return Mark{Value: v[0], UID: v[len(v)-1]}
}

// Values writes a mark as cursors do.
func (m Mark) Values(ordered bool) []string {
	if ordered {
		return []string{m.Value, m.UID}
	}
	return []string{m.UID}
}

// legacy reads {key, values}, {not}, {anyOf} and {allOf}.
func (p *predicateParser) legacy(at string, v entity.Value, depth int) (*Predicate, error) {
	o, ok := v.(*entity.Object)
	if !ok || depth > maxDepth {
		return nil, invalidAt(at, "expected an object of at most %d levels", maxDepth)
	}
	if err := p.count(1, 0); err != nil {
		return nil, err
	}
	if key, ok := o.Get("key").(string); ok {
		if _, valued := o.Lookup("values"); !valued {
			return Exists(key), nil
		}
		values, err := p.primitives(at+".values", o.List("values"))
		return Equals(key, values...), err
	}
	if not, ok := o.Lookup("not"); ok {
		part, err := p.legacy(at+".not", not, depth+1)
		return &Predicate{op: opNot, parts: []*Predicate{part}}, err
	}
	out, name := &Predicate{op: opAny}, "anyOf"
	if _, ok := o.Lookup(name); !ok {
		out.op, name = opAll, "allOf"
	}
	l, ok := o.Get(name).(entity.List)
	if !ok {
		return nil, invalidAt(at, "expected key, not, anyOf or allOf, got %s", show(v))
	}
	for i := range l {
		part, err := p.legacy(at+"."+name, l[i].Value, depth+1)
		if err != nil {
			return nil, err
		}
		out.parts = append(out.parts, part)
	}
	return out, nil
}
