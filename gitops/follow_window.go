package gitops

import (
	"context"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/catalog/infer"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// What comparing two windows comes to.
const (
	WindowVerified   = "verified"
	WindowRegressed  = "regressed"
	WindowUnmeasured = "unmeasured"
)

// Window is what was measured before a change and after it.
type Window struct {
	// From and Until bound what was measured after it; before it was measured
	// for as long, up to when it was merged.
	From    time.Time `json:"from"`
	Until   time.Time `json:"until"`
	Outcome string    `json:"outcome" jsonschema:"verified, regressed or unmeasured"`
	// Grounds say what has become worse, or why nothing was measured.
	Grounds []string `json:"grounds,omitempty"`
	Figures []Figure `json:"figures,omitempty"`
}

// Figure is one thing that was measured before and after; what is not known is
// absent.
type Figure struct {
	Name string `json:"name" jsonschema:"error rate, latency p95, latency p99 or restarts, and of what"`
	// Unit is ratio, seconds or count.
	Unit   string   `json:"unit"`
	Before *float64 `json:"before,omitempty"`
	After  *float64 `json:"after,omitempty"`
	Worse  bool     `json:"worse,omitempty"`
}

// CompareWindowsInput says what to compare: what was measured of a service in an
// environment for so long before one time, and before another.
type CompareWindowsInput struct {
	Service, Environment string
	Before, After        time.Time
	Length               time.Duration
}

// When a figure counts as worse: an error rate is above what its objective
// allows and has more than doubled; a latency is half as high again, by more
// than what buckets make of noise; there are more restarts.
const (
	errorsWorse  = 2
	latencyWorse = 1.5
	latencyNoise = 0.005
)

// CompareWindows measures error rates, latencies and restarts of a deployment
// before and after, as far as its objectives say how and there are metrics.
// Faults are those of GetDeploymentHealth.
func (s *HealthService) CompareWindows(ctx context.Context, who access.Caller, in CompareWindowsInput) (*Window, error) {
	w := &Window{From: in.After.Add(-in.Length), Until: in.After, Outcome: WindowUnmeasured}
	d, err := s.deployment(ctx, who, GetDeploymentHealthInput{Service: in.Service, Environment: in.Environment})
	if err != nil {
		return nil, err
	}
	if s.cfg.Metrics == nil {
		w.Grounds = []string{"no Prometheus is configured"}
		return w, nil
	}
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Patience)
	defer cancel()
	m := &comparing{metrics: s.cfg.Metrics, in: in, length: promRange(in.Length)}
	for i := range d.Objectives[:min(len(d.Objectives), maxObjectives)] {
		m.errors(ctx, &d.Objectives[i])
	}
	for _, selector := range histograms(d.Objectives) {
		m.latency(ctx, selector)
	}
	m.restarts(ctx, d, s.namespace(ctx, d))
	return m.judge(w), nil
}

// namespace is where a deployment's Pods are, "" where that is not known.
func (s *HealthService) namespace(ctx context.Context, d *catalog.Deployment) string {
	instance, err := s.instance(d)
	if err != nil {
		return ""
	}
	at := AppName{Name: d.App, Namespace: d.Namespace}
	if d.Selector != "" {
		if at.Name, err = s.selected(ctx, instance, d); err != nil {
			return ""
		}
	}
	app, err := s.cfg.Instances[instance].Application(ctx, at, false)
	if err != nil {
		return ""
	}
	return app.Namespace
}

// comparing is one comparison under way.
type comparing struct {
	metrics Metrics
	in      CompareWindowsInput
	length  string
	figures []Figure
	trouble error
}

// promRange is a time as Prometheus writes it.
func promRange(d time.Duration) string {
	if d%time.Minute == 0 {
		return strconv.Itoa(int(d/time.Minute)) + "m"
	}
	return strconv.Itoa(max(int(d/time.Second), 1)) + "s"
}

// measure takes one figure before and after. worse judges it where both are
// known.
func (m *comparing) measure(ctx context.Context, name, unit, expression string, worse func(before, after float64) bool) {
	f := Figure{Name: line(name, 80), Unit: unit}
	for _, p := range []struct {
		at   time.Time
		into **float64
	}{{m.in.Before, &f.Before}, {m.in.After, &f.After}} {
		v, there, err := m.metrics.ValueAt(ctx, expression, p.at)
		if err != nil {
			m.trouble = err
			return
		}
		if there && !math.IsNaN(v) && !math.IsInf(v, 0) {
			v = rounded(v)
			*p.into = &v
		}
	}
	if f.Before == nil && f.After == nil {
		return
	}
	f.Worse = f.Before != nil && f.After != nil && worse(*f.Before, *f.After)
	m.figures = append(m.figures, f)
}

// rounded keeps four digits that count.
func rounded(v float64) float64 {
	out, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 4, 64), 64)
	if err != nil {
		return v
	}
	return out
}

// errors measures the error rate that an objective is about.
func (m *comparing) errors(ctx context.Context, slo *infer.SLO) {
	budget := 1 - slo.Objective/100
	if expression := slo.Measure.Errors(m.length); expression != "" {
		m.measure(ctx, "error rate "+slo.Name, "ratio", expression, func(before, after float64) bool { return after > budget && after > errorsWorse*before })
	}
}

// latency measures two quantiles of a histogram.
func (m *comparing) latency(ctx context.Context, selector string) {
	name, _, _ := strings.Cut(selector, "{")
	for _, q := range []string{"0.95", "0.99"} {
		m.measure(ctx, "latency p"+q[2:]+" "+strings.TrimSuffix(name, "_bucket"), "seconds", "histogram_quantile("+q+", sum by (le) (rate("+selector+"["+m.length+"])))",
			func(before, after float64) bool { return after > latencyWorse*before && after > before+latencyNoise })
	}
}

// restarts counts those of the containers of Pods that are called like the
// service.
func (m *comparing) restarts(ctx context.Context, d *catalog.Deployment, namespace string) {
	if namespace == "" {
		return
	}
	pods := regexp.QuoteMeta(d.Entity.Ref.Name) + "(-.+)?"
	m.measure(ctx, "restarts", "count", fmt.Sprintf("round(sum(increase(kube_pod_container_status_restarts_total{namespace=%q,pod=~%q}[%s])))", namespace, pods, m.length),
		func(before, after float64) bool { return after > before })
}

// judge comes to an outcome.
func (m *comparing) judge(w *Window) *Window {
	w.Figures = m.figures
	for _, f := range m.figures {
		switch {
		case f.Worse:
			w.Outcome = WindowRegressed
			w.Grounds = append(w.Grounds, fmt.Sprintf("%s went from %v to %v", f.Name, *f.Before, *f.After))
		case f.Before != nil && f.After != nil && w.Outcome == WindowUnmeasured:
			w.Outcome = WindowVerified
		}
	}
	switch {
	case w.Outcome != WindowUnmeasured:
	case m.trouble != nil:
		w.Grounds = []string{line(fault.From(timedOut(m.trouble, "asking Prometheus")).Message, maxGround)}
	default:
		w.Grounds = []string{"there is no data of before and after"}
	}
	return w
}

// maxHistograms is how many histograms of a service are measured.
const maxHistograms = 3

// bucket is a histogram in an expression, with what selects it.
var bucket = regexp.MustCompile(`[a-zA-Z_:][a-zA-Z0-9_:]*_(?:seconds|duration)[a-zA-Z0-9_:]*_bucket(?:\{(?:[^{}"]|"(?:[^"\\]|\\.)*")*\})?`)

// limit is the label of a bucket's bound among others, and trailing the comma
// that is left where it was the last.
var (
	limit    = regexp.MustCompile(`\ble\s*(?:=~|!~|!=|=)\s*"(?:[^"\\]|\\.)*"\s*,?\s*`)
	trailing = regexp.MustCompile(`,\s*\}$`)
)

// histograms are those of latencies that objectives are measured by, with the
// buckets left open.
func histograms(all []infer.SLO) (out []string) {
	seen := map[string]bool{}
	for i := range all {
		m := &all[i].Measure
		for _, text := range []string{m.Good, m.Bad, m.Ratio, m.Total} {
			for _, found := range bucket.FindAllString(text, -1) {
				selector := trailing.ReplaceAllString(limit.ReplaceAllString(found, ""), "}")
				if !seen[selector] && len(out) < maxHistograms {
					seen[selector] = true
					out = append(out, selector)
				}
			}
		}
	}
	return out
}
