package infer

import (
	"path"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// Application is an Argo CD application as a file in Git describes it.
type Application struct {
	Name string `json:"name"`
	// Repo, Path and Revision say what it deploys.
	Repo     string `json:"repo,omitempty"`
	Path     string `json:"deploys,omitempty"`
	Revision string `json:"revision,omitempty"`
	// Namespace and Cluster say where to.
	Namespace string `json:"namespace,omitempty"`
	Cluster   string `json:"cluster,omitempty"`
	// Component is the service that its labels name.
	Component string `json:"component,omitempty"`
	Place
}

// application reads an Argo CD Application, or the template of a set, of
// which the parts that are filled in later are left out.
func (r *Reading) application(path, kind string, root *yaml.Node) {
	meta, spec := child(root, "metadata"), child(root, "spec")
	if kind == "ApplicationSet" {
		r.listed(path, spec)
		return
	}
	r.app(path, root.Line, meta, spec, nil)
}

// listed gives the applications of a set whose generator is a plain list, and
// notes those of which the repository's folders tell.
func (r *Reading) listed(path string, spec *yaml.Node) {
	template := child(spec, "template")
	for _, g := range items(child(spec, "generators")) {
		for _, e := range items(at(g, "list", "elements")) {
			with := map[string]string{}
			for k, v := range pairs(e) {
				if v != nil && v.Kind == yaml.ScalarNode {
					with[k.Value] = v.Value
				}
			}
			r.app(path, e.Line, child(template, "metadata"), child(template, "spec"), with)
		}
		r.folders(path, child(g, "git"), template)
	}
}

func (r *Reading) app(path string, line int, meta, spec *yaml.Node, with map[string]string) {
	source := child(spec, "source")
	if source == nil {
		if all := items(child(spec, "sources")); len(all) > 0 {
			source = all[0]
		}
	}
	fill := func(n *yaml.Node, keys ...string) string { return filled(scalar(n, keys...), with) }
	a := Application{Name: fill(meta, "name"), Repo: fill(source, "repoURL"), Path: fill(source, "path"), Revision: fill(source, "targetRevision"),
		Namespace: fill(spec, "destination", "namespace"), Place: Place{path, line}}
	a.Cluster = fill(spec, "destination", "name")
	if a.Cluster == "" {
		a.Cluster = fill(spec, "destination", "server")
	}
	for _, key := range []string{"backstage.io/kubernetes-id", "app.kubernetes.io/part-of", "app.kubernetes.io/name", "app"} {
		if a.Component = fill(meta, "labels", key); a.Component != "" {
			break
		}
	}
	if a.Name != "" && a.Repo != "" && len(r.Applications) < maxFindings {
		r.Applications = append(r.Applications, a)
	}
}

// filled puts the values of a generator into a template; what stays open
// makes the whole unknown.
func filled(s string, with map[string]string) string {
	for k, v := range with {
		for _, form := range []string{"{{" + k + "}}", "{{ " + k + " }}", "{{." + k + "}}", "{{ ." + k + " }}"} {
			s = strings.ReplaceAll(s, form, v)
		}
	}
	if strings.Contains(s, "{{") || strings.Contains(s, "${") {
		return ""
	}
	return s
}

// Overlay is a folder of a repository that holds what one environment of one
// service is made of, as folders are commonly laid out.
type Overlay struct {
	// Service is the service that the path names, "" if it names none: it is
	// then that of the repository.
	Service     string `json:"service,omitempty"`
	Environment string `json:"environment"`
	Dir         string `json:"dir"`
	Place
}

// overlayOf reads the path of a kustomization or of Helm values. Layouts that
// are known: SERVICE/overlays/ENV, overlays/ENV/SERVICE, envs/ENV/SERVICE,
// SERVICE/envs/ENV, and SERVICE/values-ENV.yaml.
func overlayOf(file string) (Overlay, bool) {
	dir, base := folder(file), path.Base(file)
	parts := strings.Split(dir, "/")
	switch {
	case isKustomization(base):
		i := slices.IndexFunc(parts, isEnvironments)
		if i < 0 || i+1 >= len(parts) {
			return Overlay{}, false
		}
		o := Overlay{Environment: parts[i+1], Dir: dir, Place: Place{Path: file, Line: 1}}
		o.Service = serviceIn(append(slices.Clone(parts[i+2:]), reversed(parts[:i])...))
		return o, o.Environment != "base"
	case isValues(base):
		env := strings.TrimLeft(strings.TrimSuffix(strings.TrimPrefix(base, "values"), path.Ext(base)), "-._")
		if !IsEnvironment(env) {
			return Overlay{}, false
		}
		return Overlay{Environment: env, Dir: dir, Service: serviceIn(reversed(parts)), Place: Place{Path: file, Line: 1}}, true
	}
	return Overlay{}, false
}

func isKustomization(base string) bool {
	return base == "kustomization.yaml" || base == "kustomization.yml" || base == "Kustomization"
}

func isValues(base string) bool { return strings.HasPrefix(base, "values") && isYAML(base) }

// isEnvironments are folders whose children are environments.
func isEnvironments(part string) bool {
	switch part {
	case "overlays", "environments", "envs", "env", "clusters":
		return true
	}
	return false
}

// serviceIn is the first part of a path that may be the name of a service.
func serviceIn(parts []string) string {
	for _, p := range parts {
		switch strings.ToLower(p) {
		case "", "apps", "applications", "services", "deploy", "deployment", "deployments", "k8s", "kubernetes", "kustomize", "manifests", "charts", "chart", "helm", "gitops", "base", "infra", ".":
		default:
			return p
		}
	}
	return ""
}

func reversed(parts []string) []string {
	out := slices.Clone(parts)
	slices.Reverse(out)
	return out
}

// IsEnvironment tells whether a word is commonly the name of an environment.
func IsEnvironment(word string) bool {
	switch strings.ToLower(word) {
	case "dev", "development", "test", "testing", "qa", "int", "integration", "uat", "stage", "staging", "preprod", "pre-prod", "preview", "sandbox", "demo", "prod", "production", "live":
		return true
	}
	return false
}

// EnvironmentOf is the environment that an application is for: by its path,
// else by the end of its name or namespace; "" if nothing says.
func (a Application) EnvironmentOf() string {
	parts := strings.Split(a.Path, "/")
	if i := slices.IndexFunc(parts, isEnvironments); i >= 0 && i+1 < len(parts) {
		return parts[i+1]
	}
	for _, p := range reversed(parts) {
		if IsEnvironment(p) {
			return p
		}
	}
	for _, name := range []string{a.Name, a.Namespace} {
		for _, cut := range []string{name[strings.LastIndexByte(name, '-')+1:], strings.SplitN(name, "-", 2)[0]} {
			if IsEnvironment(cut) {
				return cut
			}
		}
	}
	return ""
}

// Serves tells whether an application is one of a service: its labels say so,
// its path has a folder of that name, or its name is the service's, alone or
// with that of an environment.
func (a Application) Serves(service string) bool {
	if a.Component != "" {
		return strings.EqualFold(a.Component, service)
	}
	if slices.ContainsFunc(strings.Split(a.Path, "/"), func(p string) bool { return strings.EqualFold(p, service) }) {
		return true
	}
	if strings.EqualFold(a.Name, service) {
		return true
	}
	env := a.EnvironmentOf()
	return env != "" && (strings.EqualFold(a.Name, service+"-"+env) || strings.EqualFold(a.Name, env+"-"+service))
}
