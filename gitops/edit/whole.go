package edit

import (
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/fairlead-dev/fairlead/internal/fault"
)

func itoa(n int) string { return strconv.Itoa(n) }

// parseWhole reads all documents of a text with yaml.v3 and finds the bytes of
// each node.
func (f *file) parseWhole(text string) ([]*document, error) {
	b := &builder{file: f, text: text}
	b.lines = breaks(text)
	readable := text
	if bare := strings.TrimPrefix(text, byteOrderMark); strings.HasPrefix(bare, "%YAML 1.2") { // yaml.v3 knows 1.1 alone
		readable = text[:len(text)-len(bare)] + "#" + bare[1:]
	}
	dec := yaml.NewDecoder(strings.NewReader(readable))
	var docs []*document
	for {
		var y yaml.Node
		switch err := dec.Decode(&y); {
		case errors.Is(err, io.EOF):
			return docs, nil
		case err != nil:
			return nil, f.unparsable(text, err)
		case len(y.Content) == 0:
			continue
		}
		b.doc = &document{aliased: map[string]int{}}
		root, err := b.node(y.Content[0], false)
		if err != nil {
			return nil, err
		}
		b.doc.root = root
		docs = append(docs, b.doc)
	}
}

var lineOfError = regexp.MustCompile(`line (\d+): (.*)`)

// unparsable says why a file is not YAML.
func (f *file) unparsable(text string, err error) *fault.Error {
	for _, mark := range []string{"{{", "{%", "<%"} {
		if at := strings.Index(text, mark); at >= 0 {
			return f.templated(at, mark)
		}
	}
	at, what := nowhere, strings.TrimPrefix(err.Error(), "yaml: ")
	if m := lineOfError.FindStringSubmatch(what); m != nil {
		n, _ := strconv.Atoi(m[1])
		at, what = lineOffset(text, n), m[2]
	}
	return f.refuse(at, "it is not YAML: %s", what).WithFix("Put the file right first.")
}

// templated says that a file is a template.
func (f *file) templated(at int, mark string) *fault.Error {
	return f.refuse(at, "it is a template (%s): what it comes to is known only once it is rendered", mark).
		WithFix("Change the values that it is rendered with, or edit it by hand.")
}

// lineOffset is where a line begins.
func lineOffset(text string, line int) int {
	at := 0
	for i := 0; line > 1 && i >= 0; line-- {
		i = strings.IndexByte(text[at:], '\n')
		at += i + 1
	}
	return at
}

// breaks gives the offsets at which lines begin as yaml.v3 counts them: it
// takes a lone CR, NEL, LS and PS for ends of lines, too, and does not count a
// byte order mark.
func breaks(text string) []int {
	starts := []int{0}
	if strings.HasPrefix(text, byteOrderMark) {
		starts[0] = len(byteOrderMark)
	}
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\n', c == '\r' && (i+1 == len(text) || text[i+1] != '\n'):
			starts = append(starts, i+1)
		case c == 0xC2 && strings.HasPrefix(text[i:], "\u0085"):
			starts = append(starts, i+2)
		case c == 0xE2 && (strings.HasPrefix(text[i:], "\u2028") || strings.HasPrefix(text[i:], "\u2029")):
			starts = append(starts, i+3)
		}
	}
	return starts
}

// builder makes nodes of yaml.v3's.
type builder struct {
	file  *file
	text  string
	lines []int
	doc   *document
	// line, column and at are the place that was found last.
	line, column, at int
}

// offset is the place of a line and a column, which counts characters.
func (b *builder) offset(line, column int) int {
	if line < 1 || line > len(b.lines) {
		return nowhere
	}
	if line != b.line || column < b.column { // nodes come in order, mostly
		b.line, b.column, b.at = line, 1, b.lines[line-1]
	}
	for ; b.column < column && b.at < len(b.text); b.column++ {
		_, size := utf8.DecodeRuneInString(b.text[b.at:])
		b.at += size
	}
	return b.at
}

// node makes a node and those below it.
func (b *builder) node(y *yaml.Node, inFlow bool) (*node, error) {
	n := &node{anchor: y.Anchor, value: y.Value, start: b.offset(y.Line, y.Column), end: nowhere}
	if y.Style&yaml.TaggedStyle != 0 {
		n.tag = y.Tag
	}
	if n.start >= 0 {
		n.start = b.properties(n.start)
	}
	switch y.Kind {
	case yaml.ScalarNode:
		b.scalar(n, y)
		return n, nil
	case yaml.AliasNode:
		n.kind = alias
		n.end = n.start + 1 + len(y.Value)
		if _, seen := b.doc.aliased[y.Value]; !seen {
			b.doc.aliased[y.Value] = n.start
		}
		return n, nil
	case yaml.MappingNode:
		n.kind = mapping
	default:
		n.kind = sequence
	}
	if y.Style&yaml.FlowStyle != 0 {
		n.style = flow
	}
	for i, c := range y.Content {
		child, err := b.node(c, inFlow || n.style == flow)
		if err != nil {
			return nil, err
		}
		if n.kind == mapping && i%2 == 0 && child.kind == mapping && child.style == flow {
			return nil, b.file.templated(child.start, "{{")
		}
		n.adopt(child)
	}
	b.close(n)
	return n, nil
}

// properties gives the place behind anchors and tags, and whatever separates
// them from their node.
func (b *builder) properties(at int) int {
	for at < len(b.text) && (b.text[at] == '&' || b.text[at] == '!') {
		after := len(b.text)
		if i := strings.IndexAny(b.text[at:], " \t\r\n,[]{}"); i >= 0 {
			after = at + i
		}
		next := skipBlank(b.text, after)
		if next == after && next < len(b.text) {
			return after // an empty node with properties
		}
		at = next
	}
	return at
}

// close finds where a collection ends.
func (b *builder) close(n *node) {
	switch {
	case n.style != flow && len(n.items) > 0:
		n.end = n.items[len(n.items)-1].end
	case n.style == flow && n.start >= 0:
		at := n.start + 1
		if len(n.items) > 0 {
			at = n.items[len(n.items)-1].end
		}
		n.end = closing(b.text, at)
	}
}

// scalar sets a scalar's style and end.
func (b *builder) scalar(n *node, y *yaml.Node) {
	empty := strings.Trim(y.Value, "\n") == ""
	switch {
	case y.Style&yaml.DoubleQuotedStyle != 0:
		n.style, n.end = double, quotedEnd(b.text, n.start, '"')
	case y.Style&yaml.SingleQuotedStyle != 0:
		n.style, n.end = single, quotedEnd(b.text, n.start, '\'')
	case y.Style&yaml.LiteralStyle != 0:
		n.style, n.end = literal, blockEnd(b.text, n.start, empty)
	case y.Style&yaml.FoldedStyle != 0:
		n.style, n.end = folded, blockEnd(b.text, n.start, empty)
	default:
		n.end = plainEnd(b.text, n.start, n.value)
	}
}
