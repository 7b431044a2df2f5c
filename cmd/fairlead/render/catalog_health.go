package render

import (
	"cmp"
	"fmt"

	"github.com/fairlead-dev/fairlead/catalog"
)

// CatalogHealth writes what is wrong with the catalog, by owner.
func (p *Page) CatalogHealth(h *catalog.CatalogHealth) {
	p.Line(p.Bold(fmt.Sprintf("%d entities of %d sources, of which %d cannot be read", h.Entities, h.Sources, h.Failing)))
	rows := [][]Cell{healthRow("all", h.HealthCounts)}
	for _, o := range h.Owners {
		if o.HealthCounts != (catalog.HealthCounts{}) {
			rows = append(rows, healthRow(cmp.Or(o.Owner, "(nobody)"), o.HealthCounts))
		}
	}
	p.Table([]string{"OWNER", "ERRORS", "CONFLICTS", "WARNINGS", "STALE", "BROKEN RELATIONS"}, rows)
	if h.More {
		p.Line(p.Dim("… and more owners"))
	}
}

func healthRow(owner string, n catalog.HealthCounts) []Cell {
	return Texts(owner, count(n.Errors), count(n.Conflicts), count(n.Warnings), count(n.Stale), count(n.Broken))
}

// Broken writes broken relations, a line each.
func (p *Page) Broken(items []catalog.BrokenRelation) {
	rows := make([][]Cell, len(items))
	for i, it := range items {
		rows[i] = Texts(it.Ref, it.Type, it.Target, it.Owner, fmt.Sprintf("%s %s:%d", it.Source, it.File, it.Line))
	}
	p.Table([]string{"ENTITY", "RELATION", "LEADS NOWHERE", "OWNER", "WRITTEN IN"}, rows)
}
