package app

import (
	"context"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/gitops"
	"github.com/fairlead-dev/fairlead/internal/prometheus"
	"github.com/fairlead-dev/fairlead/knowledge"
)

// MetricsConfig says where metrics of the services are read; it is about theirs
// and not about Fairlead's own.
type MetricsConfig struct {
	// Prometheus is where objectives are measured and alerts fire.
	Prometheus *prometheus.Config `yaml:"prometheus"`
}

func (c *Config) checkMetrics(k *checker) {
	if c.Metrics.Prometheus == nil {
		return
	}
	for _, p := range c.Metrics.Prometheus.Validate() {
		k.add("metrics.prometheus."+p.Field, "%s", p.Message)
	}
}

// makeHealth opens what tells of deployments, where an Argo CD does.
func (a *App) makeHealth() (err error) {
	if len(a.deployments) == 0 {
		return nil
	}
	cfg := gitops.HealthConfig{Policy: a.cfg.policy, Catalog: a.catalog, Instances: a.deployments, Runbook: a.runbook}
	if p := a.cfg.Metrics.Prometheus; p != nil {
		client := prometheus.New(*p)
		a.closers = append(a.closers, client.Close)
		cfg.Metrics = client
	}
	if a.health, err = gitops.NewHealth(cfg); err == nil {
		a.closers = append([]func() error{a.health.Close}, a.closers...) // before what it asks
	}
	return err
}

// runbook is the handle of the best runbook for an alert that the caller may
// read, "" where there is none.
func (a *App) runbook(ctx context.Context, who access.Caller, alert, service string) string {
	found, err := a.knowledge.FindRunbook(ctx, who, knowledge.FindRunbookInput{Alert: alert, Service: service})
	if err != nil || len(found.Items) == 0 {
		return ""
	}
	return found.Items[0].Handle
}
