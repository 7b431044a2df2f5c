package edit

import (
	"strings"
)

// set puts a scalar in the place of another.
func (p *plan) set(d *document, n *node, path string, want *node) error {
	p.file.fathom(n)
	if n.kind == scalar && n.value == want.value && n.shortTag() == want.shortTag() {
		return nil
	}
	if err := p.settable(d, n, path); err != nil {
		return err
	}
	text := want.written()
	if n.start == n.end { // nothing is written behind the colon or the dash
		before := p.file.text[n.start-1]
		if n.tag != "" || n.anchor != "" || before != ':' && before != '-' {
			return p.file.refuse(n.start, "%s is empty in a way that leaves no place to write to", path)
		}
		text = " " + text
	}
	p.splice(n, n.start, n.end, text)
	p.touch(n, path, n.value, want.value)
	n.value, n.style, n.tag = want.value, want.style, want.tag
	return nil
}

// fathom finds out what a block of text says that the quick reader has seen.
func (f *file) fathom(n *node) {
	if !n.odd {
		return
	}
	text := "x: " + f.text[n.start:n.end]
	if n.end < len(f.text) {
		text += "\n"
	}
	if docs, err := (&file{}).parseWhole(text); err == nil && len(docs) == 1 {
		n.value = docs[0].root.text("x")
	}
}

// settable tells why a scalar cannot be replaced.
func (p *plan) settable(d *document, n *node, path string) error {
	switch {
	case n.kind == alias:
		return p.file.refuse(n.start, "%s is an alias of &%s, which is written once for several places", path, n.value).
			WithFix("Change the value that carries &%s, or write the value in place of the alias.", n.value)
	case n.kind != scalar:
		return p.file.refuse(n.start, "%s holds several values, not one", path).WithFix("Name one of the values below it.")
	case n.style == literal || n.style == folded:
		return p.file.refuse(n.start, "%s is a block of text over several lines", path).WithFix("Change it by hand.")
	case n.start < 0 || n.end < 0 || n.start > 0 && n.end < n.start:
		return p.file.refuse(n.start, "where %s ends in the text cannot be told for certain", path).WithFix("Change it by hand.")
	}
	if mark := templateMark(n.value); mark != "" {
		return p.file.refuse(n.start, "%s is filled in by a template (%s)", path, mark).WithFix("Change the value that it is filled in with.")
	}
	return p.shared(d, n, path)
}

// shared refuses what other places of the document take their value from.
func (p *plan) shared(d *document, n *node, path string) error {
	if at, mark := p.file.template(); mark != "" {
		return p.file.templated(at, mark)
	}
	for m := n; m != nil; m = m.parent {
		if at, used := d.aliased[m.anchor]; m.anchor != "" && used {
			return p.file.refuse(n.start, "%s is part of &%s, which %s uses as well: both would change", path, m.anchor, p.file.place(at)).
				WithFix("Write the value out in one of the two places.")
		}
		if k := twice(m); k != nil {
			return p.file.refuse(k.start, "the key %s is there twice, and which of the two counts differs from reader to reader", k.value).WithFix("Remove one of the two.")
		}
	}
	return nil
}

// twice finds the second of two equal keys of which one leads to a node.
func twice(n *node) *node {
	m := n.parent
	if m == nil || m.kind != mapping {
		return nil
	}
	rest := &node{kind: mapping, items: m.items[m.find(keyOf(n))+2:]}
	if i := rest.find(keyOf(n)); i >= 0 {
		return rest.items[i]
	}
	return nil
}

// templateMark is what shows that a value is filled in, "" where it is not.
func templateMark(s string) string {
	for _, mark := range []string{"{{", "{%", "<%"} {
		if strings.Contains(s, mark) {
			return mark
		}
	}
	return ""
}

// add puts new keys into a mapping: behind the value of a key, where that is
// possible, else behind the last. pairs are keys and values by turns.
func (p *plan) add(d *document, m *node, path, after string, pairs ...*node) error {
	if err := p.shared(d, m, path); err != nil {
		return err
	}
	p.added = true
	if m.kind == scalar {
		return p.fill(d, m, path, newMapping(pairs...))
	}
	if i := m.find("<<"); i >= 0 {
		return p.file.refuse(m.items[i].start, "%s may come from what << merges in here, which is written for several places", join(path, pairs[0].value)).
			WithFix("Write the key out first.")
	}
	if keys := m.items; len(keys) > 0 && keys[0].style == double {
		inJSON(pairs, true)
	}
	for i := 0; i+1 < len(pairs); i += 2 {
		p.touch(m, join(path, pairs[i].value), "", shown(pairs[i+1]))
	}
	if m.style == flow {
		return p.addFlow(m, path, pairs)
	}
	lines := p.file.habits().block(newMapping(pairs...))
	last, index := m, len(m.items)
	if v := m.get(after); v != nil && v.kind == scalar && v.style != literal && v.style != folded {
		last, index = v, m.find(after)+2
	}
	if !p.insertLines(m, last, pairs[0], lines) {
		index = 0
	}
	m.insert(index, pairs...)
	return nil
}

// insertLines writes lines behind a node, or where that cannot be done before
// the whole mapping or sequence that it is in; it tells which.
func (p *plan) insertLines(home, last, added *node, lines []string) (behind bool) {
	f := p.file
	indent, br := f.indent(home.start), f.lineBreak(home.start)
	if behind = !p.first && last.end >= 0 && f.bare(last.end); behind {
		at := f.lineEnd(last.end)
		p.splice(added, at, at, br+indent+strings.Join(lines, br+indent))
	} else {
		p.splice(added, home.start, home.start, strings.Join(lines, br+indent)+br+indent)
	}
	return behind
}

// addFlow puts new keys or items into brackets, behind the last that is there.
func (p *plan) addFlow(m *node, path string, items []*node) error {
	f := p.file
	whole := &node{kind: m.kind, items: items}
	inBrackets(whole)
	text := brackets(whole)
	text = text[1 : len(text)-1]
	at := m.start + 1
	if len(m.items) > 0 {
		step := len(m.items) - 1
		if at = m.items[step].end; at < 0 {
			return f.refuse(m.start, "where %s ends in the text cannot be told for certain", path).WithFix("Change it by hand.")
		}
		if m.kind == mapping {
			step--
		}
		last := m.items[step]
		gap := " "
		if from := f.lineStart(last.start); strings.TrimLeft(f.text[from:last.start], " \t") == "" && from > m.start {
			gap = f.lineBreak(last.start) + f.text[from:last.start]
		}
		text = "," + gap + text
	}
	p.splice(items[0], at, at, text)
	m.adopt(items...)
	return nil
}

// appendItem puts a new item into a sequence.
func (p *plan) appendItem(d *document, s *node, path string, item *node) error {
	if err := p.shared(d, s, path); err != nil {
		return err
	}
	p.added = true
	if s.kind == scalar {
		return p.fill(d, s, path, newSequence(item))
	}
	p.touch(s, path, "", shown(item))
	if s.style == flow {
		if len(s.items) > 0 && len(s.items[0].items) > 0 && s.items[0].items[0].style == double {
			inJSON([]*node{item}, false)
		}
		return p.addFlow(s, path, []*node{item})
	}
	index := 0
	if p.insertLines(s, s, item, behind(p.gap(s), p.file.habits().block(item))) {
		index = len(s.items)
	}
	s.insert(index, item)
	return nil
}

// gap is the dash of a sequence and the blanks behind it.
func (p *plan) gap(s *node) string {
	if first := s.items[0].start; first > s.start+1 {
		if between := p.file.text[s.start:first]; strings.Trim(between[1:], " ") == "" {
			return between
		}
	}
	return "- "
}

// remove takes a key out of a mapping with its value, or where that cannot be
// done makes the value an empty string.
func (p *plan) remove(d *document, m *node, key, path string) error {
	i := m.find(key)
	k, v := m.items[i], m.items[i+1]
	if v.kind == scalar && v.value == "" {
		return nil
	}
	if err := p.settable(d, v, path); err != nil {
		return err
	}
	start, end := p.line(m, i)
	if m.style == flow {
		start, end = within(m, i)
	}
	if start < 0 || len(m.items) == 2 || k.anchor != "" || v.anchor != "" {
		return p.set(d, v, path, newScalar("", double))
	}
	p.splice(m, start, end, "")
	p.touch(k, path, v.value, "")
	m.items = append(m.items[:i:i], m.items[i+2:]...)
	return nil
}

// within gives the bytes of a pair in brackets with one comma.
func within(m *node, i int) (start, end int) {
	if i > 0 {
		return m.items[i-1].end, m.items[i+1].end
	}
	if len(m.items) > 2 {
		return m.items[0].start, m.items[2].start
	}
	return nowhere, nowhere
}

// line gives the bytes of a pair that has its lines to itself, -1 where it has
// not.
func (p *plan) line(m *node, i int) (start, end int) {
	f, k, v := p.file, m.items[i], m.items[i+1]
	if m.style == flow || !f.bare(v.end) {
		return nowhere, nowhere
	}
	from, to := f.lineStart(k.start), f.lineEnd(v.end)
	switch {
	case strings.TrimLeft(f.text[from:k.start], " ") != "": // behind a dash
		if i+2 < len(m.items) && i == 0 && m.items[2].start > to && strings.TrimSpace(f.text[to:m.items[2].start]) == "" {
			return k.start, m.items[2].start
		}
		return nowhere, nowhere
	case to < len(f.text):
		return from, strings.IndexByte(f.text[to:], '\n') + to + 1
	case from > 0 && i > 0:
		return f.lineEnd(from - 1), to
	}
	return nowhere, nowhere
}

// fill writes a collection where nothing was written.
func (p *plan) fill(d *document, n *node, path string, v *node) error {
	f := p.file
	if !n.null() || n.start < 0 || n.end < 0 || n.parent == nil || n.parent.kind != mapping {
		return f.refuse(n.start, "%s is one value: nothing can be put below it", path).WithFix("Name a mapping, or remove the value first.")
	}
	p.touch(n, path, n.value, shown(v))
	if n.start == n.end && n.parent.style != flow && !inFlow(n) && f.bare(n.end) {
		h := f.habits()
		in := h.unit
		if v.kind == sequence {
			in = h.dash
		}
		at, br := f.lineEnd(n.end), f.lineBreak(n.end)
		indent := f.indent(n.parent.start) + strings.Repeat(" ", in)
		p.splice(n, at, at, br+indent+strings.Join(h.block(v), br+indent))
	} else {
		inBrackets(v)
		text := brackets(v)
		if n.start == n.end {
			text = " " + text
		}
		p.splice(n, n.start, n.end, text)
	}
	n.kind, n.style, n.value, n.items = v.kind, v.style, "", nil
	n.adopt(v.items...)
	return nil
}

// inJSON quotes keys and strings as JSON does.
func inJSON(nodes []*node, pairs bool) {
	for i, n := range nodes {
		if n.kind == scalar && (pairs && i%2 == 0 || n.shortTag() == "!!str") {
			n.style = double
		}
		inJSON(n.items, n.kind == mapping)
	}
}

// shown is a value for people.
func shown(n *node) string {
	if n.kind == scalar {
		return n.value
	}
	return brackets(n)
}

// join writes a path one step longer.
func join(path, key string) string {
	if strings.ContainsAny(key, `.[]="' `) || key == "" {
		key = quote(key)
	}
	if path == "" {
		return key
	}
	return path + "." + key
}
