package edit

import (
	"fmt"
	"slices"
	"strings"
)

// small is how much text around a change is parsed by yaml.v3 as well, in
// bytes, where the file is of the simple form.
const small = 1024

// proveParts proves a change in a file of the simple form: the whole new text,
// read by outline, is the tree that was planned, and yaml.v3 reads the parts
// around the changes as outline does. It does not know where
// the new text is not of that form.
func (p *plan) proveParts(text string) (known bool, err error) {
	after := &file{name: p.file.name, text: text}
	docs, ok := outline(text)
	if !ok {
		return false, nil
	}
	if len(docs) != len(p.file.docs) {
		return true, p.unproved("the number of documents would change")
	}
	for i, d := range docs {
		if at, differ := difference(p.file.docs[i].root, d.root); differ != "" {
			return true, p.unproved(fmt.Sprintf("line %d: %s", after.lineOf(at), differ))
		}
	}
	for _, n := range p.focus {
		if why := after.confirm(counterpart(n, p.file.docs, docs)); why != "" {
			return true, p.unproved(why)
		}
	}
	return true, nil
}

// counterpart finds the node in other documents that is where a node is in its
// own.
func counterpart(n *node, from, to []*document) *node {
	if n.parent == nil {
		for i, d := range from {
			if d.root == n {
				return to[i].root
			}
		}
	}
	return counterpart(n.parent, from, to).items[slices.Index(n.parent.items, n)]
}

// confirm has yaml.v3 read the lines around a node, and says how it differs.
func (f *file) confirm(n *node) string {
	for n.parent != nil && (n.parent.style == flow || n.parent.end-n.parent.start <= small) {
		n = n.parent
	}
	want, start := n, n.start
	if m := n.parent; m != nil {
		i, step := slices.Index(m.items, n), 1
		if m.kind == mapping {
			step = 2
		}
		i -= i % step
		want, start = &node{kind: m.kind, items: m.items[i : i+step]}, m.items[i].start
		if m.kind == sequence {
			start = strings.LastIndexByte(f.text[:start], '-')
		}
	}
	end := want.end
	if len(want.items) > 0 {
		end = want.items[len(want.items)-1].end
	}
	docs, err := (&file{}).parseWhole(f.indent(start) + f.text[start:f.lineEnd(end)] + "\n")
	if err != nil || len(docs) != 1 {
		return "the part that changed is not YAML by itself"
	}
	if _, differ := difference(want, docs[0].root); differ != "" {
		return "the part that changed reads as " + differ
	}
	return ""
}
