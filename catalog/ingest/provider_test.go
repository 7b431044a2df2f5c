package ingest_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/catalog/descriptor"
	"github.com/fairlead-dev/fairlead/catalog/index"
	"github.com/fairlead-dev/fairlead/catalog/ingest"
	"github.com/fairlead-dev/fairlead/catalog/ingest/ingesttest"
)

// organization is a provider whose repositories are in memory.
type organization struct {
	mu    sync.Mutex
	repos []ingest.Source
	err   error
	asked int
}

func (o *organization) Describe() ingest.Description {
	return ingest.Description{Name: "org", Type: "memory", URL: "https://git.example.test/acme"}
}

func (o *organization) Discover(context.Context) ([]ingest.Source, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.asked++
	return slices.Clone(o.repos), o.err
}

func (o *organization) set(err error, repos ...ingest.Source) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.repos, o.err = repos, err
}

// running is an ingester at work over an organization.
type running struct {
	t    *testing.T
	in   *ingest.Ingester
	mu   sync.Mutex
	snap *index.Snapshot
	stop func()
}

func run(t *testing.T, o *organization, keeper ingest.Keeper) *running {
	t.Helper()
	return runOver(t, o, keeper)
}

func runOver(t *testing.T, o ingest.Provider, keeper ingest.Keeper) *running {
	t.Helper()
	r := &running{t: t, snap: index.Empty()}
	r.in = ingest.New(ingest.Config{Providers: []ingest.Provider{o}, Processor: descriptor.New(descriptor.Options{}), Keeper: keeper, Fingerprint: "1",
		Refresh: 5 * time.Millisecond, Turn: time.Hour, Publish: func(c []index.Change) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.snap = r.snap.Apply(c)
		}})
	if err := r.in.Restore(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := r.in.Run(ctx); err != nil {
			t.Error(err)
		}
	}()
	r.stop = sync.OnceFunc(func() { cancel(); <-done })
	t.Cleanup(r.stop)
	return r
}

func (r *running) has(ref string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.snap.Get(everything(), ref) != nil
}

// json is an entity as it is served, "" if there is none.
func (r *running) json(ref string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e := r.snap.Get(everything(), ref); e != nil {
		return string(e.AppendJSON(nil))
	}
	return ""
}

func (r *running) await(what string, holds func() bool) {
	r.t.Helper()
	deadline := time.Now().Add(time.Minute)
	for !holds() {
		if time.Now().After(deadline) {
			r.t.Fatalf("in vain waited for: %s", what)
		}
		time.Sleep(time.Millisecond)
	}
}

func repository(name string) *ingesttest.Memory {
	m := ingesttest.NewMemory(name, "https://git.example.test/acme/"+name)
	m.Write(map[string]string{"catalog-info.yaml": component(name)})
	return m
}

func TestProviderSourcesComeAndGo(t *testing.T) {
	o, a, b := &organization{}, repository("a"), repository("b")
	o.set(nil, a, b)
	r := run(t, o, &memoryKeeper{kept: map[string]*ingest.Kept{}})
	r.await("both repositories are read", func() bool { return r.has("component:default/a") && r.has("component:default/b") })
	a.Write(map[string]string{"catalog-info.yaml": component("a2")})
	r.await("a change is seen", func() bool { return r.has("component:default/a2") && !r.has("component:default/a") })
	o.set(nil, a)
	r.await("a repository that is gone is forgotten", func() bool { return !r.has("component:default/b") })
	o.set(errors.New("the host is down"), repository("c"))
	r.await("the failure is reported", func() bool {
		return slices.ContainsFunc(r.in.Sources(), func(s catalog.SourceStatus) bool { return s.Name == "org" && s.State == "failing" })
	})
	if !r.has("component:default/a2") {
		t.Error("a failed discovery took a repository away")
	}
}

func TestProviderSourcesAreServedAfterARestart(t *testing.T) {
	o, keeper := &organization{}, &memoryKeeper{kept: map[string]*ingest.Kept{}}
	o.set(nil, repository("a"))
	first := run(t, o, keeper)
	first.await("the repository is read", func() bool { return first.has("component:default/a") })
	first.stop()
	o.set(errors.New("the host is down"))
	second := run(t, o, keeper)
	if !second.has("component:default/a") {
		t.Error("what was found before is not served")
	}
	o.set(nil)
	second.await("it is forgotten once it is not listed", func() bool { return !second.has("component:default/a") })
	names, err := keeper.Names(t.Context())
	second.await("nothing is kept of it", func() bool { names, err = keeper.Names(t.Context()); return len(names) == 0 && err == nil })
}

// hinted is a repository whose revision the listing tells.
type hinted struct {
	*ingesttest.Memory
	mu       sync.Mutex
	hint     ingest.Revision
	observed int
}

func (h *hinted) Hint() ingest.Revision {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.hint
}

func (h *hinted) Observe(ctx context.Context) (ingest.Revision, error) {
	h.mu.Lock()
	h.observed++
	h.mu.Unlock()
	return h.Memory.Observe(ctx)
}

func TestAHintSavesAsking(t *testing.T) {
	o, h := &organization{}, &hinted{Memory: repository("a"), hint: rev(1)}
	o.set(nil, h)
	r := run(t, o, &memoryKeeper{kept: map[string]*ingest.Kept{}})
	r.await("the repository is read", func() bool { return r.has("component:default/a") })
	asked := func() int { o.mu.Lock(); defer o.mu.Unlock(); return o.asked }
	enough := asked() + 5
	r.await("the provider has been asked again", func() bool { return asked() > enough })
	h.mu.Lock()
	observed := h.observed
	h.mu.Unlock()
	if observed != 0 {
		t.Errorf("the repository itself was asked %d times", observed)
	}
	h.Write(map[string]string{"catalog-info.yaml": component("a2")})
	if n := r.in.Notify("git@git.example.test:acme/a.git"); n != 1 {
		t.Errorf("%d sources were told", n)
	}
	r.await("a notice is believed over the hint", func() bool { return r.has("component:default/a2") })
}

func TestANoticeOfAnUnknownRepositoryHasProvidersLook(t *testing.T) {
	o := &organization{}
	r := run(t, o, &memoryKeeper{kept: map[string]*ingest.Kept{}})
	o.set(nil, repository("new"))
	if n := r.in.Notify("https://git.example.test/acme/new"); n != 0 {
		t.Errorf("%d sources were told", n)
	}
	r.await("the new repository is read", func() bool { return r.has("component:default/new") })
}

func TestASourceThatIsListedOtherwiseIsReadAnew(t *testing.T) {
	o, keeper := &organization{}, &memoryKeeper{kept: map[string]*ingest.Kept{}}
	o.set(nil, repository("a"))
	first := run(t, o, keeper)
	first.await("the repository is read", func() bool { return first.has("component:default/a") })
	moved := func(to string) ingest.Source {
		m := ingesttest.NewMemory("a", to)
		m.Write(map[string]string{"catalog-info.yaml": component("a")})
		return m
	}
	o.set(nil, moved("https://git.example.test/acme/moved"))
	first.await("its entities tell where it is now", func() bool {
		return strings.Contains(first.json("component:default/a"), "https://git.example.test/acme/moved")
	})
	if n := first.in.Notify("https://git.example.test/acme/moved"); n != 1 {
		t.Errorf("%d sources were told by the new address", n)
	}
	first.stop()
	o.set(nil, moved("https://git.example.test/acme/again"))
	second := run(t, o, keeper)
	second.await("so they do after a restart", func() bool {
		return strings.Contains(second.json("component:default/a"), "https://git.example.test/acme/again")
	})
}
