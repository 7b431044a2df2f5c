package yamldoc

import (
	"bytes"
	"unicode/utf16"
)

// flowLevel is one open "[" or "{".
type flowLevel struct {
	open byte
	// began says that an item has begun, at offset start on a line; explicit
	// that it has a "?", colon that its ":" has been.
	began, explicit, colon bool
	start                  int
	line                   uint32
	pos                    int // of the bracket
	posLine                uint32
}

func (s *scanner) openFlow(c byte) {
	s.beginItem()
	s.emit(c, s.pos)
	s.out = append(s.out, c)
	s.flow = append(s.flow, flowLevel{open: c, pos: s.pos, posLine: s.line})
	s.pos++
	s.glued = false
	if len(s.flow) > maxDepth {
		s.report(s.pos-1, "Nest less deeply.", "collections are nested deeper than %d levels", maxDepth)
		s.stopped = true
	}
}

// flowToken reads what comes next within a flow collection.
func (s *scanner) flowToken() {
	indent, broken := s.flowBlanks()
	if s.pos >= len(s.text) {
		return
	}
	c := s.text[s.pos]
	if broken && indent < s.deeper && c != '#' {
		closes := indent == s.deeper-1 && len(s.flow) == 1 && (c == ']' || c == '}')
		if !closes {
			s.unclosed(s.pos)
			return
		}
	}
	for s.pos < len(s.text) && s.text[s.pos] == ',' {
		s.comma()
	}
	s.properties()
	if s.pos < len(s.text) && s.breakAt(s.pos) == 0 {
		s.flowNode(s.text[s.pos])
	}
}

// flowBlanks passes blanks and line breaks; indent is how far the line is
// indented, if there was a break.
func (s *scanner) flowBlanks() (indent int, broken bool) {
	for {
		if s.newline() {
			broken = true
			indent = s.spaces()
			s.indent = indent
			s.tab.at = -1
		} else if s.blanks(0) == 0 {
			s.tab.at = -1
			return indent, broken
		}
	}
}

func (s *scanner) comma() {
	s.emit(',', s.pos)
	s.out = append(s.out, ',')
	s.pos++
	s.blanks(0)
	top := &s.flow[len(s.flow)-1]
	*top = flowLevel{open: top.open, pos: top.pos, posLine: top.posLine}
	s.glued = false
}

func (s *scanner) flowNode(c byte) {
	switch {
	case c == '#':
		s.comment()
	case c == '{' || c == '[':
		s.openFlow(c)
	case c == '}' || c == ']':
		s.closeFlow(c)
	case c == '*':
		s.beginItem()
		s.alias()
	case c == '"' || c == '\'':
		s.beginItem()
		s.glued = true
		s.quoted(c)
	case c == ',':
	case c == ':' && s.colonIsValue():
		s.flowColon()
	default:
		s.beginItem()
		s.glued = false
		s.plain()
	}
}

func (s *scanner) colonIsValue() bool {
	if s.glued || s.blankAt(s.pos+1) {
		return true
	}
	return s.text[s.pos+1] == ','
}

func (s *scanner) closeFlow(c byte) {
	top := s.flow[len(s.flow)-1]
	if c-top.open != 2 { // "]" and "}" come two behind "[" and "{"
		s.report(s.pos, "Close each bracket with its own kind.", "%q does not close the %q of line %d", c, top.open, top.posLine)
		s.stopped = true
		return
	}
	s.emit(c, s.pos)
	s.out = append(s.out, c)
	s.flow = s.flow[:len(s.flow)-1]
	s.pos++
	s.glued = true
}

// beginItem notes where an item of a flow collection begins.
func (s *scanner) beginItem() {
	if len(s.flow) == 0 {
		return
	}
	if top := &s.flow[len(s.flow)-1]; !top.began {
		top.began, top.start, top.line = true, s.pos, s.line
	}
}

// flowColon is the ":" between key and value in a flow collection.
func (s *scanner) flowColon() {
	top := &s.flow[len(s.flow)-1]
	if n := len(s.marks); !top.began || s.marks[n-1].kind == '?' {
		// yaml.v3 wants to be told of an empty key.
		s.beginItem()
		s.emitScalar(s.pos, "", ' ')
	} else if top.open == '[' && !top.explicit {
		s.checkPair(top)
	}
	top.colon = true
	s.emit(':', s.pos)
	s.out = append(s.out, ':')
	s.pos++
	s.glued = false
	s.blanks(0)
}

// checkPair refuses what may not be the key of a single pair in a list.
func (s *scanner) checkPair(top *flowLevel) {
	if top.colon {
		return
	}
	if top.line != s.line {
		s.report(s.pos, `Put the key on one line, or a "? " before it.`, "a key in a list must stand on one line")
	} else if s.longKey(top.start) {
		s.report(s.pos, `Shorten the key, or put "? " before it.`, "a key is longer than %d characters", maxKey)
	}
}

// maxKey is how long an implicit key may be, in UTF-16 units.
const maxKey = 1024

func (s *scanner) longKey(start int) bool {
	n := s.pos - start
	// No unit takes more than three bytes.
	return n > 3*maxKey || n > maxKey && len(utf16.Encode([]rune(string(s.text[start:s.pos])))) > maxKey
}

// unclosed says that a flow collection does not go on at pos.
func (s *scanner) unclosed(pos int) {
	top := s.flow[len(s.flow)-1]
	s.stopped = true
	if pos >= len(s.text) {
		s.report(pos, "Close it.", "the %q of line %d is not closed", top.open, top.posLine)
		return
	}
	if tab := bytes.IndexByte(s.text[s.lineStart:pos], '\t'); tab >= 0 {
		s.report(s.lineStart+tab, "Use spaces.", "a tab cannot be used as indentation within the %q of line %d", top.open, top.posLine)
		return
	}
	s.report(pos, "Indent the line by more, or close the bracket before it.",
		"the line is indented too little to belong to the %q of line %d, which is not closed", top.open, top.posLine)
}
