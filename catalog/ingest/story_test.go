package ingest_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/access/accesstest"
	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/catalog/descriptor"
	"github.com/fairlead-dev/fairlead/catalog/index"
	"github.com/fairlead-dev/fairlead/catalog/ingest"
	"github.com/fairlead-dev/fairlead/catalog/ingest/ingesttest"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// world is an ingester over sources in memory and what it has published.
type world struct {
	t       *testing.T
	in      *ingest.Ingester
	sources []*ingesttest.Memory
	keeper  *memoryKeeper
	snap    *index.Snapshot
	clock   time.Time
	limit   int64
	ticking sync.Mutex
}

func newWorld(t *testing.T, names ...string) *world {
	t.Helper()
	w := &world{t: t, keeper: &memoryKeeper{kept: map[string]*ingest.Kept{}}, clock: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	for _, n := range names {
		w.sources = append(w.sources, ingesttest.NewMemory(n, "https://git.example.test/acme/"+n))
	}
	w.start()
	return w
}

// start begins as a new process would: with what was kept.
func (w *world) start() {
	w.t.Helper()
	w.snap = index.Empty()
	var sources []ingest.Source
	for _, s := range w.sources {
		sources = append(sources, s)
	}
	w.in = ingest.New(ingest.Config{Sources: sources, Processor: descriptor.New(descriptor.Options{Template: true}), Keeper: w.keeper, Fingerprint: "1", SourceBytes: w.limit,
		Publish: func(c []index.Change) { w.snap = w.snap.Apply(c) }, Now: w.tick})
	if err := w.in.Restore(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
}

// tick is a clock that moves by a second each time it is looked at.
func (w *world) tick() time.Time {
	w.ticking.Lock()
	defer w.ticking.Unlock()
	w.clock = w.clock.Add(time.Second)
	return w.clock
}

// write changes files of the first source and reads it.
func (w *world) write(files map[string]string) { w.t.Helper(); w.writeTo(0, files) }

func (w *world) writeTo(i int, files map[string]string) {
	w.t.Helper()
	w.sources[i].Write(files)
	w.refresh(i)
}

func (w *world) refresh(i int) {
	w.t.Helper()
	if _, err := w.in.Refresh(w.t.Context(), w.sources[i].Describe().Name); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) entity(ref string) *catalog.Entity {
	return w.snap.Get(everything(), ref)
}

func (w *world) has(refs ...string) {
	w.t.Helper()
	for _, r := range refs {
		if w.entity(r) == nil {
			w.t.Errorf("%s is not there", r)
		}
	}
}

func (w *world) lacks(refs ...string) {
	w.t.Helper()
	for _, r := range refs {
		if w.entity(r) != nil {
			w.t.Errorf("%s is there", r)
		}
	}
}

// problem finds the one problem whose message holds text.
func (w *world) problem(text string) catalog.IngestionError {
	w.t.Helper()
	all := w.in.Problems()
	for _, p := range all {
		if strings.Contains(p.Message, text) {
			return p
		}
	}
	w.t.Errorf("no problem says %q, only %+v", text, all)
	return catalog.IngestionError{}
}

func (w *world) quiet() {
	w.t.Helper()
	if all := w.in.Problems(); len(all) > 0 {
		w.t.Errorf("problems: %+v", all)
	}
}

func component(name string) string {
	return "apiVersion: backstage.io/v1alpha1\nkind: Component\nmetadata:\n  name: " + name + "\nspec:\n  type: service\n  lifecycle: production\n  owner: shop\n"
}

func location(name string, lines ...string) string {
	return "apiVersion: backstage.io/v1alpha1\nkind: Location\nmetadata:\n  name: " + name + "\nspec:\n  " + strings.Join(lines, "\n  ") + "\n"
}

// memoryKeeper keeps in memory what it is given.
type memoryKeeper struct {
	mu   sync.Mutex
	kept map[string]*ingest.Kept
	last ingest.Delta
	err  error
}

func (k *memoryKeeper) Load(_ context.Context, source string) (*ingest.Kept, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.kept[source], nil
}

func (k *memoryKeeper) Names(context.Context) ([]string, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Sorted(maps.Keys(k.kept)), nil
}

func (k *memoryKeeper) Forget(_ context.Context, source string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.kept, source)
	return nil
}

func (k *memoryKeeper) Save(_ context.Context, source string, d ingest.Delta) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.err != nil {
		return k.err
	}
	k.last = d
	old := k.kept[source]
	next := &ingest.Kept{Meta: d.Meta, Paths: map[string]string{}, Pasts: map[string]ingest.Dated{}}
	files := map[string]*ingest.File{}
	if old != nil && !d.Replace {
		for p, id := range old.Paths {
			next.Paths[p] = id
		}
		for _, f := range old.Files {
			files[f.Path] = f
		}
		maps.Copy(next.Pasts, old.Pasts)
	}
	for p, past := range d.Pasts {
		if delete(next.Pasts, p); past != nil {
			next.Pasts[p] = *past
		}
	}
	for p, id := range d.Paths {
		if next.Paths[p] = id; id == "" {
			delete(next.Paths, p)
		}
	}
	for p, f := range d.Files {
		if files[p] = f; f == nil {
			delete(files, p)
		}
	}
	for _, f := range files {
		next.Files = append(next.Files, f)
	}
	k.kept[source] = next
	return nil
}

func TestChangesFollowTheSource(t *testing.T) {
	w := newWorld(t, "a")
	w.write(map[string]string{"x/catalog-info.yaml": component("x"), "y/catalog-info.yaml": component("y"), "other.yaml": component("other")})
	w.has("component:default/x", "component:default/y")
	w.lacks("component:default/other")
	w.write(map[string]string{"x/catalog-info.yaml": "", "y/catalog-info.yaml": component("y") + "  system: shop\n", "z/catalog-info.yaml": component("z")})
	w.lacks("component:default/x")
	w.has("component:default/z")
	if got := w.entity("component:default/y").Targets("partOf"); !slices.Equal(got, []string{"system:default/shop"}) {
		t.Errorf("y is part of %q", got)
	}
	w.quiet()
}

func TestUnchangedFilesAreNotReadAgain(t *testing.T) {
	w := newWorld(t, "a")
	w.write(map[string]string{"x/catalog-info.yaml": component("x"), "y/catalog-info.yaml": component("y")})
	w.write(map[string]string{"y/catalog-info.yaml": component("y2")})
	w.write(map[string]string{"README.md": "hello"})
	w.start()
	w.refresh(0)
	if n := w.sources[0].Reads("x/catalog-info.yaml"); n != 1 {
		t.Errorf("x was read %d times", n)
	}
	w.has("component:default/x", "component:default/y2")
}

func TestBadEditKeepsTheLastGood(t *testing.T) {
	w := newWorld(t, "a")
	w.write(map[string]string{"catalog-info.yaml": component("x") + "---\n" + component("y")})
	w.write(map[string]string{"catalog-info.yaml": component("x") + "  owner: twice\n---\n" + component("y")})
	w.has("component:default/x", "component:default/y")
	p := w.problem("owner")
	first := p.FirstSeen
	if p.File != "catalog-info.yaml" || p.Line == 0 || p.Owner != "group:default/shop" || first.Commit != string(rev(2)) {
		t.Errorf("got %+v", p)
	}
	stale := func() {
		t.Helper()
		e := w.entity("component:default/y")
		if len(e.Status) != 1 || !strings.Contains(e.Status[0].Message, "catalog-info.yaml:") || !strings.HasSuffix(e.Status[0].Message, "from before commit "+string(rev(2))[:12]) {
			t.Errorf("status: %+v", e.Status)
		}
		if said := e.Status[0].Error.Message; !strings.Contains(said, "\n"+p.Fix+"\nShown is the last good state") || p.Fix == "" {
			t.Errorf("the error is told as %q", said)
		}
		if e.From.StaleSince != string(rev(2)) || e.From.Commit != string(rev(1)) {
			t.Errorf("provenance: %+v", e.From)
		}
	}
	stale()
	w.write(map[string]string{"README.md": "unrelated"})
	if p := w.problem("owner"); p.FirstSeen != first || p.LastSeen.Commit != string(rev(3)) {
		t.Errorf("first seen %+v, last seen %+v", p.FirstSeen, p.LastSeen)
	}
	w.start()
	w.has("component:default/x")
	stale()
	if p := w.problem("owner"); p.FirstSeen != first {
		t.Errorf("after a restart first seen %+v, not %+v", p.FirstSeen, first)
	}
	w.write(map[string]string{"catalog-info.yaml": component("x")})
	w.quiet()
	if e := w.entity("component:default/x"); len(e.Status) != 0 || e.From.StaleSince != "" {
		t.Errorf("status stays: %+v %+v", e.Status, e.From)
	}
	w.lacks("component:default/y")
}

func rev(n int) ingest.Revision { return ingest.Revision(fmt.Sprintf("%040d", n)) }

func TestInvalidDocumentOnlySpoilsItself(t *testing.T) {
	w := newWorld(t, "a")
	bad := strings.Replace(component("x"), "  owner: shop\n", "", 1)
	w.write(map[string]string{"catalog-info.yaml": bad + "---\n" + component("y")})
	w.lacks("component:default/x")
	w.has("component:default/y")
	if p := w.problem("owner"); p.Ref != "component:default/x" {
		t.Errorf("got %+v", p)
	}
}

func TestMovedFileKeepsItsEntities(t *testing.T) {
	w := newWorld(t, "a", "b")
	w.write(map[string]string{"x/catalog-info.yaml": component("x")})
	w.writeTo(1, map[string]string{"catalog-info.yaml": component("other")})
	w.writeTo(1, map[string]string{"catalog-info.yaml": component("x")})
	w.write(map[string]string{"x/catalog-info.yaml": "", "moved/catalog-info.yaml": component("x")})
	e := w.entity("component:default/x")
	if e == nil || e.From.Source != "a" || e.From.Path != "moved/catalog-info.yaml" {
		t.Errorf("got %+v", e)
	}
}

func TestNameClaimedTwice(t *testing.T) {
	w := newWorld(t, "a", "b")
	w.writeTo(1, map[string]string{"catalog-info.yaml": component("x")})
	w.writeTo(0, map[string]string{"catalog-info.yaml": component("y")})
	w.writeTo(0, map[string]string{"catalog-info.yaml": component("x")})
	if from := w.entity("component:default/x").From.Source; from != "b" {
		t.Errorf("%s took the name over", from)
	}
	p := w.problem("is already described in catalog-info.yaml:1 of source b by group:default/shop at commit " + string(rev(1))[:12] + ", which keeps the name")
	if p.Source != "a" || p.Owner != "group:default/shop" || p.Ref != "component:default/x" {
		t.Errorf("got %+v", p)
	}
	w.start()
	if from := w.entity("component:default/x").From.Source; from != "b" {
		t.Errorf("after a restart %s has the name", from)
	}
	w.writeTo(1, map[string]string{"catalog-info.yaml": ""})
	if from := w.entity("component:default/x").From.Source; from != "a" {
		t.Errorf("the name did not go to the other claimant")
	}
	w.quiet()
}

func TestInvalidFileClaimsNoName(t *testing.T) {
	w := newWorld(t, "a", "b")
	w.writeTo(0, map[string]string{"catalog-info.yaml": strings.Replace(component("x"), "owner: shop", "owner: 5", 1)})
	w.writeTo(1, map[string]string{"catalog-info.yaml": component("x")})
	w.has("component:default/x")
}

func TestFailingSourceKeepsItsState(t *testing.T) {
	w := newWorld(t, "a")
	w.write(map[string]string{"catalog-info.yaml": component("x")})
	w.sources[0].Fail(fault.New(fault.Unavailable, "the host does not answer").WithFix("Check the network."))
	if _, err := w.in.Refresh(t.Context(), "a"); fault.CodeOf(err) != fault.Unavailable {
		t.Errorf("got %v", err)
	}
	w.has("component:default/x")
	st := w.in.Sources()[0]
	if st.State != "failing" || st.Error != "the host does not answer" || st.Entities != 1 {
		t.Errorf("got %+v", st)
	}
	w.sources[0].Fail(errors.New("dial tcp 10.0.0.1: secret detail"))
	_, _ = w.in.Refresh(t.Context(), "a") // its error is in the report
	if st := w.in.Sources()[0]; strings.Contains(st.Error, "secret") {
		t.Errorf("internal text is shown: %q", st.Error)
	}
	w.sources[0].Fail(nil)
	w.refresh(0)
	if st := w.in.Sources()[0]; st.State != "ok" || st.Error != "" {
		t.Errorf("got %+v", st)
	}
}

func TestUnsavedStateIsSavedLater(t *testing.T) {
	w := newWorld(t, "a")
	w.keeper.err = errors.New("disk full")
	w.write(map[string]string{"catalog-info.yaml": component("x")})
	w.has("component:default/x")
	w.keeper.err = nil
	w.refresh(0)
	w.start()
	w.has("component:default/x")
}

func everything() access.Scope {
	return accesstest.OpenPolicy().Scope(accesstest.As("user:default/alice"), access.ReadCatalog)
}

func TestSettledOnceEverySourceWasTried(t *testing.T) {
	good, bad := ingesttest.NewMemory("good", "https://git.example.test/good"), ingesttest.NewMemory("bad", "https://git.example.test/bad")
	good.Write(map[string]string{"catalog-info.yaml": component("one")})
	bad.Fail(errors.New("out of order"))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	snap := index.Empty()
	settled := make(chan int)
	in := ingest.New(ingest.Config{Sources: []ingest.Source{good, bad}, Processor: descriptor.New(descriptor.Options{}),
		Publish: func(c []index.Change) { snap = snap.Apply(c) }, Settled: func() { settled <- snap.Len() }})
	ended := make(chan error)
	go func() { ended <- in.Run(ctx) }()
	if n := <-settled; n != 1 {
		t.Errorf("settled with %d entities", n)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
