package render

import (
	"cmp"
	"strings"
)

// Proposal is a proposed change as the server tells of it.
type Proposal struct {
	ID         string   `json:"id"`
	Kind       string   `json:"kind"`
	Title      string   `json:"title"`
	Service    string   `json:"service"`
	State      string   `json:"state"`
	Repository string   `json:"repository"`
	Base       string   `json:"base"`
	Branch     string   `json:"branch"`
	Path       string   `json:"path"`
	Paths      []string `json:"paths"`
	URL        string   `json:"url"`
	Person     string   `json:"person"`
	Agent      string   `json:"agent"`
	Reason     string   `json:"reason"`
	CreatedAt  string   `json:"createdAt"`
	Mergeable  string   `json:"mergeable"`
	Blocked    string   `json:"blocked"`
	Approved   []string `json:"approved"`
	Rejected   []string `json:"rejected"`
	Notes      []string `json:"notes"`
	Next       string   `json:"next"`
	Checks     []struct {
		Name  string `json:"name"`
		State string `json:"state"`
		URL   string `json:"url"`
	} `json:"checks"`
	Plan struct {
		Hash    string `json:"hash"`
		Diff    string `json:"diff"`
		Omitted int    `json:"omitted"`
	} `json:"plan"`
	Follow struct {
		Merged   string `json:"merged"`
		MergedAt string `json:"mergedAt"`
		ClosedAt string `json:"closedAt"`
	} `json:"follow"`
}

func (p *Page) outcome(state string) Cell {
	switch state {
	case "merged", "passed", "unchanged":
		return Cell{state, p.Good}
	case "closed", "failed":
		return Cell{state, p.Bad}
	}
	return Cell{state, p.Warn}
}

// Proposals writes proposals, a line each.
func (p *Page) Proposals(items []Proposal) {
	rows := make([][]Cell, len(items))
	for i, it := range items {
		rows[i] = append([]Cell{{it.ID, nil}, p.outcome(it.State)}, Texts(it.Title, it.Service, it.Person, it.Agent, cmp.Or(it.URL, it.Branch))...)
	}
	p.Table([]string{"ID", "STATE", "TITLE", "ABOUT", "PERSON", "AGENT", "URL OR BRANCH"}, rows)
}

// Proposal writes one proposal with its diff.
func (p *Page) Proposal(it *Proposal) {
	rows := [][]Cell{{{"State", p.Dim}, p.outcome(it.State)}}
	for _, f := range [][2]string{{"Proposal", it.ID}, {"Title", it.Title}, {"URL", it.URL}, {"About", it.Service}, {"Repository", it.Repository}, {"Branch", it.Branch}, {"Onto", it.Base},
		{"Files", cmp.Or(strings.Join(it.Paths, ", "), it.Path)}, {"Person", it.Person}, {"Agent", it.Agent}, {"Reason", it.Reason}, {"Proposed", it.CreatedAt},
		{"Merging", strings.TrimSpace(it.Mergeable + " " + it.Blocked)}, {"Approved by", strings.Join(it.Approved, ", ")}, {"Rejected by", strings.Join(it.Rejected, ", ")},
		{"Merged", strings.TrimSpace(it.Follow.MergedAt + " " + it.Follow.Merged)}, {"Closed", it.Follow.ClosedAt}, {"Plan", it.Plan.Hash}, {"Next", it.Next}} {
		if f[1] != "" {
			rows = append(rows, []Cell{{f[0], p.Dim}, {f[1], nil}})
		}
	}
	for _, c := range it.Checks {
		rows = append(rows, []Cell{{"Check", p.Dim}, {c.Name, nil}, p.outcome(c.State), {c.URL, nil}})
	}
	p.Rows(rows)
	for _, n := range it.Notes {
		p.Line(p.Warn("note: "), Clean(n))
	}
	if it.Plan.Diff == "" {
		return
	}
	p.Heading("Diff")
	for line := range strings.Lines(it.Plan.Diff) {
		p.Line(Clean(strings.TrimRight(line, "\r\n")))
	}
	if it.Plan.Omitted > 0 {
		p.Line(p.Dim("the rest is left out; read it at the forge"))
	}
}
