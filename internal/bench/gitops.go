package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/fairlead-dev/fairlead/access/accesstest"
	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/catalog/descriptor"
	"github.com/fairlead-dev/fairlead/catalog/filesource"
	"github.com/fairlead-dev/fairlead/catalog/ingest"
	"github.com/fairlead-dev/fairlead/gitops"
	"github.com/fairlead-dev/fairlead/gitops/edit"
	"github.com/fairlead-dev/fairlead/gitops/gitopstest"
)

// What the part gitops does.
const (
	editBytes   = 200_000
	editTimes   = 200
	healthTimes = 500
)

// gitops measures changes of what is deployed: edits, proposals at a real Gitea,
// plans of fleets, and how deployments are doing.
func (s settings) gitops(ctx context.Context, r report, dir string) error {
	if s.server == "" {
		return errors.New("the part gitops needs -server")
	}
	if err := editing(r); err != nil {
		return err
	}
	if err := health(ctx, r, filepath.Join(dir, "health")); err != nil {
		return err
	}
	if err := s.fleets(ctx, r, filepath.Join(dir, "fleets")); err != nil {
		return err
	}
	return s.proposing(ctx, r, filepath.Join(dir, "proposing"))
}

// editing times edits of large files.
func editing(r report) error {
	r.section("Edits of files of %d kB, in this process: min / p50 / max", editBytes/1000)
	text := valuesText(editBytes)
	for _, c := range []struct {
		name   string
		change edit.Change
	}{
		{"an image of Helm values", edit.Image{Name: "ghcr.io/acme/service500", Tag: "2.0.0"}},
		{"a value by its path", edit.Set{Path: "service500.replicaCount", Value: "7"}},
	} {
		var t timing
		for range editTimes {
			if err := t.call(func() error { return edited(text, c.change) }); err != nil {
				return err
			}
		}
		r.line(c.name, spread(t.Wall)+"; CPU "+spread(t.CPU), "1 ms")
	}
	return nil
}

// edited makes one edit.
func edited(text string, change edit.Change) error {
	out, err := edit.Apply(edit.Request{File: "values.yaml", Text: text, Changes: []edit.Change{change}})
	if err == nil && len(out.Touched) == 0 {
		err = errors.New("the edit changes nothing")
	}
	return err
}

// valuesText is Helm values of about so many bytes.
func valuesText(size int) string {
	var t strings.Builder
	for i := 0; t.Len() < size; i++ {
		fmt.Fprintf(&t, "service%d:\n  image:\n    repository: ghcr.io/acme/service%d\n    tag: \"1.2.%d\" # renovate\n  replicaCount: %d\n  # who is asked at night: team %d\n  env:\n    - name: GREETING\n      value: 'hello %d'\n  resources: {limits: {cpu: 1, memory: 1Gi}}\n  notes: |\n    line %d\n",
			i, i, i, i, i, i, i)
	}
	return t.String()
}

// health times how a deployment is doing, by an Argo CD in memory that answers
// at once: what is left is Fairlead's own.
func health(ctx context.Context, r report, dir string) error {
	r.section("How a deployment is doing, with an Argo CD (that of the tests) that answers at once: p50 / p99 / max")
	fake := gitopstest.NewFake("checkout", strings.Repeat("a", 40), "web:1")
	for _, c := range []struct {
		name, goal string
		keep       time.Duration
	}{{"asked of Argo CD each time, above its own answer", "30 ms", time.Nanosecond}, {"asked within the time that an answer is kept", "1 ms", time.Minute}} {
		t, age, err := healthOf(ctx, filepath.Join(dir, c.keep.String()), fake, c.keep)
		if err != nil {
			return err
		}
		if r.timing(c.name, t, c.goal); age != "" {
			r.line("the age that the last answer states", age, "")
		}
	}
	return nil
}

// healthOf asks many times.
func healthOf(ctx context.Context, dir string, fake *gitopstest.Fake, keep time.Duration) (t timing, age string, err error) {
	rooms, err := catalogOf(ctx, dir, checkoutYAML)
	if err != nil {
		return t, "", err
	}
	h, err := gitops.NewHealth(gitops.HealthConfig{Policy: accesstest.OpenPolicy(), Catalog: rooms, Instances: map[string]gitops.Deployments{"main": fake}, Keep: keep})
	if err != nil {
		return t, "", err
	}
	who := accesstest.As("user:default/bench")
	for range healthTimes {
		if err = t.call(func() error {
			got, err := h.GetDeploymentHealth(ctx, who, gitops.GetDeploymentHealthInput{Service: "checkout", Environment: "production"})
			if err == nil {
				age = got.Age
			}
			return err
		}); err != nil {
			break
		}
	}
	return t, age, errors.Join(err, h.Close())
}

const checkoutYAML = "apiVersion: backstage.io/v1alpha1\nkind: Component\nmetadata: {name: checkout}\nspec: {type: service, lifecycle: production, owner: shop, fairlead: {environments: [{name: production, argocd: {app: checkout}}]}}"

// catalogOf is a catalog of one file, read as a server does.
func catalogOf(ctx context.Context, dir, text string) (*catalog.Service, error) {
	c, err := catalog.New(catalog.Config{Policy: accesstest.OpenPolicy()})
	if err != nil {
		return nil, err
	}
	repo := &repository{dir: dir}
	src, srcErr := filesource.New(sourceName, filesource.Config{Path: dir})
	if err = errors.Join(srcErr, repo.write("catalog-info.yaml", text)); err != nil {
		return nil, err
	}
	in := ingest.New(ingest.Config{Sources: []ingest.Source{src}, Processor: descriptor.New(descriptor.Options{Template: true}), Publish: c.Publish, Fingerprint: "bench"})
	_, err = in.Refresh(ctx, sourceName)
	return c, err
}
