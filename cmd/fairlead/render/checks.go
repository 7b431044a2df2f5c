package render

import (
	"strings"
)

// Checks is how the checks of a commit went, as the server tells of it.
type Checks struct {
	Service    string     `json:"service"`
	Repository string     `json:"repository"`
	Revision   string     `json:"revision"`
	Commit     string     `json:"commit"`
	State      string     `json:"state"`
	Grounds    []string   `json:"grounds"`
	URL        string     `json:"url"`
	Checks     []CheckRun `json:"checks"`
	Age        string     `json:"age"`
	Omitted    []string   `json:"omitted"`
}

// CheckRun is one check.
type CheckRun struct {
	Name     string   `json:"name"`
	State    string   `json:"state"`
	Result   string   `json:"result"`
	Required bool     `json:"required"`
	Optional bool     `json:"optional"`
	URL      string   `json:"url"`
	Duration string   `json:"duration"`
	Failed   []string `json:"failed"`
	Detail   []string `json:"detail"`
}

// verdict colours the state of a check.
func (p *Page) verdict(state string) Cell {
	switch state {
	case "passed":
		return Cell{state, p.Good}
	case "failed":
		return Cell{state, p.Bad}
	}
	return Cell{state, p.Warn}
}

// Checks writes how the checks of a commit went.
func (p *Page) Checks(s *Checks) {
	rows := [][]Cell{{{"Checks", p.Dim}, p.verdict(s.State)}}
	add := func(label, text string) {
		if text = strings.TrimSpace(text); text != "" {
			rows = append(rows, []Cell{{label, p.Dim}, {text, nil}})
		}
	}
	for _, g := range s.Grounds {
		add("Because", g)
	}
	add("Service", s.Service)
	add("Commit", s.Commit+"  "+s.Revision)
	add("Repository", s.Repository+", asked "+s.Age+" ago")
	add("Run", s.URL)
	p.Rows(rows)
	rows = nil
	for _, c := range s.Checks {
		word := map[bool]string{true: "required"}[c.Required] + map[bool]string{true: "may fail"}[c.Optional]
		rows = append(rows, append([]Cell{{c.Name, nil}, p.verdict(c.State)}, Texts(strings.TrimSpace(c.Result+" "+word), c.Duration, c.URL)...))
	}
	p.section("What ran", []string{"NAME", "STATE", "", "TOOK", "URL"}, rows)
	for _, c := range s.Checks {
		if len(c.Failed)+len(c.Detail) == 0 {
			continue
		}
		p.Line("")
		p.Line(p.Bad(Clean(c.Name)) + "  " + Clean(strings.Join(c.Failed, "; ")))
		for _, d := range c.Detail {
			p.Line("  " + Clean(d))
		}
	}
	if len(s.Omitted) > 0 {
		p.Line(p.Dim("left out: " + Clean(strings.Join(s.Omitted, ", "))))
	}
}
