package catalog_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/access/accesstest"
	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/catalog/catalogtest"
	"github.com/fairlead-dev/fairlead/catalog/entity"
	"github.com/fairlead-dev/fairlead/catalog/index"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

const briefed = `apiVersion: backstage.io/v1alpha1
kind: Component
metadata:
  name: checkout
  title: Checkout
  description: Turns carts into orders.
  annotations:
    github.com/project-slug: acme/checkout
  links:
    - {url: "https://grafana.example.test/d/1", title: Overview dashboard}
    - {url: "https://wiki.example.test/slow", title: Runbook for slowness}
spec:
  type: service
  lifecycle: production
  owner: shop
  providesApis: [checkout-api]
  consumesApis: [payments-api]
  dependsOn: ["resource:checkout-db"]
  fairlead:
    commands: {build: make build, test: make test, tset: make tset}
    deployRepo: https://git.example.test/acme/deploy.git
    environments:
      - {name: staging, path: apps/checkout/staging, url: "https://staging.example.test", argocd: {instance: main, app: checkout-staging}}
      - {name: production, protected: true}
    slos: [slo/checkout.yaml]
    dashboards: [{title: SLO, url: "https://grafana.example.test/d/2"}]
    oncall: {url: "https://pager.example.test/shop"}
`

func neighbours() []string {
	return []string{briefed,
		"apiVersion: backstage.io/v1alpha1\nkind: Group\nmetadata: {name: shop, title: Shop team}\nspec: {type: team, children: []}\n",
		"apiVersion: backstage.io/v1alpha1\nkind: API\nmetadata: {name: checkout-api}\nspec: {type: openapi, lifecycle: production, owner: shop, definition: x}\n",
		"apiVersion: backstage.io/v1alpha1\nkind: Component\nmetadata: {name: web}\nspec:\n  type: website\n  lifecycle: production\n  owner: shop\n  consumesApis:\n    - checkout-api\n",
	}
}

func TestBrief(t *testing.T) {
	s := catalogtest.New(t, neighbours()...)
	b, err := s.GetServiceBrief(t.Context(), accesstest.As("user:default/alice"), catalog.GetServiceBriefInput{Service: "checkout"})
	if err != nil {
		t.Fatal(err)
	}
	checkFact(t, "owner", b.Owner, "group:default/shop", 15)
	checkFact(t, "repository", b.Repository, "https://github.com/acme/checkout", 8)
	checkFact(t, "test", b.Commands.Test, "make test", 20)
	checkFact(t, "deployRepo", b.DeployRepo, "https://git.example.test/acme/deploy.git", 21)
	checkFact(t, "oncall", b.Oncall, "https://pager.example.test/shop", 27)
	if len(b.Environments) != 2 || b.Environments[0].App != "main/checkout-staging" || !b.Environments[1].Protected {
		t.Errorf("environments: %+v", b.Environments)
	}
	if len(b.DependsOn) != 2 || b.DependsOn[0].Value != "resource:default/checkout-db" || b.DependsOn[1].Value != "api:default/payments-api" {
		t.Errorf("dependsOn: %+v", b.DependsOn)
	}
	if len(b.DependencyOf) != 1 || b.DependencyOf[0].Value != "component:default/web" || b.DependencyOf[0].Source.Line != 9 {
		t.Errorf("dependencyOf: %+v", b.DependencyOf)
	}
	if len(b.Dashboards) != 2 || len(b.Runbooks) != 1 || len(b.SLOs) != 1 {
		t.Errorf("dashboards %+v, runbooks %+v, slos %+v", b.Dashboards, b.Runbooks, b.SLOs)
	}
	if len(b.Problems) != 1 || !strings.Contains(b.Problems[0], "spec.fairlead.commands.tset is not known") {
		t.Errorf("problems: %q", b.Problems)
	}
}

func checkFact(t *testing.T, name string, f *catalog.Fact, value string, line int) {
	t.Helper()
	if f == nil || f.Value != value || f.Source.Line != line || f.Kind != catalog.Declared || f.VerifiedAt.IsZero() {
		t.Errorf("%s: got %+v, want %s at line %d", name, f, value, line)
	}
}

func TestBriefFitsItsBudget(t *testing.T) {
	doc := strings.Replace(briefed, "    slos: [slo/checkout.yaml]\n", "    slos: [slo/checkout.yaml"+strings.Repeat(", slo/another-objective.yaml", 400)+"]\n", 1)
	s := catalogtest.New(t, doc)
	for _, limit := range []int{0, 100, 150, 300, 1200, 8000} {
		b, err := s.GetServiceBrief(t.Context(), accesstest.As("user:default/alice"), catalog.GetServiceBriefInput{Service: "checkout", MaxTokens: limit})
		if err != nil {
			t.Fatal(err)
		}
		want := limit
		if want == 0 {
			want = 1200
		}
		if n := len(b.Text()) / 4; n > want {
			t.Errorf("max_tokens %d: the text has %d", limit, n)
		}
		if enc, _ := json.Marshal(b); len(enc)/4 > 2*want {
			t.Errorf("max_tokens %d: the structure has %d", limit, len(enc)/4)
		}
		if len(b.Omitted) == 0 && limit < 8000 {
			t.Errorf("max_tokens %d: nothing is said to be left out", limit)
		}
	}
}

func TestBriefByRepository(t *testing.T) {
	s := catalogtest.New(t, neighbours()...)
	who := accesstest.As("user:default/alice")
	for _, url := range []string{"https://github.com/acme/checkout", "git@github.com:acme/checkout.git", "ssh://git@GITHUB.com/acme/checkout", "https://github.com/acme/checkout/tree/main/x"} {
		b, err := s.GetServiceBrief(t.Context(), who, catalog.GetServiceBriefInput{Repository: url})
		if err != nil || b.Ref != "component:default/checkout" {
			t.Errorf("%s: %v %v", url, b, err)
		}
	}
	_, err := s.GetServiceBrief(t.Context(), who, catalog.GetServiceBriefInput{Repository: "https://github.com/acme/none"})
	if fault.CodeOf(err) != fault.NotFound {
		t.Errorf("got %v", err)
	}
}

func TestBriefRefusesBadInput(t *testing.T) {
	s := catalogtest.New(t, neighbours()...)
	who := accesstest.As("user:default/alice")
	for _, in := range []catalog.GetServiceBriefInput{
		{}, {Service: "checkout", Repository: "x"}, {Service: "checkout", Sections: []string{"everything"}}, {Service: "checkout", MaxTokens: 99}, {Service: "checkout", MaxTokens: 9000},
	} {
		if _, err := s.GetServiceBrief(t.Context(), who, in); fault.CodeOf(err) != fault.Invalid {
			t.Errorf("%+v: got %v", in, err)
		}
	}
}

func TestBriefSections(t *testing.T) {
	s := catalogtest.New(t, neighbours()...)
	b, err := s.GetServiceBrief(t.Context(), accesstest.As("user:default/alice"), catalog.GetServiceBriefInput{Service: "checkout", Sections: []string{"owner", "commands"}})
	if err != nil {
		t.Fatal(err)
	}
	if b.Owner == nil || b.Commands == nil || b.Environments != nil || b.DependsOn != nil || b.Repository != nil {
		t.Errorf("got %+v", b)
	}
}

// TestBriefIsTheSameEachTime asks for what maps could put in another order.
func TestBriefIsTheSameEachTime(t *testing.T) {
	s := catalogtest.New(t, `kind: Component
metadata:
  name: both
  annotations: {gitlab.com/project-slug: acme/lab, github.com/project-slug: acme/hub}
spec:
  type: service
  lifecycle: production
  owner: shop
  fairlead:
    commands: {setup: 1, build: 2, test: 3, lint: 4, run: 5}
`)
	for range 20 {
		b, err := s.GetServiceBrief(t.Context(), accesstest.As("user:default/alice"), catalog.GetServiceBriefInput{Service: "both"})
		if err != nil {
			t.Fatal(err)
		}
		if b.Repository == nil || b.Repository.Value != "https://github.com/acme/hub" {
			t.Fatalf("the repository is %+v", b.Repository)
		}
		var keys []string
		for _, p := range b.Problems {
			_, rest, _ := strings.Cut(p, "spec.fairlead.commands.")
			key, _, _ := strings.Cut(rest, " ")
			keys = append(keys, key)
		}
		if got := strings.Join(keys, " "); got != "setup build test lint run" {
			t.Fatalf("the problems are about %s", got)
		}
	}
}

// seen is an ingestion whose sources were last seen at a later commit.
type seen struct{ sources }

func (*seen) Verified(string) catalog.Sighting {
	return catalog.Sighting{Commit: "later", At: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
}
func (*seen) Files(string, string) ([]string, bool) { return nil, false }

// TestBriefOfALastGoodState names the commit at which the lines are true.
func TestBriefOfALastGoodState(t *testing.T) {
	s := catalogtest.NewEmpty(t, catalogtest.WithIngestion(&seen{}))
	changes := catalogtest.Changes(t, briefed)
	s.Publish(changes)
	for _, want := range []string{"later", changes[0].Record.Entity.From.Commit} {
		b, err := s.GetServiceBrief(t.Context(), accesstest.As("user:default/alice"), catalog.GetServiceBriefInput{Service: "checkout"})
		if err != nil {
			t.Fatal(err)
		}
		if got := b.Owner.Source.Commit; got != want {
			t.Errorf("the owner is from commit %q, want %q", got, want)
		}
		broken := *changes[0].Record
		e := *broken.Entity
		e.Status = []entity.StatusItem{{Level: "error", Message: "broken since"}}
		broken.Entity = &e
		s.Publish([]index.Change{{Ref: changes[0].Ref, Record: &broken}})
	}
}

func TestBriefHidesWhatTheCallerMayNotSee(t *testing.T) {
	rules := "rules:\n  - {name: read, effect: allow, who: {subjects: ['*']}, actions: [catalog.read]}\n  - {name: hide, effect: deny, who: {subjects: ['*']}, actions: [catalog.read], on: {types: [website]}}\n"
	s := catalogtest.NewWith(t, neighbours(), catalogtest.WithPolicy(accesstest.Policy(t, rules)))
	b, err := s.GetServiceBrief(t.Context(), accesstest.As("user:default/alice"), catalog.GetServiceBriefInput{Service: "checkout"})
	if err != nil {
		t.Fatal(err)
	}
	if len(b.DependencyOf) != 0 || strings.Contains(b.Text(), "default/web") {
		t.Errorf("the brief names a hidden entity: %s", b.Text())
	}
}
