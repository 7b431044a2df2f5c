package catalog

import (
	"context"
	"strings"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/catalog/infer"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// DescribeDeploymentInput names a service and one of its environments.
type DescribeDeploymentInput struct {
	Service, Environment string
}

// Deployment is where a service runs in one environment and what it is held to
// there, as far as the catalog knows.
type Deployment struct {
	Entity *Entity
	// Environment is its fact: the name, the URL, whether it is protected.
	Environment Fact
	// Instance is the Argo CD's name, "" where it is not said; App the
	// application's, and Namespace the one that its Application is in, "" for
	// Argo CD's own. Selector picks the application by its labels instead.
	Instance, App, Namespace, Selector string
	// Objectives and Alerts are those of the service.
	Objectives []infer.SLO
	Alerts     []infer.Alert
}

// argoPlace is how a fact's Argo CD application is found.
type argoPlace struct {
	instance, namespace string
	selector            bool
}

// DescribeDeployment tells where a service runs in an environment: as its own
// file declares it, else as deploy repositories that the caller may be told of
// describe it. Faults: those of GetEntity, not_found where there is no such
// environment, failed_precondition where it is not said which application of
// Argo CD it is.
func (s *Service) DescribeDeployment(ctx context.Context, who access.Caller, in DescribeDeploymentInput) (*Deployment, error) {
	e, err := s.GetEntity(ctx, who, GetEntityInput{Ref: in.Service})
	if err != nil {
		return nil, err
	}
	r := s.reading(who)
	b, f := s.known(r, e, "")
	env, err := environmentOf(b, in.Environment)
	if err != nil {
		return nil, err
	}
	d := &Deployment{Entity: e, Environment: *env, Instance: env.argo.instance, Namespace: env.argo.namespace}
	app := env.App
	if d.Instance != "" {
		app = strings.TrimPrefix(app, d.Instance+"/")
	}
	p := s.findings.Load()
	if p != nil {
		s.each(f, r.naming(*p, f), func(in *Finding, dir string, alone bool) {
			d.Objectives = append(d.Objectives, in.SLOs(e.Ref.Name, dir, alone)...)
			d.Alerts = append(d.Alerts, in.Alerts(e.Ref.Name, dir, alone)...)
			for _, found := range in.Deployments(e.Ref.Name, in == f.ground.Finding && alone) {
				if app == "" && strings.EqualFold(found.Environment, env.Name) {
					app = found.App
				}
			}
		})
	}
	if app == "" {
		return nil, fault.New(fault.FailedPrecondition, "the catalog does not say which application of Argo CD is %s in %s", e.Ref, env.Name).
			WithFix("Add argocd: {instance: NAME, app: NAME} to the environment under spec.fairlead.environments.")
	}
	d.at(app, env.argo.selector)
	return d, nil
}

// at notes the application that a text names.
func (d *Deployment) at(app string, selector bool) {
	before, after, namespaced := strings.Cut(app, "/")
	switch {
	case selector:
		d.Selector = app
	case namespaced && d.Namespace == "":
		d.Namespace, d.App = before, after
	default:
		d.App = app
	}
}
