package catalog_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/access/accesstest"
	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/catalog/catalogtest"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

func coverage(t *testing.T, s *catalog.Service, in catalog.GetCoverageInput) *catalog.Coverage {
	t.Helper()
	c, err := s.GetCoverage(t.Context(), accesstest.As("user:default/alice"), in)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// states are the states of a service's things, in order.
func states(s catalog.ServiceCoverage) string {
	var out []string
	for _, th := range s.Things {
		out = append(out, th.Name+"="+string(th.State))
	}
	return strings.Join(out, " ")
}

func TestCoverage(t *testing.T) {
	s := catalogtest.New(t, append(neighbours(), "kind: Component\nmetadata: {name: kit}\nspec: {type: library, lifecycle: production, owner: shop}\n",
		component("{name: ledger}", "owner: money"))...)
	s.AttachFindings(foundIn(catalogtest.Repository, map[string]string{"go.mod": "module x\n"}))
	c := coverage(t, s, catalog.GetCoverageInput{})
	got := map[string]string{}
	for _, it := range c.Items {
		got[it.Ref] = states(it)
	}
	for ref, want := range map[string]string{
		"component:default/checkout": "owner=declared build=declared test=declared slo=declared runbook=declared oncall=declared deploy=declared",
		"component:default/web":      "owner=declared build=inferred test=inferred slo=missing runbook=missing oncall=missing deploy=missing",
		"component:default/kit":      "owner=declared build=inferred test=inferred slo=none runbook=none oncall=none deploy=none",
		"component:default/ledger":   "owner=declared build=inferred test=inferred slo=missing runbook=missing oncall=missing deploy=missing",
	} {
		if got[ref] != want {
			t.Errorf("%s:\n got %s\nwant %s", ref, got[ref], want)
		}
	}
	if c.Total != 4 || len(c.Teams) != 2 || c.All.Services != 4 || c.All.Things != 24 || c.All.Missing != 8 {
		t.Errorf("totals: %+v of %+v", c.All, c.Teams)
	}
	if m := c.Teams[0]; m.Owner != "group:default/money" || m.Services != 1 || m.Declared != 1 || m.Inferred != 2 || m.Missing != 4 || m.Percent != 42 {
		t.Errorf("money: %+v", m)
	}
	for _, th := range c.Items[0].Things {
		if c.Items[0].Ref == "component:default/ledger" && th.Name == "owner" && th.Stale != "group:default/money is not in the catalog" {
			t.Errorf("an owner that is not there: %+v", th)
		}
	}
}

func TestCoverageNarrowed(t *testing.T) {
	s := catalogtest.New(t, append(neighbours(), component("{name: ledger}", "owner: money"))...)
	for _, c := range []struct {
		in   catalog.GetCoverageInput
		want []string
	}{
		{catalog.GetCoverageInput{Owner: "money"}, []string{"ledger"}},
		{catalog.GetCoverageInput{Owner: "Group:default/Money"}, []string{"ledger"}},
		{catalog.GetCoverageInput{Owner: "nobody"}, nil},
		{catalog.GetCoverageInput{Type: "Website"}, []string{"web"}},
		{catalog.GetCoverageInput{Missing: "slo"}, []string{"ledger", "web"}},
		{catalog.GetCoverageInput{Missing: "any"}, []string{"ledger", "web"}},
		{catalog.GetCoverageInput{Missing: "owner"}, nil},
	} {
		var got []string
		for _, it := range coverage(t, s, c.in).Items {
			got = append(got, strings.TrimPrefix(it.Ref, "component:default/"))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%+v: got %v, want %v", c.in, got, c.want)
		}
	}
	var seen []string
	for in := (catalog.GetCoverageInput{Limit: 1}); ; {
		page := coverage(t, s, in)
		for _, it := range page.Items {
			seen = append(seen, it.Ref)
		}
		if in.Cursor = page.NextCursor; in.Cursor == "" {
			break
		}
	}
	if strings.Join(seen, " ") != "component:default/ledger component:default/checkout component:default/web" {
		t.Errorf("in pages: %v", seen)
	}
	for _, in := range []catalog.GetCoverageInput{{Missing: "everything"}, {Limit: 501}, {Limit: -1}, {Cursor: "x"}, {Owner: "group:"}} {
		if _, err := s.GetCoverage(t.Context(), accesstest.As("user:default/alice"), in); fault.CodeOf(err) != fault.Invalid {
			t.Errorf("%+v: got %v", in, err)
		}
	}
	rules := "rules:\n  - {name: read, effect: allow, who: {subjects: ['*']}, actions: [catalog.read], on: {types: [website]}}\n"
	s = catalogtest.NewWith(t, neighbours(), catalogtest.WithPolicy(accesstest.Policy(t, rules)))
	if c := coverage(t, s, catalog.GetCoverageInput{}); c.Total != 1 || c.All.Services != 1 || len(c.Teams) != 1 {
		t.Errorf("who may see websites sees %+v", c)
	}
}

// TestCoverageTellsWhatToAdd adds the lines that are told to files of several
// styles, and finds nothing missing after that.
func TestCoverageTellsWhatToAdd(t *testing.T) {
	for name, doc := range map[string]string{
		"no block":       "kind: Component\nmetadata:\n  name: x\nspec:\n  type: service\n  lifecycle: production\n  owner: shop\n",
		"wide":           "kind: Component\nmetadata:\n    name: x\nspec:\n    type: service\n    lifecycle: production\n    owner: shop\n    fairlead:\n        commands:\n            build: make\n",
		"other commands": "kind: Component\nmetadata:\n  name: x\nspec:\n  owner: shop\n  type: service\n  lifecycle: production\n  fairlead:\n    dashboards: []\n    commands:\n      lint: make lint\n      test: make test\n",
		"flow spec":      "kind: Component\nmetadata: {name: x}\nspec: {type: service, lifecycle: production, owner: shop}\n",
		"flow block":     "kind: Component\nmetadata: {name: x}\nspec:\n  type: service\n  lifecycle: production\n  owner: shop\n  fairlead: {commands: {build: make}}\n",
		"flow commands":  "kind: Component\nmetadata: {name: x}\nspec:\n  type: service\n  lifecycle: production\n  owner: shop\n  fairlead:\n    commands: {build: make}\n",
		"empty block":    "kind: Component\nmetadata: {name: x}\nspec:\n  type: service\n  lifecycle: production\n  owner: shop\n  fairlead: {}\n",
		"null block":     "kind: Component\nmetadata: {name: x}\nspec:\n  type: service\n  lifecycle: production\n  owner: shop\n  fairlead:\n",
		"second":         "kind: Group\nmetadata: {name: g}\nspec: {type: team, children: []}\n---\nkind: Component\nmetadata:\n  name: x\nspec:\n  type: service\n  lifecycle: production\n  owner: g\n",
	} {
		t.Run(name, func(t *testing.T) {
			doc = strings.ReplaceAll("\n"+doc, "\nkind:", "\napiVersion: backstage.io/v1alpha1\nkind:")[1:]
			it := only(t, doc)
			if len(it.Add) == 0 {
				t.Fatalf("nothing to add: %+v", it)
			}
			added := apply(t, doc, it)
			if after := only(t, added); strings.Contains(states(after), "missing") {
				t.Errorf("after adding to\n%s\nit is\n%s\nand %s", doc, added, states(after))
			}
		})
	}
}

func only(t *testing.T, doc string) catalog.ServiceCoverage {
	t.Helper()
	s := catalogtest.New(t, doc)
	c := coverage(t, s, catalog.GetCoverageInput{})
	if len(c.Items) != 1 {
		t.Fatalf("%d services", len(c.Items))
	}
	b, err := s.GetServiceBrief(t.Context(), accesstest.As("user:default/alice"), catalog.GetServiceBriefInput{Service: "x"})
	if err != nil || len(b.Problems) > 0 {
		t.Fatalf("%v %q in\n%s", err, b.Problems, doc)
	}
	return c.Items[0]
}

// apply does with a file what a person does who is told what to add: last
// place first, so that places stay right.
func apply(t *testing.T, doc string, it catalog.ServiceCoverage) string {
	t.Helper()
	lines := strings.Split(doc, "\n")
	add := slices.Clone(it.Add)
	slices.SortStableFunc(add, func(a, b catalog.Addition) int { return cmp.Or(b.Line-a.Line, b.Column-a.Column) })
	for _, a := range add {
		if a.File != "catalog-info.yaml" || a.Repo != catalogtest.Repository || a.Line == 0 || len(a.Things) == 0 {
			t.Fatalf("no place: %+v", a)
		}
		if a.Column > 0 {
			line := lines[a.Line-1]
			lines[a.Line-1] = line[:a.Column-1] + a.Lines + line[a.Column-1:]
			continue
		}
		lines = slices.Insert(lines, a.Line, strings.Split(a.Lines, "\n")...)
	}
	return strings.Join(lines, "\n")
}

func BenchmarkCoverage(b *testing.B) {
	var docs []string
	for i := range 10_000 {
		docs = append(docs, component(fmt.Sprintf("{name: c%d}", i), fmt.Sprintf("owner: t%d, dependsOn: [\"component:c%d\"]", i%50, i/2)))
	}
	s := catalogtest.New(b, docs...)
	s.AttachFindings(foundIn("https://git.example.com/acme/other", map[string]string{"go.mod": "module x\n"}))
	for name, fresh := range map[string]bool{"fresh": true, "again": false} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if fresh {
					s.Publish(nil)
				}
				if _, err := s.GetCoverage(b.Context(), alice, catalog.GetCoverageInput{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func TestCoverageOfOneService(t *testing.T) {
	s := catalogtest.New(t, neighbours()...)
	c := coverage(t, s, catalog.GetCoverageInput{Service: "web", Missing: "any"})
	if c.Total != 1 || len(c.Items) != 1 || c.Items[0].Ref != "component:default/web" || len(c.Items[0].Add) == 0 || c.All.Services != 1 {
		t.Errorf("got %+v", c)
	}
	if c := coverage(t, s, catalog.GetCoverageInput{Service: "web", Owner: "group:default/nobody"}); c.Total != 0 {
		t.Errorf("another owner: %+v", c)
	}
	if c := coverage(t, s, catalog.GetCoverageInput{Service: "group:default/shop"}); c.Total != 0 {
		t.Errorf("a group: %+v", c)
	}
	if _, err := s.GetCoverage(t.Context(), accesstest.As("user:default/alice"), catalog.GetCoverageInput{Service: "nope"}); fault.From(err).Code != fault.NotFound {
		t.Errorf("unknown: %v", err)
	}
}
