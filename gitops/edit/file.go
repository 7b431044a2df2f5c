package edit

import (
	"path"
	"strings"
	"unicode/utf8"

	"github.com/fairlead-dev/fairlead/internal/fault"
)

// file is a file as it was read.
type file struct {
	name, text string
	docs       []*document
	// quick says that the file is in the plain form of outline.go, so that
	// parts of it may be parsed apart.
	quick bool
	// interest is what there are nodes of.
	interest interest
	habit    *habits
	// mark shows that the file is a template, at an offset; looked says that it
	// has been looked for.
	mark   string
	markAt int
	looked bool
}

// document is one document of a file.
type document struct {
	root *node
	// aliased are the anchors that the document uses elsewhere, with the place
	// of the first use.
	aliased map[string]int
}

// kind is what Kubernetes calls it, "" for anything else.
func (d *document) kind() string { return d.root.text("kind") }

// title is the document's kind and name, for messages.
func (d *document) title() string {
	t := d.kind()
	if name := d.root.at("metadata").text("name"); name != "" {
		t += "/" + name
	}
	return t
}

// read parses a file.
func read(name, text string, in interest) (*file, error) {
	f := &file{name: name, text: text, interest: in}
	if len(text) > MaxBytes {
		return nil, tooLarge(name, len(text))
	}
	if at := invalidUTF8(f.text); at >= 0 {
		return nil, f.refuse(at, "it is not UTF-8 text").WithFix("Store the file as UTF-8.")
	}
	if err := f.parse(); err != nil {
		return nil, err
	}
	return f, nil
}

// parse finds the documents, by the quick way where the file is of its form.
func (f *file) parse() error {
	if ok, marked := simple(f.text); ok {
		if f.looked = !marked; marked {
			f.interest = interest{} // names everywhere have to be looked at
		}
		if docs, ok := outline(f.text, f.interest); ok {
			f.docs, f.quick = docs, true
			return nil
		}
	}
	f.interest = interest{}
	docs, err := f.parseWhole(f.text)
	f.docs = docs
	return err
}

// invalidUTF8 is where text stops to be UTF-8 or holds a zero byte, -1 where
// it does not.
func invalidUTF8(s string) int {
	if at := strings.IndexByte(s, 0); at >= 0 {
		return at
	}
	if utf8.ValidString(s) {
		return -1
	}
	for i, r := range s {
		if r != utf8.RuneError {
			continue
		}
		if _, size := utf8.DecodeRuneInString(s[i:]); size == 1 {
			return i
		}
	}
	return -1
}

// lineOf is the line of an offset, 0 for what has no place.
func (f *file) lineOf(at int) int {
	if at < 0 || at > len(f.text) {
		return 0
	}
	return strings.Count(f.text[:at], "\n") + 1
}

// refuse says why the file is not edited, and where that is.
func (f *file) refuse(at int, format string, args ...any) *fault.Error {
	e := fault.New(fault.FailedPrecondition, format, args...)
	where := f.name
	if line := f.lineOf(at); line > 0 {
		where = f.place(at)
		e = e.WithDetail("line", line)
	}
	e.Message = where + ": " + e.Message
	return e.WithDetail("file", f.name)
}

// place is the file and the line of an offset.
func (f *file) place(at int) string {
	return f.name + ":" + itoa(f.lineOf(at))
}

// kustomization tells whether a document is a kustomization, by its kind or,
// without one, by the name of its file.
func (f *file) kustomization(d *document) bool {
	if d.root == nil || d.root.kind != mapping {
		return false
	}
	switch k := d.kind(); k {
	case "":
		base := path.Base(strings.ReplaceAll(f.name, `\`, "/"))
		return base == "kustomization.yaml" || base == "kustomization.yml" || base == "Kustomization"
	case "Kustomization", "Component":
		return !strings.HasPrefix(d.root.text("apiVersion"), "kustomize.toolkit.fluxcd.io/") && !strings.HasPrefix(d.root.text("apiVersion"), "backstage.io/")
	default:
		return false
	}
}

// lineEnd is the offset at which the line of an offset ends, its break left
// out.
func (f *file) lineEnd(at int) int {
	return max(at, trimBreak(f.text, endOfLine(f.text, at)))
}

// lineStart is the offset at which the line of an offset begins, behind a byte
// order mark.
func (f *file) lineStart(at int) int {
	start := strings.LastIndexByte(f.text[:at], '\n') + 1
	if start == 0 {
		return len(f.text) - len(strings.TrimPrefix(f.text, byteOrderMark))
	}
	return start
}

const byteOrderMark = "\ufeff"

// indent is blanks up to the column of an offset.
func (f *file) indent(at int) string {
	return strings.Repeat(" ", utf8.RuneCountInString(f.text[f.lineStart(at):at]))
}

// lineBreak is how lines near an offset end.
func (f *file) lineBreak(at int) string {
	i := strings.IndexByte(f.text[at:], '\n') + at
	if i < at {
		i = strings.LastIndexByte(f.text[:at], '\n')
	}
	if i > 0 && f.text[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// bare tells whether nothing but a comment follows on the line of an offset.
func (f *file) bare(at int) bool {
	rest := f.text[at:f.lineEnd(at)]
	trimmed := strings.TrimLeft(rest, " \t")
	return trimmed == "" || trimmed[0] == '#' && len(trimmed) < len(rest)
}

// inText is where a word stands in a block of text, -1 where in none that was
// read.
func (f *file) inText(word string) int {
	for _, d := range f.docs {
		if at := f.inTextOf(d.root, word); at >= 0 {
			return at
		}
	}
	return nowhere
}

func (f *file) inTextOf(n *node, word string) int {
	if (n.style == literal || n.style == folded) && n.start >= 0 && n.end >= n.start {
		if i := strings.Index(f.text[n.start:n.end], word); i >= 0 {
			return n.start + i
		}
	}
	for _, c := range n.items {
		if at := f.inTextOf(c, word); at >= 0 {
			return at
		}
	}
	return nowhere
}
