package catalog

import (
	"context"
	"strings"
)

// Deployments are where all components run, in each of their environments of
// which it is known which application of Argo CD that is, whoever may read of
// them and without what they are held to: for the record of what was deployed,
// and not for answers. An error is that of ctx.
func (s *Service) Deployments(ctx context.Context) ([]Deployment, error) {
	var out []Deployment
	r := reading{Snapshot: s.Snapshot(), whole: true}
	for e := range r.Every() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if strings.EqualFold(e.Kind(), "component") {
			out = append(out, s.deployments(r, e)...)
		}
	}
	return out, nil
}

// deployments are those of one component.
func (s *Service) deployments(r reading, e *Entity) (out []Deployment) {
	f := s.factory(e)
	b := &Brief{DeployRepo: f.text(f.fairlead(), "deployRepo", "spec.fairlead"), Environments: f.environments()}
	apps := map[string]string{} // as repositories describe them, by environment
	if p := s.findings.Load(); p != nil {
		f.ground = s.ground(r, f)
		naming := r.naming(*p, f)
		s.inferDeployment(f, naming, b)
		s.each(f, naming, func(in *Finding, _ string, alone bool) {
			for _, found := range in.Deployments(e.Ref.Name, in == f.ground.Finding && alone) {
				if env := strings.ToLower(found.Environment); apps[env] == "" {
					apps[env] = found.App
				}
			}
		})
	}
	for _, env := range b.Environments {
		d := Deployment{Entity: e, Environment: env, Instance: env.argo.instance, Namespace: env.argo.namespace}
		app := env.App
		if d.Instance != "" {
			app = strings.TrimPrefix(app, d.Instance+"/")
		}
		if app == "" {
			app = apps[strings.ToLower(env.Name)]
		}
		if app != "" {
			d.at(app, env.argo.selector)
			out = append(out, d)
		}
	}
	return out
}
