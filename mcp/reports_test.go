package mcp_test

import (
	"fmt"
	"testing"

	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/catalog/descriptor"
	"github.com/fairlead-dev/fairlead/catalog/index"
	"github.com/fairlead-dev/fairlead/catalog/ingest"
	"github.com/fairlead-dev/fairlead/catalog/ingest/ingesttest"
)

// troubled is what an ingester tells of a source with so many broken files.
func troubled(t testing.TB, broken int) catalog.Ingestion {
	t.Helper()
	src := ingesttest.NewMemory("memory", "https://git.example.com/acme/broken")
	files := map[string]string{}
	for i := range broken {
		files[fmt.Sprintf("s%03d/catalog-info.yaml", i)] = "kind: Component\n  owner: payments\n"
	}
	src.Write(files)
	in := ingest.New(ingest.Config{Sources: []ingest.Source{src}, Processor: descriptor.New(descriptor.Options{}), Publish: func([]index.Change) {}})
	if _, err := in.Refresh(t.Context(), "memory"); err != nil {
		t.Fatal(err)
	}
	return in
}

func TestReportsForAgents(t *testing.T) {
	c := serve(t, []string{shop}).open("2025-11-25")
	errors := c.tool("list_ingestion_errors", map[string]any{"source": "memory"})
	contains(t, errors.Content[0].Text, "1 of 1 problems")
	contains(t, errors.Content[0].Text, "memory · s000/catalog-info.yaml:")
	sources := c.tool("list_sources", nil)
	contains(t, sources.Content[0].Text, "memory · memory · ok · 0 entities · 1 problems")
}

func TestManyProblemsComeInPages(t *testing.T) {
	c := serveWith(t, []string{shop}, troubled(t, 400)).open("2025-11-25")
	r := c.tool("list_ingestion_errors", map[string]any{"limit": 400})
	if n := len(r.StructuredContent) + len(r.Content[0].Text); n > 32_000 {
		t.Errorf("the answer has %d bytes", n)
	}
	contains(t, r.Content[0].Text, "of 400 problems")
	contains(t, r.Content[0].Text, "next_cursor: ")
}
