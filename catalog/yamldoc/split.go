package yamldoc

import (
	"bytes"
	"maps"
	"regexp"
	"strings"

	"github.com/fairlead-dev/fairlead/catalog/entity"
)

// chunk is the part of a file that one document takes.
type chunk struct {
	text     []byte          // from the "---", or the first content where there is none
	line     uint32          // the number of the first line of text
	at       entity.Position // of the content
	explicit bool            // it starts with "---"
	ascii    bool            // text holds no other characters
	old      bool            // read as YAML 1.1
	tags     map[string]string
	problems []entity.Problem
}

// splitter cuts a file at its document markers, which end whatever they stand
// in, and keeps account of directives as the reference parser does: those of
// YAML 1.1 hold until others come.
type splitter struct {
	text []byte
	pos  int
	line uint32 // of pos
	old  bool
	tags map[string]string
	// stale says that the next directive starts anew.
	stale bool
	ascii bool
	// directive is where a directive stands that no "---" has followed yet.
	directive entity.Position
	problems  []entity.Problem
}

func newSplitter(text []byte) *splitter {
	return &splitter{text: text, line: 1, ascii: isASCII(text)}
}

// lineAt is the line that starts at i, without its end, and where the next one
// starts.
func (s *splitter) lineAt(i int) ([]byte, int) {
	n := bytes.IndexByte(s.text[i:], '\n')
	if n < 0 {
		return s.text[i:], len(s.text)
	}
	return bytes.TrimSuffix(s.text[i:i+n], []byte{'\r'}), i + n + 1
}

// marker says whether a line is a document marker of the given kind.
func marker(line []byte, c byte) bool {
	if len(line) < 3 || line[0] != c || line[1] != c || line[2] != c {
		return false
	}
	return len(line) == 3 || isBlank(line[3])
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// emptyLine says whether a line holds nothing but blanks and a comment.
func emptyLine(line []byte) bool {
	rest := bytes.TrimLeft(line, " \t")
	return len(rest) == 0 || rest[0] == '#'
}

// next is the next document, false at the end of the file.
func (s *splitter) next() (*chunk, bool) {
	for s.pos < len(s.text) {
		s.dropMark()
		line, after := s.lineAt(s.pos)
		switch {
		case len(line) > 0 && line[0] == '%':
			s.addDirective(string(line))
		case emptyLine(line):
		case marker(line, '.'):
			return s.end(), true
		default:
			return s.document(), true
		}
		s.pos, s.line = after, s.line+1
	}
	return nil, false
}

// dropMark leaves out a byte order mark before a document.
func (s *splitter) dropMark() {
	if bytes.HasPrefix(s.text[s.pos:], []byte("\ufeff")) {
		s.pos += len("\ufeff")
	}
}

// end is the document that a "..." ends: an empty one, as one with content has
// taken the line itself.
func (s *splitter) end() *chunk {
	c := s.open()
	s.close(c)
	s.closeDocument()
	return c
}

// open starts a document at pos.
func (s *splitter) open() *chunk {
	line, _ := s.lineAt(s.pos)
	c := &chunk{line: s.line, explicit: marker(line, '-'), ascii: s.ascii, problems: s.problems}
	c.at = entity.Position{Line: s.line, Column: 1}
	if !c.explicit && s.directive.Line > 0 {
		c.problems = append(c.problems, problemAt(s.directive, `Put a line "---" behind the directive.`,
			`the directive is not followed by a "---" line`))
	}
	s.problems, s.directive = nil, entity.Position{}
	return c
}

// close takes account of the directives that hold for a document.
func (s *splitter) close(c *chunk) {
	c.old, c.tags = s.old, s.tags
	if s.old {
		s.stale = true
	} else {
		s.tags = nil
	}
}

// document cuts out the document that starts at pos.
func (s *splitter) document() *chunk {
	c, start := s.open(), s.pos
	_, after := s.lineAt(start)
	for {
		s.pos, s.line = after, s.line+1
		if s.pos >= len(s.text) {
			break
		}
		var line []byte
		line, after = s.lineAt(s.pos)
		if marker(line, '-') || marker(line, '.') {
			break
		}
	}
	c.text = s.text[start:s.pos]
	s.close(c)
	if s.pos < len(s.text) && s.text[s.pos] == '.' {
		if p := s.closeDocument(); p != nil {
			c.problems = append(c.problems, *p)
		}
	}
	return c
}

// closeDocument passes the "..." that ends a document; a problem if something
// stands behind it.
func (s *splitter) closeDocument() *entity.Problem {
	line, after := s.lineAt(s.pos)
	defer func() { s.pos, s.line = after, s.line+1 }()
	if emptyLine(line[3:]) {
		return nil
	}
	p := problemAt(entity.Position{Line: s.line, Column: 5}, "Put it on a line of its own.", `nothing can stand behind "..." on its line`)
	return &p
}

var versionForm = regexp.MustCompile(`^\d+\.\d+$`)

func (s *splitter) addDirective(line string) {
	at := entity.Position{Line: s.line, Column: 1}
	s.directive = at
	if s.stale {
		s.tags, s.stale = nil, false
	}
	parts := strings.FieldsFunc(withoutComment(line), func(r rune) bool { return r == ' ' || r == '\t' })
	switch parts[0] {
	case "%TAG":
		s.addTag(at, parts[1:])
	case "%YAML":
		s.setVersion(at, parts[1:])
	}
}

func withoutComment(line string) string {
	for i := 1; i < len(line); i++ {
		if line[i] == '#' && (line[i-1] == ' ' || line[i-1] == '\t') {
			return line[:i]
		}
	}
	return line
}

func (s *splitter) addTag(at entity.Position, parts []string) {
	if len(parts) != 2 {
		s.problems = append(s.problems, problemAt(at, "Write %TAG, a handle and a prefix.", "a %%TAG directive has two parts, this one has %d", len(parts)))
	}
	if len(parts) < 2 {
		return
	}
	tags := maps.Clone(s.tags)
	if tags == nil {
		tags = map[string]string{}
	}
	tags[parts[0]] = parts[1]
	s.tags = tags
}

func (s *splitter) setVersion(at entity.Position, parts []string) {
	switch {
	case len(parts) != 1:
		s.problems = append(s.problems, problemAt(at, "Write %YAML 1.2.", "a %%YAML directive has one part, this one has %d", len(parts)))
	case parts[0] == "1.1" || parts[0] == "1.2":
		s.old = parts[0] == "1.1"
	case !versionForm.MatchString(parts[0]):
		s.problems = append(s.problems, problemAt(at, "Write %YAML 1.2.", "%s is not a version of YAML", quote(parts[0])))
	}
}
