package argo

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/argoproj/argo-cd/v2/pkg/apiclient/application"

	"github.com/fairlead-dev/fairlead/access/accesstest"
	"github.com/fairlead-dev/fairlead/catalog/catalogtest"
	"github.com/fairlead-dev/fairlead/gitops"
	"github.com/fairlead-dev/fairlead/internal/realtest"
)

// TestArgoCDHealthFigures compares how long the health of a deployment takes
// with how long Argo CD takes to say the same by itself: the application, its
// resources and its manifests, asked for at once. Health may take 30 ms more,
// and a millisecond where it was asked for just now.
func TestArgoCDHealthFigures(t *testing.T) {
	a := realtest.ArgoCD(t)
	r := a.Repository(t, map[string]string{"deploy/web.yaml": realtest.Web("web:1")})
	name := deployed(t, a, r, nil)
	c := client(t, a)
	catalog := catalogtest.New(t, "kind: Component\nmetadata: {name: web}\nspec: {type: service, lifecycle: production, owner: shop, fairlead: {environments: [{name: production, argocd: {app: "+name+"}}]}}\n")
	service := func(keep time.Duration) *gitops.HealthService {
		s, err := gitops.NewHealth(gitops.HealthConfig{Policy: accesstest.OpenPolicy(), Catalog: catalog, Instances: map[string]gitops.Deployments{"main": c}, Keep: keep})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		return s
	}
	fresh, kept := service(time.Nanosecond), service(time.Hour)
	alice, in := accesstest.As("user:default/alice"), gitops.GetDeploymentHealthInput{Service: "web", Environment: "production", Revision: r.Head(t)}
	health := func(s *gitops.HealthService) (verdict string, took time.Duration) {
		began := time.Now()
		h, err := s.GetDeploymentHealth(t.Context(), alice, in)
		if err != nil {
			t.Fatal(err)
		}
		return h.Verdict, time.Since(began)
	}
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(100 * time.Millisecond) {
		if verdict, _ := health(fresh); verdict == "healthy" {
			break
		}
		if time.Now().After(deadline) {
			h, err := fresh.GetDeploymentHealth(t.Context(), alice, in)
			t.Fatalf("it does not get healthy: %+v, %v", h, err)
		}
	}
	health(kept)
	const rounds = 40
	var own, with, cached []time.Duration
	for range rounds {
		began := time.Now()
		var all sync.WaitGroup
		all.Go(func() { _, _ = c.apps.Get(t.Context(), &application.ApplicationQuery{Name: &name}) }) // only its time counts
		all.Go(func() {
			_, _ = c.apps.ResourceTree(t.Context(), &application.ResourcesQuery{ApplicationName: &name}) // as well
		})
		all.Go(func() {
			_, _ = c.apps.GetManifests(t.Context(), &application.ApplicationManifestQuery{Name: &name}) // as well
		})
		all.Wait()
		own = append(own, time.Since(began))
		_, took := health(fresh)
		with = append(with, took)
		_, took = health(kept)
		cached = append(cached, took)
	}
	for _, l := range [][]time.Duration{own, with, cached} {
		slices.Sort(l)
	}
	mid, late := rounds/2, rounds*9/10
	t.Logf("median of %d: Argo CD %s, health %s (%s more), kept %s; 90th per cent: %s, %s, %s", rounds, own[mid], with[mid], with[mid]-own[mid], cached[mid], own[late], with[late], cached[late])
	if more := with[mid] - own[mid]; more > 30*time.Millisecond {
		t.Errorf("health takes %s more than Argo CD", more)
	}
	if cached[mid] > time.Millisecond {
		t.Errorf("what is kept takes %s", cached[mid])
	}
}
