package edit

import (
	"strings"
)

// outline reads files that are written as nearly all are: block style, one line
// to a scalar or a bracket, no anchors, tags, tabs or multi-line strings. Such a
// file is read twenty times as fast as yaml.v3 would. It is strict: what it
// takes is YAML and means this, and of anything else it says that it does not
// know (FuzzOutline holds it to that against yaml.v3).
func outline(text string) (docs []*document, ok bool) {
	if !simple(text) {
		return nil, false
	}
	o := &outliner{s: text, pos: len(text) - len(strings.TrimPrefix(text, byteOrderMark))}
	o.next()
	for marked := false; !o.done; marked = true {
		if o.marker {
			o.next()
		} else if marked {
			return nil, false
		}
		if o.done || o.marker {
			return nil, false // an empty document
		}
		root := o.block(o.at, o.indent, -1, 0)
		if o.failed || !o.done && !o.marker {
			return nil, false
		}
		docs = append(docs, &document{root: root})
	}
	return docs, !o.failed
}

// simple tells whether a text has no characters that need care: tabs, ends of
// lines other than LF and CRLF, what is not printable.
func simple(text string) bool {
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c >= ' ' && c < 0x7F || c == '\n' {
			continue
		}
		switch {
		case c == '\r' && i+1 < len(text) && text[i+1] == '\n':
		case c < 0x80:
			return false
		case c == 0xC2 && i+1 < len(text) && text[i+1] < 0xA0: // C1 controls, NEL
			return false
		case c == 0xE2 && (strings.HasPrefix(text[i:], "\u2028") || strings.HasPrefix(text[i:], "\u2029")):
			return false
		case c == 0xEF && i > 0 && (strings.HasPrefix(text[i:], byteOrderMark) || text[i+1] == 0xBF && text[i+2] >= 0xBE):
			return false
		}
	}
	return true
}

// outliner reads line by line; it stands at a line that has content.
type outliner struct {
	s               string
	pos             int // where the next line begins
	at, end, indent int // of this line: its content, its end, its column
	marker, done    bool
	failed          bool
	stack           []*node
	slab            []node
	links           []*node
}

// deepest bounds how deeply collections may be nested.
const deepest = 100

func (o *outliner) fail() *node {
	o.failed, o.done = true, true
	return &node{}
}

// next goes to the next line that is neither blank nor a comment.
func (o *outliner) next() {
	for o.pos < len(o.s) {
		start, end := o.pos, len(o.s)
		if i := strings.IndexByte(o.s[start:], '\n'); i >= 0 {
			end = start + i
			o.pos = end + 1
		} else {
			o.pos = end
		}
		if end > start && o.s[end-1] == '\r' {
			end--
		}
		at := start
		for at < end && o.s[at] == ' ' {
			at++
		}
		if at == end || o.s[at] == '#' {
			continue
		}
		o.at, o.end, o.indent, o.marker = at, end, at-start, false
		if o.indent == 0 {
			o.column0()
		}
		return
	}
	o.done = true
}

// column0 looks at a line that begins at the margin.
func (o *outliner) column0() {
	line := o.s[o.at:o.end]
	switch {
	case line[0] == '%' || strings.HasPrefix(line, "..."):
		o.fail()
	case strings.HasPrefix(line, "---"):
		o.marker = true
		if len(line) > 3 && !o.bare(o.at+3) {
			o.fail()
		}
	}
}

// bare tells whether nothing but a comment follows on the line.
func (o *outliner) bare(at int) bool {
	p := o.blanks(at)
	return p == o.end || o.s[p] == '#' && p > at
}

func (o *outliner) blanks(at int) int {
	for at < o.end && o.s[at] == ' ' {
		at++
	}
	return at
}

// dash tells whether an item of a sequence begins at an offset.
func (o *outliner) dash(at int) bool {
	return o.s[at] == '-' && (at+1 == o.end || o.s[at+1] == ' ')
}

// node makes a node.
func (o *outliner) node(k kind, s style, start, end int) *node {
	if len(o.slab) == 0 {
		o.slab = make([]node, 1024)
	}
	n := &o.slab[0]
	o.slab = o.slab[1:]
	n.kind, n.style, n.start, n.end = k, s, start, end
	return n
}

// take makes children of the nodes that have been put on the stack since it
// was so high.
func (o *outliner) take(n *node, height int) *node {
	children := o.stack[height:]
	if len(o.links) < len(children) {
		o.links = make([]*node, max(1024, len(children)))
	}
	n.items = o.links[:len(children):len(children)]
	o.links = o.links[len(children):]
	copy(n.items, children)
	o.stack = o.stack[:height]
	for _, c := range n.items {
		c.parent = n
	}
	if n.style == plain && len(n.items) > 0 {
		n.end = n.items[len(n.items)-1].end
	}
	return n
}

// block reads a node that begins at an offset, in a column further in than its
// parent's, and goes to the line behind it.
func (o *outliner) block(at, column, parent, depth int) *node {
	if o.failed || depth > deepest {
		return o.fail()
	}
	if o.dash(at) {
		return o.sequence(at, column, depth)
	}
	if _, colon := o.key(at); colon >= 0 {
		return o.mapping(at, column, depth)
	}
	return o.value(at, parent, depth)
}

// sequence reads the items of a sequence.
func (o *outliner) sequence(at, column, depth int) *node {
	n := o.node(sequence, plain, at, at)
	height := len(o.stack)
	for {
		p := o.blanks(at + 1)
		var item *node
		switch {
		case p == o.end || o.s[p] == '#':
			o.next()
			item = o.below(at+1, column, column, depth)
		default:
			item = o.block(p, column+p-at, column, depth+1)
		}
		if o.failed {
			return n
		}
		o.stack = append(o.stack, item)
		if o.done || o.marker || o.indent < column || o.indent == column && !o.dash(o.at) {
			return o.take(n, height)
		}
		if o.indent > column {
			return o.fail()
		}
		at = o.at
	}
}

// below reads what stands on the lines below a key or a dash, further in than
// a column, or nothing.
func (o *outliner) below(empty, column, parent, depth int) *node {
	if !o.done && !o.marker && o.indent > column {
		return o.block(o.at, o.indent, parent, depth+1)
	}
	return o.node(scalar, plain, empty, empty)
}

// mapping reads the keys and values of a mapping.
func (o *outliner) mapping(at, column, depth int) *node {
	n := o.node(mapping, plain, at, at)
	height := len(o.stack)
	for {
		key, colon := o.key(at)
		if colon < 0 {
			return o.fail()
		}
		o.stack = append(o.stack, key, o.behindColon(colon, column, depth))
		switch {
		case o.failed:
			return n
		case o.done || o.marker || o.indent < column:
			return o.take(n, height)
		case o.indent > column || o.dash(o.at):
			return o.fail()
		}
		at = o.at
	}
}

// behindColon reads the value of a key.
func (o *outliner) behindColon(colon, column, depth int) *node {
	p := o.blanks(colon + 1)
	if p < o.end && o.s[p] != '#' {
		if o.dash(p) {
			return o.fail()
		}
		return o.value(p, column, depth)
	}
	o.next()
	if !o.done && !o.marker && o.indent == column && o.dash(o.at) {
		return o.sequence(o.at, column, depth+1)
	}
	return o.below(colon+1, column, column, depth)
}

// key reads a key that stands on one line with its colon; colon is -1 where
// there is none.
func (o *outliner) key(at int) (n *node, colon int) {
	switch c := o.s[at]; c {
	case '"', '\'':
		n, p := o.quoted(at)
		if p = o.blanks(p); !o.failed && p < o.end && o.s[p] == ':' && (p+1 == o.end || o.s[p+1] == ' ') {
			return n, p
		}
		return nil, -1
	}
	line := o.s[at:o.end]
	from := 0
	for {
		i := strings.IndexByte(line[from:], ':')
		if i < 0 {
			return nil, -1
		}
		from += i + 1
		if from == len(line) || line[from] == ' ' {
			break
		}
	}
	key := strings.TrimRight(line[:from-1], " ")
	if !startsPlain(key) || strings.Contains(key, " #") || len(key) > 1000 || key == "<<" {
		return nil, -1
	}
	n = o.node(scalar, plain, at, at+len(key))
	n.value = key
	return n, at + from - 1
}

// startsPlain tells whether a text can begin a plain scalar.
func startsPlain(s string) bool {
	if s == "" {
		return false
	}
	switch s[0] {
	case ',', '[', ']', '{', '}', '#', '&', '*', '!', '|', '>', '\'', '"', '%', '@', '`':
		return false
	case '-', '?', ':':
		return len(s) > 1 && s[1] != ' '
	}
	return true
}

// value reads a scalar or brackets to the end of the line, or a block of text,
// and goes to the line behind it.
func (o *outliner) value(at, parent, depth int) *node {
	var n *node
	p := at
	switch c := o.s[at]; c {
	case '|', '>':
		return o.text(at, parent)
	case '"', '\'':
		n, p = o.quoted(at)
	case '{', '[':
		n, p = o.flow(at, depth+1)
	default:
		line := o.s[at:o.end]
		if i := strings.Index(line, " #"); i >= 0 {
			line = line[:i]
		}
		line = strings.TrimRight(line, " ")
		if !startsPlain(line) || strings.HasSuffix(line, ":") || strings.Contains(line, ": ") {
			return o.fail()
		}
		p = at + len(line)
		n = o.node(scalar, plain, at, p)
		n.value = line
	}
	if o.failed || !o.bare(p) {
		return o.fail()
	}
	o.next()
	if !o.done && !o.marker && o.indent > parent {
		return o.fail() // it goes on
	}
	return n
}
