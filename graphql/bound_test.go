package graphql_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/catalog/catalogtest"
	"github.com/fairlead-dev/fairlead/graphql"
)

// many is a catalog of n services in one system with one owner and a chain of
// dependencies.
func many(n int) string {
	var b strings.Builder
	b.WriteString("kind: Group\nmetadata: {name: team}\nspec: {type: team, children: []}\n---\nkind: System\nmetadata: {name: all}\nspec: {owner: team}\n")
	for i := range n {
		fmt.Fprintf(&b, "---\nkind: Component\nmetadata: {name: s%03d}\nspec: {type: service, lifecycle: production, owner: team, system: all, dependsOn: [\"component:s%03d\", \"component:s%03d\"]}\n", i, (i+1)%n, (i+2)%n)
	}
	return b.String()
}

// TestReadsAreBounded: a query reads the catalog as often as it names
// relations, however many entities it finds.
func TestReadsAreBounded(t *testing.T) {
	const query = `{entities(first: 50, filter: "kind=component") {nodes {owner {ref memberOf {ref}} system {owner {ref}} dependsOn(first: 2) {dependsOn(first: 2) {dependsOn(first: 2) {owner {ref}}}} relations(type: "ownedBy") {target {ref}}}}}`
	for _, n := range []int{3, 50} {
		s := serve(t, catalogtest.New(t, docs(many(n))))
		s.data("reader", query, nil)
		calls := s.recorder.take()
		// entities; owner, memberOf, system, owner, dependsOn ×3, owner, relations.
		if len(calls) > 10 {
			t.Errorf("%d services: %d reads: %v", n, len(calls), calls)
		}
	}
}

// TestEntitiesAreBounded: what the estimate could not foresee is stopped by
// count.
func TestEntitiesAreBounded(t *testing.T) {
	s := serve(t, catalogtest.New(t, docs(many(200))), func(c *graphql.Config) { c.Entities = 1000 })
	const query = `{entity(ref: "system:all") {parts {dependsOn {system {parts {ref}}}}}}`
	a := s.post("reader", query, nil)
	if len(a.Errors) == 0 || a.Errors[0].Extensions.Code != "invalid" || !strings.Contains(a.Errors[0].Message, "1000 entities") {
		t.Errorf("%.500s", a.raw)
	}
	s.data("reader", `{entity(ref: "system:all") {parts {dependsOn {ref}}}}`, nil)
	s.data("reader", `{entity(ref: "system:all") {parts(first: 3) {dependsOn {system {parts(first: 3) {ref}}}}}}`, nil)
}

// TestAnswersAreBounded: however an answer grows large, it is refused as a
// whole, over either protocol.
func TestAnswersAreBounded(t *testing.T) {
	long := strings.Repeat("x", 5000)
	catalog := docs(many(30) + "---\nkind: Component\nmetadata: {name: long, description: " + long + ", annotations: {a: " + long + "}, links: [{url: \"https://example.com/" + long + "\"}]}\n" +
		"spec: {type: " + long + ", lifecycle: production, owner: team}\n")
	s := serve(t, catalogtest.New(t, catalog), func(c *graphql.Config) { c.Limits.Answer = 20_000 })
	aliased := func(field string) string { return each(5, "f%d: "+field+" ") }
	for name, query := range map[string]string{
		"whole entities":    `{entities(first: 500) {nodes {json}}}`,
		"specs":             `{entity(ref: "long") {` + aliased("spec") + `}}`,
		"descriptions":      `{entity(ref: "long") {metadata {` + aliased("description") + `}}}`,
		"several metadata":  `{entity(ref: "long") {` + aliased("metadata {description}") + `}}`,
		"one annotation":    `{entity(ref: "long") {metadata {` + aliased(`annotation(key: "a")`) + `}}}`,
		"annotations":       `{entity(ref: "long") {metadata {` + aliased("annotations") + `}}}`,
		"links":             `{entity(ref: "long") {metadata {` + aliased("links {url}") + `}}}`,
		"types":             `{entity(ref: "long") {` + aliased("type") + `}}`,
		"answers of a room": `{search(query: "long") {hits {` + aliased("description") + `}}}`,
		"ancestry":          `{ancestry(ref: "long") {` + aliased("items {entity {spec}}") + `}}`,
		"introspection":     `{__schema {types {name description fields {name description}}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			a := s.post("reader", query, nil)
			if a.status != 400 || a.Data != nil || len(a.Errors) != 1 || !strings.Contains(a.Errors[0].Message, "20000") || a.Errors[0].Extensions.Code != "invalid" {
				t.Errorf("%d %.300s", a.status, a.raw)
			}
		})
	}
	s.data("reader", `{entity(ref: "long") {metadata {description}}}`, nil)
	c := s.open("reader")
	c.send(`{"id":"1","type":"subscribe","payload":{"query":"subscription { catalogChanged { entities { metadata { description } } } }"}}`)
	c.send(`{"type":"ping"}`)
	c.read()
	s.catalog.Publish(catalogtest.Changes(t, catalog+"---\n"+strings.TrimPrefix(docs("kind: Group\nmetadata: {name: fresh, description: "+strings.Repeat(long, 5)+"}\nspec: {type: team, children: []}\n"), "\n")))
	if f := c.read(); f.Type != "error" || !strings.Contains(string(f.Payload), "20000") {
		t.Errorf("%s %.300s", f.Type, f.Payload)
	}
}

// TestManyRelationsAreReadInParts: an entity may be related to more others
// than one reading of the catalog takes.
func TestManyRelationsAreReadInParts(t *testing.T) {
	var b strings.Builder
	b.WriteString("kind: Component\nmetadata: {name: hub}\nspec:\n  type: service\n  lifecycle: production\n  owner: team\n  dependsOn:\n    - component:hub\n")
	for i := range catalog.MaxRefs {
		fmt.Fprintf(&b, "    - component:s%05d\n", i)
	}
	s := serve(t, catalogtest.New(t, docs(b.String())))
	s.recorder.take()
	defer func() {
		if calls := s.recorder.take(); len(calls) != 2 {
			t.Errorf("for the first of many the catalog was read %d times", len(calls))
		}
	}()
	if got := s.data("reader", `{entity(ref: "hub") {dependsOn(first: 1) {ref}}}`, nil); got != `{"entity":{"dependsOn":[{"ref":"component:default/hub"}]}}` {
		t.Error(got)
	}
}
