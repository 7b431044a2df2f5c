package edit

import (
	"slices"
	"strings"
)

// small is how much text around a change yaml.v3 reads as well, in bytes, where
// the file is of the simple form.
const small = 512

// proveParts proves a change in a file of the simple form. There a run of
// entries of a collection reads the same wherever it stands, and ends at the
// next line that is no further in. So it is enough to read again the run that
// the change is in: it must be what was planned, and yaml.v3 must agree with
// outline about the lines around the change (docs/adr/0022). It does not know
// where the new text is not of that form.
func (p *plan) proveParts(text string) (known bool, err error) {
	for _, d := range p.file.docs {
		r := p.run(d)
		if r == nil {
			continue
		}
		known, why := r.prove(text, p.moved)
		if !known {
			return false, nil
		}
		if why != "" {
			return true, p.unproved(why)
		}
	}
	return true, nil
}

// run is a run of entries of a collection that changes are in.
type run struct {
	file   *file
	home   *node
	lo, hi int // which of its items, as they are to be
	// start and end are where it is in the old text.
	start, end int
	focus      []*node
}

// run finds the smallest run of a document's entries that all its changes are
// in, nil without a change.
func (p *plan) run(d *document) *run {
	if d.root.kind != mapping && d.root.kind != sequence {
		return nil
	}
	first, last := len(p.file.text), -1
	r := &run{file: p.file, home: d.root}
	for i, s := range p.splices {
		if rootOf(p.focus[i]) == d.root {
			first, last = min(first, s.start), max(last, s.end)
			r.focus = append(r.focus, p.focus[i])
		}
	}
	if last < 0 {
		return nil
	}
	for home := d.root; home != nil; home = r.inner() {
		next := *r
		next.home = home
		if next.entries(first, last); next.start > first || next.end < last {
			break
		}
		*r = next
	}
	return r
}

func rootOf(n *node) *node {
	for n.parent != nil {
		n = n.parent
	}
	return n
}

// inner is the collection that is the value of the run's one entry, nil without
// one.
func (r *run) inner() *node {
	if r.hi-r.lo != stepOf(r.home) {
		return nil
	}
	if v := r.home.items[r.hi-1]; (v.kind == mapping || v.kind == sequence) && v.style == plain && v.start >= 0 {
		return v
	}
	return nil
}

// stepOf is how many items an entry has.
func stepOf(n *node) int {
	if n.kind == mapping {
		return 2
	}
	return 1
}

// entries finds those that a change from first to last is in, with those that
// are to be added beside them.
func (r *run) entries(first, last int) {
	f, items, by := r.file, r.home.items, stepOf(r.home)
	column := len(f.indent(r.home.start))
	r.lo, r.hi, r.start, r.end = 0, len(items), r.home.start, min(len(f.text), endOfLine(f.text, r.home.end)+1)
	if r.home.style == flow {
		return
	}
	for i := 0; i < len(items); i += by {
		if items[i].start < 0 {
			continue
		}
		switch line := f.lineStart(items[i].start); {
		case line > last:
			r.hi, r.end = i, line
			return
		case line <= first && i > 0 && line+column > r.home.start:
			r.lo, r.start = i, line+column
		}
	}
}

// prove reads the run in the new text. It does not know where that is not of
// the simple form.
func (r *run) prove(text string, moved func(int) int) (known bool, why string) {
	part := r.file.indent(r.start) + text[moved(r.start):moved(r.end)]
	docs, ok := outline(part, interest{})
	if !ok {
		return false, ""
	}
	if len(docs) != 1 {
		return true, "the number of documents would change"
	}
	got, want := docs[0].root, r.home
	if want.style != flow {
		want = &node{kind: r.home.kind, items: r.home.items[r.lo:r.hi]}
	}
	if _, differ := (comparison{r.file.text, part}).difference(want, got); differ != "" {
		return true, differ
	}
	after := &file{text: part}
	for _, n := range r.focus {
		if why := after.confirm(r.twin(n, got)); why != "" {
			return true, why
		}
	}
	return true, ""
}

// twin finds the node of the new text that is where a node is in the plan.
func (r *run) twin(n, got *node) *node {
	if n == r.home || n.parent == nil {
		return got
	}
	i := slices.Index(n.parent.items, n)
	if n.parent == r.home {
		return got.items[i-r.lo]
	}
	return r.twin(n.parent, got).items[i]
}

// confirm has yaml.v3 read the lines around a node, and says how it differs.
func (f *file) confirm(n *node) string {
	for n.parent != nil && (n.parent.style == flow || n.parent.end-n.parent.start <= small) {
		n = n.parent
	}
	start, end := n.start, n.end
	if m := n.parent; m != nil {
		i := slices.Index(m.items, n)
		i -= i % stepOf(m)
		start, end = m.items[i].start, m.items[i+stepOf(m)-1].end
		if m.kind == sequence {
			start = strings.LastIndexByte(f.text[:start], '-')
		}
	}
	return agree(f.indent(start) + f.text[start:f.lineEnd(end)] + "\n")
}

// agree says how outline and yaml.v3 differ about a text.
func agree(text string) string {
	ours, ok := outline(text, interest{})
	docs, err := (&file{}).parseWhole(text)
	if err != nil || !ok || len(docs) != 1 || len(ours) != 1 {
		return "the part that changed is not YAML by itself"
	}
	if _, differ := (comparison{text, text}).difference(ours[0].root, docs[0].root); differ != "" {
		return "the part that changed reads as " + differ
	}
	return ""
}
