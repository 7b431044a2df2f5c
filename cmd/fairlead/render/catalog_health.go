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
		rows[i] = Texts(it.Ref, it.Type, it.Target, it.Owner, written(it.Source, it.File, it.Line))
	}
	p.Table([]string{"ENTITY", "RELATION", "LEADS NOWHERE", "OWNER", "WRITTEN IN"}, rows)
}

// Stale writes stale entities, a line each.
func (p *Page) Stale(items []catalog.StaleEntity) {
	rows := make([][]Cell, len(items))
	for i, it := range items {
		since := it.StaleSince[:min(len(it.StaleSince), 12)]
		if it.Since != nil {
			since = p.Age(*it.Since)
		}
		rows[i] = Texts(it.Ref, since, it.Owner, written(it.Source, it.File, it.Line), it.Message)
	}
	p.Table([]string{"ENTITY", "STALE SINCE", "OWNER", "WRITTEN IN", "WHY"}, rows)
}

// written is where something is written, for example web catalog-info.yaml:7.
func written(source, file string, line uint32) string {
	if line == 0 {
		return source + " " + file
	}
	return fmt.Sprintf("%s %s:%d", source, file, line)
}
