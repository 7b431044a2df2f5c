package catalog_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/access/accesstest"
	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/catalog/catalogtest"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// chain is web → api:pay ← pay → db, with a cycle between pay and ledger.
func chain() []string {
	return []string{
		component("{name: web}", "owner: red, consumesApis: [pay-api]"),
		component("{name: pay, title: Pay}", "owner: red, providesApis: [pay-api], dependsOn: ['resource:db', 'component:ledger', 'component:ghost']"),
		component("{name: ledger}", "owner: blue, dependsOn: ['component:pay', 'component:ledger']"),
		"kind: API\nmetadata: {name: pay-api}\nspec: {type: openapi, lifecycle: production, owner: red, definition: x}\n",
		"kind: Resource\nmetadata: {name: db}\nspec: {type: database, owner: blue}\n",
	}
}

func draw(g *catalog.DependencyGraph) string {
	var nodes, edges []string
	short := strings.NewReplacer("component:default/", "", ":default/", ":").Replace
	for _, n := range g.Nodes {
		mark := ""
		if n.Missing {
			mark = "?"
		}
		nodes = append(nodes, fmt.Sprint(n.Depth, " ", short(n.Ref), mark))
	}
	for _, e := range g.Edges {
		edges = append(edges, short(e.From+" "+e.Type+" "+e.To))
	}
	slices.Sort(nodes)
	slices.Sort(edges)
	return strings.Join(nodes, ", ") + " | " + strings.Join(edges, ", ")
}

func TestGetDependencies(t *testing.T) {
	s := catalogtest.New(t, chain()...)
	for _, c := range []struct {
		ref, direction string
		depth          int
		want           string
	}{
		{"pay", "", 0, "0 pay, 1 ghost?, 1 ledger, 1 resource:db | pay dependsOn ghost, pay dependsOn ledger, pay dependsOn resource:db"},
		{"pay", "in", 1, "0 pay, 1 api:pay-api, 1 ledger, 1 web | api:pay-api apiProvidedBy pay, ledger dependsOn pay, web consumesApi api:pay-api"},
		{"pay", "in", 3, "0 pay, 1 api:pay-api, 1 ledger, 1 web | api:pay-api apiProvidedBy pay, ledger dependsOn ledger, ledger dependsOn pay, pay dependsOn ledger, web consumesApi api:pay-api"},
		{"web", "out", 1, "0 web, 1 api:pay-api, 1 pay | api:pay-api apiProvidedBy pay, web consumesApi api:pay-api"},
		{"web", "out", 2, "0 web, 1 api:pay-api, 1 pay, 2 ghost?, 2 ledger, 2 resource:db | api:pay-api apiProvidedBy pay, pay dependsOn ghost, pay dependsOn ledger, pay dependsOn resource:db, web consumesApi api:pay-api"},
		{"web", "in", 5, "0 web | "},
		{"resource:db", "both", 1, "0 resource:db, 1 pay | pay dependsOn resource:db"},
		{"pay", "both", 1, "0 pay, 1 api:pay-api, 1 ghost?, 1 ledger, 1 resource:db, 1 web | api:pay-api apiProvidedBy pay, ledger dependsOn pay, pay dependsOn ghost, pay dependsOn ledger, pay dependsOn resource:db, web consumesApi api:pay-api"},
	} {
		g, err := s.GetDependencies(t.Context(), alice, catalog.GetDependenciesInput{Ref: c.ref, Direction: c.direction, Depth: c.depth})
		if err != nil {
			t.Fatal(err)
		}
		if got := draw(g); got != c.want || g.Truncated {
			t.Errorf("%s %s %d:\n%s, want\n%s", c.ref, c.direction, c.depth, got, c.want)
		}
	}
}

func TestDependenciesOutOfScopeAreNotThere(t *testing.T) {
	p := accesstest.Policy(t, `rules: [{name: red, effect: allow, who: {subjects: ["*"]}, actions: [catalog.read], on: {owners: ["group:default/red"]}}]`)
	s := catalogtest.NewWith(t, chain(), catalogtest.WithPolicy(p))
	g, err := s.GetDependencies(t.Context(), alice, catalog.GetDependenciesInput{Ref: "pay", Depth: 3})
	if want := "0 pay, 1 ghost?, 1 ledger?, 1 resource:db? | pay dependsOn ghost, pay dependsOn ledger, pay dependsOn resource:db"; err != nil || draw(g) != want {
		t.Errorf("%v %s, want %s", err, draw(g), want)
	}
}

func TestDependenciesAreBounded(t *testing.T) {
	var deps []string
	for i := range 600 {
		deps = append(deps, fmt.Sprintf("resource:r%d", i))
	}
	s := catalogtest.New(t, component("{name: hub}", "owner: red, dependsOn: ["+strings.Join(deps, ", ")+"]"))
	g, err := s.GetDependencies(t.Context(), alice, catalog.GetDependenciesInput{Ref: "hub"})
	if err != nil || len(g.Nodes) != 500 || len(g.Edges) != 499 || !g.Truncated {
		t.Errorf("%v: %d nodes, %d edges, truncated %v", err, len(g.Nodes), len(g.Edges), g.Truncated)
	}
	for want, in := range map[string]catalog.GetDependenciesInput{"depth is 6": {Ref: "hub", Depth: 6}, "depth is -1": {Ref: "hub", Depth: -1}, `"up"`: {Ref: "hub", Direction: "up"}} {
		if _, err := s.GetDependencies(t.Context(), alice, in); fault.CodeOf(err) != fault.Invalid || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want it to say %s", err, want)
		}
	}
}

func TestGetAncestry(t *testing.T) {
	location := func(name string) string {
		return "kind: Location\nmetadata: {name: " + name + "}\nspec: {targets: [./x]}\n"
	}
	s := catalogtest.NewEmpty(t)
	changes := catalogtest.Changes(t, location("root"), location("team"), location("loop"), component("{name: web}", "owner: red"))
	changes[1].Record.Parents = []string{"location:default/root", "location:default/gone"}
	changes[2].Record.Parents = []string{"location:default/loop", "location:default/team"}
	changes[3].Record.Parents = []string{"location:default/team", "location:default/loop"}
	s.Publish(changes)
	a, err := s.GetAncestry(t.Context(), alice, catalog.GetAncestryInput{Ref: "web"})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string][]string{}
	for _, i := range a.Items {
		got[i.Entity.Name()] = i.ParentEntityRefs
	}
	text, _ := json.Marshal(got)
	want := `{"loop":["location:default/loop","location:default/team"],"root":[],"team":["location:default/root"],"web":["location:default/team","location:default/loop"]}`
	if string(text) != want || a.RootEntityRef != "component:default/web" || a.Items[0].Entity.Name() != "web" {
		t.Errorf("%s of %s, want %s", text, a.RootEntityRef, want)
	}
}
