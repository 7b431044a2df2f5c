package document

import (
	"bytes"
	"strconv"
	"strings"
	"unicode"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/fairlead-dev/fairlead/access"
)

// maxOpening is how many bytes of a line may indent it, and open quotes and
// lists, before the text is taken for hostile and its headings are found line
// by line.
const maxOpening = 200

// mark is a heading in the text that was read.
type mark struct {
	heading     string
	level       int
	start, body int // of its first line, and of what follows it
}

// split makes sections of a text that begins at a line of its file.
func (d *Document) split(body []byte, line int) {
	marks := headings(body)
	if len(marks) > MaxSections {
		d.problem("only the first %d of %d headings make sections", MaxSections, len(marks))
		marks = marks[:MaxSections]
	}
	if len(marks) == 0 || marks[0].start > 0 {
		marks = append([]mark{{}}, marks...)
	}
	var out strings.Builder
	anchors := map[string]int{}
	at := 0
	for i, m := range marks {
		line += bytes.Count(body[at:m.start], []byte("\n"))
		at = m.start
		end := len(body)
		if i+1 < len(marks) {
			end = marks[i+1].start
		}
		s := Section{Heading: oneLine(access.Redact(m.heading), 200), Level: m.level, Line: line, Start: out.Len()}
		if m.level > 1 || i > 0 && marks[i-1].level > 0 { // else it is the title
			s.Role = roleOf(m.heading)
		}
		if m.level > 0 {
			s.Anchor = anchor(s.Heading, anchors)
		}
		out.WriteString(access.Redact(string(body[m.start:end])))
		s.End = out.Len()
		if m.level > 0 || strings.TrimSpace(string(body[m.start:end])) != "" || len(marks) == 1 {
			d.Sections = append(d.Sections, s)
		}
	}
	d.Text = out.String()
}

// headings finds the headings of a text, as Markdown has them.
func headings(src []byte) []mark {
	if nested(src) {
		return plainHeadings(src)
	}
	doc := parser.NewParser(parser.WithBlockParsers(blocks()...)).Parse(text.NewReader(src))
	var out []mark
	for n := doc.FirstChild(); n != nil; n = n.NextSibling() {
		h, ok := n.(*ast.Heading)
		if !ok || h.Lines().Len() == 0 {
			continue
		}
		first, last := h.Lines().At(0), h.Lines().At(h.Lines().Len()-1)
		var title []byte
		for i := range h.Lines().Len() {
			l := h.Lines().At(i)
			title = append(append(title, l.Value(src)...), ' ')
		}
		start := bytes.LastIndexByte(src[:first.Start], '\n') + 1
		out = append(out, mark{plain(string(title)), h.Level, start, last.Stop})
	}
	return out
}

// blocks are the parsers of blocks; what is within lines does not matter here.
func blocks() []util.PrioritizedValue { return parser.DefaultBlockParsers() }

// nested tells whether a line opens more quotes and lists than any person
// would write, or is as deep in them. Rules and tables are drawn with the same
// signs.
func nested(src []byte) bool {
	for line := range bytes.Lines(src) {
		rest := bytes.TrimLeft(line, " \t>*+-0123456789.)")
		opening := line[:len(line)-len(rest)]
		if len(opening) > maxOpening && len(bytes.Trim(opening, "-")) > 0 && len(bytes.Trim(opening, "*")) > 0 {
			return true
		}
	}
	return false
}

// plainHeadings finds the lines that begin with # outside of fences.
func plainHeadings(src []byte) []mark {
	var out []mark
	fenced := false
	at := 0
	for line := range bytes.Lines(src) {
		trimmed := bytes.TrimRight(line, "\r\n")
		level := len(trimmed) - len(bytes.TrimLeft(trimmed, "#"))
		switch {
		case bytes.HasPrefix(trimmed, []byte("```")):
			fenced = !fenced
		case !fenced && level > 0 && level <= 6 && len(trimmed) > level && trimmed[level] == ' ':
			out = append(out, mark{plain(string(trimmed[level:])), level, at, at + len(line)})
		}
		at += len(line)
	}
	return out
}

// plain is the text of a heading without its marks.
func plain(s string) string {
	s = strings.TrimSpace(s)
	if i := strings.LastIndex(s, "{#"); i > 0 && strings.HasSuffix(s, "}") {
		s = strings.TrimSpace(s[:i])
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '`', '*':
		case '[', ']':
			if s[i] == ']' && i+1 < len(s) && s[i+1] == '(' {
				if end := strings.IndexByte(s[i:], ')'); end > 0 {
					i += end
				}
			}
		default:
			b.WriteByte(s[i])
		}
	}
	return strings.TrimSpace(strings.TrimRight(strings.TrimSpace(b.String()), "#"))
}

// anchor is the name of a section as forges make it, told apart from earlier
// ones of the same name.
func anchor(heading string, seen map[string]int) string {
	var b strings.Builder
	for _, r := range strings.ToLower(heading) {
		switch {
		case unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || r == '-':
			b.WriteRune(r)
		case r == ' ':
			b.WriteByte('-')
		}
	}
	name := b.String()
	if name == "" {
		name = "section"
	}
	n := seen[name]
	seen[name]++
	if n > 0 {
		name += "-" + strconv.Itoa(n)
		seen[name]++
	}
	return name
}
