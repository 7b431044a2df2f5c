package render

import (
	"cmp"
	"fmt"
)

// ChangeFigures are what was deployed and proposed, in figures, as the server
// tells of them.
type ChangeFigures struct {
	Since    string       `json:"since"`
	Until    string       `json:"until"`
	Partial  []string     `json:"partial"`
	Total    FigureLine   `json:"total"`
	Teams    []FigureLine `json:"teams"`
	Services []FigureLine `json:"services"`
	Agents   []FigureLine `json:"agents"`
}

// FigureLine are those of one.
type FigureLine struct {
	Name          string   `json:"name"`
	Deployments   int      `json:"deployments"`
	PerDay        float64  `json:"perDay"`
	FailureRate   *float64 `json:"failureRate"`
	Recovery      *Spread  `json:"recovery"`
	Proposals     int      `json:"proposals"`
	Merged        int      `json:"merged"`
	LeadTime      *Spread  `json:"leadTime"`
	Approvable    *Spread  `json:"approvable"`
	ReworkRate    *float64 `json:"reworkRate"`
	Refused       int      `json:"refused"`
	CostPerMerged *float64 `json:"costPerMerged"`
}

// Spread is how durations are spread.
type Spread struct {
	Median string `json:"median"`
	P90    string `json:"p90"`
}

// ChangeFigures writes figures, a line for each.
func (p *Page) ChangeFigures(it *ChangeFigures) {
	p.Line(p.Dim("from "), Clean(it.Since), p.Dim(" to "), Clean(it.Until))
	for _, n := range it.Partial {
		p.Line(p.Warn("note: "), Clean(n))
	}
	var rows [][]Cell
	add := func(kind string, lines ...FigureLine) {
		for _, l := range lines {
			rows = append(rows, append([]Cell{{kind, p.Dim}}, Texts(cmp.Or(l.Name, "all"), count(l.Deployments), fmt.Sprint(l.PerDay), l.LeadTime.text(), figure(l.FailureRate, "%"), l.Recovery.text(), figure(l.ReworkRate, "%"),
				count(l.Proposals), count(l.Merged), l.Approvable.text(), count(l.Refused), figure(l.CostPerMerged, ""))...))
		}
	}
	add("total", it.Total)
	add("team", it.Teams...)
	add("service", it.Services...)
	add("agent", it.Agents...)
	p.Table([]string{"OF", "NAME", "DEPLOYED", "PER DAY", "LEAD TIME", "FAILED", "RECOVERY", "REWORK", "PROPOSED", "MERGED", "APPROVABLE", "REFUSED", "COST"}, rows)
	p.Line(p.Dim("times are medians, and what nine in ten take at most"))
}

func (s *Spread) text() string {
	if s == nil {
		return "-"
	}
	return s.Median + " / " + s.P90
}

func figure(f *float64, unit string) string {
	if f == nil {
		return "-"
	}
	return fmt.Sprint(*f) + unit
}
