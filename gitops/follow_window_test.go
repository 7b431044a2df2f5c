package gitops_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/gitops"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// windows are metrics of before a time, and of after it.
type windows struct {
	metrics
	change        time.Time
	before, after map[string]float64
	asked         *[]string
}

func (m windows) ValueAt(_ context.Context, expression string, at time.Time) (float64, bool, error) {
	*m.asked = append(*m.asked, expression)
	values := m.before
	if at.After(m.change) {
		values = m.after
	}
	for part, v := range values {
		if strings.Contains(expression, part) {
			return v, true, m.err
		}
	}
	return 0, false, m.err
}

const windowed = `version: prometheus/v1
service: checkout
slos:
  - {name: availability, objective: 99, sli: {events: {error_query: 'sum(rate(errs[{{.window}}]))', total_query: 'sum(rate(all[{{.window}}]))'}}}
  - name: latency
    objective: 99
    sli:
      events:
        error_query: 'sum(rate(http_request_duration_seconds_count{job="checkout"}[{{.window}}])) - sum(rate(http_request_duration_seconds_bucket{job="checkout", le="0.3"}[{{.window}}]))'
        total_query: 'sum(rate(http_request_duration_seconds_count{job="checkout"}[{{.window}}]))'
  - {name: silent, objective: 99, sli: {plugin: {id: x}}}
`

func TestWindows(t *testing.T) {
	at := time.Now().Add(-time.Hour)
	const errors, p95, p99, restarts = "rate(errs", "histogram_quantile(0.95", "histogram_quantile(0.99", "restarts_total"
	for name, c := range map[string]struct {
		before, after map[string]float64
		err           error
		outcome       string
		grounds       string
		figures       int
	}{
		"as before":          {map[string]float64{errors: 0.001, p95: 0.2, p99: 0.25, restarts: 1}, map[string]float64{errors: 0.002, p95: 0.21, p99: 0.26, restarts: 1}, nil, gitops.WindowVerified, "", 4},
		"more errors":        {map[string]float64{errors: 0.002}, map[string]float64{errors: 0.05}, nil, gitops.WindowRegressed, "error rate availability went from 0.002 to 0.05", 1},
		"as bad as before":   {map[string]float64{errors: 0.04}, map[string]float64{errors: 0.05}, nil, gitops.WindowVerified, "", 1},
		"slower":             {map[string]float64{p95: 0.1, p99: 0.2}, map[string]float64{p95: 0.11, p99: 0.9}, nil, gitops.WindowRegressed, "latency p99 http_request_duration_seconds went from 0.2 to 0.9", 2},
		"noise":              {map[string]float64{p95: 0.001}, map[string]float64{p95: 0.004}, nil, gitops.WindowVerified, "", 1},
		"restarts":           {map[string]float64{restarts: 0}, map[string]float64{restarts: 3}, nil, gitops.WindowRegressed, "restarts went from 0 to 3", 1},
		"nothing before":     {nil, map[string]float64{errors: 0.5}, nil, gitops.WindowUnmeasured, "no data of before and after", 1},
		"nothing at all":     {nil, nil, nil, gitops.WindowUnmeasured, "no data of before and after", 0},
		"Prometheus is down": {nil, nil, fault.New(fault.Unavailable, "Prometheus does not answer"), gitops.WindowUnmeasured, "Prometheus does not answer", 0},
	} {
		t.Run(name, func(t *testing.T) {
			asked := []string{}
			m := windows{metrics{err: c.err}, at, c.before, c.after, &asked}
			w, err := measuredBy(t, m, windowed).CompareWindows(t.Context(), alice, gitops.CompareWindowsInput{Service: "checkout", Environment: "production", Before: at, After: at.Add(20 * time.Minute), Length: 10 * time.Minute})
			if err != nil || w.Outcome != c.outcome || len(w.Figures) != c.figures || !strings.Contains(strings.Join(w.Grounds, "; "), c.grounds) || (c.grounds == "") != (len(w.Grounds) == 0) || !w.From.Equal(at.Add(10*time.Minute)) {
				t.Errorf("%+v, %v", w, err)
			}
			if c.err != nil {
				return
			}
			for _, want := range []string{`histogram_quantile(0.95, sum by (le) (rate(http_request_duration_seconds_bucket{job="checkout"}[10m])))`,
				`round(sum(increase(kube_pod_container_status_restarts_total{namespace="checkout",pod=~"checkout(-.+)?"}[10m])))`} {
				if !slices.Contains(asked, want) {
					t.Errorf("%s is not asked for, but %q", want, asked)
				}
			}
		})
	}
	if _, err := measuredBy(t, nil, windowed).CompareWindows(t.Context(), alice, gitops.CompareWindowsInput{Service: "nobody", Environment: "production", Length: time.Minute}); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("of nobody: %v", err)
	}
}

// TestRegressed ends what is healthy and has become worse as degraded.
func TestRegressed(t *testing.T) {
	l := newLoop(t, func(c *gitops.Config) { c.Follow.Health = regressing{c.Follow.Health} })
	p, commit := l.merged(shopTo("v2"))
	l.argo.Deploy(commit, "a/shop:v2")
	l.pass(time.Minute)
	l.pass(11 * time.Minute)
	got := l.get(p.ID)
	if f := got.Follow; f.Outcome != gitops.OutcomeDegraded || f.Window == nil || f.Window.Outcome != gitops.WindowRegressed || f.Grounds[0] != "restarts went from 0 to 3" || f.DegradedAt.IsZero() || f.HealthyAt.IsZero() || !strings.Contains(got.Next, "rollback") {
		t.Errorf("%+v %q", f, got.Next)
	}
}

// regressing finds that everything has become worse.
type regressing struct{ gitops.Health }

func (regressing) CompareWindows(_ context.Context, _ access.Caller, in gitops.CompareWindowsInput) (*gitops.Window, error) {
	return &gitops.Window{From: in.Before, Until: in.After, Outcome: gitops.WindowRegressed, Grounds: []string{"restarts went from 0 to 3"}}, nil
}
