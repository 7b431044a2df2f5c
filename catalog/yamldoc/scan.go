package yamldoc

import (
	"bytes"
	"unicode/utf8"

	"github.com/fairlead-dev/fairlead/catalog/entity"
)

// scanner reads the tokens of one document as the reference parser does:
// where scalars end, what is a comment, which line belongs to what. It decodes
// the scalars itself and writes the bare structure to out, with a reference for
// each scalar, anchor and tag, for yaml.v3 to make nodes of.
type scanner struct {
	chunk *chunk
	text  []byte
	pos   int
	ascii bool

	line      uint32
	lineStart int
	// counted is up to where the columns of the line have been counted, which
	// came to columns.
	counted int
	columns uint32

	// indent is the indentation of the line with its "- ", "? " and ": "; deeper
	// is what a following line needs at least to go on with the same value.
	indent, deeper int
	// awaited is what deeper was when the line began.
	awaited int
	flow    []flowLevel
	// glued says that a ":" may follow without a space in a flow collection.
	glued bool

	node       node
	tab        tab
	indicators int // of the line
	// explicit are the columns of the "? " whose ": " has not come.
	explicit []uint32

	output
	scalars []scalar
	tags    []string
	anchors map[string]int
	names   []string // of anchors

	problems []entity.Problem
	// unresolved is the first alias to an anchor that does not exist.
	unresolved *entity.Problem
	// stopped says that what follows cannot be read sensibly.
	stopped bool
}

// scalar is one scalar of the document, decoded.
type scalar struct {
	text  string
	style byte // ' ', '"', '\'', '|' or '>'
	colon bool // a ":" follows
	at    entity.Position
}

// node is what stands on the current line and may turn out to be a key.
type node struct {
	open  bool
	start int
	line  uint32
	tab   int // offset of a tab before it that is wrong if it is a key; -1 none
}

// maxTokens is how many tokens a document may have: a key and its value are
// three.
const maxTokens = 500_000

// scan reads the tokens of the chunk.
func (s *scanner) scan(c *chunk) {
	s.reset(c)
	if c.explicit {
		s.emit('m', s.pos)
		s.out = append(s.out, "---"...)
		s.pos += len("---")
		s.blanks(':')
	} else {
		s.startLine()
	}
	for s.pos < len(s.text) && !s.stopped {
		if len(s.marks) > maxTokens {
			s.report(s.pos, "Split the document.", "the document holds more than %d tokens", maxTokens)
			return
		}
		if len(s.flow) > 0 {
			s.flowToken()
		} else {
			s.blockToken()
		}
	}
	switch {
	case s.stopped:
	case len(s.flow) > 0:
		s.unclosed(s.pos)
	case s.tab.at >= 0 && s.fresh && s.awaitsValue():
		s.reportTab(s.tab.at)
	}
}

// awaitsValue says whether the last token needs something behind it.
func (s *scanner) awaitsValue() bool {
	n := len(s.marks)
	if n == 0 || s.tab.indent >= max(s.awaited, 1) {
		return false
	}
	switch s.marks[n-1].kind {
	case '-', '?', ':', '!', '&', 'm':
		return true
	}
	return false
}

func (s *scanner) reset(c *chunk) {
	*s = scanner{
		chunk: c, text: c.text, ascii: c.ascii, line: c.line, columns: 1,
		output: output{out: s.out[:0], marks: s.marks[:0]}, scalars: s.scalars[:0], tags: s.tags[:0], flow: s.flow[:0], explicit: s.explicit[:0],
		node: node{tab: -1}, tab: tab{at: -1},
	}
}

// place is the line and column of an offset in the current line.
func (s *scanner) place(pos int) entity.Position {
	if s.ascii {
		return entity.Position{Line: s.line, Column: uint32(pos-s.lineStart) + 1}
	}
	if pos < s.counted {
		s.counted, s.columns = s.lineStart, 1
	}
	s.columns += uint32(utf8.RuneCount(s.text[s.counted:pos]))
	s.counted = pos
	return entity.Position{Line: s.line, Column: s.columns}
}

func (s *scanner) report(pos int, fix, format string, args ...any) {
	if len(s.problems) < maxProblems {
		s.problems = append(s.problems, problemAt(s.place(pos), fix, format, args...))
	}
}

// blankAt says whether there is a blank, a line break or the end at i.
func (s *scanner) blankAt(i int) bool { return i >= len(s.text) || isBlank(s.text[i]) }

// newline passes a line break, if there is one.
func (s *scanner) newline() bool {
	n := s.breakAt(s.pos)
	if n == 0 {
		return false
	}
	s.advanceLine(s.pos + n)
	return true
}

// breakAt is how long the line break at i is; a lone CR is none.
func (s *scanner) breakAt(i int) int {
	switch {
	case i < len(s.text) && s.text[i] == '\n':
		return 1
	case i+1 < len(s.text) && s.text[i] == '\r' && s.text[i+1] == '\n':
		return 2
	}
	return 0
}

func (s *scanner) advanceLine(to int) {
	s.pos, s.lineStart = to, to
	s.line++
	s.counted, s.columns = to, 1
}

// pass moves behind text that may hold line breaks.
func (s *scanner) pass(to int) {
	if i := bytes.LastIndexByte(s.text[s.pos:to], '\n'); i >= 0 {
		s.line += uint32(bytes.Count(s.text[s.pos:to], []byte{'\n'}))
		s.lineStart = s.pos + i + 1
		s.counted, s.columns = s.lineStart, 1
	}
	s.pos = to
}

// spaces passes spaces and says how many.
func (s *scanner) spaces() int {
	start := s.pos
	for s.pos < len(s.text) && s.text[s.pos] == ' ' {
		s.pos++
	}
	return s.pos - start
}

// blanks passes spaces and tabs behind what: an indicator or 0, and says how
// many.
func (s *scanner) blanks(what byte) int {
	start := s.pos
	for s.pos < len(s.text) && (s.text[s.pos] == ' ' || s.text[s.pos] == '\t') {
		if s.text[s.pos] == '\t' && s.tab.at < 0 {
			s.tab = tab{at: s.pos, behind: what, indent: s.indent}
		}
		s.pos++
	}
	return s.pos - start
}

// startLine begins a line of a block: its indentation and what stands there of
// "- ", "? " and ": ".
func (s *scanner) startLine() {
	s.fresh, s.node.open, s.tab.at = true, false, -1
	s.awaited = s.deeper
	s.indent = s.spaces()
	if s.deeper > s.indent && !s.blankAt(s.pos+1) {
		s.deeper = s.indent
	}
	s.indicators = 0
	for s.pos < len(s.text) && !s.stopped && isIndicator(s.text[s.pos]) && s.blankAt(s.pos+1) {
		c := s.text[s.pos]
		s.indicator(c)
		s.deeper = s.indent + 1
		s.indent += 1 + s.blanks(c)
	}
}

func isIndicator(c byte) bool { return c == '-' || c == '?' || c == ':' }

// indicator emits "-", "?" or ":" of a block.
func (s *scanner) indicator(c byte) {
	if s.indicators++; s.indicators > maxDepth {
		s.report(s.pos, "Nest less deeply.", "collections are nested deeper than %d levels", maxDepth)
		s.stopped = true
	}
	s.checkTab(c, s.pos)
	if c == ':' {
		s.checkKey()
	}
	s.explicitKeys(c)
	s.node.open = false
	s.emit(c, s.pos)
	s.out = append(s.out, c)
	s.pos++
	s.tab.at = -1
}

// explicitKeys keeps account of "? " and its ":" one below the other. A ":" that
// belongs to none has an empty key, which yaml.v3 wants to be told.
func (s *scanner) explicitKeys(c byte) {
	if s.node.open {
		return
	}
	column := s.place(s.pos).Column
	n := len(s.explicit)
	for n > 0 && (s.explicit[n-1] > column || s.explicit[n-1] == column && c == '?') {
		n--
	}
	s.explicit = s.explicit[:n]
	switch {
	case c == '?':
		s.explicit = append(s.explicit, column)
	case c == ':' && n > 0 && s.explicit[n-1] == column:
		s.explicit = s.explicit[:n-1]
	case c == ':':
		s.emitScalar(s.pos, "", ' ')
	}
}

// blockToken reads what comes next outside flow collections.
func (s *scanner) blockToken() {
	s.blanks(0)
	s.properties()
	if s.pos >= len(s.text) {
		return
	}
	switch c := s.text[s.pos]; {
	case c == '#':
		s.comment()
	case s.newline():
		s.startLine()
	case c == '{' || c == '[':
		s.beginNode()
		s.openFlow(c)
	case c == '}' || c == ']':
		s.report(s.pos, "Remove it, or quote the value.", "%q closes nothing", c)
		s.stopped = true
	case c == '*':
		s.beginNode()
		s.alias()
	case c == '"' || c == '\'':
		s.beginNode()
		s.quoted(c)
	case c == '|' || c == '>':
		s.beginNode()
		s.block(c)
	default:
		s.beginNode()
		s.plain()
	}
}

// beginNode notes that a node starts here, unless its anchor or tag has.
func (s *scanner) beginNode() {
	s.checkTab('x', s.pos)
	if !s.node.open {
		s.node = node{open: true, start: s.pos, line: s.line, tab: -1}
		if s.tab.behind != ':' {
			s.node.tab = s.tab.at
		}
	}
	if s.fresh && len(s.explicit) > 0 {
		s.dropExplicit(s.place(s.pos).Column)
	}
	s.tab.at = -1
}

// dropExplicit forgets the "? " that a key at the column ends.
func (s *scanner) dropExplicit(column uint32) {
	n := len(s.explicit)
	for n > 0 && s.explicit[n-1] >= column {
		n--
	}
	s.explicit = s.explicit[:n]
}

// comment passes a comment up to the end of its line.
func (s *scanner) comment() {
	s.tab.at = -1
	if s.pos > 0 && (!isBlank(s.text[s.pos-1]) || s.text[s.pos-1] == '\r') {
		s.report(s.pos, `Put a space before the "#", or quote the value.`, `"#" starts a comment only behind a space`)
	}
	if n := bytes.IndexByte(s.text[s.pos:], '\n'); n >= 0 {
		s.pos += n
		if s.text[s.pos-1] == '\r' {
			s.pos--
		}
		return
	}
	s.pos = len(s.text)
}
