package app

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/fairlead-dev/fairlead/internal/forge"
)

// forgeMetrics tells of what is left of the forges' limits, whenever it is
// asked.
type forgeMetrics struct {
	budgets                     *forge.Budgets
	remaining, limit            *prometheus.Desc
	requests, notModified, held *prometheus.Desc
}

func newForgeMetrics(budgets *forge.Budgets) *forgeMetrics {
	limits, hosts := []string{"host", "resource"}, []string{"host"}
	return &forgeMetrics{budgets: budgets,
		remaining:   prometheus.NewDesc("fairlead_forge_remaining", "Requests or points left in a forge's window.", limits, nil),
		limit:       prometheus.NewDesc("fairlead_forge_limit", "Requests or points that a forge allows in a window.", limits, nil),
		requests:    prometheus.NewDesc("fairlead_forge_requests_total", "Requests sent to a forge.", hosts, nil),
		notModified: prometheus.NewDesc("fairlead_forge_not_modified_total", "Requests to a forge that cost nothing, as nothing had changed.", hosts, nil),
		held:        prometheus.NewDesc("fairlead_forge_limited_total", "Requests that a forge refused for its limits.", hosts, nil),
	}
}

// Describe names the figures.
func (m *forgeMetrics) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{m.remaining, m.limit, m.requests, m.notModified, m.held} {
		out <- d
	}
}

// Collect tells the figures; those of a host's accounts are added up.
func (m *forgeMetrics) Collect(out chan<- prometheus.Metric) {
	type key struct{ host, resource string }
	left, limit := map[key]float64{}, map[key]float64{}
	counts := map[string][3]float64{}
	for _, f := range m.budgets.Figures() {
		if f.Resource != "" {
			left[key{f.Host, f.Resource}] += float64(f.Remaining)
			limit[key{f.Host, f.Resource}] += float64(f.Limit)
		}
		counts[f.Host] = [3]float64{float64(f.Requests), float64(f.NotModified), float64(f.Limited)}
	}
	for k, v := range left {
		out <- prometheus.MustNewConstMetric(m.remaining, prometheus.GaugeValue, v, k.host, k.resource)
		out <- prometheus.MustNewConstMetric(m.limit, prometheus.GaugeValue, limit[k], k.host, k.resource)
	}
	for host, c := range counts {
		for i, d := range []*prometheus.Desc{m.requests, m.notModified, m.held} {
			out <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, c[i], host)
		}
	}
}
