package yamldoc

import (
	"net/url"
	"strings"
)

// properties reads anchors and tags, and the indicators that may stand between
// them: in a block those are mistakes, which yaml.v3 finds.
func (s *scanner) properties() {
	for s.pos < len(s.text) && !s.stopped {
		switch c := s.text[s.pos]; {
		case c == '!':
			s.property(s.tag)
		case c == '&':
			s.property(s.anchor)
		case isIndicator(c) && s.indicatorAt(s.pos):
			s.inner(c)
		default:
			return
		}
	}
}

func (s *scanner) indicatorAt(i int) bool {
	return s.blankAt(i+1) || len(s.flow) > 0 && isFlowMark(s.text[i+1])
}

func isFlowMark(c byte) bool { return c == ',' || c == '[' || c == ']' || c == '{' || c == '}' }

// inner passes an indicator that does not begin a line.
func (s *scanner) inner(c byte) {
	if len(s.flow) == 0 {
		s.indicator(c)
		s.deeper = s.indent + 1
		s.blanks(c)
		return
	}
	switch c {
	case ':':
		s.flowColon()
		return
	case '?':
		s.beginItem()
		s.flow[len(s.flow)-1].explicit = true
	default:
		s.report(s.pos, `Leave the "-" out, or write the list without brackets.`, `"- " cannot stand within brackets`)
	}
	s.emit(c, s.pos)
	s.out = append(s.out, c)
	s.pos++
	s.glued = false
	s.blanks(0)
}

// property passes an anchor or a tag.
func (s *scanner) property(read func()) {
	if len(s.flow) > 0 {
		s.beginItem()
	} else {
		s.checkTab('!', s.pos)
		if !s.node.open {
			s.node = node{open: true, start: s.pos, line: s.line, tab: -1}
		}
		s.tab.at = -1
	}
	read()
	if s.loose() && (len(s.flow) == 0 || !closesItem(s.text[s.pos])) {
		s.report(s.pos, "Put a space behind it.", "an anchor or a tag ends with a space")
	}
	s.blanks(0)
}

// loose says whether something stands at the position that is no blank; a lone
// CR is text.
func (s *scanner) loose() bool {
	return !s.blankAt(s.pos) || s.pos < len(s.text) && s.text[s.pos] == '\r' && s.breakAt(s.pos) == 0
}

func closesItem(c byte) bool { return c == ',' || c == ']' || c == '}' }

// anchorName is the text of an anchor or alias behind its first byte.
func (s *scanner) anchorName() string {
	start := s.pos + 1
	i := start
	for i < len(s.text) && !isBlank(s.text[i]) && !isFlowMark(s.text[i]) {
		i++
	}
	s.pos = i
	return string(s.text[start:i])
}

func (s *scanner) anchor() {
	at := s.pos
	s.emitNumber('&', at, len(s.names))
	name := s.anchorName()
	if name == "" {
		s.report(at, "Give the anchor a name, or quote the value.", `"&" starts an anchor, and this one has no name`)
	}
	if s.anchors == nil {
		s.anchors = map[string]int{}
	}
	s.anchors[name] = len(s.names)
	s.names = append(s.names, name)
}

func (s *scanner) alias() {
	at := s.pos
	place := s.place(at)
	name := s.anchorName()
	n, known := s.anchors[name]
	switch {
	case s.afterProperty():
		s.report(at, "Leave the anchor or tag out.", "an alias can have no anchor and no tag")
	case name == "":
		s.report(at, "Name the anchor, or quote the value.", `"*" starts an alias, and this one names no anchor`)
	case !known && s.unresolved == nil:
		p := problemAt(place, "Define the anchor before it in the same document, or quote the value if no alias is meant.",
			"the alias %s names an anchor that is not defined before it in this document", quote("*"+name))
		s.unresolved = &p
	}
	if !known {
		s.emitScalar(at, name, '"')
		return
	}
	s.emitNumber('*', at, n)
}

func (s *scanner) afterProperty() bool {
	n := len(s.marks)
	return n > 0 && (s.marks[n-1].kind == '!' || s.marks[n-1].kind == '&')
}

const coreTag = "tag:yaml.org,2002:"

func (s *scanner) tag() {
	at := s.pos
	s.emitNumber('!', at, len(s.tags))
	s.pos = s.tagEnd()
	s.tags = append(s.tags, s.tagName(at, string(s.text[at:s.pos])))
}

func (s *scanner) tagEnd() int {
	i := s.pos + 1
	if i < len(s.text) && s.text[i] == '<' {
		for i < len(s.text) && !isBlank(s.text[i]) && s.text[i] != '>' {
			i++
		}
		if i < len(s.text) && s.text[i] == '>' {
			i++
		}
		return i
	}
	for i < len(s.text) && (isTagByte(s.text[i]) || s.text[i] == '%' && i+2 < len(s.text) && digit(s.text[i+1]) < 16 && digit(s.text[i+2]) < 16) {
		i++
	}
	return i
}

func isTagByte(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || strings.IndexByte("-#;/?:@&=+$_.!~*'()", c) >= 0
}

// tagName is the full name of a tag; "!" stands for itself.
func (s *scanner) tagName(at int, source string) string {
	if source == "!" {
		return source
	}
	if verbatim, ok := strings.CutPrefix(source, "!<"); ok {
		return s.verbatimTag(at, verbatim)
	}
	i := strings.LastIndexByte(source, '!') + 1
	handle, suffix := source[:i], source[i:]
	if suffix == "" {
		s.report(at, "Complete the tag, or quote the value.", "the tag %s has no name", quote(source))
	}
	prefix, known := s.chunk.tags[handle]
	if !known && handle == "!!" {
		prefix, known = coreTag, true
	}
	if !known && handle == "!" {
		return source
	}
	name, err := url.PathUnescape(suffix)
	switch {
	case !known:
		s.report(at, "Declare the handle with a %TAG directive, or quote the value.", "the tag %s has a handle that is not declared", quote(source))
	case err != nil:
		s.report(at, "Correct the escapes.", "the tag %s has a broken escape", quote(source))
	}
	return prefix + name
}

func (s *scanner) verbatimTag(at int, rest string) string {
	name, closed := strings.CutSuffix(rest, ">")
	if !closed {
		s.report(at, `Close the tag with ">".`, "the tag is not closed")
	}
	if name == "!" || name == "!!" {
		s.report(at, "Name the tag.", "a tag in angle brackets has a full name")
	}
	return name
}
