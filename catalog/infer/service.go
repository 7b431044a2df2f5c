package infer

import (
	"maps"
	"path"
	"slices"
	"strings"
)

// about tells whether a file in a repository is about a service whose folder
// is dir: it lies below that, or beside no other service. alone tells that the
// repository holds that service only.
func about(file, dir string, alone bool) bool {
	if dir == "" {
		return alone
	}
	return alone || strings.HasPrefix(file, dir+"/")
}

// namesService tells whether a file names a service.
func namesService(named, service string) bool {
	return named != "" && strings.EqualFold(named, service)
}

// SLOs are the objectives of a service: those that name it, and those of its
// folder that name nobody else in the catalog. alone tells that the
// repository holds that service only.
func (r *Repository) SLOs(service, dir string, alone bool) []SLO {
	var out []SLO
	for _, s := range r.slos {
		if namesService(s.Service, service) || namesService(s.Alias, service) || about(s.Path, dir, alone) {
			out = append(out, s)
		}
	}
	return out
}

// Alerts are the alerts of a service, chosen as its objectives are.
func (r *Repository) Alerts(service, dir string, alone bool) []Alert {
	var out []Alert
	for _, a := range r.alerts {
		if namesService(a.Service, service) || namesService(a.Alias, service) || about(a.Path, dir, alone) {
			out = append(out, a)
		}
	}
	return out
}

// AllAlerts are all alerts of the repository, by path.
func (r *Repository) AllAlerts() []Alert { return slices.Clone(r.alerts) }

// Runbooks are the runbooks of a service: those below its folder, those whose
// path names it, and all where the repository holds that service only.
func (r *Repository) Runbooks(service, dir string, alone bool) []string {
	var out []string
	for _, f := range r.runbooks {
		if about(f, dir, alone) || mentions(f, service) {
			out = append(out, f)
		}
	}
	return out
}

// mentions tells whether a folder of a path, or the beginning of its name,
// is a service.
func mentions(file, service string) bool {
	service = strings.ToLower(service)
	base := strings.ToLower(strings.TrimSuffix(path.Base(file), path.Ext(file)))
	if base == service || strings.HasPrefix(base, service+"-") {
		return true
	}
	return slices.Contains(strings.Split(strings.ToLower(folder(file)), "/"), service)
}

// Deployment is where one environment of a service is described.
type Deployment struct {
	Environment string
	// Repo is the repository that holds it where that is another one than
	// that of the Place; Path the folder in it.
	Repo, Path string
	// App is the Argo CD application, "" where only a folder is known.
	App, Namespace string
	Place
}

// Deployments are the environments of a service that the repository
// describes: by Argo CD applications, else by folders. own tells that the
// repository is the service's own, so that a folder which names nobody is its.
func (r *Repository) Deployments(service string, own bool) []Deployment {
	var out []Deployment
	seen := map[string]bool{}
	for _, a := range r.applications() {
		if !a.Serves(service) {
			continue
		}
		env := a.EnvironmentOf()
		if env == "" {
			env = a.Name
		}
		seen[strings.ToLower(env)] = true
		out = append(out, Deployment{Environment: env, Repo: a.Repo, Path: a.Path, App: a.Name, Namespace: a.Namespace, Place: a.Place})
	}
	for _, o := range r.overlays {
		if seen[strings.ToLower(o.Environment)] || !namesService(o.Service, service) && (!own || o.Service != "") {
			continue
		}
		seen[strings.ToLower(o.Environment)] = true
		out = append(out, Deployment{Environment: o.Environment, Path: o.Dir, Place: o.Place})
	}
	return out
}

// Deploys tells whether the repository describes any deployment.
func (r *Repository) Deploys() bool {
	return len(r.overlays) > 0 || len(r.applications()) > 0
}

// Names are the services, in lower case and sorted, that something in the
// repository names: objectives, alerts and deployments.
func (r *Repository) Names() []string {
	names := map[string]bool{}
	for _, s := range r.slos {
		names[strings.ToLower(s.Service)], names[strings.ToLower(s.Alias)] = true, true
	}
	for _, a := range r.alerts {
		names[strings.ToLower(a.Service)] = true
	}
	for _, a := range r.applications() {
		a.names(names)
	}
	for _, o := range r.overlays {
		names[strings.ToLower(o.Service)] = true
	}
	delete(names, "")
	return slices.Sorted(maps.Keys(names))
}

// names adds every name for which Serves may hold.
func (a Application) names(into map[string]bool) {
	if a.Component != "" {
		into[strings.ToLower(a.Component)] = true
		return
	}
	for p := range strings.SplitSeq(strings.ToLower(a.Path), "/") {
		into[p] = true
	}
	name, env := strings.ToLower(a.Name), strings.ToLower(a.EnvironmentOf())
	into[name] = true
	if env != "" {
		into[strings.TrimSuffix(name, "-"+env)] = true
		into[strings.TrimPrefix(name, env+"-")] = true
	}
}
