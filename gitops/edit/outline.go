package edit

import (
	"slices"
	"strings"
)

// outline reads files that are written as nearly all are: block style, one line
// to a scalar or a bracket, no anchors, tags, tabs or multi-line strings. Such a
// file is read twenty times as fast as yaml.v3 would. It is strict: what it
// takes is YAML and means this, and of anything else it says that it does not
// know (FuzzOutline holds it to that against yaml.v3).
//
// What is of no interest is looked at as closely, but gets no nodes.
func outline(text string, in interest) (docs []*document, ok bool) {
	o := &outliner{s: text, pos: len(text) - len(strings.TrimPrefix(text, byteOrderMark)), interest: in, lines: in.lines(text)}
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
		root := o.root()
		if o.failed || !o.done && !o.marker {
			return nil, false
		}
		docs = append(docs, &document{root: root})
	}
	return docs, !o.failed
}

// simple tells whether a text has no characters that need care: tabs, ends of
// lines other than LF and CRLF, what is not printable; and whether it has marks
// of a template.
func simple(text string) (ok, marked bool) {
	for i := 0; i < len(text); i++ {
		if !special[text[i]] {
			continue
		}
		next := text[min(i+1, len(text)-1)]
		switch c := text[i]; {
		case c == '{' || c == '<':
			marked = marked || next == '%' || c == '{' && next == '{' && i+1 < len(text)
		case c == '\r' && next == '\n':
		case c < 0x80:
			return false, false
		case c == 0xC2 && next < 0xA0: // C1 controls, NEL
			return false, false
		case c == 0xE2 && (strings.HasPrefix(text[i:], "\u2028") || strings.HasPrefix(text[i:], "\u2029")):
			return false, false
		case c == 0xEF && (i > 0 && strings.HasPrefix(text[i:], byteOrderMark) || next == 0xBF && text[i+2] >= 0xBE):
			return false, false
		}
	}
	return true, marked
}

// special are the bytes that simple looks at more closely.
var special = func() (t [256]bool) {
	for c := range t {
		t[c] = c < ' ' && c != '\n' || c == 0x7F || c == '{' || c == '<' || c == 0xC2 || c == 0xE2 || c == 0xEF
	}
	return t
}()

// outliner reads line by line; it stands at a line that has content.
type outliner struct {
	s               string
	pos             int // where the next line begins
	at, end, indent int // of this line: its content, its end, its column
	marker, done    bool
	failed          bool
	stack           []*node
	nodes           []node
	interest        interest
	lines           map[int]bool // those with a word of interest, and those above
	steps           []step       // what is left of a path of interest, nil off it
	// mute says that what is read is of no interest: all of it has one node, which
	// is used again and again.
	mute bool
	same node
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
	if o.mute {
		o.same.kind, o.same.style, o.same.start, o.same.end = k, s, start, end
		return &o.same
	}
	if len(o.nodes) == 0 {
		o.nodes = make([]node, 256)
	}
	n := &o.nodes[0]
	o.nodes = o.nodes[1:]
	n.kind, n.style, n.start, n.end = k, s, start, end
	return n
}

// take ends a collection: the nodes that have been put on the stack since it
// was so high are its items.
func (o *outliner) take(n *node, k kind, s style, start, end, height int) *node {
	n.kind, n.style, n.start, n.end = k, s, start, end
	if len(o.stack) > height {
		n.items = slices.Clone(o.stack[height:])
		o.stack = o.stack[:height]
	}
	for _, c := range n.items {
		c.parent = n
	}
	return n
}

// push puts nodes on the stack.
func (o *outliner) push(nodes ...*node) {
	if !o.mute {
		o.stack = append(o.stack, nodes...)
	}
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
	if key, colon := o.key(at); colon >= 0 {
		return o.mapping(key, colon, column, depth)
	}
	return o.value(at, parent, depth)
}

// sequence reads the items of a sequence.
func (o *outliner) sequence(at, column, depth int) *node {
	n, start, height := o.node(sequence, plain, at, at), at, len(o.stack)
	if steps := o.steps; len(steps) > 0 {
		o.steps = steps[1:] // any item may be the one
		defer func() { o.steps = steps }()
	}
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
		o.push(item)
		if o.done || o.marker || o.indent < column || o.indent == column && !o.dash(o.at) {
			return o.take(n, sequence, plain, start, item.end, height)
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

// mapping reads the keys and values of a mapping, of which the first key has
// been read.
func (o *outliner) mapping(key *node, colon, column, depth int) *node {
	start, height := key.start, len(o.stack)
	n := o.node(mapping, plain, start, start)
	for {
		value := o.valueOf(key, colon, column, depth)
		o.push(key, value)
		switch {
		case o.failed:
			return n
		case o.done || o.marker || o.indent < column:
			return o.take(n, mapping, plain, start, value.end, height)
		case o.indent > column || o.dash(o.at):
			return o.fail()
		}
		if key, colon = o.key(o.at); colon < 0 {
			return o.fail()
		}
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

// longestKey is how far the colon of a key may be from its beginning: YAML takes
// 1,024 characters, and what comes near that is left to yaml.v3.
const longestKey = 1000

// key reads a key that stands on one line with its colon; colon is -1 where
// there is none.
func (o *outliner) key(at int) (n *node, colon int) {
	switch c := o.s[at]; c {
	case '"', '\'':
		n, p := o.quoted(at)
		if p = o.blanks(p); !o.failed && p < o.end && p-at <= longestKey && o.s[p] == ':' && (p+1 == o.end || o.s[p+1] == ' ') {
			return n, p
		}
		return nil, -1
	}
	for i := at; i < o.end; i++ {
		switch c := o.s[i]; {
		case c == '#' && i > at && o.s[i-1] == ' ':
			return nil, -1
		case c == ':' && (i+1 == o.end || o.s[i+1] == ' '):
			key := o.s[at:o.trimmed(at, i)]
			if !startsPlain(key) || i-at > longestKey || key == "<<" {
				return nil, -1
			}
			n = o.node(scalar, plain, at, at+len(key))
			n.value = key
			return n, i
		}
	}
	return nil, -1
}

// trimmed is where a text ends without the blanks at its end.
func (o *outliner) trimmed(at, end int) int {
	for end > at && o.s[end-1] == ' ' {
		end--
	}
	return end
}

// plainEnd is where a plain scalar ends that fills its line but for a comment,
// -1 where it is none.
func (o *outliner) plainEnd(at int) int {
	end := o.end
	for i := at; i < o.end; i++ {
		c := o.s[i]
		if c == ':' && (i+1 == o.end || o.s[i+1] == ' ') {
			return -1
		}
		if c == '#' && i > at && o.s[i-1] == ' ' {
			end = i
			break
		}
	}
	if end = o.trimmed(at, end); !startsPlain(o.s[at:end]) {
		return -1
	}
	return end
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
	var p int
	switch c := o.s[at]; c {
	case '|', '>':
		return o.text(at, parent)
	case '"', '\'':
		n, p = o.quoted(at)
	case '{', '[':
		n, p = o.flow(at, depth+1)
	default:
		if p = o.plainEnd(at); p < 0 {
			return o.fail()
		}
		n = o.node(scalar, plain, at, p)
		n.value = o.s[at:p]
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
