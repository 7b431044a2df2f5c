// Package edit changes YAML files of deployments by exactly the bytes that a
// change means: an image's tag or digest, replicas, or the scalar at a path. A
// file is parsed, the text at the positions of the nodes concerned is replaced,
// and the outcome is proved: parsed again it is the same tree but for the
// places that were meant. What cannot be done so is refused, with the reason
// and the line.
package edit

import (
	"slices"
	"strings"

	"github.com/fairlead-dev/fairlead/internal/fault"
)

// MaxBytes is the size of the largest file that is edited.
const MaxBytes = 1 << 20

// Change is one thing to change: an Image, a Set or Replicas.
type Change interface {
	// interest is what the change needs to see of a file.
	interest() interest
	// plan notes what to replace in a file that has been read.
	plan(p *plan) error
}

// Request is a file and what to change in it.
type Request struct {
	// File is its name, for messages; kustomization.yaml and its like say also
	// what it is.
	File string
	// Text is what it holds.
	Text string
	// Document is which document of several the changes are about: its number
	// from 1, its kind, or KIND/NAME; all if left out.
	Document string
	// Changes are made in this order.
	Changes []Change
}

// Touch is one place that was changed.
type Touch struct {
	// Path is where it is in its document, Line which line that was.
	Path string `json:"path"`
	Line int    `json:"line"`
	// From and To are the values before and after; From is "" for what was
	// added, To for what was taken out.
	From string `json:"from"`
	To   string `json:"to"`
}

// Result is an edited file.
type Result struct {
	// Text is the whole new content; the old one where it was so already.
	Text string
	// Touched are the places that were changed, none where it was so already.
	Touched []Touch
}

// Apply makes the changes, all or none. A file that is as wanted already is a
// success without a change. It refuses with failed_precondition what it cannot
// do exactly, and with invalid a change that makes no sense for any file.
func Apply(r Request) (*Result, error) {
	res := &Result{Text: r.Text}
	for _, c := range r.Changes {
		next, touched, err := apply(r, res.Text, c)
		if err != nil {
			return nil, err
		}
		res.Text, res.Touched = next, append(res.Touched, touched...)
	}
	return res, nil
}

// apply makes one change. What is added goes behind what is there; where that
// would not hold, before it.
func apply(r Request, text string, c Change) (string, []Touch, error) {
	in := c.interest()
	if r.Document != "" {
		in = in.named()
	}
	var failed error
	for _, first := range []bool{false, true} {
		f, err := read(r.File, text, in)
		if err != nil {
			return "", nil, err
		}
		p := &plan{file: f, only: r.Document, first: first}
		if err := c.plan(p); err != nil {
			return "", nil, err
		}
		if len(p.splices) == 0 {
			return text, nil, nil
		}
		out, err := p.carryOut()
		if err == nil {
			return out, p.touched, nil
		}
		if failed = err; !p.added {
			break
		}
	}
	return "", nil, failed
}

// splice replaces the bytes from start to end.
type splice struct {
	start, end int
	text       string
}

// plan is what a change comes to in one file: the bytes to replace, and the
// tree that must come of it, which is the file's own, changed in place.
type plan struct {
	file *file
	only string
	// first has things added before what is there; added says that some were.
	first, added bool
	splices      []splice
	focus        []*node // the nodes that are new or changed
	touched      []Touch
}

// splice notes bytes to replace, and a node that changes by it.
func (p *plan) splice(n *node, start, end int, text string) {
	p.splices = append(p.splices, splice{start, end, text})
	p.focus = append(p.focus, n)
}

// touch notes a place that is changed.
func (p *plan) touch(n *node, path, from, to string) {
	p.touched = append(p.touched, Touch{Path: path, Line: p.file.lineOf(n.start), From: from, To: to})
}

// moved is where an offset is in the new text; what is put in at an offset
// stands behind it.
func (p *plan) moved(at int) int {
	to := at
	for _, s := range p.splices {
		if s.start < at || at == len(p.file.text) {
			to += len(s.text) - (s.end - s.start)
		}
	}
	return to
}

// carryOut makes the new text and proves it.
func (p *plan) carryOut() (string, error) {
	sorted := slices.Clone(p.splices)
	slices.SortStableFunc(sorted, func(a, b splice) int { return a.start - b.start })
	var out strings.Builder
	out.Grow(len(p.file.text) + 256)
	at := 0
	for _, s := range sorted {
		if s.start < at {
			return "", p.file.refuse(s.start, "two changes meet at the same place")
		}
		out.WriteString(p.file.text[at:s.start])
		out.WriteString(s.text)
		at = s.end
	}
	out.WriteString(p.file.text[at:])
	if out.Len() > MaxBytes {
		return "", tooLarge(p.file.name, out.Len())
	}
	if err := p.prove(out.String()); err != nil {
		return "", err
	}
	return out.String(), nil
}

func tooLarge(name string, size int) *fault.Error {
	return fault.New(fault.FailedPrecondition, "%s has %d bytes, more than the %d that are edited", name, size, MaxBytes).WithFix("Split the file, or change it by hand.")
}
