package previews

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/catalog/entity"
	"github.com/fairlead-dev/fairlead/catalog/index"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// shared is what a catalog knows of things that previews do not use: by the
// hosts they are reached at, and resources by their references, too.
type shared struct {
	snapshot  *index.Snapshot
	hosts     map[string]thing // as canonical writes them
	names     map[string]thing // of resources, which count as hosts where a host stands
	resources map[string]thing // by full reference
}

// thing is a resource, or a protected environment of a component.
type thing struct {
	ref, environment string
	owner            string
	about            access.Attributes
}

func thingOf(e *catalog.Entity, environment string) thing {
	return thing{e.Ref.String(), environment, ownerOf(e), index.AttributesOf(e)}
}

// sharedThings are those of the catalog as it is; they are gathered once for
// each state of it.
func (s *Service) sharedThings() *shared {
	now := s.cfg.Catalog.Snapshot()
	if known := s.shared.Load(); known != nil && known.snapshot == now {
		return known
	}
	out := &shared{snapshot: now, hosts: map[string]thing{}, names: map[string]thing{}, resources: map[string]thing{}}
	for e := range now.Every() {
		if strings.EqualFold(e.Ref.Kind, "resource") {
			out.addResource(e)
		}
		out.addEnvironments(e)
	}
	s.shared.Store(out)
	return out
}

// unshared are links and annotations of a resource that lead to people's pages
// about it, and not to itself.
func unshared() []string {
	return []string{"dashboard", "docs", "documentation", "runbook", "playbook", "source", "code", "repository", "logs", "alerts", "wiki", "ticket", "github", "gitlab", "console"}
}

func (s *shared) addResource(e *catalog.Entity) {
	t := thingOf(e, "")
	s.resources[strings.ToLower(t.ref)] = t
	if strings.EqualFold(e.Ref.Namespace, "default") || s.names[strings.ToLower(e.Ref.Name)].ref == "" {
		s.names[strings.ToLower(e.Ref.Name)] = t
	}
	for _, it := range e.Metadata().List("links") {
		o, ok := it.Value.(*entity.Object)
		if !ok {
			continue
		}
		says := strings.ToLower(o.String("type") + " " + o.String("title") + " " + o.String("icon"))
		if !slices.ContainsFunc(unshared(), func(w string) bool { return strings.Contains(says, w) }) {
			s.add(addressesIn(o.String("url")), t)
		}
	}
	for key, v := range e.Metadata().Object("annotations").All() {
		domain, _, _ := strings.Cut(key, "/")
		if text, ok := v.(string); ok && !slices.ContainsFunc([]string{"backstage.io", "github.com", "gitlab.com", "grafana", "prometheus.io", "pagerduty.com", "opsgenie.com", "argocd"},
			func(d string) bool { return domain == d || strings.HasSuffix(domain, "."+d) }) {
			s.add(addressesIn(text), t)
		}
	}
	walk(e.Spec(), func(text string) { s.add(addressesIn(text), t) })
}

// addEnvironments adds where an entity's protected environments answer.
func (s *shared) addEnvironments(e *catalog.Entity) {
	for _, it := range e.Spec().Object("fairlead").List("environments") {
		if o, ok := it.Value.(*entity.Object); ok && o.Get("protected") == true {
			s.add(addressesIn(o.String("url")), thingOf(e, o.String("name")))
		}
	}
}

// add adds hosts, and of those of Kubernetes' services the shorter forms that
// are found from within a cluster. A resource keeps a host that is also an
// environment's.
func (s *shared) add(hosts []string, t thing) {
	for _, h := range hosts {
		forms := []string{h}
		if at := strings.Index(h+".", ".svc."); at > 0 {
			forms = append(forms, h[:at], h[:at]+".svc")
		}
		for _, f := range forms {
			if was, there := s.hosts[f]; (!there || was.environment != "" && t.environment == "") && !isLoopback(f) {
				s.hosts[f] = t
			}
		}
	}
}

// walk visits every text of a value.
func walk(v entity.Value, visit func(text string)) {
	switch v := v.(type) {
	case string:
		visit(v)
	case *entity.Object:
		for key, inner := range v.All() {
			if key != "dependsOn" && key != "dependencyOf" && key != "owner" && key != "system" {
				walk(inner, visit)
			}
		}
	case entity.List:
		for _, it := range v {
			walk(it.Value, visit)
		}
	}
}

// namedIn finds what of the catalog a text names, and by which words.
func (s *shared) namedIn(text string) (by string, t thing, found bool) {
	for _, ref := range resourcesIn(text) {
		if t, found = s.resources[ref]; found {
			return ref, t, true
		}
	}
	for _, h := range hostsIn(text) {
		if t, found = s.hosts[h.name]; found && (h.placed || strings.ContainsAny(h.name, ".:")) {
			return h.name, t, true
		}
		if t, found = s.names[h.name]; found && h.placed {
			return h.name, t, true
		}
	}
	return "", thing{}, false
}

// checkReferences refuses a template that names what is shared: a resource of
// the catalog, or a protected environment, unless it is the one that the
// template says it uses.
func (s *Service) checkReferences(who access.Caller, e *catalog.Entity, t *Template) error {
	known := s.sharedThings()
	o := previewOf(e)
	for _, name := range slices.Sorted(maps.Keys(t.Env)) {
		if err := s.refuseShared(who, e, t, known, "env."+name, o.Object("env").Position(name), t.Env[name]); err != nil {
			return err
		}
	}
	for i, it := range o.List("command") {
		text, _ := it.Value.(string)
		if err := s.refuseShared(who, e, t, known, fmt.Sprintf("command[%d]", i), it.At, text); err != nil {
			return err
		}
	}
	return s.checkSettings(who, e, t, known)
}

// checkSettings looks at the keys that the deployer reads itself.
func (s *Service) checkSettings(who access.Caller, e *catalog.Entity, t *Template, known *shared) (err error) {
	for _, m := range previewOf(e).Members {
		if !slices.Contains(keys(), m.Key) {
			walk(m.Value, func(text string) {
				if err == nil {
					err = s.refuseShared(who, e, t, known, m.Key, m.At, text)
				}
			})
		}
	}
	return err
}

func (s *Service) refuseShared(who access.Caller, e *catalog.Entity, t *Template, known *shared, field string, at entity.Position, text string) error {
	by, what, found := known.namedIn(text)
	if !found || what.environment != "" && what.environment == t.Environment && what.ref == e.Ref.String() {
		return nil
	}
	name := what.ref
	if what.environment != "" {
		name = "the protected environment " + what.environment + " of " + what.ref
	}
	if what.owner != "" {
		name += ", owned by " + what.owner
	}
	if !s.cfg.Policy.Scope(who, access.ReadCatalog).Allows(what.about) {
		name = "something in the catalog that you may not see"
	}
	f := fault.New(fault.FailedPrecondition, "%s: spec.fairlead.preview.%s of %s names %s, which is %s: previews do not use what is shared", place(e, at), field, e.Ref, clip(by, 260), name)
	if what.environment != "" && what.ref == e.Ref.String() {
		return f.WithFix("Use another environment, or write environment: %s under spec.fairlead.preview; each preview then needs approval.", what.environment)
	}
	return f.WithFix("Have the preview ask for data of its own: add for example data: [{name: db, kind: postgres, seed: db/seed.sql, env: DATABASE_URL}] to spec.fairlead.preview, and take this out.")
}
