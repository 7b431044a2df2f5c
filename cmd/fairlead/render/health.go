package render

import (
	"fmt"
	"strings"
)

// Health is how a deployment is doing, as the server tells of it.
type Health struct {
	Service     string        `json:"service"`
	Environment string        `json:"environment"`
	Application string        `json:"application"`
	Verdict     string        `json:"verdict"`
	Grounds     []string      `json:"grounds"`
	Since       string        `json:"since"`
	Age         string        `json:"age"`
	Desired     DeployedState `json:"desired"`
	Live        DeployedState `json:"live"`
	Sync        struct {
		Status     string `json:"status"`
		ComparedAt string `json:"comparedAt"`
	} `json:"sync"`
	Resources []struct {
		Resource string `json:"resource"`
		Health   string `json:"health"`
		Sync     string `json:"sync"`
		Message  string `json:"message"`
	} `json:"resources"`
	Drift     []string `json:"drift"`
	Operation struct {
		Phase      string `json:"phase"`
		Message    string `json:"message"`
		Revision   string `json:"revision"`
		FinishedAt string `json:"finishedAt"`
		By         string `json:"by"`
	} `json:"operation"`
	History []struct {
		Revision string `json:"revision"`
		At       string `json:"at"`
		By       string `json:"by"`
	} `json:"history"`
	SLO []struct {
		Name       string   `json:"name"`
		Objective  float64  `json:"objective"`
		Window     string   `json:"window"`
		State      string   `json:"state"`
		BudgetLeft *float64 `json:"budgetLeft"`
		Burn       *float64 `json:"burn"`
		Why        string   `json:"why"`
	} `json:"slo"`
	Alerts []struct {
		Name     string `json:"name"`
		Severity string `json:"severity"`
		Since    string `json:"since"`
		Summary  string `json:"summary"`
		Runbook  string `json:"runbook"`
	} `json:"alerts"`
	Omitted []string `json:"omitted"`
}

// DeployedState is a revision and its images.
type DeployedState struct {
	Revision string `json:"revision"`
	At       string `json:"at"`
	Images   []struct {
		Name    string `json:"name"`
		Tag     string `json:"tag"`
		Digest  string `json:"digest"`
		Commit  string `json:"commit"`
		BuiltBy string `json:"builtBy"`
	} `json:"images"`
}

// condition colours a word for how something is.
func (p *Page) condition(word string) Cell {
	switch word {
	case "healthy", "Healthy", "Synced", "Succeeded", "met":
		return Cell{word, p.Good}
	case "degraded", "Degraded", "Missing", "Failed", "Error", "missed", "burning", "critical", "page":
		return Cell{word, p.Bad}
	}
	return Cell{word, p.Warn}
}

// Health writes how a deployment is doing.
func (p *Page) Health(h *Health) {
	rows := [][]Cell{{{"Verdict", p.Dim}, p.condition(h.Verdict)}}
	add := func(label, text string) {
		if text = strings.TrimSpace(text); text != "" {
			rows = append(rows, []Cell{{label, p.Dim}, {text, nil}})
		}
	}
	for _, g := range h.Grounds {
		add("Because", g)
	}
	add("Service", h.Service+" in "+h.Environment)
	add("Application", h.Application)
	add("Since", h.Since)
	add("Wanted", h.Desired.Revision)
	for _, i := range h.Desired.images() {
		add("  image", i)
	}
	add("Live", strings.TrimSpace(h.Live.Revision+"  "+h.Live.At))
	for _, i := range h.Live.images() {
		add("  image", i)
	}
	if h.Sync.Status != "" {
		add("Sync", h.Sync.Status+", compared "+h.Sync.ComparedAt+", asked "+h.Age+" ago")
	}
	if op := h.Operation; op.Phase != "" {
		add("Last sync", strings.Join([]string{op.Phase, op.FinishedAt, op.By, op.Message}, "  "))
	}
	add("Drift", strings.Join(h.Drift, ", "))
	p.Rows(rows)
	p.healthTables(h)
	if len(h.Omitted) > 0 {
		p.Line(p.Dim("left out: " + Clean(strings.Join(h.Omitted, ", "))))
	}
}

func (p *Page) healthTables(h *Health) {
	var rows [][]Cell
	for _, r := range h.Resources {
		rows = append(rows, []Cell{{r.Resource, nil}, p.condition(r.Health), {r.Sync, nil}, {r.Message, nil}})
	}
	p.section("Not well", []string{"RESOURCE", "HEALTH", "SYNC", "MESSAGE"}, rows)
	rows = nil
	for _, o := range h.SLO {
		rows = append(rows, append([]Cell{{o.Name, nil}, p.condition(o.State)}, Texts(fmt.Sprintf("%v%% over %s", o.Objective, o.Window), perhaps(o.BudgetLeft, "%"), perhaps(o.Burn, ""), o.Why)...))
	}
	p.section("Objectives", []string{"NAME", "STATE", "OBJECTIVE", "BUDGET LEFT", "BURN", "WHY"}, rows)
	rows = nil
	for _, a := range h.Alerts {
		rows = append(rows, append([]Cell{{a.Name, nil}, p.condition(a.Severity)}, Texts(a.Since, a.Summary, a.Runbook)...))
	}
	p.section("Alerts", []string{"NAME", "SEVERITY", "SINCE", "SUMMARY", "RUNBOOK"}, rows)
	rows = nil
	for _, d := range h.History {
		rows = append(rows, Texts(d.Revision, d.At, d.By))
	}
	p.section("Synced before", []string{"REVISION", "AT", "BY"}, rows)
}

// section writes a table below a heading, where it has rows.
func (p *Page) section(heading string, columns []string, rows [][]Cell) {
	if len(rows) > 0 {
		p.Heading(heading)
		p.Table(columns, rows)
	}
}

func perhaps(f *float64, unit string) string {
	if f == nil {
		return ""
	}
	return fmt.Sprintf("%v%s", *f, unit)
}

func (s *DeployedState) images() []string {
	var out []string
	for _, i := range s.Images {
		text := i.Name
		if i.Tag != "" {
			text += ":" + i.Tag
		}
		if i.Digest != "" {
			text += "@" + i.Digest
		}
		if i.Commit != "" {
			text += "  of " + i.Commit
		}
		if i.BuiltBy != "" {
			text += "  by " + i.BuiltBy
		}
		out = append(out, text)
	}
	return out
}
