package index

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/fairlead-dev/fairlead/catalog/entity"
)

// synthetic makes a catalog of the usual shape around n components: teams,
// users, systems, resources, APIs and Locations, about 1.9 n entities.
type synthetic struct {
	r       *rand.Rand
	changes []Change
}

var (
	nouns = strings.Fields("payment order invoice cart checkout catalog search profile session billing ledger shipment route fleet driver")
	roles = strings.Fields("service api worker gateway portal lib client adapter consumer producer")
	langs = strings.Fields("go java python typescript kotlin rust")
	verbs = strings.Fields("Handles Serves Aggregates Publishes Consumes Validates")
)

func (g *synthetic) pick(xs []string) string { return xs[g.r.IntN(len(xs))] }

func list(items ...string) entity.List {
	l := make(entity.List, len(items))
	for i, s := range items {
		l[i].Value = s
	}
	return l
}

func (g *synthetic) put(kind, ns, name, path string, meta, spec *entity.Object, rels ...string) {
	ref := entity.Ref{Kind: kind, Namespace: ns, Name: name}.Canonical()
	url := "https://github.com/acme/catalog/tree/main/" + path
	ann := entity.Obj("backstage.io/managed-by-location", "url:"+url, "backstage.io/managed-by-origin-location", "url:https://github.com/acme/catalog/blob/main/all.yaml",
		"backstage.io/view-url", url, "backstage.io/edit-url", strings.Replace(url, "tree", "edit", 1), "backstage.io/source-location", "url:"+url[:strings.LastIndex(url, "/")+1])
	for k, v := range meta.Object("annotations").All() {
		ann.Set(k, v)
	}
	md := entity.Obj("name", name, "namespace", ns)
	for k, v := range meta.All() {
		md.Set(k, v)
	}
	md.Set("annotations", ann)
	e := &entity.Entity{Ref: ref, Root: entity.Obj("apiVersion", strings.Clone("backstage.io/v1alpha1"), "kind", strings.Clone(kind), "metadata", md, "spec", spec),
		From: entity.Provenance{Source: "bench", Path: path, Line: 1, VerifiedAt: time.Unix(0, 0)}}
	rec := &Record{Entity: e, Parents: []string{"location:default/all"}}
	self := ref.String()
	for i := 0; i+2 < len(rels); i += 3 {
		rec.Edges = append(rec.Edges, entity.Edge{Source: self, Type: rels[i], Target: rels[i+2]}, entity.Edge{Source: rels[i+2], Type: rels[i+1], Target: self})
	}
	g.changes = append(g.changes, Change{Ref: self, Record: rec})
}

func generate(n int) []Change {
	g := &synthetic{r: rand.New(rand.NewPCG(1, 2))}
	teams, systems, resources := g.org(n), g.systems(n), []string{}
	for i := range max(1, n/4) {
		name := fmt.Sprintf("%s-database-%d", g.pick(nouns), i)
		sys, team := systems[i%len(systems)], teams[i%len(teams)]
		resources = append(resources, "resource:default/"+name)
		g.put("Resource", "default", name, "systems/"+sys+"/catalog-info.yaml",
			entity.Obj("description", "database of "+sys, "annotations", entity.Obj("aws.amazon.com/arn", fmt.Sprintf("arn:aws:rds:eu-west-1:%d:db:%s", 100000000000+i, name)), "labels", entity.Obj("env", "prod", "region", "eu-west-1"), "tags", list(g.pick(langs), "data")),
			entity.Obj("type", "database", "owner", team, "system", sys),
			"ownedBy", "ownerOf", "group:default/"+team, "partOf", "hasPart", "system:default/"+sys)
	}
	var names []string
	for i := range n {
		names = append(names, g.component(i, names, teams, systems, resources))
	}
	return g.changes
}

func (g *synthetic) org(n int) []string {
	var teams []string
	for i := range max(5, n/50) {
		t := fmt.Sprintf("team-%s-%d", g.pick(nouns), i)
		teams = append(teams, t)
		g.put("Group", "default", t, "org/org.yaml", entity.Obj("description", "Builds and runs products", "annotations", entity.Obj("slack.com/channel", "#"+t)),
			entity.Obj("type", "team", "profile", entity.Obj("displayName", "Team "+t, "email", t+"@acme.test"), "parent", "acme", "children", entity.List{}),
			"childOf", "parentOf", "group:default/acme")
		g.put("Location", "default", "repos-"+t, "repos/"+t+"/locations.yaml", nil, entity.Obj("targets", list(fmt.Sprintf("./a%d/catalog-info.yaml", i), fmt.Sprintf("./b%d/catalog-info.yaml", i))))
	}
	for i := range max(10, n/5) {
		u, t := fmt.Sprintf("ada.%s.%d", g.pick(nouns), i), teams[i%len(teams)]
		g.put("User", "default", u, "org/org.yaml", nil, entity.Obj("profile", entity.Obj("displayName", "Ada "+u, "email", u+"@acme.test", "picture", "https://avatars.acme.test/"+u+".png"), "memberOf", list(t)),
			"memberOf", "hasMember", "group:default/"+t)
	}
	return teams
}

func (g *synthetic) systems(n int) []string {
	var systems []string
	for i := range max(5, n/20) {
		s := fmt.Sprintf("%s-core-system-%d", g.pick(nouns), i)
		systems = append(systems, s)
		g.put("System", "default", s, "systems/"+s+"/catalog-info.yaml", entity.Obj("title", strings.ToUpper(s), "description", g.pick(verbs)+" things end to end.", "tags", list("a", "b")),
			entity.Obj("owner", "team-x", "type", "product"), "ownedBy", "ownerOf", "group:default/team-x")
	}
	return systems
}

func (g *synthetic) component(i int, names, teams, systems, resources []string) string {
	n := fmt.Sprintf("%s-%s-%s-%d", g.pick(nouns), "core", g.pick(roles), i)
	team, sys, lang := teams[i%len(teams)], g.pick(systems), g.pick(langs)
	rels := []string{"ownedBy", "ownerOf", "group:default/" + team, "partOf", "hasPart", "system:default/" + sys}
	var deps []string
	for range g.r.IntN(4) {
		if i > 0 {
			deps = append(deps, "component:default/"+names[g.r.IntN(i)])
		}
	}
	deps = append(deps, g.pick(resources))
	for _, d := range deps {
		rels = append(rels, "dependsOn", "dependencyOf", d)
	}
	spec := entity.Obj("type", g.pick([]string{"service", "website", "library"}), "lifecycle", g.pick([]string{"production", "experimental"}), "owner", team, "system", sys, "dependsOn", list(deps...))
	if i%3 == 0 {
		rels = append(rels, "providesApi", "apiProvidedBy", "api:default/"+n+"-api")
		spec.Set("providesApis", list(n+"-api"))
		g.put("API", "default", n+"-api", "repos/"+team+"/"+n+"/catalog-info.yaml", entity.Obj("description", "openapi interface of "+n, "tags", list("openapi")),
			entity.Obj("type", "openapi", "lifecycle", "production", "owner", team, "system", sys, "definition", strings.Repeat("paths:\n  /x: {get: {}}\n", 30)),
			"ownedBy", "ownerOf", "group:default/"+team, "partOf", "hasPart", "system:default/"+sys)
	}
	if i > 3 {
		api := "api:default/" + names[(i-1)/3*3] + "-api"
		rels = append(rels, "consumesApi", "apiConsumedBy", api)
		spec.Set("consumesApis", list(api))
	}
	g.put("Component", "default", n, "repos/"+team+"/"+n+"/catalog-info.yaml",
		entity.Obj("title", strings.ToUpper(n[:1])+n[1:], "description", fmt.Sprintf("%s %ss and %ss for the team; written in %s.", g.pick(verbs), g.pick(nouns), g.pick(nouns), lang),
			"labels", entity.Obj("acme.test/language", lang, "acme.test/tier", "1"),
			"annotations", entity.Obj("github.com/project-slug", "acme/"+n, "backstage.io/techdocs-ref", "dir:.", "backstage.io/kubernetes-id", n, "pagerduty.com/integration-key", fmt.Sprintf("%016x%016x", g.r.Uint64(), g.r.Uint64()),
				"sonarqube.org/project-key", "acme:"+n, "grafana/dashboard-selector", "app="+n),
			"tags", list(lang, "tier1"), "links", entity.List{{Value: entity.Obj("url", "https://"+n+".acme.test", "title", "Live", "icon", "web")}}),
		spec, rels...)
	return n
}
