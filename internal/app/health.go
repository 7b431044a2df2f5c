package app

import (
	"context"
	"fmt"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/gitops"
	"github.com/fairlead-dev/fairlead/internal/prometheus"
	"github.com/fairlead-dev/fairlead/internal/registry"
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

// completeRegistries resolves the files of registries.
func (c *Config) completeRegistries() {
	for i := range c.Registries {
		c.Registries[i].In(c.dir)
	}
}

func (c *Config) checkRegistries(k *checker) {
	hosts := map[string]bool{}
	for i := range c.Registries {
		at := fmt.Sprintf("registries[%d]", i)
		for _, p := range c.Registries[i].Validate() {
			k.add(at+"."+p.Field, "%s", p.Message)
		}
		if host := c.Registries[i].Host; hosts[host] {
			k.add(at+".host", "another registry is %q", host)
		}
		hosts[c.Registries[i].Host] = true
	}
}

// makeHealth opens what tells of deployments, where an Argo CD does.
func (a *App) makeHealth() (err error) {
	if len(a.deployments) == 0 {
		return nil
	}
	recorder := gitops.NewRecorder(a.store, a.telemetry.log)
	cfg := gitops.HealthConfig{Policy: a.cfg.policy, Catalog: a.catalog, Instances: map[string]gitops.Deployments{}, Runbook: a.runbook, Recorder: recorder}
	for name, argo := range a.deployments {
		cfg.Instances[name] = argo
	}
	if p := a.cfg.Metrics.Prometheus; p != nil {
		client := prometheus.New(*p)
		a.closers = append(a.closers, client.Close)
		cfg.Metrics = client
	}
	if len(a.cfg.Registries) > 0 {
		client, err := registry.New(a.cfg.Registries)
		if err != nil {
			return err
		}
		a.closers = append(a.closers, client.Close)
		cfg.Origins = client
	}
	if a.health, err = gitops.NewHealth(cfg); err == nil {
		a.closers = append([]func() error{a.health.Close}, a.closers...) // before what it asks
	}
	if err != nil {
		return err
	}
	watch := gitops.ObserverConfig{Recorder: recorder, Catalog: a.catalog, Instances: a.deployments, Logger: a.telemetry.log}
	if isPostgres(a.cfg.State) { // else no other replica can be at work
		watch.Claim = a.store.ClaimTurn
	}
	a.observer, err = gitops.NewObserver(watch)
	return err
}

// observeDeployments writes down what is deployed until ctx ends.
func (a *App) observeDeployments(ctx context.Context) error {
	if a.observer == nil {
		return nil
	}
	return a.observer.Run(ctx)
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
