package edit

import (
	"strconv"
	"strings"

	"github.com/fairlead-dev/fairlead/internal/fault"
)

// Set writes one scalar, by its path. A key that is not there is added, and the
// mappings above it, too. A number or a boolean in the place of one, or of
// nothing, is written as such; anything else is a string.
type Set struct {
	// Path is the keys that lead to it: spec.replicas, or
	// spec.template.spec.containers[name=app].image. A key with dots stands in
	// quotes.
	Path string
	// Value is what to write.
	Value string
	// String has it be a string even where a number was.
	String bool
}

// plan finds the one document that the path is about.
func (s Set) plan(p *plan) error {
	steps, err := parsePath(s.Path)
	if err != nil {
		return err
	}
	docs, err := p.documents()
	if err != nil {
		return err
	}
	var found []*document
	for _, d := range docs {
		if at, rest, _, err := p.walk(d, steps); err == nil && at != nil && len(rest) == 0 {
			found = append(found, d)
		}
	}
	switch {
	case len(found) == 1:
		return s.in(p, found[0], steps)
	case len(found) > 1:
		return p.severalDocuments(s.Path, found)
	case len(docs) > 1:
		return p.severalDocuments(s.Path, docs)
	default:
		return s.in(p, docs[0], steps)
	}
}

// in sets the value in a document.
func (s Set) in(p *plan, d *document, steps []step) error {
	n, rest, path, err := p.walk(d, steps)
	if err != nil {
		return err
	}
	if len(rest) == 0 {
		want := p.file.instead(n, s.Value, s.String)
		return p.set(d, n, path, want)
	}
	key := rest[len(rest)-1]
	if key.index != byKey {
		return p.file.refuse(n.start, "there is no %s below %s", key, rootPath(path)).WithFix("Name a key to write below the item: %s.KEY=VALUE.", s.Path)
	}
	return s.extend(p, d, n, path, rest)
}

// extend adds what is missing below a node.
func (s Set) extend(p *plan, d *document, n *node, path string, rest []step) error {
	v := p.file.fresh(above(n, rest), rest[len(rest)-1].key, s.Value, s.String)
	for i := len(rest) - 1; i > 0; i-- {
		v = rest[i].around(p.file, v)
		if v == nil {
			return p.file.refuse(n.start, "there is no %s below %s", rest[i], rootPath(path)).WithFix("Add the item by hand, or name one that is there.")
		}
	}
	first := rest[0]
	switch {
	case first.index == byKey && (n.kind == mapping || n.null()):
		return p.add(d, n, path, "", p.key(n, first.key), v)
	case first.index == byField && (n.kind == sequence || n.null()):
		v.items = append([]*node{newScalar(first.field, plain), p.file.string(first.value)}, v.items...)
		return p.appendItem(d, n, path, newMapping(v.items...))
	}
	return p.file.refuse(n.start, "there is no %s below %s", first, rootPath(path)).WithFix("Name a path that is in the file, or one with one new key at its end.")
}

// above is the mapping that the last of some steps leads into: a node, or one
// that is yet to be made.
func above(n *node, rest []step) *node {
	if len(rest) == 1 {
		return n
	}
	m := newMapping()
	switch s := rest[len(rest)-2]; s.index {
	case byKey:
		newMapping(newScalar(s.key, plain), m)
	case byField:
		m.adopt(newScalar(s.field, plain), newScalar(s.value, plain))
	}
	return m
}

// around puts a value into what a step asks for, nil where nothing can be made
// for it.
func (s step) around(f *file, v *node) *node {
	switch {
	case s.index == byKey:
		return newMapping(f.string(s.key), v)
	case s.index == byField && v.kind == mapping:
		return newSequence(newMapping(append([]*node{newScalar(s.field, plain), f.string(s.value)}, v.items...)...))
	default:
		return nil
	}
}

// string is a string as the file would write it.
func (f *file) string(s string) *node { return text(s, plain, f.habits().quotes, true) }

// key is a key as the mapping would write it.
func (p *plan) key(m *node, key string) *node {
	return text(key, plain, p.file.habits().quotes, m.style == flow || inFlow(m))
}

func rootPath(path string) string {
	if path == "" {
		return "the root"
	}
	return path
}

// walk follows steps as far as they lead. It gives the node reached, the steps
// that are left where the next leads to nothing, and the path so far.
func (p *plan) walk(d *document, steps []step) (n *node, rest []step, path string, err error) {
	n = d.root
	for i, s := range steps {
		if n.kind == alias {
			return nil, nil, "", p.file.refuse(n.start, "%s is an alias of &%s, which is written once for several places", rootPath(path), n.value).
				WithFix("Change the value that carries &%s, or write it out in place of the alias.", n.value)
		}
		next, err := p.follow(n, s, path)
		if err != nil {
			return nil, nil, "", err
		}
		if next == nil {
			return n, steps[i:], path, nil
		}
		n, path = next, s.behind(path)
	}
	return n, nil, path, nil
}

// follow takes one step; nil where it leads to nothing.
func (p *plan) follow(n *node, s step, path string) (*node, error) {
	if n.kind == sequence && s.index == byKey {
		if i, err := strconv.Atoi(s.key); err == nil && i >= 0 {
			s = step{index: i}
		}
	}
	switch {
	case s.index == byKey && n.kind == mapping:
		return p.valueOf(n, s.key, path)
	case s.index >= 0 && n.kind == sequence && s.index < len(n.items):
		return n.items[s.index], nil
	case s.index == byField && n.kind == sequence:
		return p.itemWith(n, s, path)
	}
	return nil, nil //nolint:nilnil // nothing is there, which is no error
}

// valueOf is the value of a key that is there once.
func (p *plan) valueOf(m *node, key, path string) (*node, error) {
	var found *node
	merged := nowhere
	for i := 0; i+1 < len(m.items); i += 2 {
		switch k := m.items[i]; {
		case k.kind == scalar && k.style == plain && k.value == "<<":
			merged = k.start
		case k.kind != scalar || k.value != key:
		case found != nil:
			return nil, p.file.refuse(k.start, "%s is there twice", join(path, key)).WithFix("Remove one of the two.")
		default:
			found = m.items[i+1]
		}
	}
	if found == nil && merged >= 0 {
		return nil, p.file.refuse(merged, "%s may come from what << merges in here, which is written for several places", join(path, key)).
			WithFix("Write the key out first.")
	}
	return found, nil
}

// itemWith is the one item that has a value at a key.
func (p *plan) itemWith(seq *node, s step, path string) (*node, error) {
	var found *node
	for _, it := range seq.items {
		if v := it.get(s.field); v == nil || v.kind != scalar || v.value != s.value {
			continue
		}
		if found != nil {
			return nil, p.file.refuse(it.start, "%s fits several items, at lines %d and %d", s.behind(path), p.file.lineOf(found.start), p.file.lineOf(it.start)).
				WithFix("Name the item by its number: %s[0] is the first.", path)
		}
		found = it
	}
	return found, nil
}

// documents are those that the change is about.
func (p *plan) documents() ([]*document, error) {
	var out []*document
	var titles []string
	for i, d := range p.file.docs {
		titles = append(titles, itoa(i+1)+" "+d.title())
		if p.only == "" || p.only == itoa(i+1) || p.only == d.kind() || p.only == d.title() {
			out = append(out, d)
		}
	}
	if len(out) > 0 {
		return out, nil
	}
	if len(p.file.docs) == 0 {
		return nil, fault.New(fault.FailedPrecondition, "%s: the file is empty", p.file.name).WithFix("Name a file that has something to change.")
	}
	return nil, fault.New(fault.FailedPrecondition, "%s: there is no document %q", p.file.name, p.only).
		WithFix("The documents are: %s.", some(titles))
}

// severalDocuments refuses a path that is about several documents.
func (p *plan) severalDocuments(path string, docs []*document) error {
	var where []string
	for _, d := range docs {
		where = append(where, strings.TrimSpace("line "+itoa(p.file.lineOf(d.root.start))+" "+d.title()))
	}
	return p.file.refuse(docs[0].root.start, "%s may mean any of %d documents: %s", path, len(docs), some(where)).
		WithFix("Say which by --document, with its number, kind or KIND/NAME.")
}

// some lists the first few.
func some(list []string) string {
	if len(list) > 12 {
		return strings.Join(list[:12], ", ") + ", and " + itoa(len(list)-12) + " more"
	}
	return strings.Join(list, ", ")
}
