package render

import (
	"cmp"
	"strings"
	"time"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/catalog/entity"
)

// Hits writes what a search found, best first.
func (p *Page) Hits(hits []catalog.SearchHit) {
	rows := make([][]Cell, len(hits))
	for i, h := range hits {
		rows[i] = Texts(h.Ref, h.Type, h.Owner, cmp.Or(h.Description, h.Title))
	}
	p.Table([]string{"REF", "TYPE", "OWNER", "DESCRIPTION"}, rows)
}

// Errors writes problems with where they are, how to put them right, whom
// they concern and since when they are there.
func (p *Page) Errors(items []catalog.IngestionError) {
	source := ""
	for i, it := range items {
		if i == 0 || it.Source != source {
			if i > 0 {
				p.Line()
			}
			source = it.Source
			p.Line(p.Bold("source " + Clean(source)))
		}
		p.Indented(func() {
			p.Problem(it.Problem, it.Owner)
			if !it.FirstSeen.At.IsZero() {
				p.Line("    ", p.Dim("since: "+p.sighting(it.FirstSeen)))
			}
		})
	}
}

// Problem writes one problem: its place and what is wrong on one line, then
// how to put it right and whom it concerns.
func (p *Page) Problem(pr entity.Problem, owner string) {
	place := Clean(pr.File)
	if pr.Line > 0 {
		place += ":" + count(int(pr.Line)) + ":" + count(int(max(pr.Column, 1)))
	}
	severity := p.Bad("error:")
	if pr.Severity == entity.SeverityWarning {
		severity = p.Warn("warning:")
	}
	if place != "" {
		place = p.Bold(place+":") + " "
	}
	p.Line(place, severity, " ", Clean(pr.Message))
	if pr.Fix != "" {
		p.Line("    ", p.Dim("fix:   "), Clean(pr.Fix))
	}
	if about := strings.TrimSpace(owner + "  " + pr.Ref); owner != "" {
		p.Line("    ", p.Dim("owner: "), Clean(about))
	}
}

func (p *Page) sighting(s catalog.Sighting) string {
	out := p.Age(s.At)
	if s.Commit != "" {
		out += ", commit " + Short(s.Commit)
	}
	return out
}

// Sources writes how each source is doing.
func (p *Page) Sources(items []catalog.SourceStatus) {
	rows := make([][]Cell, len(items))
	for i, s := range items {
		state := Cell{s.State, p.Warn}
		switch s.State {
		case "ok":
			state.Style = p.Good
		case "failing":
			state.Style = p.Bad
		}
		rows[i] = append([]Cell{{s.Name, nil}, {s.Type, nil}, state},
			Texts(count(s.Entities), count(s.Files), count(s.Problems), p.Age(s.Checked.At), Short(s.Commit), s.URL)...)
	}
	p.Table([]string{"NAME", "TYPE", "STATE", "ENTITIES", "FILES", "PROBLEMS", "CHECKED", "COMMIT", "URL"}, rows)
	for _, s := range items {
		if s.Error == "" {
			continue
		}
		p.Line()
		p.Line(p.Bold(Clean(s.Name)+":"), " ", p.Bad(Clean(s.Error)))
		if s.Fix != "" {
			p.Line("    ", p.Dim("fix: "), Clean(s.Fix))
		}
	}
}

// Audit writes acts, newest first.
func (p *Page) Audit(items []access.Entry) {
	rows := make([][]Cell, len(items))
	for i, e := range items {
		status := Cell{string(e.Status), p.Warn}
		switch e.Status {
		case access.StatusOK:
			status.Style = p.Good
		case access.StatusFailed, access.StatusRefused:
			status.Style = p.Bad
		}
		rows[i] = []Cell{{when(e.Time), nil}, {string(e.Action), nil}, {e.Target, nil}, {cmp.Or(e.Subject, "(anonymous)"), nil},
			{e.Agent, nil}, status, {e.Took, nil}, {e.Message, nil}}
	}
	p.Table([]string{"TIME", "ACTION", "TARGET", "SUBJECT", "AGENT", "STATUS", "TOOK", "MESSAGE"}, rows)
}

// when is a time to the second.
func when(text string) string {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return text
	}
	return t.UTC().Format(time.RFC3339)
}

// Identity writes who the caller is taken for and what they may do.
func (p *Page) Identity(id *access.Identity) {
	who := cmp.Or(id.Subject, "(anonymous)")
	rows := [][]Cell{{{"Subject", p.Dim}, {who, p.Bold}}}
	for _, f := range [][2]string{{"Agent", id.Agent}, {"Token", id.Token}, {"Groups", strings.Join(id.Groups, ", ")}, {"Roles", strings.Join(id.Roles, ", ")}} {
		if f[1] != "" {
			rows = append(rows, []Cell{{f[0], p.Dim}, {f[1], nil}})
		}
	}
	p.Rows(rows)
	if len(id.Actions) == 0 {
		p.Line(p.Warn("may do nothing"))
		return
	}
	p.Heading("May do")
	p.Indented(func() {
		rows := make([][]Cell, len(id.Actions))
		for i, a := range id.Actions {
			rows[i] = []Cell{{string(a.Action), nil}, {a.On, p.Dim}}
		}
		p.Rows(rows)
	})
}
