package ingest_test

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/catalog/ingest"
	"github.com/fairlead-dev/fairlead/catalog/ingest/ingesttest"
)

// mined is a source of which a part panics: "observe", "open", or a path that
// is read.
type mined struct {
	*ingesttest.Memory
	at atomic.Pointer[string]
}

func (m *mined) trip(here string) {
	if at := m.at.Load(); at != nil && *at == here {
		panic("boom at " + here)
	}
}

func (m *mined) Observe(ctx context.Context) (ingest.Revision, error) {
	m.trip("observe")
	return m.Memory.Observe(ctx)
}

func (m *mined) Open(ctx context.Context, rev ingest.Revision) (ingest.Tree, error) {
	m.trip("open")
	tree, err := m.Memory.Open(ctx, rev)
	return &minedTree{tree, m}, err
}

type minedTree struct {
	ingest.Tree
	m *mined
}

func (t *minedTree) Changes(ctx context.Context, since ingest.Revision) ([]ingest.Change, bool, error) {
	t.m.trip("changes")
	return t.Tree.Changes(ctx, since)
}

func (t *minedTree) Read(ctx context.Context, path string) ([]byte, error) {
	t.m.trip(path)
	return t.Tree.Read(ctx, path)
}

// minedProvider panics where it is told to.
type minedProvider struct {
	*organization
	trips atomic.Bool
}

func (p *minedProvider) Discover(ctx context.Context) ([]ingest.Source, error) {
	if p.trips.Load() {
		panic("boom in discovery")
	}
	return p.organization.Discover(ctx)
}

func status(r *running, name string) catalog.SourceStatus {
	all := r.in.Sources()
	i := slices.IndexFunc(all, func(s catalog.SourceStatus) bool { return s.Name == name })
	if i < 0 {
		return catalog.SourceStatus{}
	}
	return all[i]
}

// TestAPanicIsTheTroubleOfOneSource has reading one source panic wherever it
// can: it is shown as failing, what it said stays, the other is read on, and it
// is read again once it is well.
func TestAPanicIsTheTroubleOfOneSource(t *testing.T) {
	for _, at := range []string{"observe", "open", "changes", "catalog-info.yaml"} {
		t.Run(at, func(t *testing.T) {
			bad, good := &mined{Memory: repository("bad")}, repository("good")
			o := &organization{}
			o.set(nil, bad, good)
			r := run(t, o, &memoryKeeper{kept: map[string]*ingest.Kept{}})
			r.await("both are read", func() bool { return r.has("component:default/bad") && r.has("component:default/good") })

			bad.at.Store(&at)
			bad.Write(map[string]string{"catalog-info.yaml": component("bad2")})
			r.await("it is failing", func() bool { return status(r, "bad").State == "failing" })
			if st := status(r, "bad"); strings.Contains(st.Error, "boom") || st.Error == "" || st.Entities != 1 {
				t.Errorf("told is %+v", st)
			}
			good.Write(map[string]string{"catalog-info.yaml": component("good2")})
			r.await("the other is read on", func() bool { return r.has("component:default/good2") })
			if !r.has("component:default/bad") {
				t.Error("what it said before is gone")
			}

			bad.at.Store(nil)
			r.await("it is well again", func() bool { return r.has("component:default/bad2") && status(r, "bad").State == "ok" })
		})
	}
}

func TestAPanicInDiscoveryLeavesWhatWasFound(t *testing.T) {
	o, a := &minedProvider{organization: &organization{}}, repository("a")
	o.set(nil, a)
	r := runOver(t, o, &memoryKeeper{kept: map[string]*ingest.Kept{}})
	r.await("it is read", func() bool { return r.has("component:default/a") })
	o.trips.Store(true)
	r.await("the provider is failing", func() bool { return status(r, "org").State == "failing" })
	a.Write(map[string]string{"catalog-info.yaml": component("a2")})
	r.await("what was found is read on", func() bool { return r.has("component:default/a2") })
}
