package main

import (
	"fmt"
	"math/rand/v2"
	"path"
	"strings"
)

// company is a made-up company whose catalog is as large as one wishes. The
// same size always gives the same files.
type company struct {
	*rand.Rand
	size       int
	teams      []string
	domains    []string
	systems    []string
	resources  []string
	components []named
	users      []string
	files      map[string]string // text by slash-separated path
	entities   int
}

// named is a component as others refer to it.
type named struct{ namespace, name string }

func (n named) ref() string { return "component:" + n.namespace + "/" + n.name }

func (n named) api() string { return "api:" + n.namespace + "/" + n.name + "-api" }

// newCompany describes a company of that many components: teams of fifty
// components, a resource for every fourth component, an API for every third.
func newCompany(components int) *company {
	c := &company{Rand: rand.New(rand.NewPCG(1, uint64(components))), size: components, files: map[string]string{}} //nolint:gosec // made-up data, the same each time
	c.names()
	c.organisation()
	c.landscape()
	c.products()
	c.roots()
	return c
}

func (c *company) names() {
	for i := range max(5, c.size/50) {
		c.teams = append(c.teams, fmt.Sprintf("team-%s-%d", c.pick(things()), i))
	}
	for i := range max(3, c.size/200) {
		c.domains = append(c.domains, fmt.Sprintf("%s-%d", c.pick(things()), i))
	}
	for i := range max(5, c.size/20) {
		c.systems = append(c.systems, fmt.Sprintf("%s-%s-%d", c.pick(things()), c.pick(manners()), i))
	}
	for i := range c.size / 4 {
		c.resources = append(c.resources, fmt.Sprintf("%s-%s-%d", c.pick(things()), resourceTypes()[i%5], i))
	}
	for i := range c.size {
		n := named{"default", fmt.Sprintf("%s-%s-%s-%d", c.pick(things()), c.pick(manners()), c.pick(roles()), i)}
		if team := i % len(c.teams); team%20 == 19 {
			n.namespace = fmt.Sprintf("ns-%d", team)
		}
		c.components = append(c.components, n)
	}
}

func (c *company) pick(from []string) string { return from[c.IntN(len(from))] }

// some picks up to n different ones.
func (c *company) some(n int, pick func() string) []string {
	var out []string
	seen := map[string]bool{}
	for range n {
		if s := pick(); !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	return out
}

// put adds a file.
func (c *company) put(file string, docs *documents) {
	c.files[file] = docs.String()
	c.entities += docs.count
}

func (c *company) organisation() {
	d := &documents{}
	d.group("everyone", "organization", "", "The whole company")
	departments := max(2, len(c.teams)/10)
	for i := range departments {
		d.group(fmt.Sprintf("department-%d", i), "department", "everyone", fmt.Sprintf("Department %d", i))
	}
	for i, t := range c.teams {
		d.group(t, "team", fmt.Sprintf("department-%d", i%departments), "Builds and runs "+strings.Split(t, "-")[1])
	}
	for i := range max(10, c.size/5) {
		c.users = append(c.users, fmt.Sprintf("%s.%s.%d", c.pick(givenNames()), c.pick(familyNames()), i))
		d.user(c.users[i], c.some(1+i%5/4, func() string { return c.pick(c.teams) }))
	}
	c.put("org/people.yaml", d)
}

func (c *company) landscape() {
	d := &documents{}
	for i, name := range c.domains {
		d.domain(name, c.teams[i%len(c.teams)])
	}
	c.put("landscape/domains.yaml", d)
	var targets []string
	for i, name := range c.systems {
		owner := c.pick(c.teams)
		d := &documents{}
		d.system(name, owner, c.domains[i%len(c.domains)])
		for r := i; r < len(c.resources); r += len(c.systems) {
			d.resource(c.resources[r], resourceTypes()[r%5], owner, name, c.pick(tags()))
		}
		file := "systems/" + name + "/catalog-info.yaml"
		c.put(file, d)
		targets = append(targets, "./"+name+"/catalog-info.yaml")
	}
	c.location("systems/all.yaml", "systems", targets)
}

func (c *company) location(file, name string, targets []string) {
	d := &documents{}
	d.location(name, targets)
	c.put(file, d)
}

func (c *company) products() {
	targets := make(map[string][]string, len(c.teams))
	for i, n := range c.components {
		team := c.teams[i%len(c.teams)]
		d := &documents{}
		c.component(d, i, team)
		if i%3 == 0 {
			c.api(d, i, team)
		}
		c.put(c.file(i), d)
		targets[team] = append(targets[team], "./"+n.name+"/catalog-info.yaml")
	}
	for _, team := range c.teams {
		c.location("repos/"+team+"/all.yaml", "repos-"+team, targets[team])
	}
}

// file is where a component is described.
func (c *company) file(i int) string {
	return path.Join("repos", c.teams[i%len(c.teams)], c.components[i].name, "catalog-info.yaml")
}

// roots writes all.yaml, from which everything is reached.
func (c *company) roots() {
	targets := []string{"./org/people.yaml", "./landscape/domains.yaml", "./systems/all.yaml"}
	for _, team := range c.teams {
		targets = append(targets, "./repos/"+team+"/all.yaml")
	}
	c.location("all.yaml", "all", targets)
}
