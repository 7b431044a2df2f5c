package render

import (
	"cmp"
	"fmt"
	"strings"
)

// Fleet is one change of many services as the server tells of it.
type Fleet struct {
	ID          string        `json:"id"`
	State       string        `json:"state"`
	Query       []string      `json:"query"`
	Environment string        `json:"environment"`
	Title       string        `json:"title"`
	Reason      string        `json:"reason"`
	Until       string        `json:"until"`
	MaxFailures int           `json:"maxFailures"`
	Person      string        `json:"person"`
	Agent       string        `json:"agent"`
	PlanHash    string        `json:"planHash"`
	Wave        int           `json:"wave"`
	Why         string        `json:"why"`
	Next        string        `json:"next"`
	CreatedAt   string        `json:"createdAt"`
	Counts      FleetCounts   `json:"counts"`
	Waves       []FleetWave   `json:"waves"`
	Failing     []FleetMember `json:"failing"`
	Members     []FleetMember `json:"members"`
	NextCursor  string        `json:"nextCursor"`
}

// FleetCounts are how many members are in each state.
type FleetCounts struct {
	Total, Waiting, Approval, Open, Merged, Done, Unchanged, Covered, Absent, Refused, Failed, Conflicted int
}

// FleetWave is one wave.
type FleetWave struct{ Number, Size, Done, Open, Failed int }

// FleetMember is one service of a fleet.
type FleetMember struct {
	Service   string   `json:"service"`
	State     string   `json:"state"`
	Wave      int      `json:"wave"`
	Title     string   `json:"title"`
	Diff      string   `json:"diff"`
	Reason    string   `json:"reason"`
	Fix       string   `json:"fix"`
	URL       string   `json:"url"`
	Notes     []string `json:"notes"`
	Conflicts []struct {
		Path, Proposal, Service, URL string
	} `json:"conflicts"`
}

// ToDo is how many members the waves have, Settled how many of them are done.
func (f *Fleet) ToDo() (n int) {
	for _, w := range f.Waves {
		n += w.Size
	}
	return n
}

// Settled is how many members of the waves are done.
func (f *Fleet) Settled() (n int) {
	for _, w := range f.Waves {
		n += w.Done
	}
	return n
}

func (p *Page) fleetState(state string) Cell {
	switch state {
	case "done":
		return Cell{state, p.Good}
	case "stopped", "cancelled", "failed", "refused":
		return Cell{state, p.Bad}
	}
	return Cell{state, p.Warn}
}

// Fleets writes fleets, a line each.
func (p *Page) Fleets(items []Fleet) {
	rows := make([][]Cell, len(items))
	for i := range items {
		it := &items[i]
		rows[i] = append([]Cell{{it.ID, nil}, p.fleetState(it.State)}, Texts(it.Title, fmt.Sprintf("%d of %d", it.Settled(), it.ToDo()), fmt.Sprint(it.Counts.Failed), it.Person, it.Agent, it.CreatedAt)...)
	}
	p.Table([]string{"ID", "STATE", "CHANGE", "DONE", "FAILED", "PERSON", "AGENT", "PLANNED"}, rows)
}

// Fleet writes the page of one fleet: counts, waves, what fails and why, what
// to do next, and the members that the answer holds.
func (p *Page) Fleet(it *Fleet) {
	rows := [][]Cell{{{"State", p.Dim}, p.fleetState(it.State)}}
	for _, f := range [][2]string{{"Fleet", it.ID}, {"Change", it.Title}, {"Services", it.words()}, {"Query", strings.Join(it.Query, " or ")}, {"Reason", it.Reason}, {"Until", it.Until},
		{"Person", it.Person}, {"Agent", it.Agent}, {"Planned", it.CreatedAt}, {"Plan", it.PlanHash}, {"Why", it.Why}, {"Next", it.Next}} {
		if f[1] != "" {
			rows = append(rows, []Cell{{f[0], p.Dim}, {f[1], nil}})
		}
	}
	p.Rows(rows)
	p.fleetWaves(it)
	if len(it.Failing) > 0 {
		p.Heading("Not as it should be")
		for i := range it.Failing {
			p.failing(&it.Failing[i])
		}
	}
	p.fleetMembers(it)
}

// words are the counts that are not 0.
func (f *Fleet) words() string {
	c := &f.Counts
	parts := []string{fmt.Sprintf("%d selected", c.Total)}
	for _, n := range []struct {
		n    int
		what string
	}{{c.Waiting, "to propose"}, {c.Approval, "waiting for approval"}, {c.Open, "open"}, {c.Merged, "merged"}, {c.Done, "done"}, {c.Failed, "failed"}, {c.Unchanged, "so already"},
		{c.Covered, "covered by others"}, {c.Refused, "refused"}, {c.Absent, "without " + f.Environment}, {c.Conflicted, "with conflicts"}} {
		if n.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n.n, n.what))
		}
	}
	return strings.Join(parts, ", ")
}

func (p *Page) fleetWaves(it *Fleet) {
	if len(it.Waves) == 0 {
		return
	}
	p.Heading("Waves")
	rows := make([][]Cell, len(it.Waves))
	for i, w := range it.Waves {
		rows[i] = p.fleetWave(w, w.Number == it.Wave && it.State != "done")
	}
	p.Table([]string{"WAVE", "SERVICES", "DONE", "OPEN", "FAILED", ""}, rows)
}

// fleetWave is the line of a wave.
func (p *Page) fleetWave(w FleetWave, now bool) []Cell {
	row := Texts(fmt.Sprint(w.Number), fmt.Sprint(w.Size), fmt.Sprint(w.Done), fmt.Sprint(w.Open), fmt.Sprint(w.Failed))
	if now {
		row = append(row, Cell{"now", p.Warn})
	}
	return row
}

// failing writes why one is not as it should be, and what would help.
func (p *Page) failing(m *FleetMember) {
	state := p.fleetState(m.State)
	p.Line(state.Style(m.State), " ", Clean(m.Service), ": ", Clean(m.Reason))
	p.Indented(func() {
		if m.Fix != "" {
			p.Line("fix: ", Clean(m.Fix))
		}
		if m.URL != "" {
			p.Line(Clean(m.URL))
		}
	})
}

// fleetMembers writes the members that the answer holds, and what else changes
// their files.
func (p *Page) fleetMembers(it *Fleet) {
	if len(it.Members) == 0 {
		return
	}
	p.Heading("Members")
	rows := make([][]Cell, len(it.Members))
	for i := range it.Members {
		rows[i] = p.fleetMember(&it.Members[i])
	}
	p.Table([]string{"SERVICE", "STATE", "WAVE", "CHANGE", "BESIDE"}, rows)
	if it.NextCursor != "" {
		p.Line(p.Dim("there are more"))
	}
}

// fleetMember is the line of a member.
func (p *Page) fleetMember(m *FleetMember) []Cell {
	wave := ""
	if m.Wave > 0 {
		wave = fmt.Sprint(m.Wave)
	}
	return append([]Cell{{m.Service, nil}, p.fleetState(m.State)}, Texts(wave, cmp.Or(m.URL, m.Title), m.beside())...)
}

// beside says what else changes the files of a member.
func (m *FleetMember) beside() string {
	var out []string
	for _, c := range m.Conflicts {
		out = append(out, cmp.Or(c.URL, c.Proposal, c.Service, "another proposal")+" changes "+c.Path)
	}
	return strings.Join(append(out, m.Notes...), "; ")
}
