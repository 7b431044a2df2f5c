package render

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/fairlead-dev/fairlead/catalog/compare"
)

const (
	// commentMark lets a later run find the comment of an earlier one.
	commentMark = "<!-- fairlead catalog check -->"
	// maxComment bounds a comment in bytes: forges refuse longer ones.
	maxComment = 60_000
	// openRows is how many rows a table has before it is folded.
	openRows = 15
	// maxWords is how many columns of a text a comment shows.
	maxWords = 160
)

// Comment writes a difference as Markdown for a pull request: one line that
// sums up, then tables, long ones folded. Texts from files are shown as code,
// so that none of them can be markup, link or call anybody. What does not fit
// is counted.
func Comment(w io.Writer, c *Comparison) error {
	b := &comment{}
	sign := "✅"
	if c.Worse() {
		sign = "❌"
	}
	b.line("%s **Catalog: %s** since %s", sign, c.Summary(), code(c.base()))
	b.problems("New problems", c.Problems.New, true)
	b.conflicts(c.Conflicts)
	b.relations("Broken relations", "What they name is removed by this change.", c.Relations.Broken, true)
	b.entities("Added", "", c.Added)
	b.changes("Changed", c.Changed)
	b.entities("Removed", "", c.Removed)
	b.entities("Kept as before", "Their file has errors now, so the catalog keeps what it said before.", c.Stale)
	b.relations("Not described here", "Owners and other entities that this change names. They may be described elsewhere in the catalog.", c.Relations.Unknown, false)
	b.relations("New relations", "", c.Relations.Made, false)
	b.relations("Dropped relations", "", c.Relations.Dropped, false)
	b.changes("Moved to another file", c.Moved)
	b.problems("Fixed problems", c.Problems.Fixed, false)
	if b.left > 0 {
		b.line("\n%s more in all that did not fit: run `fairlead catalog check --diff` for everything.", Plural(b.left, "row"))
	}
	b.line("\n%s", commentMark)
	_, err := io.WriteString(w, b.text.String())
	return err
}

// comment is Markdown that is being written.
type comment struct {
	text strings.Builder
	// left counts the rows that did not fit.
	left int
}

func (b *comment) line(format string, args ...any) {
	fmt.Fprintf(&b.text, format+"\n", args...)
}

// table writes a table below a title, folded unless it is open or short.
func (b *comment) table(title, text string, headers []string, rows [][]string, open bool) {
	if len(rows) == 0 {
		return
	}
	folded := !open || len(rows) > openRows
	if folded {
		b.line("\n<details><summary><b>%s</b> (%d)</summary>\n", title, len(rows))
	} else {
		b.line("\n**%s** (%d)\n", title, len(rows))
	}
	if text != "" {
		b.line("%s\n", text)
	}
	b.line("| %s |", strings.Join(headers, " | "))
	b.line("|%s", strings.Repeat(" --- |", len(headers)))
	left := b.left
	for _, row := range rows {
		line := "| " + strings.Join(row, " | ") + " |"
		if b.text.Len()+len(line) > maxComment {
			b.left++
			continue
		}
		b.line("%s", line)
	}
	if n := b.left - left; n > 0 {
		b.line("\n… and %d more.", n)
	}
	if folded {
		b.line("\n</details>")
	}
}

func (b *comment) entities(title, text string, all []compare.Entity) {
	rows := make([][]string, len(all))
	for i, e := range all {
		rows[i] = []string{code(e.Ref), code(e.Title), code(e.Owner), code(placed(e.Place))}
	}
	b.table(title, text, []string{"Entity", "Title", "Owner", "Where"}, rows, len(all) <= openRows)
}

func (b *comment) changes(title string, all []compare.Change) {
	rows := make([][]string, len(all))
	for i := range all {
		ch := &all[i]
		var what []string
		if ch.From != "" {
			what = append(what, "moved from "+code(ch.From))
		}
		for _, f := range ch.Fields {
			what = append(what, code(f.Name)+": "+codeChange(f))
		}
		rows[i] = []string{code(ch.Ref), firstFew(what), code(placed(ch.Place))}
	}
	b.table(title, "", []string{"Entity", "What", "Where"}, rows, len(all) <= openRows)
}

// firstFew puts lines into one cell, and counts those that are too many.
func firstFew(lines []string) string {
	const few = 12
	if n := len(lines) - few; n > 0 {
		lines = append(lines[:few:few], fmt.Sprintf("and %d more", n))
	}
	return strings.Join(lines, "<br>")
}

// codeChange says how a field changed.
func codeChange(f compare.Field) string {
	was, is := shown(f.Before), shown(f.After)
	switch {
	case f.Before == nil:
		return "new, " + code(is)
	case f.After == nil:
		return "gone, was " + code(was)
	case was == is:
		return code(is) + " changed further on"
	default:
		return code(was) + " → " + code(is)
	}
}

func (b *comment) relations(title, text string, all []compare.Relation, open bool) {
	rows := make([][]string, len(all))
	for i, r := range all {
		rows[i] = []string{code(r.Source), code(r.Type), code(r.Target), code(placed(r.Place))}
	}
	b.table(title, text, []string{"Entity", "Relation", "Target", "Where"}, rows, open)
}

func (b *comment) conflicts(all []compare.Conflict) {
	rows := make([][]string, len(all))
	for i, c := range all {
		var claims []string
		for _, cl := range c.Claims {
			owner := ""
			if cl.Owner != "" {
				owner = " of " + code(cl.Owner)
			}
			claims = append(claims, code(placed(cl.Place))+owner+" "+claimed(cl))
		}
		rows[i] = []string{code(c.Ref), firstFew(claims)}
	}
	b.table("Conflicts", "These entities are described more than once; one description counts.", []string{"Entity", "Descriptions"}, rows, true)
}

func (b *comment) problems(title string, all []compare.Problem, open bool) {
	rows := make([][]string, len(all))
	for i, p := range all {
		rows[i] = []string{string(p.Severity), code(placed(compare.Place{File: p.File, Line: p.Line})), code(p.Message), code(p.Fix), code(p.Owner)}
	}
	b.table(title, "", []string{"", "Where", "What", "Fix", "Owner"}, rows, open)
}

// code shows a text from a file as code. Within a code span all but three
// signs stand for themselves, even in a table; a text with one of those is
// written in character references, of which nothing can be markup.
func code(s string) string {
	s = strings.TrimSpace(Cut(Clean(strings.ToValidUTF8(s, "\ufffd")), maxWords))
	if s == "" {
		return ""
	}
	if !strings.ContainsAny(s, "`|\\") {
		return "`" + s + "`"
	}
	var b strings.Builder
	b.WriteString("<code>")
	for _, r := range s {
		if r == ' ' || r >= utf8.RuneSelf || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, "&#%d;", r)
		}
	}
	b.WriteString("</code>")
	return b.String()
}
