package gitops

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/catalog/infer"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/fault/beside"
)

// Metrics is where objectives are measured and alerts fire: a Prometheus.
type Metrics interface {
	// Value is what an expression comes to now; there is false where it comes to
	// nothing.
	Value(ctx context.Context, expression string) (v float64, there bool, err error)
	// ValueAt is what it came to at a time.
	ValueAt(ctx context.Context, expression string, at time.Time) (v float64, there bool, err error)
	// Firing are the alerts that fire.
	Firing(ctx context.Context) ([]FiringAlert, error)
}

// FiringAlert is an alert that fires.
type FiringAlert struct {
	Name     string    `json:"name"`
	Severity string    `json:"severity,omitempty"`
	Summary  string    `json:"summary,omitempty"`
	Since    time.Time `json:"since,omitzero"`
	Runbook  string    `json:"runbook,omitempty" jsonschema:"handle of a document, or URL"`
	// Labels are all of its labels.
	Labels map[string]string `json:"-"`
}

// The states of an objective.
const (
	ObjectiveMet     = "met"
	ObjectiveBurning = "burning" // the budget would be spent in two days
	ObjectiveMissed  = "missed"  // the budget of the window is spent
	ObjectiveUnknown = "unknown"
)

// ObjectiveState is how an objective stands.
type ObjectiveState struct {
	Name string `json:"name"`
	// Objective is in per cent.
	Objective float64 `json:"objective"`
	Window    string  `json:"window,omitempty"`
	State     string  `json:"state" jsonschema:"met, burning, missed or unknown"`
	// BudgetLeft is in per cent of the error budget of the window; below zero it
	// is overspent.
	BudgetLeft *float64 `json:"budgetLeft,omitempty" jsonschema:"per cent of the error budget"`
	// Burn is how many times faster than it may the budget went in the last
	// hour.
	Burn *float64 `json:"burn,omitempty" jsonschema:"of the last hour; above 1 the budget ends before its window"`
	Why  string   `json:"why,omitempty" jsonschema:"why it is unknown"`
}

// fastBurn is the rate at which two per cent of a budget of 30 days go in an
// hour: what the SRE workbook has somebody woken up for.
const fastBurn = 14.4

// maxObjectives is how many objectives of a service are measured.
const maxObjectives = 10

// measures is what the metrics say.
type measures struct {
	objectives []ObjectiveState
	omitted    int
	firing     []FiringAlert // of everybody
	alertsErr  error
	none       bool // no metrics are configured
}

// measureKey tells what is measured apart.
func (q *question) measureKey() string {
	h := sha256.New()
	for i := range q.d.Objectives {
		o := &q.d.Objectives[i]
		fmt.Fprintf(h, "%q %v %q %+v\n", o.Name, o.Objective, o.Window, o.Measure)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// measure measures a service's objectives and asks which alerts fire.
func (s *HealthService) measure(ctx context.Context, d *catalog.Deployment) *measures {
	m := &measures{none: s.cfg.Metrics == nil}
	if m.none {
		return m
	}
	all := d.Objectives
	m.omitted = max(len(all)-maxObjectives, 0)
	all = all[:len(all)-m.omitted]
	m.objectives = make([]ObjectiveState, len(all))
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Patience*3/5)
	defer cancel()
	var work beside.All
	work.Go(func() {
		m.firing, m.alertsErr = s.cfg.Metrics.Firing(ctx)
		m.alertsErr = timedOut(m.alertsErr, "asking Prometheus for alerts")
	})
	atOnce := make(chan struct{}, 4)
	for i := range all {
		work.Go(func() {
			atOnce <- struct{}{}
			defer func() { <-atOnce }()
			m.objectives[i] = s.objective(ctx, &all[i])
		})
	}
	work.Wait()
	return m
}

// objective measures one.
func (s *HealthService) objective(ctx context.Context, slo *infer.SLO) ObjectiveState {
	o := ObjectiveState{Name: line(slo.Name, 80), Objective: slo.Objective, Window: slo.Window, State: ObjectiveUnknown}
	budget := 1 - slo.Objective/100
	whole, last := slo.Measure.Errors(slo.Window), slo.Measure.Errors("1h")
	switch {
	case whole == "" || last == "":
		o.Why = "its file has no query that can be measured over a window"
		return o
	case budget <= 0:
		o.Why = "an objective of 100% has no error budget"
		return o
	}
	var spent, burn float64
	var there, burns bool
	var err, burnErr error
	var both beside.All
	both.Go(func() { spent, there, err = s.cfg.Metrics.Value(ctx, whole) })
	both.Go(func() { burn, burns, burnErr = s.cfg.Metrics.Value(ctx, last) })
	both.Wait()
	if err = cmp.Or(err, burnErr); err != nil {
		o.Why = line(fault.From(timedOut(err, "measuring it")).Message, 120)
		return o
	}
	if !there || math.IsNaN(spent) || math.IsInf(spent, 0) {
		o.Why = "there is no data"
		return o
	}
	left := tenth(100 * (1 - spent/budget))
	o.BudgetLeft, o.State = &left, ObjectiveMet
	if burns && !math.IsNaN(burn) && !math.IsInf(burn, 0) {
		rate := tenth(burn / budget)
		o.Burn = &rate
	}
	switch {
	case o.Burn != nil && *o.Burn >= fastBurn:
		o.State = ObjectiveBurning
	case left <= 0:
		o.State = ObjectiveMissed
	}
	return o
}

func tenth(f float64) float64 { return math.Round(f*10) / 10 }

// unwell is where what is measured says so.
func (m *measures) unwell(alerts []FiringAlert) []judgement {
	var out []judgement
	for _, a := range alerts {
		verdict := ""
		if a.Severity == "critical" || a.Severity == "page" {
			verdict = DegradedVerdict
		}
		out = append(out, judgement{verdict, fmt.Sprintf("alert %s fires since %s", a.Name, stamp(a.Since))})
	}
	unmeasured := 0
	for _, o := range m.objectives {
		switch o.State {
		case ObjectiveBurning:
			out = append(out, judgement{DegradedVerdict, fmt.Sprintf("objective %s burns its error budget %v times too fast", o.Name, *o.Burn)})
		case ObjectiveMissed:
			out = append(out, judgement{"", fmt.Sprintf("objective %s has spent its error budget of %s", o.Name, o.Window)})
		case ObjectiveUnknown:
			unmeasured++
		}
	}
	if unmeasured > 0 {
		out = append(out, judgement{"", fmt.Sprintf("%d of %d objectives are not known", unmeasured, len(m.objectives))})
	}
	if m.alertsErr != nil {
		out = append(out, judgement{"", "which alerts fire is not known: " + fault.From(m.alertsErr).Message})
	}
	return out
}

// alerts are those that fire and are about a deployment.
func (m *measures) alerts(d *catalog.Deployment, namespace string) []FiringAlert {
	known := map[string]string{}
	for _, a := range d.Alerts {
		known[a.Name] = cmp.Or(known[a.Name], a.Runbook)
	}
	var out []FiringAlert
	for _, a := range m.firing {
		book, named := known[a.Name]
		if !about(a.Labels, d.Entity.Ref.Name, named) || !within(a.Labels, d.Environment.Name, namespace) {
			continue
		}
		a.Name, a.Summary, a.Runbook = line(a.Name, 80), line(a.Summary, 160), line(cmp.Or(a.Runbook, book), 300)
		out = append(out, a)
	}
	slices.SortStableFunc(out, func(a, b FiringAlert) int {
		return cmp.Or(cmp.Compare(weight(a.Severity), weight(b.Severity)), strings.Compare(a.Name, b.Name), a.Since.Compare(b.Since))
	})
	return slices.CompactFunc(out, func(a, b FiringAlert) bool { return a.Name == b.Name })
}

func weight(severity string) int {
	if i := slices.Index([]string{"critical", "page", "error", "warning", "ticket"}, severity); i >= 0 {
		return i
	}
	return 9
}

// about tells whether an alert's labels name a service; named is whether its
// rule is one of the service's, which is enough where they name none.
func about(labels map[string]string, service string, named bool) bool {
	none := true
	for _, key := range []string{"service", "sloth_service", "app", "component", "app_kubernetes_io_name"} {
		switch v := labels[key]; {
		case strings.EqualFold(v, service):
			return true
		case v != "":
			none = false
		}
	}
	return strings.EqualFold(labels["job"], service) || named && none
}

// within tells whether an alert's labels leave open that it is about an
// environment.
func within(labels map[string]string, environment, namespace string) bool {
	for _, key := range []string{"env", "environment", "stage"} {
		if v := labels[key]; v != "" {
			return strings.EqualFold(v, environment)
		}
	}
	v := labels["namespace"]
	return v == "" || namespace == "" || v == namespace
}
