package infer

import (
	"bytes"
	"regexp"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
)

// The scores that a place in prose adds to a command's own.
const (
	inBlock     = 4  // a line of a fenced block
	atStart     = 3  // a list item or table row that begins with it
	afterLabel  = 4  // **Test**: `go test ./...`
	inSentence  = 1  // run `make test` before …
	sameHeading = 3  // under a heading that says the same
	leadComment = 2  // below a comment that says the same
	standIn     = -6 // with a name to fill in, but for the way to run one test
)

func readAgents(at string, data []byte) Reading {
	r := prose(at, data, Agents)
	r.Rules = &Rules{Place: Place{Path: at, Line: 1}, Dir: folder(at)}
	return r
}

func readDocs(at string, data []byte) Reading { return prose(at, data, Docs) }

// prose finds the commands in a text for people or agents: lines of fenced
// shell blocks, and code in sentences that tell one to run it.
func prose(at string, data []byte, origin Origin) Reading {
	p := &proseReader{at: at, src: data, origin: origin, lines: lineStarts(data), dirs: []string{folder(at)}}
	doc := goldmark.New(goldmark.WithExtensions(extension.Table)).Parser().Parse(text.NewReader(data))
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // it returns what we return: no error
		if !entering || len(p.out) >= maxFindings {
			return ast.WalkContinue, nil
		}
		return p.visit(n), nil
	})
	r := Reading{Commands: p.out}
	if p.spans > maxSpans {
		r.Unreadable = "only the first 5,000 pieces of code in its sentences were looked at"
	}
	return r
}

type proseReader struct {
	at      string
	src     []byte
	origin  Origin
	lines   []int
	heading string
	// dirs is the folder that the text is about, and the one that it says the
	// next block is about.
	dirs []string
	from string
	// intro is a paragraph that ends in a colon, which is about what follows it.
	intro string
	// alone tells that a block holds one statement only.
	alone bool
	out   []Command
	// spans counts the pieces of code in sentences that were looked at.
	spans int
}

func (p *proseReader) visit(n ast.Node) ast.WalkStatus {
	switch n := n.(type) {
	case *ast.Heading:
		p.heading = strings.ToLower(p.plain(n))
		p.from, p.intro = "", ""
		return ast.WalkSkipChildren
	case *ast.FencedCodeBlock:
		p.block(n)
		p.from, p.intro = "", ""
		return ast.WalkSkipChildren
	case *ast.TextBlock, *ast.Paragraph:
		p.sentence(n)
		p.intro = introducing(p.plain(n))
		return ast.WalkSkipChildren
	case *extast.TableRow, *extast.TableHeader:
		p.row(n)
		return ast.WalkSkipChildren
	}
	return ast.WalkContinue
}

// dir is the folder that what follows is about.
func (p *proseReader) dir() string {
	if p.from != "" {
		return p.from
	}
	return p.dirs[0]
}

// isShell tells whether a fenced block holds shell; one with no language may.
func isShell(language string) bool {
	switch strings.ToLower(language) {
	case "", "sh", "bash", "shell", "zsh", "console", "shell-session", "terminal", "cmd", "text", "powershell", "pwsh", "ps1", "bat", "batch", "dos", "fish":
		return true
	}
	return false
}

func (p *proseReader) block(n *ast.FencedCodeBlock) {
	if !isShell(string(n.Language(p.src))) || n.Lines().Len() == 0 {
		return
	}
	var b strings.Builder
	for i := range n.Lines().Len() {
		line := n.Lines().At(i)
		b.WriteString(stripPrompt(string(line.Value(p.src))))
	}
	script := b.String()
	first := p.line(n.Lines().At(0).Start)
	raw := strings.Split(script, "\n")
	all := written(script, first)
	p.alone = len(all) == 1
	for _, st := range all {
		lead := p.lead(raw, st.line-first)
		if lead == "" && p.alone {
			lead = p.intro
		}
		p.add(st, inBlock, lead)
	}
	p.alone = false
}

// introducing is a text that ends in a colon, less what it begins with: to
// build, run.
func introducing(text string) string {
	text = strings.ToLower(strings.TrimSpace(text))
	if !strings.HasSuffix(text, ":") || len(text) > maxBefore {
		return ""
	}
	for _, verb := range []string{"to ", "run ", "then ", "the "} {
		text = strings.TrimPrefix(text, verb)
	}
	return text
}

// stripPrompt takes the prompt away that examples of a terminal begin with.
func stripPrompt(line string) string {
	trimmed := strings.TrimLeft(line, " \t")
	for _, prompt := range []string{"$ ", "> ", "% "} {
		if rest, ok := strings.CutPrefix(trimmed, prompt); ok {
			return rest
		}
	}
	return line
}

// lead is the comment above or beside a line of a block.
func (p *proseReader) lead(raw []string, i int) string {
	if i < 0 || i >= len(raw) {
		return ""
	}
	if _, beside, ok := strings.Cut(raw[i], " #"); ok {
		return strings.ToLower(beside)
	}
	for above := i - 1; above >= max(0, i-3); above-- {
		line := strings.TrimSpace(raw[above])
		if comment, ok := strings.CutPrefix(line, "#"); ok {
			return strings.ToLower(comment)
		}
		if line != "" {
			return ""
		}
	}
	return ""
}

var (
	imperative = regexp.MustCompile(`(?i)\b(run|runs|use|uses|using|execute|invoke|via|with|call|type|pass|passes|passing|do)\b[^.;]*$|\b(?:is|are):?\s*$`)
	negation   = regexp.MustCompile(`(?i)\b(not|never|don'?t|avoid|instead of|rather than|without|no longer|deprecated|except|cannot|can't|isn't|replaces?|was)\b[^.;]*$`)
	stand      = regexp.MustCompile(`<[^<>]+>|\bTest(Name|Foo|Func|X+)\b|\bpath/to\b|\byour[-_]|\bfoo\b|\s\.\.\.\s|\[[a-z-]+\]|\{[a-z_]+\}`)
	fromDir    = regexp.MustCompile("(?i)^(?:from|in|inside|within)(?: the)? `([\\w./-]+)`(?: (?:folder|directory))?:?\\s*$")
	label      = regexp.MustCompile(`^[\s*_-]*(\pL[\pL\d /&+,-]{0,40}?)[*_]*\s*(?:\([^)]*\))?\s*[:：—–-]+[*_\s]*(?:(?i:use|run|execute|call)\s*)?$`)
)

// sentence looks at the code in a paragraph or a list item.
func (p *proseReader) sentence(n ast.Node) {
	source := strings.TrimSpace(p.raw(n))
	if m := fromDir.FindStringSubmatch(source); m != nil {
		p.from = join("", strings.Trim(m[1], "/"))
		return
	}
	before := ""
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		code, ok := c.(*ast.CodeSpan)
		if !ok {
			before = ending(before + p.plain(c))
			continue
		}
		p.span(code, before)
		before = ending(before + "`" + p.plain(c) + "`")
	}
}

// maxSpans is how many pieces of code in sentences are looked at in one file.
const maxSpans = 5_000

// maxBefore is how far back a sentence is looked at, in bytes.
const maxBefore = 400

// ending is the end of what was said so far: the sentence that goes on.
func ending(s string) string {
	for _, stop := range []string{". ", "; "} {
		if i := strings.LastIndex(s, stop); i >= 0 {
			s = s[i+2:]
		}
	}
	return s[max(0, len(s)-maxBefore):]
}

// span looks at one piece of code in a sentence, after what stands before it.
func (p *proseReader) span(code *ast.CodeSpan, before string) {
	if p.spans++; p.spans > maxSpans {
		return
	}
	if negation.MatchString(withoutCode(before)) {
		return
	}
	var bonus int
	var lead string
	switch m := label.FindStringSubmatch(before); {
	case strings.Trim(before, " *_-") == "":
		bonus, lead = atStart, p.after(code)
	case m != nil:
		bonus, lead = afterLabel, strings.ToLower(m[1])
	case joins(before) || joins(afterLabelled(before)):
		bonus = atStart - 1
	case imperative.MatchString(withoutCode(before)):
		bonus = inSentence
	default:
		return
	}
	line := p.line(p.offset(code))
	for _, st := range written(p.plain(code), line) {
		st.line = line
		if len(st.calls) == 1 && len(st.calls[0]) == 1 && bonus < atStart && !strings.Contains(st.calls[0][0], "/") {
			continue // the bare name of a program, in passing
		}
		p.add(st, bonus, lead)
	}
}

// joins tells whether what stands before a piece of code is another one and
// a slash, a comma or a word that joins them.
func joins(before string) bool {
	rest := strings.TrimSpace(before)
	if !strings.HasPrefix(rest, "`") {
		return false
	}
	for _, w := range strings.Fields(withoutCode(rest)) {
		if w != "/" && w != "," && w != "or" && w != "and" && w != "|" {
			return false
		}
	}
	return true
}

// afterLabelled is what stands behind a label and its colon, "" without one.
func afterLabelled(before string) string {
	head, rest, ok := strings.Cut(before, ": ")
	if !ok || !label.MatchString(head+":") {
		return ""
	}
	return rest
}

func withoutCode(s string) string {
	parts := strings.Split(s, "`")
	var b strings.Builder
	for i := 0; i < len(parts); i += 2 {
		b.WriteString(parts[i] + " ")
	}
	return b.String()
}

// row looks at a row of a table: a cell that is code and nothing else. The
// other cells say what it is for.
func (p *proseReader) row(n ast.Node) {
	for cell := n.FirstChild(); cell != nil; cell = cell.NextSibling() {
		code, ok := cell.FirstChild().(*ast.CodeSpan)
		if !ok || code.NextSibling() != nil {
			continue
		}
		var lead strings.Builder
		for other := n.FirstChild(); other != nil; other = other.NextSibling() {
			if other != cell {
				lead.WriteString(strings.ToLower(p.plain(other)) + " ")
			}
		}
		line := p.line(p.offset(code))
		for _, st := range written(p.plain(code), line) {
			st.line = line
			p.add(st, atStart, strings.TrimSpace(lead.String()))
		}
	}
}

// plain is the text below a node, code included.
func (p *proseReader) plain(n ast.Node) string {
	var b bytes.Buffer
	_ = ast.Walk(n, func(c ast.Node, entering bool) (ast.WalkStatus, error) { // no error is made
		if t, ok := c.(*ast.Text); ok && entering {
			b.Write(t.Value(p.src))
			if t.SoftLineBreak() || t.HardLineBreak() {
				b.WriteByte(' ')
			}
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}

// raw is a block as it is written.
func (p *proseReader) raw(n ast.Node) string {
	var b strings.Builder
	for i := range n.Lines().Len() {
		l := n.Lines().At(i)
		b.Write(l.Value(p.src))
	}
	return b.String()
}

// after is what follows a piece of code in its block.
func (p *proseReader) after(child ast.Node) string {
	var b strings.Builder
	for c := child.NextSibling(); c != nil && b.Len() < 200; c = c.NextSibling() {
		b.WriteString(p.plain(c))
	}
	return strings.ToLower(b.String())
}

func (p *proseReader) offset(n ast.Node) int {
	if t, ok := n.FirstChild().(*ast.Text); ok {
		return t.Segment.Start
	}
	return 0
}

// lineStarts are the offsets at which lines begin.
func lineStarts(data []byte) []int {
	starts := []int{0}
	for i, c := range data {
		if c == '\n' {
			starts = append(starts, i+1)
		}
	}
	return starts
}

func (p *proseReader) line(offset int) int { return lineAt(p.lines, offset) }

func lineAt(starts []int, offset int) int {
	lo, hi := 0, len(starts)
	for lo < hi {
		mid := (lo + hi) / 2
		if starts[mid] <= offset {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}
