package main

import (
	"fmt"
	"strings"
)

// documents writes catalog entities as a YAML file of several documents.
type documents struct {
	strings.Builder
	count int
}

func (d *documents) add(format string, args ...any) { fmt.Fprintf(d, format, args...) }

func (d *documents) entity(kind, namespace, name string) {
	d.count++
	d.add("---\napiVersion: backstage.io/v1alpha1\nkind: %s\nmetadata:\n  name: %q\n", kind, name)
	if namespace != "" && namespace != "default" {
		d.add("  namespace: %q\n", namespace)
	}
}

// list writes a list of strings below a key; nothing where it is empty.
func (d *documents) list(indent int, key string, items []string) {
	if len(items) == 0 {
		return
	}
	pad := strings.Repeat("  ", indent)
	d.add("%s%s:\n", pad, key)
	for _, it := range items {
		d.add("%s  - %q\n", pad, it)
	}
}

func (d *documents) group(name, kind, parent, description string) {
	d.entity("Group", "", name)
	d.add("  description: %q\nspec:\n  type: %s\n  profile:\n    displayName: %q\n    email: %q\n", description, kind, title(name), name+"@corp.test")
	if parent != "" {
		d.add("  parent: %q\n", parent)
	}
	d.add("  children: []\n")
}

func (d *documents) user(name string, teams []string) {
	d.entity("User", "", name)
	d.add("spec:\n  profile:\n    displayName: %q\n    email: %q\n    picture: %q\n", title(strings.ReplaceAll(name, ".", "-")), name+"@corp.test", "https://faces.corp.test/"+name+".png")
	d.list(1, "memberOf", teams)
}

func (d *documents) domain(name, owner string) {
	d.entity("Domain", "", name)
	d.add("  title: %q\n  description: %q\n  tags:\n    - domain\nspec:\n  owner: %q\n  type: product-area\n", title(name), "All that concerns "+name, "group:"+owner)
}

func (d *documents) system(name, owner, domain string) {
	d.entity("System", "", name)
	d.add("  title: %q\n  description: %q\n  links:\n    - url: %q\n      title: Dashboard\n      icon: dashboard\n", title(name), "From one end of "+name+" to the other", "https://boards.corp.test/d/"+name)
	d.add("spec:\n  owner: %q\n  domain: %q\n  type: product\n", owner, domain)
}

func (d *documents) resource(name, kind, owner, system, tag string) {
	d.entity("Resource", "", name)
	d.add("  description: %q\n  labels:\n    region: eu-central-1\n    env: prod\n  annotations:\n    aws.amazon.com/arn: %q\n", kind+" of "+system, "arn:aws:rds:eu-central-1:000000000000:db:"+name)
	d.list(1, "tags", []string{kind, tag})
	d.add("spec:\n  type: %s\n  owner: %q\n  system: %q\n", kind, owner, system)
}

func (d *documents) location(name string, targets []string) {
	d.entity("Location", "", name)
	d.add("spec:\n")
	d.list(1, "targets", targets)
}

// component describes the i-th component.
func (c *company) component(d *documents, i int, team string) {
	n, language := c.components[i], c.pick(languages())
	d.entity("Component", n.namespace, n.name)
	d.add("  title: %q\n  description: %q\n", title(n.name), fmt.Sprintf("Looks after %s and %s; written in %s.", c.pick(things()), c.pick(things()), language))
	d.add("  labels:\n    corp.test/language: %s\n    corp.test/tier: %q\n", language, fmt.Sprint(1+c.IntN(3)))
	d.add("  annotations:\n    github.com/project-slug: %q\n    backstage.io/techdocs-ref: dir:.\n    backstage.io/kubernetes-id: %q\n", "corp/"+n.name, n.name)
	d.add("    pagerduty.com/integration-key: %q\n    sonarqube.org/project-key: %q\n    grafana/dashboard-selector: %q\n", fmt.Sprintf("%016x%016x", c.Uint64(), c.Uint64()), "corp:"+n.name, "app="+n.name)
	d.list(1, "tags", append([]string{language}, c.some(c.IntN(4), func() string { return c.pick(tags()) })...))
	d.add("  links:\n    - url: %q\n      title: Live\n      icon: web\n", "https://"+n.name+".corp.test")
	if c.IntN(2) == 0 {
		d.add("    - url: %q\n      title: Runbook\n      icon: docs\n      type: runbook\n", "https://runbooks.corp.test/"+n.name)
	}
	d.add("spec:\n  type: %s\n  lifecycle: %s\n  owner: %q\n  system: %q\n", c.pick(componentTypes()), c.pick(lifecycles()), "group:default/"+team, "system:default/"+c.pick(c.systems))
	if i%3 == 0 {
		d.list(1, "providesApis", []string{n.name + "-api"})
	}
	if i > 0 {
		d.list(1, "consumesApis", c.some(c.IntN(4), func() string { return c.components[c.IntN(i)/3*3].api() }))
		d.list(1, "dependsOn", append(c.some(c.IntN(5), func() string { return c.dependency(i) }), c.some(c.IntN(3), func() string { return "resource:" + c.pick(c.resources) })...))
	}
}

// dependency is an earlier component, or now and then one that does not exist.
func (c *company) dependency(i int) string {
	if c.IntN(200) == 0 {
		return fmt.Sprintf("component:default/lost-%d", i)
	}
	return c.components[c.IntN(i)].ref()
}

// api describes the API of the i-th component.
func (c *company) api(d *documents, i int, team string) {
	n := c.components[i]
	d.entity("API", n.namespace, n.name+"-api")
	d.add("  description: %q\n  tags:\n    - openapi\nspec:\n  type: openapi\n  lifecycle: production\n  owner: %q\n  definition: |\n", "What "+n.name+" offers", "group:default/"+team)
	d.add("    openapi: 3.1.0\n    info:\n      title: %s\n      version: 2.%d.0\n    paths:\n", n.name, c.IntN(30))
	for p := range 1 + c.IntN(6) {
		d.add("      /%s/%d:\n        get:\n          operationId: read%d\n          summary: Reads one of them\n          responses:\n            '200':\n              description: It is there\n", c.pick(things()), p, p)
	}
}

func title(name string) string {
	words := strings.Split(name, "-")
	for i, w := range words {
		if w != "" {
			words[i] = strings.ToUpper(w[:1]) + w[1:]
		}
	}
	return strings.Join(words, " ")
}

func words(s string) []string { return strings.Fields(s) }

func things() []string {
	return words("account address badge basket booking budget carrier claim contract credit customer delivery device document exchange feed forecast gift hotel identity invoice journey label ledger letter market meter notice order parcel passenger payment permit photo policy price profile quote receipt refund report request review route seat sensor shipment signal stock survey tariff ticket trip vehicle voucher wallet warehouse")
}

func manners() []string {
	return words("basic bulk central daily direct early fast fresh global inner late local main outer plain quick quiet rapid remote shared slow small steady")
}

func roles() []string {
	return words("api app batch broker console engine gateway importer keeper planner portal reader relay server service store syncer worker writer")
}

func tags() []string {
	return words("audited beta billing cloud compliance core data edge events frontend grpc internal kafka legacy mobile payments postgres public redis regulated rest search streaming tier1 tier2")
}

func languages() []string { return words("go java kotlin python rust typescript") }

func givenNames() []string {
	return words("agnes bela carl dora emil frida georg hanna ivo judit karim lena milan nora oskar paula quirin rosa stefan tilda uwe vera wanda yusuf zoe")
}

func familyNames() []string {
	return words("adler berg conti dahl egger frank gruber haas ivanov jansen keller lang meier novak orban petit quast rossi silva toth ulrich vogel weber yilmaz zeman")
}

func resourceTypes() []string { return words("database bucket topic cache queue") }

func componentTypes() []string {
	return words("service service service service website library library pipeline")
}

func lifecycles() []string {
	return words("production production production experimental deprecated")
}
