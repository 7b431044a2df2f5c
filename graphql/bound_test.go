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
