// Package document reads one text of a repository: its front matter, its
// sections by heading, and what sort of document it is. It decides nothing
// about services and callers, and follows no link.
package document

import (
	"bytes"
	"fmt"
	"path"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/fairlead-dev/fairlead/access"
)

// The bounds of what is read of one document.
const (
	// MaxText is how much of a text is read, in bytes; what is beyond it is
	// left out, and Problems says so.
	MaxText = 1 << 20
	// MaxSections is how many headings make sections; what follows belongs to
	// the last one.
	MaxSections = 2000
	// maxField bounds a text of the front matter, maxItems a list, in bytes and
	// items.
	maxField = 500
	maxItems = 50
)

// Kind is what sort of document a text is.
type Kind string

// The kinds of documents, the most official ones first.
const (
	Runbook      Kind = "runbook"      // what to do about an alert or an incident
	Answer       Kind = "answer"       // a question and its verified answer
	Skill        Kind = "skill"        // a SKILL.md, made for agents
	Decision     Kind = "adr"          // an architecture decision
	Rules        Kind = "rules"        // AGENTS.md, CLAUDE.md
	Contributing Kind = "contributing" // CONTRIBUTING.md and its like
	Doc          Kind = "doc"          // a page of documentation
	Readme       Kind = "readme"       // a README
)

// Kinds are all kinds, the most official ones first.
func Kinds() []Kind {
	return []Kind{Runbook, Answer, Skill, Decision, Rules, Contributing, Doc, Readme}
}

// Meta is what a document says of itself, beside its text.
type Meta struct {
	Kind  Kind   `json:"kind"`
	Title string `json:"title"`
	Front
	// Alerts are the names of alerts that the document is about, in the form
	// that AlertKey gives.
	Alerts []string `json:"alerts,omitempty"`
	// Line is where the text begins, after the front matter.
	Line int `json:"line"`
	// Problems say what was not understood or left out.
	Problems []string `json:"problems,omitempty"`
}

// Front is what front matter may say.
type Front struct {
	Question      string   `json:"question,omitempty"`
	Description   string   `json:"description,omitempty"`
	AppliesTo     []string `json:"appliesTo,omitempty"`
	Versions      []string `json:"versions,omitempty"`
	Environments  []string `json:"environments,omitempty"`
	VerifyCommand string   `json:"verifyCommand,omitempty"`
	AllowedTools  []string `json:"allowedTools,omitempty"`
	Owner         string   `json:"owner,omitempty"`
	Status        string   `json:"status,omitempty"`
	SupersededBy  string   `json:"supersededBy,omitempty"`
	// LastVerified and Expires are days or moments; zero where they are not
	// said.
	LastVerified time.Time `json:"lastVerified,omitzero"`
	Expires      time.Time `json:"expires,omitzero"`
}

// Section is a heading and what stands under it, up to the next heading. The
// first section of a document may have no heading.
type Section struct {
	Heading string `json:"heading,omitempty"`
	// Anchor names the section within its document, "" for what stands before
	// the first heading.
	Anchor string `json:"anchor,omitempty"`
	// Level is that of the heading, 1 to 6; 0 for what stands before the first.
	Level int `json:"level,omitempty"`
	// Role is what a section of a runbook is for, "" for none of the four.
	Role Role `json:"role,omitempty"`
	// Line is where the heading stands in the file.
	Line int `json:"line"`
	// Start and End are the section's own text within Document.Text.
	Start int `json:"start"`
	End   int `json:"end"`
}

// Document is a text that has been read. Secrets in it are masked.
type Document struct {
	Meta
	Sections []Section
	Text     string
}

// Read reads the text of a file. at is its path in the repository, with
// forward slashes. What is no text gives a document without text that says so.
func Read(at string, data []byte) *Document {
	d := &Document{}
	if len(data) > MaxText {
		d.problem("only the first MiB of %d bytes was read", len(data))
		data = cutAtLine(data[:MaxText])
	}
	if !isText(data) {
		d.problem("the file is no text")
		d.name(at)
		return d
	}
	data = bytes.ReplaceAll(bytes.TrimPrefix(data, []byte("\uFEFF")), []byte("\r\n"), []byte("\n"))
	front, body, line := splitFront(data)
	d.Line = line
	f := d.readFront(front)
	d.split(body, line)
	d.classify(at, f)
	d.name(at)
	return d
}

// TooLarge is the document of a file that cannot be read for its size.
func TooLarge(at string) *Document {
	d := &Document{}
	d.problem("the file is too large to be read")
	d.classify(at, nil)
	d.name(at)
	return d
}

func (d *Document) problem(format string, args ...any) {
	if len(d.Problems) < 10 {
		d.Problems = append(d.Problems, fmt.Sprintf(format, args...))
	}
}

func cutAtLine(data []byte) []byte {
	if i := bytes.LastIndexByte(data, '\n'); i > 0 {
		return data[:i+1]
	}
	for len(data) > 0 && !utf8.Valid(data[len(data)-min(4, len(data)):]) {
		data = data[:len(data)-1]
	}
	return data
}

// isText tells text from what a program wrote for programs.
func isText(data []byte) bool {
	return utf8.Valid(data) && bytes.IndexByte(data, 0) < 0
}

// name gives the document its title, and the alerts that it is about.
func (d *Document) name(at string) {
	stem := strings.TrimSuffix(path.Base(at), path.Ext(at))
	if d.Title == "" {
		d.Title = d.Question
	}
	for _, s := range d.Sections {
		if d.Title != "" {
			break
		}
		if s.Level > 0 && s.Role == "" {
			d.Title = s.Heading
		}
	}
	if d.Title == "" {
		d.Title = stem
	}
	d.Title = oneLine(access.Redact(d.Title), maxField)
	if d.Kind != Runbook {
		return
	}
	for _, n := range []string{d.Title, stem} {
		if key := AlertKey(n); key != "" && !contains(d.Alerts, key) {
			d.Alerts = append(d.Alerts, key)
		}
	}
}

// AlertKey reduces the name of an alert, the title of its runbook or the name
// of the file to what they have in common: letters and digits in lower case.
func AlertKey(name string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(name) {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r > 127 {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func contains(list []string, s string) bool {
	for _, l := range list {
		if l == s {
			return true
		}
	}
	return false
}

// oneLine puts a text on one line of at most n bytes.
func oneLine(s string, n int) string {
	if len(s) > 4*n {
		s = s[:4*n]
	}
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "")), " ")
	if len(s) > n {
		s = strings.ToValidUTF8(s[:n], "") + "…"
	}
	return s
}
