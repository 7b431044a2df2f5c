package knowledge_test

import (
	"slices"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/knowledge"
	"github.com/fairlead-dev/fairlead/knowledge/knowledgetest"
)

// BenchmarkSearch searches 5,000 documents, and tells the 99th percentile
// beside the mean; make bench measures 50,000.
func BenchmarkSearch(b *testing.B) {
	r := newRoom(b, nil, nil)
	c := knowledgetest.NewCorpus(5000)
	changes, err := c.Changes()
	if err != nil {
		b.Fatal(err)
	}
	r.catalog.Publish(changes)
	if err := c.Fill(b.Context(), r.Service); err != nil {
		b.Fatal(err)
	}
	for _, bench := range []struct {
		name, service string
		questions     []string
	}{
		{"questions", "", knowledgetest.Questions},
		{"service", c.Services()[0], knowledgetest.Questions},
		{"worst", "", knowledgetest.WorstQuestions},
	} {
		b.Run(bench.name, func(b *testing.B) {
			var took []time.Duration
			for i := 0; b.Loop(); i++ {
				start := time.Now()
				r.search(knowledge.SearchKnowledgeInput{Query: bench.questions[i%len(bench.questions)], Service: bench.service})
				took = append(took, time.Since(start))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
		})
	}
}
