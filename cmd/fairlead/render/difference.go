package render

import (
	"encoding/json"
	"strings"

	"github.com/fairlead-dev/fairlead/catalog/compare"
	"github.com/fairlead-dev/fairlead/catalog/entity"
)

// Comparison is a difference and what was compared.
type Comparison struct {
	*compare.Difference
	// Rev is the revision as written, Commits the commits that it names.
	Rev     string
	Commits []string
	// Files and Entities count what there is now.
	Files, Entities int
}

// base names what was compared with.
func (c *Comparison) base() string {
	short := make([]string, len(c.Commits))
	for i, id := range c.Commits {
		short[i] = Short(id)
	}
	ids := strings.Join(short, ", ")
	rev := Cut(Clean(c.Rev), 60)
	switch {
	case ids == "":
		return rev
	case len(c.Commits) == 1 && strings.HasPrefix(c.Commits[0], rev):
		return ids
	default:
		return rev + " (" + ids + ")"
	}
}

// Difference writes what differs between two states of catalog files.
func (p *Page) Difference(c *Comparison) {
	p.entities("Added", c.Added)
	p.changes("Changed", c.Changed)
	p.changes("Moved to another file", c.Moved)
	p.entities("Removed", c.Removed)
	p.entities("Kept as before, since the file has errors now", c.Stale)
	p.conflicts(c.Conflicts)
	p.relations("Relations broken: the target is removed", c.Relations.Broken)
	p.relations("Relations made", c.Relations.Made)
	p.relations("Relations dropped", c.Relations.Dropped)
	p.relations("Targets not described here: they may be described elsewhere", c.Relations.Unknown)
	p.problems("New problems", c.Problems.New)
	p.problems("Problems fixed", c.Problems.Fixed)
	style := p.Good
	if c.Worse() {
		style = p.Bad
	}
	p.Line(style(c.Summary()), " since ", c.base(), "; now ", Plural(c.Files, "file"), ", ", Entities(c.Entities), " described")
}

// Summary is a difference in one line, what is wrong first.
func (c *Comparison) Summary() string {
	parts := counts([]counted{
		{compare.Count(c.Problems.New, entity.SeverityError), "new error", "new errors"},
		{len(c.Conflicts), "conflict", "conflicts"},
		{len(c.Relations.Broken), "broken relation", "broken relations"},
		{len(c.Added), "entity added", "entities added"},
		{len(c.Changed), "entity changed", "entities changed"},
		{len(c.Moved), "entity moved", "entities moved"},
		{len(c.Removed), "entity removed", "entities removed"},
		{len(c.Stale), "entity kept as before", "entities kept as before"},
		{compare.Count(c.Problems.New, entity.SeverityWarning), "new warning", "new warnings"},
		{len(c.Problems.Fixed), "problem fixed", "problems fixed"},
		{len(c.Problems.Old), "old problem", "old problems"},
	})
	if c.Same() {
		return strings.Join(append([]string{"nothing changes in the catalog"}, parts...), ", ")
	}
	return strings.Join(parts, ", ")
}

type counted struct {
	n         int
	one, many string
}

// counts are the counts that are not zero, in words.
func counts(all []counted) []string {
	var out []string
	for _, c := range all {
		switch c.n {
		case 0:
		case 1:
			out = append(out, "1 "+c.one)
		default:
			out = append(out, count(c.n)+" "+c.many)
		}
	}
	return out
}

// part writes a part of the page, unless it is empty.
func (p *Page) part(title string, n int, write func()) {
	if n == 0 {
		return
	}
	p.Line(p.Bold(title + " (" + count(n) + ")"))
	p.Indented(write)
	p.Line()
}

func (p *Page) entities(title string, all []compare.Entity) {
	p.part(title, len(all), func() {
		rows := make([][]Cell, len(all))
		for i, e := range all {
			rows[i] = Texts(e.Ref, e.Owner, placed(e.Place))
		}
		p.Rows(rows)
	})
}

func placed(at compare.Place) string {
	if at.Line == 0 {
		return at.File
	}
	return at.File + ":" + count(int(at.Line))
}

func (p *Page) changes(title string, all []compare.Change) {
	p.part(title, len(all), func() {
		for i := range all {
			ch := &all[i]
			from := ""
			if ch.From != "" {
				from = ", before in " + ch.From
			}
			p.Line(Clean(ch.Ref), gap, p.Dim(Clean(placed(ch.Place)+from)))
			p.Indented(func() {
				for _, f := range ch.Fields {
					p.Line(Clean(f.Name), p.Dim(": "), Clean(told(f)))
				}
			})
		}
	})
}

// told says how a field changed.
func told(f compare.Field) string {
	was, is := shown(f.Before), shown(f.After)
	switch {
	case f.Before == nil:
		return is + " (new)"
	case f.After == nil:
		return was + " (gone)"
	case was == is:
		return is + " (changed further on)"
	default:
		return was + " → " + is
	}
}

// shown is a value in few words.
func shown(raw json.RawMessage) string {
	const columns = 60
	var s string
	if json.Unmarshal(raw, &s) != nil {
		s = string(raw)
	}
	if s == "" {
		return `""`
	}
	return Cut(Clean(s), columns)
}

func (p *Page) relations(title string, all []compare.Relation) {
	p.part(title, len(all), func() {
		rows := make([][]Cell, len(all))
		for i, r := range all {
			rows[i] = Texts(r.Source, r.Type, r.Target, placed(r.Place))
		}
		p.Rows(rows)
	})
}

func (p *Page) conflicts(all []compare.Conflict) {
	p.part("Conflicts: described more than once", len(all), func() {
		for _, c := range all {
			p.Line(Clean(c.Ref))
			p.Indented(func() {
				rows := make([][]Cell, len(c.Claims))
				for i, cl := range c.Claims {
					rows[i] = Texts(placed(cl.Place), cl.Owner, claimed(cl))
				}
				p.Rows(rows)
			})
		}
	})
}

func claimed(c compare.Claim) string {
	switch {
	case c.Keeps && c.New:
		return "is new and gets the name"
	case c.Keeps:
		return "keeps the name"
	case c.New:
		return "is new and left out"
	default:
		return "stays left out"
	}
}

func (p *Page) problems(title string, all []compare.Problem) {
	p.part(title, len(all), func() {
		for i := range all {
			p.Problem(all[i].Problem, all[i].Owner)
		}
	})
}
