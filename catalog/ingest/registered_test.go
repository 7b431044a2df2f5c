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
	"github.com/fairlead-dev/fairlead/internal/fault"
)

const host = "https://git.example.test/acme/"

// bare is a repository in memory of which no file is read by itself.
type bare struct {
	*ingesttest.Memory
	name     string
	disposed func()
}

func (b bare) Describe() ingest.Description {
	d := b.Memory.Describe()
	d.Name, d.Include = b.name, nil
	return d
}

func (b bare) Dispose() error { b.disposed(); return nil }

// registry is where locations are registered, and what they may point into.
type registry struct {
	mu       sync.Mutex
	all      []catalog.Location
	repos    map[string]*ingesttest.Memory
	disposed int
}

func (r *registry) list(context.Context) ([]catalog.Location, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.all), nil
}

func (r *registry) Repository(target string) (ingest.Source, error) {
	name, _, _ := strings.Cut(strings.TrimPrefix(target, host), "/")
	if m := r.repos[name]; m != nil {
		return bare{m, "registered/" + name, func() { r.mu.Lock(); r.disposed++; r.mu.Unlock() }}, nil
	}
	return nil, fault.New(fault.Forbidden, "%s may not be read", target)
}

func (r *registry) Passing(target string) (ingest.Source, error) { return r.Repository(target) }

func (r *registry) add(w *registered, target string) string {
	l := at(target)
	r.mu.Lock()
	l.ID = "id" + string(rune('a'+len(r.all)))
	r.all = append(r.all, l)
	r.mu.Unlock()
	w.in.SettleLocation(w.t.Context(), l.ID)
	return l.ID
}

func at(target string) catalog.Location {
	return catalog.Location{ID: "try", Type: "url", Target: target, EntityRef: descriptor.Generated(descriptor.Location{Type: "url", Target: target}).String()}
}

func (r *registry) remove(w *registered, id string) {
	r.mu.Lock()
	r.all = slices.DeleteFunc(r.all, func(l catalog.Location) bool { return l.ID == id })
	r.mu.Unlock()
	w.in.SettleLocation(w.t.Context(), id)
}

// registered is an ingester at work with a registry and one configured source.
type registered struct {
	*running
	*registry
	configured *ingesttest.Memory
	keeper     *memoryKeeper
}

func newRegistered(t *testing.T, repos ...string) *registered {
	w := &registered{registry: &registry{repos: map[string]*ingesttest.Memory{}}, configured: repository("configured"), keeper: &memoryKeeper{kept: map[string]*ingest.Kept{}}}
	for _, name := range repos {
		w.repos[name] = ingesttest.NewMemory(name, host+name)
	}
	w.start(t)
	return w
}

func (w *registered) start(t *testing.T) {
	t.Helper()
	r := &running{t: t, snap: index.Empty()}
	r.in = ingest.New(ingest.Config{Sources: []ingest.Source{w.configured}, Processor: descriptor.New(descriptor.Options{}), Keeper: w.keeper, Fingerprint: "1",
		Registered: &ingest.Registered{List: w.list, Repositories: w.registry}, Refresh: time.Hour, Publish: func(c []index.Change) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.snap = r.snap.Apply(c)
		}})
	if err := r.in.Restore(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- r.in.Run(ctx) }()
	r.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(r.stop)
	w.running = r
	r.await("everything is read", r.in.Ready)
}

func (w *registered) want(refs ...string) {
	w.t.Helper()
	for _, ref := range refs {
		if !w.has(ref) {
			w.t.Errorf("%s is not there; problems: %+v", ref, w.in.Problems())
		}
	}
}

func (w *registered) wantNot(refs ...string) {
	w.t.Helper()
	for _, ref := range refs {
		if w.has(ref) {
			w.t.Errorf("%s is there", ref)
		}
	}
}

func TestRegisteredLocation(t *testing.T) {
	w := newRegistered(t, "shop")
	w.repos["shop"].Write(map[string]string{
		"all.yaml":                location("shop", "targets: ['./svc/*/catalog-info.yaml']"),
		"svc/a/catalog-info.yaml": component("a"), "svc/b/catalog-info.yaml": component("b"), "catalog-info.yaml": component("unasked")})
	target := host + "shop/blob/main/all.yaml"
	id := w.add(w, target)
	generated := at(target).EntityRef
	w.want(generated, "location:default/shop", "component:default/a", "component:default/b", "component:default/configured")
	w.wantNot("component:default/unasked")
	got := w.json("component:default/a")
	for _, want := range []string{`"backstage.io/managed-by-origin-location":"url:` + target + `"`, `"backstage.io/managed-by-location":"url:` + host + `shop/blob/main/svc/a/catalog-info.yaml"`} {
		if !strings.Contains(got, want) {
			t.Errorf("%s lacks %s", got, want)
		}
	}
	got = w.json(generated)
	for _, want := range []string{`"spec":{"type":"url","target":"` + target + `"}`, `"backstage.io/managed-by-location":"url:` + target + `"`, `"backstage.io/view-url":"` + target + `"`} {
		if !strings.Contains(got, want) {
			t.Errorf("%s lacks %s", got, want)
		}
	}
	if given := w.in.GivenBy(id); !slices.Equal(given, []string{"component:default/a", "component:default/b", generated, "location:default/shop"}) {
		t.Errorf("given: %q", given)
	}
	w.repos["shop"].Write(map[string]string{"svc/c/catalog-info.yaml": component("c"), "svc/a/catalog-info.yaml": ""})
	if _, err := w.in.Refresh(t.Context(), "registered/shop"); err != nil {
		t.Fatal(err)
	}
	w.want("component:default/c")
	w.wantNot("component:default/a")
	if all := w.in.Problems(); len(all) > 0 {
		t.Errorf("problems: %+v", all)
	}
	w.stop()
	w.start(t)
	w.want(generated, "component:default/c")
	w.remove(w, id)
	w.wantNot(generated, "location:default/shop", "component:default/b", "component:default/c")
	w.want("component:default/configured")
	if names, _ := w.keeper.Names(t.Context()); !slices.Equal(names, []string{"configured"}) {
		t.Errorf("kept is %q", names)
	}
}

func TestRegisteredWithinAConfiguredSource(t *testing.T) {
	w := newRegistered(t)
	w.configured.Write(map[string]string{"other/extra.yaml": component("extra")})
	extra := w.add(w, host+"configured/blob/main/other/extra.yaml")
	same := w.add(w, host+"configured/tree/main/catalog-info.yaml")
	w.want("component:default/extra", "component:default/configured", at(host+"configured/tree/main/catalog-info.yaml").EntityRef)
	if all := w.in.Problems(); len(all) > 0 {
		t.Errorf("problems: %+v", all)
	}
	if given := w.in.GivenBy(same); len(given) != 1 {
		t.Errorf("a file that is read anyway was given again: %q", given)
	}
	w.remove(w, extra)
	w.remove(w, same)
	w.wantNot("component:default/extra")
	w.want("component:default/configured")
}

// TestRegisteredTwice registers a file by itself and by a Location over it:
// what one takes back the other still gives.
func TestRegisteredTwice(t *testing.T) {
	w := newRegistered(t, "shop")
	w.repos["shop"].Write(map[string]string{"all.yaml": location("all", "target: ./a.yaml"), "a.yaml": component("a")})
	all := w.add(w, host+"shop/blob/main/all.yaml")
	one := w.add(w, host+"shop/blob/main/a.yaml")
	if problems := w.in.Problems(); len(problems) > 0 {
		t.Errorf("one file conflicts with itself: %+v", problems)
	}
	if given := w.in.GivenBy(all); slices.Contains(given, "component:default/a") {
		t.Errorf("%q are not given by one location alone", given)
	}
	w.remove(w, all)
	w.want("component:default/a")
	w.wantNot("location:default/all")
	w.repos["shop"].Fail(errors.New("down")) // what is taken back is gone all the same
	w.remove(w, one)
	w.wantNot("component:default/a")
	w.registry.mu.Lock()
	defer w.registry.mu.Unlock()
	if w.disposed != 1 {
		t.Errorf("the repository was let go of %d times", w.disposed)
	}
}

func TestConfiguredBeatsRegistered(t *testing.T) {
	w := newRegistered(t, "shop")
	w.repos["shop"].Write(map[string]string{"a.yaml": component("later")})
	w.add(w, host+"shop/blob/main/a.yaml")
	w.want("component:default/later")
	w.configured.Write(map[string]string{"b/catalog-info.yaml": component("later")})
	if _, err := w.in.Refresh(t.Context(), "configured"); err != nil {
		t.Fatal(err)
	}
	if got := w.json("component:default/later"); !strings.Contains(got, "acme/configured/") {
		t.Errorf("the registered one keeps the name: %s", got)
	}
	problems := w.in.Problems()
	if len(problems) != 1 || problems[0].Name != "ConflictError" || !strings.Contains(problems[0].Message, "source configured") {
		t.Errorf("problems: %+v", problems)
	}
}

func TestTryLocation(t *testing.T) {
	w := newRegistered(t, "shop")
	w.repos["shop"].Write(map[string]string{
		"all.yaml": location("all", "targets: [./a.yaml, ./b.yaml]"), "a.yaml": component("a") + "---\n" + component("a2"), "b.yaml": component("b"),
		"twice.yaml": location("twice", "targets: [./a.yaml, ./c.yaml]"), "c.yaml": component("a"),
		"gone.yaml": location("gone", "target: ./nowhere.yaml"), "broken.yaml": "kind: [", "kindless.yaml": "apiVersion: backstage.io/v1alpha1\nkind: Component\nmetadata: {name: x}\nspec: {type: service}\n"})
	for path, want := range map[string]string{
		"all.yaml":               "location:default/all component:default/b component:default/a2 component:default/a",
		"twice.yaml":             "Duplicate nested entity: component:default/a",
		"gone.yaml":              "NotFoundError: registered/shop//gone.yaml:6:3: target \"./nowhere.yaml\" is not there",
		"nothing.yaml":           "NotFoundError: location: target \"" + host + "shop/blob/main/nothing.yaml\" is not there",
		"broken.yaml":            "registered/shop//broken.yaml:1:",
		"kindless.yaml":          "registered/shop//kindless.yaml:4:",
		"other/blob/main/x.yaml": "may not be read",
		"shop/blob/dev/x.yaml":   "is not how the files of",
	} {
		target := host + "shop/blob/main/" + path
		if strings.Contains(path, "/") {
			target = host + path
		}
		entities, err := w.in.TryLocation(t.Context(), at(target))
		var refs []string
		for _, e := range entities {
			refs = append(refs, e.Ref.String())
		}
		got := strings.Join(refs, " ")
		if err != nil {
			got = fault.From(err).Message
		}
		if !strings.Contains(got, want) {
			t.Errorf("%s: %s\nwant %s", path, got, want)
		}
	}
	w.wantNot("component:default/a", "location:default/all")
	inside, err := w.in.TryLocation(t.Context(), at(host+"configured/blob/main/catalog-info.yaml"))
	if err != nil || len(inside) != 2 {
		t.Errorf("what is read already: %v, %v", inside, err)
	}
	w.repos["shop"].Fail(errors.New("down"))
	if _, err := w.in.TryLocation(t.Context(), at(host+"shop/blob/main/all.yaml")); err == nil {
		t.Error("a repository that is down was read")
	}
	if len(w.in.Sources()) != 2 { // the configured one and the provider
		t.Errorf("sources: %+v", w.in.Sources())
	}
}

// TestOnlyItsOwnRegisteredRepository has files of one registered repository
// name those of another, which is no configured source.
func TestOnlyItsOwnRegisteredRepository(t *testing.T) {
	w := newRegistered(t, "one", "two")
	w.repos["two"].Write(map[string]string{"a.yaml": component("a"), "b.yaml": component("b")})
	w.repos["one"].Write(map[string]string{"all.yaml": location("all", "target: "+host+"two/blob/main/b.yaml")})
	w.add(w, host+"two/blob/main/a.yaml")
	w.add(w, host+"one/blob/main/all.yaml")
	w.configured.Write(map[string]string{"l/catalog-info.yaml": location("l", "target: "+host+"two/blob/main/b.yaml")})
	if _, err := w.in.Refresh(t.Context(), "configured"); err != nil {
		t.Fatal(err)
	}
	w.want("component:default/a")
	w.wantNot("component:default/b", "location:default/all", "location:default/l")
}

// TestRepositoryThatIsDownAtFirst registers a file of a repository that does
// not answer before later.
func TestRepositoryThatIsDownAtFirst(t *testing.T) {
	w := newRegistered(t, "shop")
	w.repos["shop"].Write(map[string]string{"a.yaml": component("a")})
	w.repos["shop"].Fail(fault.New(fault.Unavailable, "the host is down"))
	w.add(w, host+"shop/blob/main/a.yaml")
	w.wantNot("component:default/a")
	told := slices.ContainsFunc(w.in.Problems(), func(p catalog.IngestionError) bool {
		return p.Source == "registered/ida" && strings.Contains(p.Message, "the host is down")
	})
	if !told {
		t.Errorf("problems: %+v", w.in.Problems())
	}
	w.repos["shop"].Fail(nil)
	w.in.Notify(host + "shop")
	w.await("it is read when the repository is", func() bool { return w.has("component:default/a") })
	w.await("nothing is wrong any more", func() bool { return len(w.in.Problems()) == 0 })
}
