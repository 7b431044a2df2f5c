package gitops_test

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/catalog/catalogtest"
	"github.com/fairlead-dev/fairlead/catalog/infer"
	"github.com/fairlead-dev/fairlead/gitops"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// metrics are what a test says: values by what an expression holds.
type metrics struct {
	values map[string]float64
	firing []gitops.FiringAlert
	err    error
}

func (m metrics) Value(_ context.Context, expression string) (float64, bool, error) {
	for part, v := range m.values {
		if strings.Contains(expression, part) {
			return v, true, m.err
		}
	}
	return 0, false, m.err
}

func (m metrics) ValueAt(ctx context.Context, expression string, _ time.Time) (float64, bool, error) {
	return m.Value(ctx, expression)
}

func (m metrics) Firing(context.Context) ([]gitops.FiringAlert, error) { return m.firing, m.err }

// slos is a repository with objectives of checkout, and an alert of it.
type slos struct{ *catalog.Finding }

func (f slos) Of(string) *catalog.Finding       { return f.Finding }
func (f slos) In(string) *catalog.Finding       { return f.Finding }
func (f slos) Naming(string) []*catalog.Finding { return nil }

const objectives = `version: prometheus/v1
service: checkout
slos:
  - {name: fine, objective: 99, sli: {raw: {error_ratio_query: 'fine[{{.window}}]'}}}
  - {name: burning, objective: 99.9, sli: {raw: {error_ratio_query: 'burning[{{.window}}]'}}}
  - {name: missed, objective: 99, sli: {raw: {error_ratio_query: 'missed[{{.window}}]'}}}
  - {name: silent, objective: 99, sli: {raw: {error_ratio_query: 'silent[{{.window}}]'}}}
  - {name: odd, objective: 99, sli: {raw: {error_ratio_query: 'odd[{{.window}}]'}}}
  - {name: plugin, objective: 99, sli: {plugin: {id: x}}}
  - {name: perfect, objective: 100, sli: {raw: {error_ratio_query: 'perfect[{{.window}}]'}}}
`

const rules = "groups: [{name: g, rules: [{alert: CheckoutSlow, expr: x, labels: {severity: page}, annotations: {runbook_url: 'https://example.com/slow.md'}}]}]\n"

func measuredBy(t *testing.T, m gitops.Metrics, text string) *world {
	return newWorld(t, func(c *gitops.HealthConfig) {
		c.Metrics = m
		c.Catalog = catalogtest.New(t, checkout)
		readings := map[string]infer.Reading{"slo/a.yaml": infer.Read("slo/a.yaml", []byte(text)), "slo/rules.yaml": infer.Read("slo/rules.yaml", []byte(rules))}
		c.Catalog.AttachFindings(slos{&catalog.Finding{Repository: infer.NewRepository(readings, []string{"slo/a.yaml", "slo/rules.yaml"}), Source: catalogtest.Source}})
		c.Runbook = func(_ context.Context, _ access.Caller, alert, service string) string {
			if alert != "Errors" {
				return ""
			}
			return "doc://" + service + "/" + alert
		}
	})
}

func TestObjectives(t *testing.T) {
	m := metrics{values: map[string]float64{"fine[30d]": 0.002, "fine[1h]": 0.001, "burning[30d]": 0.0005, "burning[1h]": 0.02, "missed[30d]": 0.02, "missed[1h]": 0, "odd[30d]": math.NaN()}}
	w := measuredBy(t, m, objectives)
	h := w.ask("")
	got := map[string]gitops.ObjectiveState{}
	for _, o := range h.SLO {
		got[o.Name] = o
	}
	for name, want := range map[string]struct {
		state      string
		left, burn float64
		why        string
	}{"fine": {"met", 80, 0.1, ""}, "burning": {"burning", 50, 20, ""}, "missed": {"missed", -100, 0, ""}, "silent": {"unknown", 0, 0, "no data"}, "odd": {"unknown", 0, 0, "no data"},
		"plugin": {"unknown", 0, 0, "no query"}, "perfect": {"unknown", 0, 0, "no error budget"}} {
		o := got[name]
		if o.State != want.state || !strings.Contains(o.Why, want.why) || o.Window != "30d" || want.state != "unknown" && (o.BudgetLeft == nil || *o.BudgetLeft != want.left || o.Burn == nil || *o.Burn != want.burn) {
			t.Errorf("%s: %+v", name, o)
		}
	}
	if h.Verdict != "degraded" || h.Grounds[0] != "objective burning burns its error budget 20 times too fast" || !slices.Contains(h.Grounds, "objective missed has spent its error budget of 30d") || !slices.Contains(h.Grounds, "4 of 7 objectives are not known") {
		t.Errorf("%s: %q", h.Verdict, h.Grounds)
	}
	if h.SLO[0].Name != "burning" || h.SLO[1].Name != "missed" {
		t.Errorf("in the order of %+v", h.SLO)
	}
}

func TestAlertsOfADeployment(t *testing.T) {
	at := time.Now().UTC().Truncate(time.Second)
	alert := func(name, severity string, labels ...string) gitops.FiringAlert {
		a := gitops.FiringAlert{Name: name, Severity: severity, Since: at, Labels: map[string]string{}}
		for i := 0; i < len(labels); i += 2 {
			a.Labels[labels[i]] = labels[i+1]
		}
		return a
	}
	w := measuredBy(t, metrics{firing: []gitops.FiringAlert{
		alert("Watchdog", "none"), alert("OtherDown", "page", "service", "other"), alert("CheckoutSlow", "page", "service", "other"), alert("CheckoutSlow", "page", "env", "staging"),
		alert("CheckoutSlow", "page", "namespace", "elsewhere"), alert("Errors", "warning", "app", "Checkout", "environment", "Production"), alert("CheckoutSlow", "page", "namespace", "checkout"),
		alert("CheckoutSlow", "page", "pod", "2", "namespace", "checkout"),
	}}, objectives)
	h := w.ask("")
	if len(h.Alerts) != 2 || h.Alerts[0].Name != "CheckoutSlow" || h.Alerts[1].Name != "Errors" {
		t.Fatalf("%+v", h.Alerts)
	}
	if h.Alerts[0].Runbook != "https://example.com/slow.md" || h.Alerts[1].Runbook != "doc://component:default/checkout/Errors" {
		t.Errorf("%+v", h.Alerts)
	}
	if h.Verdict != "degraded" || !strings.HasPrefix(h.Grounds[0], "alert CheckoutSlow fires since ") {
		t.Errorf("%s: %q", h.Verdict, h.Grounds)
	}
	if h = measuredBy(t, metrics{firing: []gitops.FiringAlert{alert("Errors", "warning", "app", "checkout")}}, objectives).ask(""); h.Verdict != "healthy" || len(h.Alerts) != 1 {
		t.Errorf("a warning: %s: %q", h.Verdict, h.Grounds)
	}
}

// TestMetricsDown: what is not measured is said not to be, and takes nothing
// from what Argo CD tells.
func TestMetricsDown(t *testing.T) {
	down := fault.New(fault.Unavailable, "Prometheus does not answer")
	h := measuredBy(t, metrics{err: down}, objectives).ask(first)
	if h.Verdict != "healthy" || !slices.Contains(h.Grounds, "which alerts fire is not known: Prometheus does not answer") || !slices.Contains(h.Grounds, "7 of 7 objectives are not known") || h.SLO[0].Why != "Prometheus does not answer" {
		t.Errorf("%s: %q %+v", h.Verdict, h.Grounds, h.SLO)
	}
	if h = measuredBy(t, nil, objectives).ask(first); h.Verdict != "healthy" || len(h.SLO) > 0 || !slices.Contains(h.Grounds, "no Prometheus is configured: objectives and alerts are not known") {
		t.Errorf("%s: %q %+v", h.Verdict, h.Grounds, h.SLO)
	}
	many := "version: prometheus/v1\nservice: checkout\nslos:\n" + strings.Repeat("  - {name: x, objective: 99, sli: {raw: {error_ratio_query: 'x[{{.window}}]'}}}\n", 13)
	if h = measuredBy(t, metrics{values: map[string]float64{"x": 0}}, many).ask(first); !slices.Contains(h.Omitted, "3 slo") {
		t.Errorf("%d objectives, left out %q", len(h.SLO), h.Omitted)
	}
}
