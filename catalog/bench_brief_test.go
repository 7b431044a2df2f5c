package catalog_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/catalog/catalogtest"
)

// BenchmarkBrief asks for briefs among 18,000 entities: each time of another
// service, of one that 200 depend on, by repository and path, and of the worst.
// It tells the 99th percentile beside the mean.
func BenchmarkBrief(b *testing.B) {
	docs := []string{briefed}
	for i := range 18_000 {
		needs := fmt.Sprintf("dependsOn: [\"component:c%d\", \"resource:db\"]", i/2)
		if i%90 == 0 {
			needs = "dependsOn: [\"component:checkout\"]"
		}
		docs = append(docs, component(fmt.Sprintf("{name: c%d, description: Does the work of %d}", i, i), fmt.Sprintf("owner: t%d, %s", i%60, needs)))
	}
	changes := catalogtest.Changes(b, docs...)
	for i := range changes {
		changes[i].Record.Entity.From.Path = fmt.Sprintf("services/s%d/catalog-info.yaml", i)
	}
	s := catalogtest.NewEmpty(b)
	s.Publish(changes)
	s.AttachFindings(foundIn(catalogtest.Repository, map[string]string{
		"AGENTS.md": "Run `make test`.\n", "Makefile": "test:\n\tgo test ./...\nbuild:\n\tgo build ./...\n", ".github/workflows/ci.yml": "on: push\njobs:\n  t:\n    steps:\n      - run: make test\n",
	}))
	heavy := worst(b)
	for name, ask := range map[string]func(i int) (*catalog.Brief, error){
		"each": func(i int) (*catalog.Brief, error) {
			return s.GetServiceBrief(b.Context(), alice, catalog.GetServiceBriefInput{Service: fmt.Sprintf("c%d", i%18_000)})
		},
		"popular": func(int) (*catalog.Brief, error) {
			return s.GetServiceBrief(b.Context(), alice, catalog.GetServiceBriefInput{Service: "checkout"})
		},
		"path": func(i int) (*catalog.Brief, error) {
			return s.GetServiceBrief(b.Context(), alice, catalog.GetServiceBriefInput{Repository: catalogtest.Repository, Path: fmt.Sprintf("services/s%d/main.go", 1+i%17_999)})
		},
		"worst": func(int) (*catalog.Brief, error) {
			return heavy.GetServiceBrief(b.Context(), alice, catalog.GetServiceBriefInput{Service: "big"})
		},
	} {
		b.Run(name, func(b *testing.B) {
			var took []time.Duration
			for i := 0; b.Loop(); i++ {
				start := time.Now()
				if _, err := ask(i); err != nil {
					b.Fatal(err)
				}
				took = append(took, time.Since(start))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
		})
	}
}
