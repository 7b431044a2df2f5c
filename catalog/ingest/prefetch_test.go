package ingest_test

import (
	"context"
	"slices"
	"sync"
	"testing"

	"github.com/fairlead-dev/fairlead/catalog/descriptor"
	"github.com/fairlead-dev/fairlead/catalog/index"
	"github.com/fairlead-dev/fairlead/catalog/ingest"
	"github.com/fairlead-dev/fairlead/catalog/ingest/ingesttest"
)

// distant is a source whose files have to be brought before they are read.
type distant struct {
	*ingesttest.Memory
	mu      sync.Mutex
	brought [][]string
}

func (d *distant) Open(ctx context.Context, rev ingest.Revision) (ingest.Tree, error) {
	t, err := d.Memory.Open(ctx, rev)
	return &distantTree{t, d}, err
}

type distantTree struct {
	ingest.Tree
	of *distant
}

func (t *distantTree) Prefetch(_ context.Context, paths []string) error {
	t.of.mu.Lock()
	defer t.of.mu.Unlock()
	t.of.brought = append(t.of.brought, slices.Sorted(slices.Values(paths)))
	return nil
}

// TestFilesAreBroughtLevelByLevel follows a Location to a file of its own and
// one of another source, and changes what is known.
func TestFilesAreBroughtLevelByLevel(t *testing.T) {
	w := newWorld(t, "a", "b")
	a := &distant{Memory: w.sources[0]}
	w.in = ingest.New(ingest.Config{Sources: []ingest.Source{a, w.sources[1]}, Processor: descriptor.New(descriptor.Options{}), Fingerprint: "1",
		Publish: func(c []index.Change) { w.snap = w.snap.Apply(c) }})
	w.writeTo(1, map[string]string{"shared/one.yaml": component("one")})
	w.writeTo(0, map[string]string{
		"catalog-info.yaml":   location("l", "targets: [https://git.example.test/acme/b/blob/main/shared/one.yaml, ./next.yaml]"),
		"x/catalog-info.yaml": component("x"), "next.yaml": component("next"), "other.txt": "not read"})
	w.has("component:default/next", "component:default/x", "component:default/one")
	want := [][]string{{"catalog-info.yaml", "x/catalog-info.yaml"}, {"next.yaml"}}
	if !slices.EqualFunc(a.brought, want, slices.Equal) {
		t.Errorf("brought %q, want %q", a.brought, want)
	}
	a.brought = nil
	w.writeTo(0, map[string]string{"next.yaml": component("next2"), "x/catalog-info.yaml": component("x2")})
	w.has("component:default/next2", "component:default/x2")
	if want = [][]string{{"next.yaml", "x/catalog-info.yaml"}}; !slices.EqualFunc(a.brought, want, slices.Equal) {
		t.Errorf("brought %q, want %q", a.brought, want)
	}
}
