package gitops_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-dev/fairlead/access/accesstest"
	"github.com/fairlead-dev/fairlead/catalog/catalogtest"
	"github.com/fairlead-dev/fairlead/gitops"
	"github.com/fairlead-dev/fairlead/gitops/gitopstest"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// known is a memory that takes repositories at one forge alone, and has some
// branches.
type known struct {
	*memory
	at *gitops.Place
}

func (k known) Named(repository, base string) (gitops.Place, error) {
	if !strings.HasPrefix(repository, "https://f.test/") {
		return gitops.Place{}, fault.New(fault.FailedPrecondition, "%s is at no forge", repository).WithFix("Add it.")
	}
	return gitops.Place{Repository: repository, Base: base, Forge: "f", Name: "acme/deploy"}, nil
}

func (k known) Open(_ context.Context, at gitops.Place) (gitops.Repository, gitops.Base, error) {
	*k.at = at
	switch at.Base {
	case "":
		at.Base = "main"
	case "main", "release":
	default:
		return nil, gitops.Base{}, fault.New(fault.NotFound, "there is no branch %s", at.Base).WithFix("Name one.")
	}
	return k.memory, gitops.Base{Branch: at.Base, Commit: "base"}, nil
}

// deploysFrom is a room whose catalog names an application alone, which deploys
// from sources; declared adds what the catalog says besides.
func deploysFrom(t *testing.T, declared string, sources ...gitops.AppSource) (*gitops.Service, *gitops.Place, *renders) {
	t.Helper()
	m := &memory{branches: map[string]string{}, files: map[string]string{
		"shop/kustomization.yaml": "images: [{name: a/shop, newTag: v1}]\nreplicas: [{name: shop, count: 1}]\n",
		"chart/Chart.yaml":        "name: shop\n", "chart/values.yaml": "image: {repository: a/shop, tag: v1}\n",
		"env/staging.yaml": "image: {repository: a/shop, tag: v1}\n"}}
	argo := gitopstest.NewFake("shop-staging", "0123456789", "a/shop:v1")
	argo.Set(func(s gitopstest.State) { s.App.Sources, s.App.Namespace = sources, "shops" })
	docs := catalogtest.New(t, "kind: Component\nmetadata: {name: shop}\nspec: {type: service, lifecycle: production, owner: team, fairlead: {"+declared+"environments: [{name: staging, argocd: {instance: main, app: shop-staging}"+map[bool]string{true: ", path: shop"}[declared != ""]+"}]}}",
		"kind: Group\nmetadata: {name: team}\nspec: {type: team, children: []}")
	health, err := gitops.NewHealth(gitops.HealthConfig{Policy: accesstest.OpenPolicy(), Catalog: docs, Instances: map[string]gitops.Deployments{"main": argo}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = health.Close() })
	at, r := &gitops.Place{}, &renders{says: gitops.Rendered{Tool: "helm", OK: true, Changed: []string{"Deployment/shop"}}}
	return room(t, m, func(c *gitops.Config) {
		c.Catalog, c.Repositories, c.Lives, c.Renderer = docs, known{m, at}, health, r
	}), at, r
}

func propose(t *testing.T, g *gitops.Service, change gitops.Change) (*gitops.Proposal, error) {
	t.Helper()
	return g.ProposeChange(t.Context(), accesstest.As("alice"), gitops.ProposeChangeInput{Service: "shop", Environment: "staging", Reason: "why", Change: change, DryRun: true})
}

const deployRepo = "https://f.test/acme/deploy.git"

func v2() gitops.Change { return gitops.Change{Image: &gitops.ImageChange{Tag: "v2"}} }

// TestPlacesFromArgoCD finds where a change goes by what the live application
// deploys from.
func TestPlacesFromArgoCD(t *testing.T) {
	for what, c := range map[string]struct {
		declared        string
		sources         []gitops.AppSource
		path, base, why string
	}{
		"one source":            {"", []gitops.AppSource{{Repository: deployRepo, Path: "shop", Target: "release"}}, "shop/kustomization.yaml", "release", "deploys from shop of https://f.test/acme/deploy.git"},
		"the default branch":    {"", []gitops.AppSource{{Repository: deployRepo, Path: "./shop/", Target: "HEAD"}}, "shop/kustomization.yaml", "main", "the catalog does not say"},
		"values of a chart":     {"", []gitops.AppSource{{Repository: "https://charts.test", Chart: "shop", Target: "1.x", Values: []string{"$v/env/staging.yaml"}}, {Repository: deployRepo, Ref: "v", Target: "main"}}, "env/staging.yaml", "main", "its chart is shop of https://charts.test, which is not fetched"},
		"the catalog's word":    {"deployRepo: 'https://f.test/acme/deploy', ", []gitops.AppSource{{Repository: "git@f.test:acme/deploy.git", Path: "shop", Target: "release"}}, "shop/kustomization.yaml", "release", ""},
		"the catalog differs":   {"deployRepo: 'https://f.test/acme/deploy', ", []gitops.AppSource{{Repository: "https://f.test/acme/other", Path: "shop", Target: "release"}}, "shop/kustomization.yaml", "main", "deploys from shop of https://f.test/acme/other: the catalog is followed"},
		"another folder":        {"deployRepo: 'https://f.test/acme/deploy', ", []gitops.AppSource{{Repository: deployRepo, Path: "chart", Target: "release"}}, "shop/kustomization.yaml", "main", "deploys from chart of"},
		"nothing of the source": {"deployRepo: 'https://f.test/acme/deploy', ", nil, "shop/kustomization.yaml", "main", ""},
	} {
		g, at, _ := deploysFrom(t, c.declared, c.sources...)
		p, err := propose(t, g, v2())
		if err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		if strings.Join(p.Paths, " ") != c.path || p.Base != c.base || at.Repository == "" || !strings.Contains(strings.Join(p.Notes, "; "), c.why) || c.why == "" && len(p.Notes) > 0 {
			t.Errorf("%s: %q on %q, noting %q", what, p.Paths, p.Base, p.Notes)
		}
	}
}

// TestWhatArgoCDDeploysFromElsewhere refuses with where it is said instead.
func TestWhatArgoCDDeploysFromElsewhere(t *testing.T) {
	three := 3
	kustomize := func(in, name string) []gitops.AppSource {
		return []gitops.AppSource{{Repository: deployRepo, Path: "shop", Overrides: []gitops.AppOverride{{In: in, Name: name}}}}
	}
	for what, c := range map[string]struct {
		declared string
		sources  []gitops.AppSource
		change   gitops.Change
		want     string
	}{
		"a tag":                  {"", []gitops.AppSource{{Repository: deployRepo, Path: "shop", Target: "v1.2.0"}}, v2(), `follows "v1.2.0" of https://f.test/acme/deploy.git, which is no branch`},
		"a commit":               {"", []gitops.AppSource{{Repository: deployRepo, Path: "shop", Target: strings.Repeat("0123456789", 4)}}, v2(), "is fixed to 0123456789"},
		"a commit, declared":     {"deployRepo: 'https://f.test/acme/deploy', ", []gitops.AppSource{{Repository: deployRepo, Path: "shop", Target: strings.Repeat("0123456789", 4)}}, v2(), "is fixed to 0123456789"},
		"a chart alone":          {"", []gitops.AppSource{{Repository: "https://charts.test", Chart: "shop", Target: "1.0.0"}}, v2(), "deploys from the chart shop of https://charts.test, and no file"},
		"two folders":            {"", []gitops.AppSource{{Repository: deployRepo, Path: "shop"}, {Repository: deployRepo, Path: "chart"}}, v2(), "deploys from 2 places: shop of"},
		"a repository elsewhere": {"", []gitops.AppSource{{Repository: "https://evil.test/x.git", Path: "shop"}}, v2(), "https://evil.test/x.git is at no forge"},
		"out of the repository":  {"", []gitops.AppSource{{Repository: deployRepo, Path: "../../etc"}}, v2(), "there is no YAML file"},
		"no sources":             {"", nil, v2(), "no file of a Git repository says what"},
		"an image set there":     {"", kustomize(gitops.InKustomizeImages, "a/shop"), v2(), "sets a/shop itself (kustomize.images)"},
		"replicas set there":     {"", kustomize(gitops.InKustomizeReplicas, "shop"), gitops.Change{Replicas: &three}, "sets shop itself (kustomize.replicas)"},
		"a parameter":            {"", []gitops.AppSource{{Repository: deployRepo, Path: "chart", Overrides: []gitops.AppOverride{{In: gitops.InHelmParameters, Name: "image.tag"}}}}, v2(), "sets image.tag itself (helm.parameters)"},
		"values, declared":       {"deployRepo: 'https://f.test/acme/deploy', ", kustomize(gitops.InKustomizeImages, "shop"), v2(), "sets shop itself"},
	} {
		g, _, _ := deploysFrom(t, c.declared, c.sources...)
		p, err := propose(t, g, c.change)
		if f := fault.From(err); err == nil || f.Code != fault.FailedPrecondition || !strings.Contains(f.Message, c.want) || f.Fix == "" {
			t.Errorf("%s: %+v, %v", what, p, err)
		}
	}
	g, _, _ := deploysFrom(t, "", kustomize(gitops.InKustomizeImages, "a/other")...)
	if p, err := propose(t, g, v2()); err != nil || !strings.Contains(strings.Join(p.Notes, " "), "sets 1 more things") {
		t.Errorf("another image set there: %+v, %v", p, err)
	}
}

// TestRenderedAsArgoCDDoes renders with the application's name, namespace and
// files of values.
func TestRenderedAsArgoCDDoes(t *testing.T) {
	two, _, _ := deploysFrom(t, "", gitops.AppSource{Repository: deployRepo, Path: "chart", Values: []string{"values.yaml", "../env/staging.yaml", "/env/all.yaml", "$v/more.yaml"}, Lenient: true, Release: "boutique"},
		gitops.AppSource{Repository: deployRepo, Ref: "v"})
	if _, err := propose(t, two, gitops.Change{Set: []gitops.SetChange{{File: "values.yaml", Path: "image.tag", Value: []byte(`"v2"`)}}}); err == nil {
		t.Error("two places are one")
	}
	g, _, r := deploysFrom(t, "", gitops.AppSource{Repository: deployRepo, Path: "chart", Values: []string{"values.yaml", "../env/staging.yaml", "/env/all.yaml"}, Lenient: true, Release: "boutique"})
	if _, err := propose(t, g, gitops.Change{Set: []gitops.SetChange{{File: "values.yaml", Path: "image.tag", Value: []byte(`"v2"`)}}}); err != nil {
		t.Fatal(err)
	}
	got := r.asked[0]
	if got.Dir != "chart" || got.Release != "boutique" || got.Namespace != "shops" || !got.Lenient || strings.Join(got.Values, " ") != "chart/values.yaml env/staging.yaml env/all.yaml" {
		t.Errorf("%+v", got)
	}
}

// TestArgoCDThatIsSlow holds up one proposal for a while where the catalog says
// enough, and none after it.
func TestArgoCDThatIsSlow(t *testing.T) { synctest.Test(t, argoCDThatIsSlow) }

func argoCDThatIsSlow(t *testing.T) {
	argo := gitopstest.NewFake("shop-staging", "0123456789", "a/shop:v1")
	defer argo.Hold()()
	doc := func(name string) string {
		return "kind: Component\nmetadata: {name: " + name + "}\nspec: {type: service, lifecycle: production, owner: team, fairlead: {deployRepo: 'https://f.test/acme/deploy', environments: [{name: staging, path: shop, argocd: {instance: main, app: " + name + "}}]}}"
	}
	docs := catalogtest.New(t, doc("shop"), doc("cart"), "kind: Group\nmetadata: {name: team}\nspec: {type: team, children: []}")
	health, err := gitops.NewHealth(gitops.HealthConfig{Policy: accesstest.OpenPolicy(), Catalog: docs, Instances: map[string]gitops.Deployments{"main": argo}, Patience: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	defer health.Close()
	if _, err := health.Live(t.Context(), accesstest.As("alice"), gitops.LiveInput{Service: "shop", Environment: "staging"}); fault.CodeOf(err) != fault.Unavailable {
		t.Errorf("the first: %v", err)
	}
	began := time.Now()
	if _, err := health.Live(t.Context(), accesstest.As("alice"), gitops.LiveInput{Service: "cart", Environment: "staging"}); fault.CodeOf(err) != fault.Unavailable || time.Since(began) > 50*time.Second {
		t.Errorf("the next, after %s: %v", time.Since(began), err)
	}
}
