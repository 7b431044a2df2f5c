package render_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/gitops"
	"github.com/fairlead-dev/fairlead/gitops/render"
)

// program is fairlead-render as it is shipped: bounds on memory need a program
// without the race detector.
var program string //nolint:gochecknoglobals // set once by TestMain

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "render")
	if err != nil {
		panic(err)
	}
	program = filepath.Join(dir, "fairlead-render")
	build := exec.Command("go", "build", "-o", program, "github.com/fairlead-dev/fairlead/cmd/fairlead-render")
	if out, err := build.CombinedOutput(); err != nil {
		panic(string(out))
	}
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// files are a repository in memory.
type files map[string]string

func (f files) Read(_ context.Context, p string) ([]byte, error) {
	if text, ok := f[p]; ok {
		return []byte(text), nil
	}
	return nil, fmt.Errorf("%s: %w", p, gitops.ErrNoFile)
}

func (f files) List(_ context.Context, dir string) (out []string, err error) {
	for p := range f {
		if path.Dir(p) == path.Clean(dir) {
			out = append(out, path.Base(p))
		}
	}
	slices.Sort(out)
	return out, nil
}

func (f files) Below(_ context.Context, dir string) (out []gitops.Entry, err error) {
	for p := range f {
		if dir == "" || strings.HasPrefix(p, dir+"/") {
			out = append(out, gitops.Entry{Path: p})
		}
	}
	slices.SortFunc(out, func(a, b gitops.Entry) int { return strings.Compare(a.Path, b.Path) })
	return append(out, gitops.Entry{Path: path.Join(dir, "link"), Odd: true}), nil
}

// with are the files with some replaced.
func (f files) with(more files) files {
	out := files{}
	for _, from := range []files{f, more} {
		for p, text := range from {
			out[p] = text
		}
	}
	return out
}

func rendererOf(t *testing.T, cfg render.Config) *render.Renderer {
	t.Helper()
	cfg.Program = program
	r, err := render.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return r
}

// render renders a change of files.
func rendered(t *testing.T, cfg render.Config, dir string, before, change files) *gitops.Rendered {
	t.Helper()
	in := gitops.Rendering{Before: before, After: before.with(change), Dir: dir, Environment: "staging", Release: "shop", Namespace: "default"}
	for p := range change {
		in.Edited = append(in.Edited, p)
	}
	slices.Sort(in.Edited)
	got, err := rendererOf(t, cfg).Render(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

const deployment = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: shop
spec:
  replicas: 1
  selector: {matchLabels: {app: shop}}
  template:
    metadata: {labels: {app: shop}}
    spec:
      containers:
        - name: shop
          image: registry.test/acme/shop:1.0
          envFrom: [{secretRef: {name: shop}}, {configMapRef: {name: shop}}]
`

func overlay() files {
	return files{
		"apps/shop/base/deployment.yaml":    deployment,
		"apps/shop/base/kustomization.yaml": "resources: [deployment.yaml]\n",
		"apps/shop/staging/kustomization.yaml": `resources: [../base]
images:
  - {name: registry.test/acme/shop, newTag: "1.1"}
configMapGenerator:
  - {name: shop, literals: [LEVEL=info, HOME=https://shop.test]}
secretGenerator:
  - {name: shop, literals: [password=correct-horse, user=shop]}
`}
}

const staging = "apps/shop/staging"

func TestKustomize(t *testing.T) {
	base := overlay()
	was := base[staging+"/kustomization.yaml"]
	got := rendered(t, render.Config{}, staging, base, files{staging + "/kustomization.yaml": strings.ReplaceAll(was, `"1.1"`, `"1.2"`)})
	if !got.OK || got.Tool != "kustomize" || !slices.Equal(got.Changed, []string{"Deployment/shop"}) || len(got.Added)+len(got.Removed) != 0 {
		t.Fatalf("%+v", got)
	}
	for _, want := range []string{"--- Deployment/shop\n+++ Deployment/shop\n", "          image: registry.test/acme/shop:1.1\n", "          image: registry.test/acme/shop:1.2\n"} {
		if !strings.Contains(got.Diff, want) {
			t.Errorf("%q is not in\n%s", want, got.Diff)
		}
	}
	if same := rendered(t, render.Config{}, staging, base, files{staging + "/kustomization.yaml": "# A comment.\n" + was}); !same.OK || len(same.Changed) != 0 || same.Diff != "" {
		t.Errorf("a comment: %+v", same)
	}
	none := rendered(t, render.Config{}, "apps/none", base.with(files{"apps/none/deployment.yaml": deployment}), files{"apps/none/deployment.yaml": "a: b\n"})
	if none != nil {
		t.Errorf("plain files: %+v", none)
	}
}

// TestSecretsAreMasked looks for values of Secrets, in any encoding, in all that
// a rendering gives.
func TestSecretsAreMasked(t *testing.T) {
	base := overlay()
	was := base[staging+"/kustomization.yaml"]
	got := rendered(t, render.Config{}, staging, base, files{staging + "/kustomization.yaml": strings.NewReplacer("correct-horse", "battery-staple", "LEVEL=info", "LEVEL=debug").Replace(was)})
	if !got.OK || len(got.Changed) != 3 || len(got.Added)+len(got.Removed) != 0 {
		t.Fatalf("%+v", got)
	}
	all := fmt.Sprintf("%+v", got)
	for _, secret := range []string{"correct-horse", "battery-staple", "Y29ycmVjdC1ob3JzZQ", "YmF0dGVyeS1zdGFwbGU", "c2hvcA=="} {
		if strings.Contains(all, secret) {
			t.Errorf("%s is told:\n%s", secret, all)
		}
	}
	for _, want := range []string{"-  password: •••\n+  password: ••• (changed)\n", "   user: •••\n", "-  LEVEL: info\n+  LEVEL: debug\n"} {
		if !strings.Contains(got.Diff, want) {
			t.Errorf("%q is not in\n%s", want, got.Diff)
		}
	}
	nested := files{"apps/k/kustomization.yaml": "resources: [all.yaml]\n", "apps/k/all.yaml": `apiVersion: v1
kind: List
items:
  - {apiVersion: v1, kind: Secret, metadata: {name: a, annotations: {kubectl.kubernetes.io/last-applied-configuration: '{"stringData":{"x":"hunter2"}}'}}, stringData: {x: hunter2}}
  - apiVersion: kubernetes.crossplane.io/v1alpha2
    kind: Object
    metadata: {name: b}
    spec: {forProvider: {manifest: {apiVersion: v1, kind: Secret, metadata: {name: c}, data: {x: aHVudGVyMg==}}}}
`}
	got = rendered(t, render.Config{}, "apps/k", nested, files{"apps/k/all.yaml": strings.NewReplacer("hunter2", "hunter3", "aHVudGVyMg==", "aHVudGVyMw==").Replace(nested["apps/k/all.yaml"])})
	if !got.OK || len(got.Changed) != 2 || strings.Contains(got.Diff, "hunter") || strings.Contains(got.Diff, "aHVud") || strings.Count(got.Diff, "(changed)") != 3 {
		t.Errorf("nested: %+v", got)
	}
}

func TestKustomizeStaysInside(t *testing.T) {
	for what, c := range map[string]struct {
		kustomization, want string
		more                files
	}{
		"a remote base":        {"resources:\n  - https://user:hunter2@github.com/acme/base//x?ref=v1\n", "https://github.com/acme/base//x, which is elsewhere", nil},
		"a remote by ssh":      {"bases:\n  - git@github.com:acme/base.git\n", "line 2 is made of github.com:acme/base.git, which is elsewhere", nil},
		"a remote file":        {"configMapGenerator:\n  - {name: a, files: ['http://169.254.169.254/latest']}\n", "http://169.254.169.254/latest, which is elsewhere", nil},
		"a remote patch":       {"patches:\n  - path: https://evil.test/p.yaml\n", "https://evil.test/p.yaml, which is elsewhere", nil},
		"a chart":              {"helmCharts:\n  - {name: redis, repo: https://charts.test}\n", "line 1 has a chart inflated", nil},
		"out by dots":          {"resources: [../../../../etc/passwd]\n", "reaches out of the repository", nil},
		"out by a root":        {"configMapGenerator:\n  - {name: a, files: [/etc/passwd]}\n", "reaches out of the repository", nil},
		"out of its folder":    {"configMapGenerator:\n  - {name: a, files: [../other.txt]}\n", "is not in or below", files{"other.txt": "x"}},
		"Git's own folder":     {"configMapGenerator:\n  - {name: a, files: [.git/config]}\n", "is no path of the repository", nil},
		"a program":            {"transformers: [exec.yaml]\n", "", files{"k/exec.yaml": "apiVersion: v1\nkind: X\nmetadata: {name: x, annotations: {config.kubernetes.io/function: \"exec: {path: /bin/true}\"}}\n"}},
		"a circle":             {"resources: [../k]\n", "cycle", nil},
		"a file that is gone":  {"resources: [gone.yaml]\n", "gone.yaml", nil},
		"no YAML":              {"resources: [\n", "", nil},
		"a cluster of anchors": {"resources: [a.yaml]\nx: &a [1,1,1,1,1,1,1,1,1]\ny: &b [*a,*a,*a,*a,*a,*a,*a,*a]\n", "", nil},
	} {
		base := files{"k/kustomization.yaml": c.kustomization}.with(c.more)
		got := rendered(t, render.Config{}, "k", base, files{"k/more.yaml": "a: b\n"})
		if got.OK || got.Broken || !strings.Contains(got.Error, c.want) || strings.Contains(got.Error, "hunter2") || strings.Contains(got.Error, "root:") {
			t.Errorf("%s: %+v", what, got)
		}
	}
}

func TestBrokenByTheChange(t *testing.T) {
	base := overlay()
	at := staging + "/kustomization.yaml"
	broken := rendered(t, render.Config{}, staging, base, files{at: "resources: [../base, gone.yaml]\n"})
	if broken.OK || !broken.Broken || !strings.Contains(broken.Error, "gone.yaml") {
		t.Errorf("%+v", broken)
	}
	deep := base.with(files{"apps/shop/base/kustomization.yaml": "resources: [deployment.yaml, of/one.yaml]\n", "apps/shop/base/of/one.yaml": deployment + strings.Repeat("# much\n", 500)})
	lost := rendered(t, render.Config{}, staging, deep, files{"apps/shop/base/kustomization.yaml": "resources: [deployment.yaml, " + strings.Repeat("of/", 100) + "one.yaml]\n"})
	if lost.OK || len([]rune(lost.Error)) > 410 || !strings.HasSuffix(strings.TrimRight(lost.Error, "'"), "one.yaml' doesn't exist") {
		t.Errorf("the cause is left out: %s", lost.Error)
	}
	mended := rendered(t, render.Config{}, staging, base.with(files{at: "resources: [../gone]\n"}), files{at: base[at]})
	if mended.OK || mended.Broken || !strings.Contains(mended.Error, "before the change: ") {
		t.Errorf("%+v", mended)
	}
	away := rendered(t, render.Config{}, staging, base, files{at: "resources: [https://github.com/acme/base]\n"})
	if away.OK || away.Broken {
		t.Errorf("what is elsewhere now: %+v", away)
	}
}

// TestBounds has what is too large, and what takes all there is, end with a
// reason and in time.
func TestBounds(t *testing.T) {
	bomb := files{"d0/kustomization.yaml": "resources: [a.yaml]\n", "d0/a.yaml": deployment}
	for i := 1; i < 30; i++ {
		for _, half := range []string{"", "x"} {
			bomb[fmt.Sprintf("d%d%s/kustomization.yaml", i, half)] = fmt.Sprintf("namePrefix: a%s\nresources: [../d%d, ../d%dx]\n", half, i-1, i-1)
		}
	}
	bomb["d0x/kustomization.yaml"] = "resources: [a.yaml]\n"
	bomb["d0x/a.yaml"] = strings.ReplaceAll(deployment, "name: shop", "name: pohs")
	many := files{"k/kustomization.yaml": "resources:\n"}
	for i := range 60 {
		name := fmt.Sprintf("r%d.yaml", i)
		many["k/kustomization.yaml"] += "  - " + name + "\n"
		many["k/"+name] = strings.ReplaceAll(deployment, "name: shop", fmt.Sprint("name: s", i))
	}
	for what, c := range map[string]struct {
		cfg  render.Config
		dir  string
		base files
		want string
	}{
		"twice as many each time": {render.Config{Patience: 3 * time.Second}, "d29", bomb, "it takes "},
		"many files":              {render.Config{MaxFiles: 50}, "k", many, "more than 50 files"},
		"many bytes":              {render.Config{MaxBytes: 1 << 20}, "k", many.with(files{"k/r1.yaml": strings.Repeat("# much\n", 200_000)}), "1 MiB"},
	} {
		began := time.Now()
		got := rendered(t, c.cfg, c.dir, c.base, files{c.dir + "/unused.yaml": "a: b\n"})
		if got.OK || !strings.Contains(got.Error, c.want) || time.Since(began) > time.Minute {
			t.Errorf("%s: after %s: %+v", what, time.Since(began), got)
		}
	}
	change := files{"k/kustomization.yaml": many["k/kustomization.yaml"] + "namePrefix: more-\n"}
	got := rendered(t, render.Config{MaxDiff: 4000}, "k", many, change)
	if !got.OK || len(got.Added) != 60 || len(got.Removed) != 60 || len(got.Diff) > 4000 || got.Omitted < 10_000 || !strings.HasSuffix(got.Diff, "\n") {
		t.Errorf("a long diff: %d bytes, %d left out, %d added", len(got.Diff), got.Omitted, len(got.Added))
	}
}

// TestCallerGone has a caller who gives up, and a program that is not there.
func TestCallerGone(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	in := gitops.Rendering{Before: overlay(), After: overlay(), Dir: staging}
	if got, err := rendererOf(t, render.Config{}).Render(ctx, in); err == nil {
		t.Errorf("%+v", got)
	}
	r, err := render.New(render.Config{Program: "/nowhere/fairlead-render"})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := r.Render(t.Context(), in); err != nil || got.OK || got.Broken || !strings.Contains(got.Error, "could not be started") {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestProcessAhead has one change after the other by processes that were started
// ahead, each for one, and none left when it is over.
func TestProcessAhead(t *testing.T) {
	r := rendererOf(t, render.Config{})
	for i := range 5 {
		got, err := r.Render(t.Context(), renderingOf([]string{staging, "chart"}[i%2]))
		if err != nil || !got.OK || len(got.Changed) != 1 {
			t.Errorf("%d: %+v, %v", i, got, err)
		}
	}
	if pid := r.Ahead(); pid == 0 {
		t.Error("none is ahead")
	} else if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Error(err)
	}
	if got, err := r.Render(t.Context(), renderingOf(staging)); err != nil || !got.OK {
		t.Errorf("after the one ahead was killed: %+v, %v", got, err)
	}
	pid := r.Ahead()
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, 0); pid == 0 || err == nil {
		t.Errorf("process %d is left", pid)
	}
	if got, err := r.Render(t.Context(), renderingOf(staging)); err != nil || !got.OK || r.Ahead() != 0 {
		t.Errorf("after it was closed: %+v, %v", got, err)
	}
}
