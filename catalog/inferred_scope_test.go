package catalog_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/access/accesstest"
	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/catalog/catalogtest"
	"github.com/fairlead-dev/fairlead/catalog/entity"
)

// manyFinds is what inference found in several repositories.
type manyFinds []*catalog.Finding

func (m manyFinds) first(is func(*catalog.Finding) bool) *catalog.Finding {
	if i := slices.IndexFunc(m, is); i >= 0 {
		return m[i]
	}
	return nil
}

func (m manyFinds) Of(source string) *catalog.Finding {
	return m.first(func(f *catalog.Finding) bool { return f.Source == source })
}

func (m manyFinds) In(repository string) *catalog.Finding {
	return m.first(func(f *catalog.Finding) bool {
		return entity.RepositoryKey(f.URL) == entity.RepositoryKey(repository)
	})
}

func (m manyFinds) Naming(service string) (out []*catalog.Finding) {
	for _, f := range m {
		if slices.Contains(f.Names(), service) {
			out = append(out, f)
		}
	}
	return out
}

// strangers are a repository of blue's service pay, a repository of red's
// that names it, and a deploy repository.
func strangers(t *testing.T) *catalog.Service {
	t.Helper()
	s := catalogtest.NewWith(t, nil, catalogtest.WithPolicy(accesstest.Policy(t, redRules)))
	for source, doc := range map[string]string{
		"blue": component("{name: pay}", "owner: group:default/blue"),
		"red": component("{name: pay, namespace: red, annotations: {backstage.io/source-location: 'url:https://git.example.com/blue/pay/'}}", "owner: group:default/red") +
			"---\n" + component("{name: own}", "owner: group:default/red") +
			"---\n" + component("{name: peek, annotations: {backstage.io/source-location: 'url:https://git.example.com/blue/pay/'}}", "owner: group:default/red"),
	} {
		changes := moved(t, "catalog-info.yaml", doc)
		for i := range changes {
			changes[i].Record.Entity.From.Source = source
			changes[i].Record.Entity.From.Repository = "https://git.example.com/" + source + "/pay"
		}
		s.Publish(changes)
	}
	blue := foundIn("https://git.example.com/blue/pay", map[string]string{
		"Makefile": "test:\n\tgo test ./...\n", "AGENTS.md": "Run `make test`.\n",
		"slo/own.yaml": "apiVersion: openslo/v1\nkind: SLO\nmetadata: {name: quiet}\nspec:\n  service: own\n  timeWindow: [{duration: 28d, isRolling: true}]\n  objectives: [{target: 0.99}]\n",
	}).Finding
	blue.Source = "blue"
	deploy := foundIn("https://git.example.com/ops/deploy", map[string]string{
		"apps/pay/overlays/production/kustomization.yaml": "resources: []\n", "apps/own/overlays/production/kustomization.yaml": "resources: []\n",
	}).Finding
	deploy.Source = "deploy"
	s.AttachFindings(manyFinds{blue, deploy})
	return s
}

// TestBriefKeepsToScope holds that a catalog file which names somebody else's
// repository, or is called as somebody else's service, shows nothing of them to
// those who may not read them.
func TestBriefKeepsToScope(t *testing.T) {
	s := strangers(t)
	for _, c := range []struct{ who, service, want, not string }{
		{"alice", "component:default/peek", "make test", ""},
		{"alice", "component:default/own", "quiet", ""},
		{"alice", "component:default/pay", "apps/pay", ""},
		{"alice", "component:red/pay", "make test", "apps/pay"}, // ops means the pay of the default namespace
		{"rita", "component:default/peek", "", "make"},
		{"rita", "component:red/pay", "", "make apps/pay"},
		{"rita", "component:default/own", "apps/own", "quiet"},
	} {
		b, err := s.GetServiceBrief(t.Context(), accesstest.As("user:default/"+c.who), catalog.GetServiceBriefInput{Service: c.service})
		if err != nil {
			t.Fatal(err)
		}
		text := b.Text()
		if !strings.Contains(text, c.want) {
			t.Errorf("%s is not told %q of %s:\n%s", c.who, c.want, c.service, text)
		}
		for _, not := range strings.Fields(c.not) {
			if strings.Contains(text, not) {
				t.Errorf("%s is told %q of %s:\n%s", c.who, not, c.service, text)
			}
		}
	}
}
