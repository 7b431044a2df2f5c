package render

import (
	"cmp"
	"time"
)

// Preview is a preview as the server tells of it.
type Preview struct {
	ID        string   `json:"id"`
	Service   string   `json:"service"`
	Revision  string   `json:"revision"`
	Commit    string   `json:"commit"`
	Phase     string   `json:"phase"`
	Reason    string   `json:"reason"`
	URL       string   `json:"url"`
	ExpiresAt string   `json:"expiresAt"`
	EndsSoon  bool     `json:"endsSoon"`
	CreatedAt string   `json:"createdAt"`
	Owner     string   `json:"owner"`
	Person    string   `json:"person"`
	Agent     string   `json:"agent"`
	Deployer  string   `json:"deployer"`
	Remains   []string `json:"remains"`
	Events    []struct {
		At    time.Time `json:"at"`
		Phase string    `json:"phase"`
		Text  string    `json:"text"`
		By    string    `json:"by"`
	} `json:"events"`
}

func (p *Page) phase(phase string) Cell {
	switch phase {
	case "ready":
		return Cell{phase, p.Good}
	case "failed", "degraded":
		return Cell{phase, p.Bad}
	}
	return Cell{phase, p.Warn}
}

// Previews writes previews, a line each.
func (p *Page) Previews(items []Preview) {
	rows := make([][]Cell, len(items))
	for i, it := range items {
		rows[i] = append([]Cell{{it.ID, nil}, {it.Service, nil}, {it.Revision, nil}, p.phase(it.Phase)},
			Texts(it.ExpiresAt, it.Person, it.Agent, cmp.Or(it.URL, it.Reason))...)
	}
	p.Table([]string{"ID", "SERVICE", "REVISION", "PHASE", "ENDS", "PERSON", "AGENT", "URL OR REASON"}, rows)
}

// Preview writes one preview and what happened to it.
func (p *Page) Preview(it *Preview) {
	rows := [][]Cell{{{"Preview", p.Dim}, {it.ID, p.Bold}}, {{"Phase", p.Dim}, p.phase(it.Phase)}}
	for _, f := range [][2]string{{"Reason", it.Reason}, {"URL", it.URL}, {"Service", it.Service}, {"Revision", it.Revision}, {"Commit", it.Commit},
		{"Created", it.CreatedAt}, {"Ends", it.ExpiresAt}, {"Owner", it.Owner}, {"Person", it.Person}, {"Agent", it.Agent}, {"Deployer", it.Deployer}} {
		if f[1] != "" {
			rows = append(rows, []Cell{{f[0], p.Dim}, {f[1], nil}})
		}
	}
	p.Rows(rows)
	for _, what := range it.Remains {
		p.Line(p.Warn("still there: "), Clean(what))
	}
	if len(it.Events) == 0 {
		return
	}
	p.Heading("Events")
	p.Indented(func() {
		rows := make([][]Cell, len(it.Events))
		for i, e := range it.Events {
			rows[i] = []Cell{{e.At.UTC().Format(time.RFC3339), p.Dim}, p.phase(e.Phase), {e.By, nil}, {e.Text, nil}}
		}
		p.Rows(rows)
	})
}
