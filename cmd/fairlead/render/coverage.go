package render

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/fairlead-dev/fairlead/catalog"
)

// Coverage writes what is known of services, by team and by service.
func (p *Page) Coverage(c *catalog.Coverage) {
	var teams [][]Cell
	for _, t := range append(c.Teams, c.All) {
		name := t.Owner
		if name == "" {
			name = "nobody"
		}
		teams = append(teams, p.total(name, t))
	}
	teams[len(teams)-1][0] = Cell{"all", p.Bold}
	p.Table([]string{"TEAM", "SERVICES", "KNOWN", "DECLARED", "FOUND", "STALE", "MISSING"}, teams)
	if len(c.Items) == 0 {
		return
	}
	p.Line()
	headers, rows := []string{"SERVICE"}, make([][]Cell, len(c.Items))
	for i, it := range c.Items {
		rows[i] = Texts(it.Ref)
		for _, th := range it.Things {
			if i == 0 {
				headers = append(headers, strings.ToUpper(th.Name))
			}
			rows[i] = append(rows[i], p.state(th))
		}
	}
	p.Table(headers, rows)
}

func (p *Page) total(name string, t catalog.CoverageTotal) []Cell {
	missing := Cell{count(t.Missing), p.Good}
	if t.Missing > 0 {
		missing.Style = p.Bad
	}
	return append(Texts(name, count(t.Services), count(t.Percent)+" %", count(t.Declared), count(t.Inferred), count(t.Stale)), missing)
}

// state is how a thing is known.
func (p *Page) state(th catalog.CoverageThing) Cell {
	c := Cell{string(th.State), p.Good}
	switch th.State {
	case catalog.CoverageInferred:
		c.Text = "found"
	case catalog.CoverageMissing:
		c.Style = p.Bad
	case catalog.CoverageNone:
		c = Cell{"-", p.Dim}
	case catalog.CoverageDeclared:
	}
	if th.Stale != "" {
		c = Cell{c.Text + ", stale", p.Warn}
	}
	return c
}

// Additions write which lines to add to which files.
func (p *Page) Additions(items []catalog.ServiceCoverage) {
	for _, it := range items {
		for _, a := range it.Add {
			p.Line()
			place := "behind line " + count(a.Line)
			switch {
			case a.Column > 0:
				place = fmt.Sprintf("in line %d before column %d", a.Line, a.Column)
			case a.Line == 0:
				place = "where it belongs"
			}
			where := strings.TrimSpace(Clean(a.Repo) + " " + Clean(cmp.Or(a.File, "its catalog file")))
			p.Line(p.Bold(Clean(it.Ref)), " lacks ", Clean(strings.Join(a.Things, ", ")), ": to ", where, ", "+place+", add")
			for line := range strings.Lines(a.Lines) {
				text := strings.TrimLeft(line, " ")
				p.Line("  | ", line[:len(line)-len(text)], p.Good(Clean(text)))
			}
		}
	}
}
