package render

import (
	"cmp"
	"strconv"
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
	Environment string    `json:"environment"`
	Blocking    []Blocker `json:"blocking"`
	Follow      Follow    `json:"follow"`
}

// Blocker is what keeps a proposal from being merged.
type Blocker struct {
	What   string `json:"what"`
	Detail string `json:"detail"`
	Since  string `json:"since"`
	Next   string `json:"next"`
}

// Follow is how far a proposal has come after it was opened.
type Follow struct {
	Merged     string   `json:"merged"`
	MergedAt   string   `json:"mergedAt"`
	ClosedAt   string   `json:"closedAt"`
	Synced     string   `json:"synced"`
	SyncedAt   string   `json:"syncedAt"`
	Healthy    string   `json:"healthy"`
	HealthyAt  string   `json:"healthyAt"`
	DegradedAt string   `json:"degradedAt"`
	Grounds    []string `json:"grounds"`
	RolledBack *struct {
		At       string `json:"at"`
		Commit   string `json:"commit"`
		Proposal string `json:"proposal"`
	} `json:"rolledBack"`
	Window *struct {
		Outcome string   `json:"outcome"`
		Grounds []string `json:"grounds"`
		Figures []struct {
			Name   string   `json:"name"`
			Unit   string   `json:"unit"`
			Before *float64 `json:"before"`
			After  *float64 `json:"after"`
			Worse  bool     `json:"worse"`
		} `json:"figures"`
	} `json:"window"`
	Waits   string `json:"waits"`
	Outcome string `json:"outcome"`
	EndedAt string `json:"endedAt"`
}

func (p *Page) outcome(state string) Cell {
	switch state {
	case "merged", "passed", "unchanged", "healthy", "verified":
		return Cell{state, p.Good}
	case "closed", "failed", "degraded", "rolled_back", "regressed":
		return Cell{state, p.Bad}
	}
	return Cell{state, p.Warn}
}

// Proposals writes proposals, a line each.
func (p *Page) Proposals(items []Proposal) {
	rows := make([][]Cell, len(items))
	for i, it := range items {
		rows[i] = append([]Cell{{it.ID, nil}, p.outcome(cmp.Or(it.Follow.Outcome, it.State))}, Texts(it.Title, it.Service, it.Person, it.Agent, cmp.Or(it.URL, it.Branch))...)
	}
	p.Table([]string{"ID", "STATE", "TITLE", "ABOUT", "PERSON", "AGENT", "URL OR BRANCH"}, rows)
}

// Proposal writes one proposal with its diff.
func (p *Page) Proposal(it *Proposal) {
	rows := [][]Cell{{{"State", p.Dim}, p.outcome(it.State)}}
	for _, f := range [][2]string{{"Proposal", it.ID}, {"Title", it.Title}, {"URL", it.URL}, {"About", it.Service}, {"Environment", it.Environment}, {"Repository", it.Repository}, {"Branch", it.Branch}, {"Onto", it.Base},
		{"Files", cmp.Or(strings.Join(it.Paths, ", "), it.Path)}, {"Person", it.Person}, {"Agent", it.Agent}, {"Reason", it.Reason}, {"Proposed", it.CreatedAt},
		{"Merging", strings.TrimSpace(it.Mergeable + " " + it.Blocked)}, {"Approved by", strings.Join(it.Approved, ", ")}, {"Rejected by", strings.Join(it.Rejected, ", ")},
		{"Plan", it.Plan.Hash}} {
		if f[1] != "" {
			rows = append(rows, []Cell{{f[0], p.Dim}, {f[1], nil}})
		}
	}
	for _, c := range it.Checks {
		rows = append(rows, []Cell{{"Check", p.Dim}, {c.Name, nil}, p.outcome(c.State), {c.URL, nil}})
	}
	rows = append(rows, p.followed(&it.Follow)...)
	for _, b := range it.Blocking {
		rows = append(rows, []Cell{{"Blocked by", p.Dim}, {b.What, p.Warn}, {strings.TrimSpace(b.Detail + " " + since(b.Since)), nil}})
	}
	if it.Next != "" {
		rows = append(rows, []Cell{{"Next", p.Dim}, {it.Next, nil}})
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

func since(at string) string {
	if at == "" {
		return ""
	}
	return "(since " + at + ")"
}

// followed are rows that tell how far a proposal has come after it was opened.
func (p *Page) followed(f *Follow) (rows [][]Cell) {
	add := func(label string, words ...string) {
		if text := strings.TrimSpace(strings.Join(words, " ")); text != "" {
			rows = append(rows, []Cell{{label, p.Dim}, {text, nil}})
		}
	}
	add("Merged", f.MergedAt, f.Merged)
	add("Closed", f.ClosedAt)
	add("Synced", f.SyncedAt, f.Synced)
	add("Healthy", f.HealthyAt, f.Healthy)
	add("Degraded", f.DegradedAt)
	for _, g := range f.Grounds {
		add("Because", g)
	}
	if b := f.RolledBack; b != nil {
		add("Rolled back", b.At, b.Commit, b.Proposal)
	}
	rows = append(rows, p.measured(f)...)
	add("Waits", f.Waits)
	if f.Outcome != "" {
		rows = append(rows, []Cell{{"Ended", p.Dim}, p.outcome(f.Outcome), {f.EndedAt, nil}})
	}
	return rows
}

// measured are rows of what was measured before and after.
func (p *Page) measured(f *Follow) (rows [][]Cell) {
	if f.Window == nil {
		return nil
	}
	rows = append(rows, []Cell{{"Window", p.Dim}, p.outcome(f.Window.Outcome), {strings.Join(f.Window.Grounds, "; "), nil}})
	for _, one := range f.Window.Figures {
		style := p.Dim
		if one.Worse {
			style = p.Bad
		}
		rows = append(rows, []Cell{{"", nil}, {one.Name, style}, {known(one.Before) + " → " + known(one.After) + " " + one.Unit, nil}})
	}
	return rows
}

// known is a figure, or that there is none.
func known(v *float64) string {
	if v == nil {
		return "?"
	}
	return strconv.FormatFloat(*v, 'g', -1, 64)
}
