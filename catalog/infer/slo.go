package infer

import (
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// SLO is a service level objective as a file states it.
type SLO struct {
	Name string `json:"name"`
	// Service is whose it is, as the file names it.
	Service string `json:"service,omitempty"`
	// Title is what people call it, or what the file says of it.
	Title string `json:"title,omitempty"`
	// Objective is in per cent.
	Objective float64 `json:"objective"`
	// Window is the time that it is measured over, as the file writes it.
	Window string `json:"window,omitempty"`
	// Format is openslo, sloth or pyrra.
	Format string `json:"format"`
	// Alias is what else people call the service, Indicator the objective's
	// indicator and DataSource what that is measured by, as OpenSLO objects in
	// the repository say.
	Alias      string `json:"alias,omitempty"`
	Indicator  string `json:"indicator,omitempty"`
	DataSource string `json:"dataSource,omitempty"`
	// Policies are the names of the alert policies that watch it.
	Policies []string `json:"policies,omitempty"`
	// Measure is how Prometheus measures it.
	Measure Measure `json:"measure,omitzero"`
	Place
}

// slothWindow is the window of Sloth where a file names none: its own
// default.
const slothWindow = "30d"

func (r *Reading) slo(s SLO) {
	if len(r.SLOs) < maxFindings && s.Objective > 0 && s.Objective <= 100 {
		s.Title = oneLine(s.Title)
		r.SLOs = append(r.SLOs, s)
	}
}

// rounded takes away what multiplying by a hundred adds.
func rounded(f float64) float64 {
	out, err := strconv.ParseFloat(strconv.FormatFloat(f, 'g', 12, 64), 64)
	if err != nil {
		return f
	}
	return out
}

// sloth reads the objectives of Sloth's own format, alone or in its
// Kubernetes resource.
func (r *Reading) sloth(path string, spec *yaml.Node) {
	service := scalar(spec, "service")
	for _, o := range items(child(spec, "slos")) {
		percent, ok := number(o, "objective")
		if !ok || o == nil {
			continue
		}
		r.slo(SLO{Name: scalar(o, "name"), Service: service, Title: scalar(o, "description"), Objective: percent, Window: slothWindow, Format: "sloth", Measure: slothMeasure(child(o, "sli")), Place: Place{path, o.Line}})
		for _, key := range []string{"runbook_url", "runbook"} {
			if book := scalar(o, "alerting", "annotations", key); book != "" {
				r.alert(Alert{Name: scalar(o, "alerting", "name"), Service: service, Runbook: book, Place: Place{path, at(o, "alerting", "annotations", key).Line}})
				break
			}
		}
	}
}

func (r *Reading) pyrra(path string, root *yaml.Node) {
	if percent, ok := number(root, "spec", "target"); ok {
		r.slo(SLO{Name: scalar(root, "metadata", "name"), Service: scalar(root, "metadata", "labels", "pyrra.dev/service"), Title: scalar(root, "spec", "description"),
			Objective: percent, Window: scalar(root, "spec", "window"), Format: "pyrra", Measure: pyrraMeasure(at(root, "spec", "indicator")), Place: Place{path, at(root, "spec", "target").Line}})
	}
}

func oneLine(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > 200 {
		cut := strings.LastIndexByte(s[:200], ' ')
		if cut < 100 {
			return ""
		}
		return s[:cut] + " …"
	}
	return s
}

// Alert is an alert as a rule file defines it.
type Alert struct {
	Name string `json:"name"`
	// Service is whose it is, as its labels name it.
	Service string `json:"service,omitempty"`
	// Alias is what else people call the service.
	Alias    string `json:"alias,omitempty"`
	Severity string `json:"severity,omitempty"`
	Summary  string `json:"summary,omitempty"`
	Runbook  string `json:"runbook,omitempty"`
	Place
}

func (r *Reading) alert(a Alert) {
	if len(r.Alerts) < maxFindings && a.Name != "" {
		r.Alerts = append(r.Alerts, a)
	}
}

// rules reads the alerts of Prometheus' rule groups. An alert that is made of
// an objective by Sloth in several severities is told once for each.
func (r *Reading) rules(path string, spec *yaml.Node) {
	for _, g := range items(child(spec, "groups")) {
		for _, rule := range items(child(g, "rules")) {
			name := scalar(rule, "alert")
			if name == "" {
				continue
			}
			a := Alert{Name: name, Severity: scalar(rule, "labels", "severity"), Place: Place{path, child(rule, "alert").Line}}
			for _, key := range []string{"sloth_service", "service", "app", "job", "component"} {
				if a.Service = scalar(rule, "labels", key); a.Service != "" {
					break
				}
			}
			for _, key := range []string{"summary", "title", "description", "message"} {
				if a.Summary = oneLine(scalar(rule, "annotations", key)); a.Summary != "" {
					break
				}
			}
			for _, key := range []string{"runbook_url", "runbook", "runbookUrl", "runbook-url"} {
				if a.Runbook = scalar(rule, "annotations", key); a.Runbook != "" {
					break
				}
			}
			r.alert(a)
		}
	}
}
