package render_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/gitops"
	"github.com/fairlead-dev/fairlead/gitops/render"
)

func chart() files {
	return files{
		"chart/Chart.yaml":          "apiVersion: v2\nname: shop\nversion: 1.0.0\n",
		"chart/values.yaml":         "image: {repository: registry.test/acme/shop, tag: '1.0'}\nreplicas: 1\n",
		"chart/values-staging.yaml": "image: {tag: '1.1'}\n",
		"chart/.helmignore":         "*.bak\n",
		"chart/templates/old.bak":   "{{ fail \"read\" }}",
		"chart/templates/NOTES.txt": "Hello {{ .Values.replicas }}",
		"chart/templates/_help.tpl": `{{ define "name" }}{{ .Release.Name }}{{ end }}`,
		"chart/values.schema.json":  `{"$ref": "file:///dev/zero"}`,
		"chart/crds/crd.yaml":       "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: things.acme.test}\n",
		"chart/templates/all.yaml": `apiVersion: apps/v1
kind: Deployment
metadata: {name: {{ include "name" . }}}
spec:
  replicas: {{ .Values.replicas }}
  template: {spec: {containers: [{name: shop, image: "{{ .Values.image.repository }}:{{ .Values.image.tag }}"}]}}
---
apiVersion: v1
kind: Secret
metadata: {name: drawn, namespace: {{ .Release.Namespace }}}
stringData: {lot: {{ randAlphaNum 20 | quote }}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: found}
data: {cluster: {{ lookup "v1" "Secret" "default" "x" | toJson | quote }}, host: {{ getHostByName "localhost" | quote }}}
`}
}

func TestHelm(t *testing.T) {
	base := chart()
	got := rendered(t, render.Config{}, "chart", base, files{"chart/values-staging.yaml": "image: {tag: '1.2'}\n"})
	if !got.OK || got.Tool != "helm" || !slices.Equal(got.Changed, []string{"Deployment/shop"}) || !slices.Equal(got.Unstable, []string{"Secret/default/drawn"}) {
		t.Fatalf("%+v", got)
	}
	if !strings.Contains(got.Diff, "registry.test/acme/shop:1.1") || !strings.Contains(got.Diff, "registry.test/acme/shop:1.2") {
		t.Errorf("the diff:\n%s", got.Diff)
	}
	got = rendered(t, render.Config{}, "chart", base, files{"chart/values.yaml": "image: {repository: registry.test/acme/shop, tag: '9'}\nreplicas: 1\n"})
	if !got.OK || len(got.Changed) != 0 {
		t.Errorf("what the environment overrides: %+v", got)
	}
	got = rendered(t, render.Config{}, "chart", base, files{"chart/templates/all.yaml": "kind: ConfigMap\nmetadata: {name: found}\ndata: {cluster: '{}', host: ''}\napiVersion: v1\n"})
	if !got.OK || !slices.Equal(got.Removed, []string{"Deployment/shop"}) || len(got.Changed) != 0 {
		t.Errorf("neither a cluster nor a resolver is asked: %+v", got)
	}
	broken := rendered(t, render.Config{}, "chart", base, files{"chart/values-staging.yaml": "image: none\n"})
	if broken.OK || !broken.Broken || !strings.Contains(broken.Error, "all.yaml:6") {
		t.Errorf("%+v", broken)
	}
}

func TestHelmDependencies(t *testing.T) {
	base := chart()
	base["chart/Chart.yaml"] += "dependencies: [{name: redis, version: 1.x, repository: 'https://charts.test'}]\n"
	change := files{"chart/values-staging.yaml": "image: {tag: '1.2'}\nredis: {size: 2}\n"}
	got := rendered(t, render.Config{}, "chart", base, change)
	if got.OK || got.Broken || !strings.Contains(got.Error, "depends on the chart redis, which is not in its folder charts") {
		t.Errorf("what is not there: %+v", got)
	}
	redis := files{"Chart.yaml": "apiVersion: v2\nname: redis\nversion: 1.0.0\n", "templates/a.yaml": "kind: ConfigMap\napiVersion: v1\nmetadata: {name: redis}\ndata: {size: '{{ .Values.size }}'}\n", "values.yaml": "size: 1\n"}
	for where, repository := range map[string]string{"chart/charts/redis/": "https://charts.test", "common/redis/": "file://../common/redis"} {
		with := base.with(files{"chart/Chart.yaml": strings.ReplaceAll(base["chart/Chart.yaml"], "https://charts.test", repository)})
		for name, text := range redis {
			with[where+name] = text
		}
		got := rendered(t, render.Config{}, "chart", with, change)
		if !got.OK || !slices.Equal(got.Changed, []string{"ConfigMap/redis", "Deployment/shop"}) || !strings.Contains(got.Diff, "+  size: \"2\"") {
			t.Errorf("%s: %+v", where, got)
		}
	}
	circle := base.with(files{"chart/Chart.yaml": "apiVersion: v2\nname: shop\nversion: 1.0.0\ndependencies: [{name: other, version: 1.x, repository: 'file://../chart'}]\n"})
	if got := rendered(t, render.Config{}, "chart", circle, change); got.OK || got.Broken {
		t.Errorf("a circle: %+v", got)
	}
}

// TestHelmBombs has templates that never end, or take all memory.
func TestHelmBombs(t *testing.T) {
	for what, c := range map[string]struct{ template, values, want string }{
		"a loop":      {"{{ range until 100000 }}{{ range until 100000 }}{{ end }}{{ end }}", "", "it takes "},
		"memory":      {"{{ $x := list }}{{ range until 100000 }}{{ $x = append $x (repeat 1000000 \"a\") }}{{ end }}", "", "it takes "},
		"one slice":   {"{{ range until 2000000000 }}{{ end }}", "", "it takes "},
		"itself":      {`{{ define "a" }}{{ template "a" . }}{{ end }}{{ template "a" . }}`, "", ""},
		"tpl":         {`{{ tpl .Values.x . }}`, "x: '{{ tpl .Values.x . }}'\n", ""},
		"an anchor":   {"a: {{ .Values.z | toJson }}", "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: &f [*e,*e,*e,*e,*e,*e,*e,*e,*e]\ng: &g [*f,*f,*f,*f,*f,*f,*f,*f,*f]\nz: [*g,*g,*g,*g,*g,*g,*g,*g,*g]\n", ""},
		"no metadata": {"{{ .Chart.Metadata.Nope.Deep }}", "", ""},
	} {
		began := time.Now()
		base := chart()
		got := rendered(t, render.Config{Patience: 3 * time.Second}, "chart", base, files{"chart/templates/all.yaml": c.template, "chart/values.yaml": c.values})
		if got.OK || !got.Broken || !strings.Contains(got.Error, c.want) || got.Error == "" || time.Since(began) > time.Minute {
			t.Errorf("%s: after %s: %+v", what, time.Since(began), got)
		}
		t.Logf("%s: %s: %s", what, time.Since(began).Round(time.Millisecond), got.Error)
	}
}

func renderingOf(dir string) gitops.Rendering {
	base := overlay().with(chart())
	after := base.with(files{staging + "/kustomization.yaml": strings.ReplaceAll(base[staging+"/kustomization.yaml"], "1.1", "1.2"), "chart/values-staging.yaml": "image: {tag: '1.2'}\n"})
	return gitops.Rendering{Before: base, After: after, Edited: []string{staging + "/kustomization.yaml", "chart/values-staging.yaml"}, Dir: dir, Environment: "staging", Release: "shop"}
}

// BenchmarkRender is what rendering adds to a proposal, by a process that was
// started ahead.
func BenchmarkRender(b *testing.B) {
	r, err := render.New(render.Config{Program: program})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = r.Close() })
	for name, dir := range map[string]string{"kustomize": staging, "helm": "chart"} {
		b.Run(name, func(b *testing.B) {
			in := renderingOf(dir)
			for b.Loop() {
				b.StopTimer()
				time.Sleep(200 * time.Millisecond) // as proposals come, not one right after the other
				b.StartTimer()
				if got, err := r.Render(b.Context(), in); err != nil || !got.OK {
					b.Fatalf("%+v, %v", got, err)
				}
			}
		})
	}
}
