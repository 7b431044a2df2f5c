package edit

import (
	"fmt"

	"github.com/fairlead-dev/fairlead/internal/fault"
)

// prove parses the new text and holds it against the tree that was planned.
func (p *plan) prove(text string) error {
	if p.file.quick {
		if ok, err := p.proveParts(text); ok || err != nil {
			return err
		}
	}
	after := &file{name: p.file.name, text: text}
	docs, err := after.parseWhole(text)
	if err != nil {
		return p.unproved(err.Error())
	}
	if len(docs) != len(p.file.docs) {
		return p.unproved("the number of documents would change")
	}
	for i, d := range docs {
		if at, differ := (comparison{p.file.text, text}).difference(p.file.docs[i].root, d.root); differ != "" {
			return p.unproved(fmt.Sprintf("line %d: %s", after.lineOf(at), differ))
		}
	}
	return nil
}

// unproved refuses a change that came out otherwise than it was meant.
func (p *plan) unproved(why string) *fault.Error {
	at := nowhere
	if len(p.splices) > 0 {
		at = p.splices[0].start
	}
	return p.file.refuse(at, "the change cannot be made exactly here: read again, the file would not be the same but for it").
		WithFix("Change it by hand.").WithDetail("why", why)
}

// comparison holds two texts' trees against each other.
type comparison struct{ want, got string }

// difference says where two trees differ, "" where they do not. Of what was not
// read in one of them the text has to be the same.
func (c comparison) difference(want, got *node) (at int, what string) {
	switch {
	case want.kind == unread || got.kind == unread:
		return got.start, c.texts(want, got)
	case want.kind != got.kind, want.style != got.style:
		return got.start, "another kind of value"
	case want.tag != got.tag, want.anchor != got.anchor:
		return got.start, "another tag or anchor"
	case len(want.items) != len(got.items):
		return got.start, "another number of values"
	case want.odd || got.odd:
		return got.start, c.texts(want, got)
	case want.kind != mapping && want.kind != sequence && want.value != got.value:
		return got.start, "another value"
	}
	for i := range want.items {
		if at, what := c.difference(want.items[i], got.items[i]); what != "" {
			return at, what
		}
	}
	return 0, ""
}

// texts compares what is written, and whether the file ends there, which makes
// a difference to a block of text.
func (c comparison) texts(want, got *node) string {
	if want.start < 0 || want.end < 0 || got.start < 0 || got.end < 0 || c.want[want.start:want.end] != c.got[got.start:got.end] ||
		(want.end == len(c.want)) != (got.end == len(c.got)) {
		return "another text"
	}
	return ""
}
