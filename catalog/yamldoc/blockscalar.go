package yamldoc

import (
	"bytes"
	"strings"
)

// header is what the line of "|" or ">" says.
type header struct {
	folded bool
	chomp  byte // '+', '-' or 0
	indent int  // beyond that of the parent; 0 is that of the first line
}

// block reads a block scalar: its header and its lines.
func (s *scanner) block(c byte) {
	at := s.pos
	h := s.header(c)
	s.emit('"', at)
	n := len(s.marks) - 1
	s.blanks(0)
	if s.pos < len(s.text) && s.text[s.pos] == '#' {
		s.comment()
	} else if s.pos < len(s.text) && s.breakAt(s.pos) == 0 {
		s.report(s.pos, "Put the text on the lines below, or quote it.", "nothing but a comment can stand behind %q on its line", c)
		s.skipLine()
	}
	s.newline()
	text := s.blockText(h)
	s.out = append(s.out, '"')
	s.out = appendInt(s.out, len(s.scalars))
	s.out = append(s.out, '"')
	s.scalars = append(s.scalars, scalar{text: text, style: c, at: s.marks[n].at})
	s.startLine()
}

func (s *scanner) skipLine() {
	for s.pos < len(s.text) && s.breakAt(s.pos) == 0 {
		s.pos++
	}
}

// header reads the indicators behind "|" or ">".
func (s *scanner) header(c byte) header {
	h := header{folded: c == '>'}
	s.pos++
	for ; !s.blankAt(s.pos) && s.text[s.pos] != '#'; s.pos++ {
		switch d := s.text[s.pos]; {
		case h.chomp == 0 && (d == '+' || d == '-'):
			h.chomp = d
		case h.indent == 0 && d >= '1' && d <= '9':
			h.indent = int(d - '0')
		default:
			s.report(s.pos, `Write one of + and -, one digit from 1 to 9, or nothing; or quote the text.`, "%q cannot stand behind %q", rune(d), c)
			s.skipHeader()
			return h
		}
	}
	return h
}

func (s *scanner) skipHeader() {
	for !s.blankAt(s.pos) && s.text[s.pos] != '#' {
		s.pos++
	}
}

// blockLine is one line of a block scalar: how many spaces it starts with and
// what follows them.
type blockLine struct {
	indent int
	text   []byte
}

func (l blockLine) empty() bool { return len(l.text) == 0 || len(l.text) == 1 && l.text[0] == '\r' }

// blockText reads the lines that belong to the block scalar.
func (s *scanner) blockText(h header) string {
	parent := max(s.deeper-1, 0)
	start := s.pos
	first := s.firstIndent()
	end := s.blockEnd(h, first)
	lines := splitBlock(s.text[start:end])
	if s.tabBelow(end) {
		s.pass(end)
		s.spaces()
		s.reportTab(s.pos)
		return ""
	}
	if h.chomp != '+' {
		lines = dropTrailing(lines, first)
	}
	b := block{header: h, lines: lines, trim: parent + h.indent, last: len(lines)}
	text := b.text()
	if b.bad >= 0 {
		s.reportBlock(h, &b)
	}
	s.pass(end)
	return text
}

func (s *scanner) reportBlock(h header, b *block) {
	p := s.place(s.pos)
	p.Line, p.Column = p.Line+uint32(b.bad), uint32(b.lines[b.bad].indent)+1
	fix, message := "Indent the line like the first one.", "the line is indented less than the block of text that it belongs to"
	if h.indent == 0 {
		fix, message = "Take the spaces out of the blank lines before it, or say the indentation behind the indicator, as in |2.",
			"the first line of the text is indented less than a blank line before it"
	}
	if len(s.problems) < maxProblems {
		s.problems = append(s.problems, problemAt(p, fix, "%s", message))
	}
}

// firstIndent is the indentation of the first line with content.
func (s *scanner) firstIndent() int {
	i := s.pos
	for {
		start := i
		for i < len(s.text) && s.text[i] == ' ' {
			i++
		}
		n := s.breakAt(i)
		if n == 0 {
			return i - start
		}
		i += n
	}
}

// blockEnd is where the lines of the block end.
func (s *scanner) blockEnd(h header, first int) int {
	if first < s.deeper {
		return s.blankLines()
	}
	switch {
	case h.indent == 0:
		s.deeper = first
	case s.deeper == 0:
		s.deeper = h.indent
	default:
		s.deeper += h.indent - 1
	}
	i := s.pos
	for i < len(s.text) {
		next, more := s.goesOn(i)
		if !more {
			return i
		}
		n := bytes.IndexByte(s.text[next:], '\n')
		if n < 0 {
			return len(s.text)
		}
		i = next + n + 1
	}
	return i
}

// blankLines is where the blank lines at the position end.
func (s *scanner) blankLines() int {
	end := s.pos
	for i := s.pos; i < len(s.text); {
		for i < len(s.text) && s.text[i] == ' ' {
			i++
		}
		n := s.breakAt(i)
		if n == 0 {
			break
		}
		i += n
		end = i
	}
	return end
}

// tabBelow says whether the text behind a block scalar begins with a tab that
// stands where indentation should.
func (s *scanner) tabBelow(i int) bool {
	for i < len(s.text) && s.text[i] == ' ' {
		i++
	}
	return i < len(s.text) && s.text[i] == '\t'
}

func splitBlock(text []byte) []blockLine {
	lines := make([]blockLine, 0, bytes.Count(text, []byte{'\n'})+1)
	for {
		n := bytes.IndexByte(text, '\n')
		line := text
		if n >= 0 {
			line = text[:n]
		}
		rest := bytes.TrimLeft(line, " ")
		lines = append(lines, blockLine{indent: len(line) - len(rest), text: rest})
		if n < 0 {
			return lines
		}
		text = text[n+1:]
	}
}

// dropTrailing leaves out blank lines at the end that are not indented more
// than the text.
func dropTrailing(lines []blockLine, indent int) []blockLine {
	n := len(lines)
	for n > 1 && lines[n-1].empty() && lines[n-1].indent <= indent {
		n--
	}
	return lines[:n]
}

// block makes the text of the lines.
type block struct {
	header
	lines []blockLine
	trim  int // spaces that belong to the indentation
	last  int // behind the last line of content
	bad   int // the first line that is indented too little, -1 none
	out   strings.Builder
}

func (b *block) text() string {
	b.bad = -1
	for b.last > 0 && b.lines[b.last-1].empty() {
		b.last--
	}
	if b.last == 0 {
		return b.onlyBlank()
	}
	first := b.findFirst()
	for i := len(b.lines) - 1; i >= b.last; i-- {
		if b.lines[i].indent > b.trim {
			b.last = i + 1
		}
	}
	for i := range first {
		b.spaces(i)
		b.out.WriteByte('\n')
	}
	if b.folded {
		b.fold(first)
	} else {
		b.literal(first)
	}
	b.finish()
	return b.out.String()
}

func (b *block) onlyBlank() string {
	if b.chomp == '+' && len(b.lines) > 0 && (len(b.lines) != 1 || b.lines[0].indent != 0 || len(b.lines[0].text) != 0) {
		return strings.Repeat("\n", max(1, len(b.lines)-1))
	}
	return ""
}

// findFirst finds the first line with content and sets the indentation.
func (b *block) findFirst() int {
	for i, l := range b.lines {
		if l.empty() {
			if b.indent == 0 && l.indent > b.trim {
				b.trim = l.indent
			}
			continue
		}
		if l.indent < b.trim {
			b.bad = i
		}
		if b.indent == 0 {
			b.trim = l.indent
		}
		return i
	}
	return len(b.lines)
}

// spaces writes what a line has of spaces beyond the indentation.
func (b *block) spaces(i int) {
	for n := b.lines[i].indent; n > b.trim; n-- {
		b.out.WriteByte(' ')
	}
}

// content is a line without the CR of its line break.
func (b *block) content(i int) []byte {
	l := b.lines[i]
	text := bytes.TrimSuffix(l.text, []byte{'\r'})
	if len(text) > 0 && l.indent < b.trim && b.bad < 0 {
		b.bad = i
	}
	return text
}

func (b *block) literal(first int) {
	for i := first; i < b.last; i++ {
		if i > first {
			b.out.WriteByte('\n')
		}
		text := b.content(i)
		b.spaces(i)
		b.out.Write(text)
	}
}

// fold joins lines, but for those that are indented more.
func (b *block) fold(first int) {
	sep, wasMore := "", false
	for i := first; i < b.last; i++ {
		text := b.content(i)
		switch more := b.lines[i].indent > b.trim || len(text) > 0 && text[0] == '\t'; {
		case more:
			if sep == " " {
				sep = "\n"
			} else if !wasMore && sep == "\n" {
				sep = "\n\n"
			}
			b.out.WriteString(sep)
			b.spaces(i)
			b.out.Write(text)
			sep, wasMore = "\n", true
		case len(text) == 0:
			if sep == "\n" {
				b.out.WriteByte('\n')
			}
			sep = "\n"
		default:
			b.out.WriteString(sep)
			b.out.Write(text)
			sep, wasMore = " ", false
		}
	}
}

// finish writes the line breaks at the end.
func (b *block) finish() {
	switch b.chomp {
	case '-':
	case '+':
		end := b.last == 0
		for i := b.last; i < len(b.lines); i++ {
			b.out.WriteByte('\n')
			b.spaces(i)
			end = b.lines[i].indent <= b.trim
		}
		if !end {
			b.out.WriteByte('\n')
		}
	default:
		b.out.WriteByte('\n')
	}
}
