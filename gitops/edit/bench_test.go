package edit

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"
)

// valuesFile is Helm values of about so many bytes, below one key if nested.
func valuesFile(size int, nested bool) string {
	var t strings.Builder
	in := ""
	if nested {
		t.WriteString("apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata:\n  name: platform\nspec:\n  values:\n")
		in = "    "
	}
	for i := 0; t.Len() < size; i++ {
		for _, l := range []string{"service%d:", "  image:", "    repository: ghcr.io/acme/service%d", "    tag: \"1.2.%d\" # renovate", "  replicaCount: %d", "  # who is asked at night: team %d",
			"  env:", "    - name: GREETING", "      value: 'hello %d'", "  resources: {limits: {cpu: 1, memory: 1Gi}}", "  notes: |", "    line %d", "    another"} {
			if strings.Contains(l, "%d") {
				l = fmt.Sprintf(l, i)
			}
			t.WriteString(in + l + "\n")
		}
	}
	return t.String()
}

// manifests are Deployments of about so many bytes.
func manifests(size int) string {
	var t strings.Builder
	for i := 0; t.Len() < size; i++ {
		fmt.Fprintf(&t, "---\napiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: d%d\n  labels:\n    app: d%d\nspec:\n  replicas: 2\n  template:\n    spec:\n      containers:\n        - name: app\n          image: ghcr.io/acme/service%d:1.2.3\n          ports:\n            - containerPort: 8080\n", i, i, i)
	}
	return t.String()
}

// cpu reports the processor time of an operation, which a busy machine does not
// stretch as it does the time by the clock.
func cpu(b *testing.B) func() {
	used := func() time.Duration {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			b.Fatal(err)
		}
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	before := used()
	return func() { b.ReportMetric(float64((used()-before).Microseconds())/float64(b.N), "cpu-µs/op") }
}

func BenchmarkEdit200kB(b *testing.B) {
	const size = 200_000
	for name, c := range map[string]struct {
		text   string
		change Change
	}{
		"values/image":       {valuesFile(size, false), Image{Name: "ghcr.io/acme/service500", Tag: "2.0.0"}},
		"values/path":        {valuesFile(size, false), Set{Path: "service500.replicaCount", Value: "7"}},
		"values/new-key":     {valuesFile(size, false), Set{Path: "service500.image.digest", Value: "sha256:00"}},
		"helmrelease/image":  {valuesFile(size, true), Image{Name: "ghcr.io/acme/service500", Tag: "2.0.0"}},
		"manifests/image":    {manifests(size), Image{Name: "ghcr.io/acme/service500", Tag: "2.0.0"}},
		"with-anchors/image": {"x: &x 1\ny: *x\n" + valuesFile(size, false), Image{Name: "ghcr.io/acme/service500", Tag: "2.0.0"}},
	} {
		b.Run(name, func(b *testing.B) {
			text := c.text
			b.ReportAllocs()
			defer cpu(b)()
			fastest := time.Hour
			for b.Loop() {
				start := time.Now()
				res, err := Apply(Request{File: "values.yaml", Text: text, Changes: []Change{c.change}})
				if err != nil || len(res.Touched) != 1 {
					b.Fatal(err, res)
				}
				fastest = min(fastest, time.Since(start))
			}
			b.ReportMetric(float64(fastest.Microseconds()), "fastest-µs")
		})
	}
}

func BenchmarkOutline200kB(b *testing.B) {
	text := valuesFile(200_000, false)
	b.SetBytes(int64(len(text)))
	defer cpu(b)()
	for b.Loop() {
		if _, ok := outline(text, interest{word: "service500"}); !ok {
			b.Fatal("not of the simple form")
		}
	}
}

func BenchmarkSimple200kB(b *testing.B) {
	text := valuesFile(200_000, false)
	b.SetBytes(int64(len(text)))
	defer cpu(b)()
	for b.Loop() {
		if ok, _ := simple(text); !ok {
			b.Fatal("not of the simple form")
		}
	}
}
