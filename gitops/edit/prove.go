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
		if at, differ := difference(p.file.docs[i].root, d.root); differ != "" {
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

// difference says where two trees differ, "" where they do not.
func difference(want, got *node) (at int, what string) {
	switch {
	case want.kind != got.kind, want.style != got.style:
		return got.start, "another kind of value"
	case want.tag != got.tag, want.anchor != got.anchor:
		return got.start, "another tag or anchor"
	case len(want.items) != len(got.items):
		return got.start, "another number of values"
	case want.kind != mapping && want.kind != sequence && !want.odd && !got.odd && want.value != got.value:
		return got.start, "another value"
	}
	for i := range want.items {
		if at, what := difference(want.items[i], got.items[i]); what != "" {
			return at, what
		}
	}
	return 0, ""
}
