package infer

import "testing"

// TestMeasures holds what is read of files to the expressions that a Prometheus
// is asked.
func TestMeasures(t *testing.T) {
	const events = `(sum(rate(e[28d])) or vector(0)) / (sum(rate(t[28d])) > 0)`
	for name, c := range map[string]struct{ text, window, want string }{
		"sloth":               {"version: prometheus/v1\nservice: a\nslos: [{name: x, objective: 99, sli: {events: {error_query: 'rate(e[{{.window}}])', total_query: 'rate(t[{{ .window }}])'}}}]\n", "28d", `(sum(rate(e[28d])) or vector(0)) / (sum(rate(t[28d])) > 0)`},
		"sloth in Kubernetes": {"apiVersion: sloth.slok.dev/v1\nkind: PrometheusServiceLevel\nspec: {service: a, slos: [{name: x, objective: 99, sli: {events: {errorQuery: 'rate(e[{{.window}}])', totalQuery: 'rate(t[{{.window}}])'}}}]}\n", "28d", events},
		"sloth, a ratio":      {"version: prometheus/v1\nservice: a\nslos: [{name: x, objective: 99, sli: {raw: {error_ratio_query: 'r{{.window}}'}}}]\n", "1h", "sum(r1h)"},
		"sloth, a plugin":     {"version: prometheus/v1\nservice: a\nslos: [{name: x, objective: 99, sli: {plugin: {id: p}}}]\n", "1h", ""},
		"openslo inline": {"apiVersion: openslo/v1\nkind: SLO\nmetadata: {name: x}\nspec: {service: a, objectives: [{target: 0.99}], indicator: {spec: {ratioMetric: {good: {metricSource: {type: Prometheus, spec: {query: 'rate(g[5m])'}}}, total: {metricSource: {type: Prometheus, spec: {query: 'rate(t[5m])'}}}}}}}\n",
			"1h", "1 - (sum(rate(g[1h])) or vector(0)) / (sum(rate(t[1h])) > 0)"},
		"openslo named": {"apiVersion: openslo/v1\nkind: SLO\nmetadata: {name: x}\nspec: {service: a, indicatorRef: i, objectives: [{target: 0.99}]}\n---\napiVersion: openslo/v1\nkind: SLI\nmetadata: {name: i}\nspec: {ratioMetric: {bad: {metricSource: {spec: {query: 'rate(e[1m30s])'}}}, total: {metricSource: {spec: {query: 'rate(t[5m])'}}}}}\n",
			"28d", events},
		"openslo elsewhere": {"apiVersion: openslo/v1\nkind: SLO\nmetadata: {name: x}\nspec: {service: a, objectives: [{target: 0.99}], indicator: {spec: {ratioMetric: {bad: {metricSource: {type: Datadog, spec: {query: 'sum:e[5m]'}}}, total: {metricSource: {type: Datadog, spec: {query: 'sum:t[5m]'}}}}}}}\n", "1h", ""},
		"no place for time": {"apiVersion: openslo/v1\nkind: SLO\nmetadata: {name: x}\nspec: {service: a, objectives: [{target: 0.99}], indicator: {spec: {ratioMetric: {bad: {metricSource: {spec: {query: e}}}, total: {metricSource: {spec: {query: t}}}}}}}\n", "1h", ""},
		"pyrra":             {"apiVersion: pyrra.dev/v1alpha1\nkind: ServiceLevelObjective\nmetadata: {name: p}\nspec: {target: '99', window: 4w, indicator: {ratio: {errors: {metric: 'e{code=\"5\"}'}, total: {metric: t}}}}\n", "4w", `(sum(sum(rate(e{code="5"}[4w]))) or vector(0)) / (sum(sum(rate(t[4w]))) > 0)`},
		"pyrra, latency":    {"apiVersion: pyrra.dev/v1alpha1\nkind: ServiceLevelObjective\nmetadata: {name: p}\nspec: {target: '99', window: 4w, indicator: {latency: {success: {metric: 's'}, total: {metric: t}}}}\n", "1h", `1 - (sum(sum(rate(s[1h]))) or vector(0)) / (sum(sum(rate(t[1h]))) > 0)`},
	} {
		slos := NewRepository(map[string]Reading{"slo/a.yaml": Read("slo/a.yaml", []byte(c.text))}, []string{"slo/a.yaml"}).SLOs("a", "", true)
		if len(slos) != 1 {
			t.Errorf("%s: %+v", name, slos)
			continue
		}
		if got := slos[0].Measure.Errors(c.window); got != c.want {
			t.Errorf("%s: %s", name, got)
		}
	}
	for window, want := range map[string]string{"30d": "30d", "4w": "4w", "1M": "30d", "1Q": "90d", "1Y": "1y", "90m": "90m", "": "", "d": "", "30": "", "30dd": "", "x30d": "", "99999d": "", "30 d": ""} {
		if got := promWindow(window); got != want {
			t.Errorf("window %q: %q, not %q", window, got, want)
		}
	}
}
