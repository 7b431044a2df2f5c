package catalog_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/catalog/catalogtest"
	"github.com/fairlead-dev/fairlead/catalog/index"
)

// TestBriefOfAPopularService holds what is told of hundreds of dependents to
// the rule for all detail: halves of the list, in its order, after dashboards.
func TestBriefOfAPopularService(t *testing.T) {
	const dependents = 500
	docs := []string{component("{name: hub, links: [{url: \"https://grafana.example.com/d/hub\", title: hub dashboard}]}", "owner: us")}
	for i := range dependents {
		docs = append(docs, component(fmt.Sprintf("{name: s%03d}", i), "owner: them, dependsOn: [\"component:hub\"]"))
	}
	s := catalogtest.New(t, docs...)
	ask := func(in catalog.GetServiceBriefInput) *catalog.Brief {
		in.Service = "hub"
		b, err := s.GetServiceBrief(t.Context(), alice, in)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	for _, tokens := range []int{300, 1200, 4000, 8000} {
		b := ask(catalog.GetServiceBriefInput{MaxTokens: tokens})
		halves := []int{0}
		for n := dependents; n > 0; n /= 2 {
			halves = append(halves, n)
		}
		if n := len(b.DependencyOf); !slices.Contains(halves, n) || n == dependents || tokens >= 1200 && n < tokens/80 {
			t.Errorf("max_tokens %d: %d dependents", tokens, n)
		}
		for i, f := range b.DependencyOf {
			if f.Value != fmt.Sprintf("component:default/s%03d", i) || f.Owner != "group:default/them" {
				t.Errorf("max_tokens %d: dependent %d is %+v", tokens, i, f)
			}
		}
		if len(b.Dashboards) > 0 || len(b.Omitted) < 2 || !slices.Equal(b.Omitted[:2], []string{"dashboards", "dependencyOf"}) {
			t.Errorf("max_tokens %d: omitted %v, dashboards %v", tokens, b.Omitted, b.Dashboards)
		}
	}
	if b := ask(catalog.GetServiceBriefInput{Sections: []string{"owner", "dashboards"}}); len(b.DependencyOf) > 0 || len(b.Dashboards) != 1 || len(b.Omitted) > 0 {
		t.Errorf("without dependencies: %+v", b)
	}
	if b := ask(catalog.GetServiceBriefInput{Sections: []string{"dependencies"}, MaxTokens: 8000}); len(b.DependencyOf) != 125 && len(b.DependencyOf) != 250 {
		t.Errorf("dependencies alone: %d", len(b.DependencyOf))
	}
}

// TestInhabitantsOfOneFolder lets components that share a folder come and go.
func TestInhabitantsOfOneFolder(t *testing.T) {
	changes := catalogtest.Changes(t, component("{name: a}", "owner: us"), component("{name: b}", "owner: us"), component("{name: c}", "owner: us"))
	for i := range changes {
		changes[i].Record.Entity.From.Path = "apps/catalog-info.yaml"
	}
	s := catalogtest.NewEmpty(t)
	s.Publish(changes)
	const key = "git.example.com/acme/catalog"
	for _, c := range []struct {
		gone string
		want []string
	}{
		{"", []string{"component:default/a", "component:default/b", "component:default/c"}},
		{"component:default/a", []string{"component:default/b", "component:default/c"}},
		{"component:default/c", []string{"component:default/b"}},
		{"component:default/b", nil},
	} {
		if c.gone != "" {
			s.Publish([]index.Change{{Ref: c.gone}})
		}
		if got := s.Inhabitants(key, "apps/x/y.md"); !slices.Equal(got, c.want) {
			t.Errorf("without %s: %v", c.gone, got)
		}
		if some := s.Inhabited(key, func(ref string) bool { return slices.Contains(c.want, ref) }); some != (len(c.want) > 0) {
			t.Errorf("without %s: inhabited is %v", c.gone, some)
		}
		if got := s.Inhabitants(key, "docs/y.md"); len(got) > 0 {
			t.Errorf("beside the folder: %v", got)
		}
	}
}
