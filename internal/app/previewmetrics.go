package app

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/fairlead-dev/fairlead/internal/jobs"
	"github.com/fairlead-dev/fairlead/internal/store"
	"github.com/fairlead-dev/fairlead/previews"
)

// collectTimeout bounds what is read for the metrics.
const collectTimeout = 5 * time.Second

// previews makes the metrics of previews and gives what counts turns.
func (t *telemetry) previews(s *store.Store) func(from, to previews.Phase, took time.Duration) {
	turns := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "fairlead_preview_changes_total",
		Help: "Changes of previews' phases, by the phase before and after."}, []string{"from", "to"})
	for _, from := range []previews.Phase{previews.Pending, previews.Creating, previews.Degraded} { // alerts are to see the first one, too
		turns.WithLabelValues(string(from), string(previews.Failed))
		turns.WithLabelValues(string(from), string(previews.Ready))
	}
	seconds := prometheus.NewHistogram(prometheus.HistogramOpts{Name: "fairlead_preview_turn_duration_seconds",
		Help: "How long it took to look after a preview once.", Buckets: []float64{.001, .003, .01, .03, .1, .3, 1, 3, 10, 30, 60}})
	t.registry.MustRegister(turns, seconds, newPreviewGauges(s))
	return func(from, to previews.Phase, took time.Duration) {
		seconds.Observe(took.Seconds())
		if from != to {
			turns.WithLabelValues(string(from), string(to)).Inc()
		}
	}
}

func gauge(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, labels, nil)
}

// previewGauges tell how previews are doing when they are asked.
type previewGauges struct {
	store                                                 *store.Store
	phases, overdue, stuck, removal, queue, waiting, late *prometheus.Desc
}

func newPreviewGauges(s *store.Store) *previewGauges {
	return &previewGauges{
		store:   s,
		phases:  gauge("fairlead_previews", "Previews that are not gone, by phase.", "phase"),
		overdue: gauge("fairlead_preview_overdue_seconds", "How long ago the time of a preview that is still there was up, the longest; 0 for none."),
		stuck:   gauge("fairlead_previews_stuck", "Previews whose removal takes longer than previews.deadlines.remove."),
		removal: gauge("fairlead_preview_removal_seconds", "How long the removals that are under way take so far, the longest; 0 for none."),
		queue:   gauge("fairlead_preview_queue_length", "Previews that wait for room."),
		waiting: gauge("fairlead_preview_queue_wait_seconds", "How long the previews that wait for room have waited, the longest; 0 for none."),
		late:    gauge("fairlead_preview_reconcile_lag_seconds", "How long ago a preview should have been looked after that nobody has taken, the longest; 0 for none."),
	}
}

// Describe names the figures.
func (g *previewGauges) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{g.phases, g.overdue, g.stuck, g.removal, g.queue, g.waiting, g.late} {
		ch <- d
	}
}

// Collect reads them.
func (g *previewGauges) Collect(ch chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), collectTimeout)
	defer cancel()
	counts, err := g.store.PreviewCounts(ctx)
	if err != nil {
		ch <- prometheus.NewInvalidMetric(g.phases, err)
		return
	}
	for _, p := range []previews.Phase{previews.Pending, previews.Creating, previews.Ready, previews.Degraded, previews.Deleting, previews.Failed} {
		ch <- prometheus.MustNewConstMetric(g.phases, prometheus.GaugeValue, float64(counts[p]), string(p))
	}
	f, err := g.store.PreviewFigures(ctx, time.Now())
	if err != nil {
		ch <- prometheus.NewInvalidMetric(g.overdue, err)
		return
	}
	for d, v := range map[*prometheus.Desc]float64{g.overdue: f.Overdue.Seconds(), g.stuck: float64(f.Stuck), g.removal: f.Removal.Seconds(),
		g.queue: float64(f.Queue), g.waiting: f.Wait.Seconds(), g.late: f.Lag.Seconds()} {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v)
	}
}

// backlog tells how the jobs are doing when it is asked.
type backlog struct{ jobs *jobs.Queue }

func backlogDescs() (states, wait *prometheus.Desc) {
	return gauge("fairlead_jobs", "Jobs by state: due, later, running, given_up (in the last hour).", "state"),
		gauge("fairlead_job_wait_seconds", "How long jobs that are due have waited for somebody to do them, the longest; 0 for none.")
}

// Describe names the figures.
func (b *backlog) Describe(ch chan<- *prometheus.Desc) {
	states, wait := backlogDescs()
	ch <- states
	ch <- wait
}

// Collect reads them.
func (b *backlog) Collect(ch chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), collectTimeout)
	defer cancel()
	states, wait := backlogDescs()
	now, err := b.jobs.Backlog(ctx)
	if err != nil {
		ch <- prometheus.NewInvalidMetric(states, err)
		return
	}
	for state, n := range map[string]int{"due": now.Due, "later": now.Later, "running": now.Running, "given_up": now.GivenUp} {
		ch <- prometheus.MustNewConstMetric(states, prometheus.GaugeValue, float64(n), state)
	}
	waited := 0.0
	if !now.Oldest.IsZero() {
		waited = max(0, time.Since(now.Oldest).Seconds())
	}
	ch <- prometheus.MustNewConstMetric(wait, prometheus.GaugeValue, waited)
}

// strayMetrics tell what the last look for strays has found.
type strayMetrics struct {
	strays *prometheus.GaugeVec
	failed *prometheus.CounterVec
	looked prometheus.Gauge
}

func (t *telemetry) strays() *strayMetrics {
	m := &strayMetrics{
		strays: prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "fairlead_preview_strays",
			Help: "What the last look found of previews that are not known any more, by deployer."}, []string{"deployer"}),
		failed: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "fairlead_preview_stray_look_failures_total",
			Help: "Looks for strays that did not work, by deployer."}, []string{"deployer"}),
		looked: prometheus.NewGauge(prometheus.GaugeOpts{Name: "fairlead_preview_stray_look_timestamp_seconds",
			Help: "When it was looked for strays last, in seconds since 1970."}),
	}
	t.registry.MustRegister(m.strays, m.failed, m.looked)
	return m
}

func (m *strayMetrics) tell(counts map[string]int, unseen []previews.Unswept) {
	for deployer, n := range counts {
		m.strays.WithLabelValues(deployer).Set(float64(n))
		m.failed.WithLabelValues(deployer).Add(0)
	}
	for _, u := range unseen {
		m.failed.WithLabelValues(u.Deployer).Inc()
	}
	m.looked.SetToCurrentTime()
}
