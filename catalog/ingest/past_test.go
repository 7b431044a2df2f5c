package ingest_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/catalog/descriptor"
	"github.com/fairlead-dev/fairlead/catalog/index"
	"github.com/fairlead-dev/fairlead/catalog/ingest"
	"github.com/fairlead-dev/fairlead/catalog/ingest/ingesttest"
)

// chronicle is a source in memory with a history: revision n follows n-1,
// unless parents says otherwise, and was made n hours after some moment.
type chronicle struct {
	*ingesttest.Memory
	mu      sync.Mutex
	parents map[int][]int
	asked   []ingest.Question
	answer  func(ctx context.Context, q ingest.Question) (ingest.Answer, error)
}

func newChronicle(name, host string) *chronicle {
	c := &chronicle{Memory: ingesttest.NewMemory(name, "https://"+host+"/acme/"+name), parents: map[int][]int{}}
	c.answer = func(_ context.Context, q ingest.Question) (ingest.Answer, error) {
		a := ingest.Answer{Changed: map[string]ingest.CommitInfo{}}
		for _, p := range q.Paths {
			a.Changed[p] = commitOf(1)
		}
		return a, nil
	}
	return c
}

func revisionOf(n int) ingest.Revision { return ingest.Revision(fmt.Sprintf("%040d", n)) }

func timeOf(n int) time.Time { return time.Date(2025, 1, 1, n, 0, 0, 0, time.UTC) }

func commitOf(n int) ingest.CommitInfo {
	return ingest.CommitInfo{Commit: string(revisionOf(n)), Time: timeOf(n)}
}

func (c *chronicle) Open(ctx context.Context, rev ingest.Revision) (ingest.Tree, error) {
	t, err := c.Memory.Open(ctx, rev)
	n, convErr := strconv.Atoi(string(rev))
	return chronicled{t, c, n}, errors.Join(err, convErr)
}

func (c *chronicle) LastChanges(ctx context.Context, q ingest.Question) (ingest.Answer, error) {
	c.mu.Lock()
	c.asked = append(c.asked, q)
	answer := c.answer
	c.mu.Unlock()
	return answer(ctx, q)
}

// answers has questions answered otherwise from now on.
func (c *chronicle) answers(answer func(ctx context.Context, q ingest.Question) (ingest.Answer, error)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answer = answer
}

func (c *chronicle) questions() []ingest.Question {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.asked)
}

type chronicled struct {
	ingest.Tree
	c *chronicle
	n int
}

func (t chronicled) Info() ingest.CommitInfo { return commitOf(t.n) }

func (t chronicled) Parents() []ingest.Revision {
	t.c.mu.Lock()
	defer t.c.mu.Unlock()
	if all, ok := t.c.parents[t.n]; ok {
		out := []ingest.Revision{}
		for _, p := range all {
			out = append(out, revisionOf(p))
		}
		return out
	}
	return []ingest.Revision{revisionOf(t.n - 1)}
}

// dating is an ingester at work in the background.
type dating struct {
	t      *testing.T
	in     *ingest.Ingester
	keeper *memoryKeeper
	mu     sync.Mutex
	snap   *index.Snapshot
	made   int // snapshots
	now    time.Time
	stop   func()
}

func startDating(t *testing.T, keeper *memoryKeeper, sources ...ingest.Source) *dating {
	t.Helper()
	return startFollowed(t, keeper, nil, "1", sources...)
}

func startFollowed(t *testing.T, keeper *memoryKeeper, followers []ingest.Follower, fingerprint string, sources ...ingest.Source) *dating {
	t.Helper()
	r := &dating{t: t, keeper: keeper, snap: index.Empty(), now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	r.in = ingest.New(ingest.Config{Sources: sources, Processor: descriptor.New(descriptor.Options{Template: true}), Keeper: keeper, Followers: followers, Fingerprint: fingerprint, Refresh: time.Hour,
		Publish: func(c []index.Change) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.snap, r.made = r.snap.Apply(c), r.made+1
		},
		Now: func() time.Time { r.mu.Lock(); defer r.mu.Unlock(); return r.now }})
	if err := r.in.Restore(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- r.in.Run(ctx) }()
	r.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(r.stop)
	r.await("everything is read", r.in.Ready)
	return r
}

func (r *dating) await(what string, holds func() bool) {
	r.t.Helper()
	for deadline := time.Now().Add(time.Minute); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			r.t.Fatalf("in vain waited for: %s", what)
		}
	}
}

// changed is the last change of an entity's file as the entity tells it, 0
// while it is unknown.
func (r *dating) changed(name string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.snap.Get(everything(), "component:default/"+name)
	if e == nil {
		return -1
	}
	c, known := e.From.History.Last()
	if !known {
		return 0
	}
	n, err := strconv.Atoi(c.Commit)
	if err != nil || !c.At.Equal(timeOf(n)) {
		r.t.Errorf("%s was changed at %s in %s", name, c.At, c.Commit)
	}
	return n
}

func (r *dating) dated(name string, n int) {
	r.t.Helper()
	r.await(fmt.Sprintf("%s was changed in %d", name, n), func() bool { return r.changed(name) == n })
}

func (r *dating) write(c *chronicle, files map[string]string) {
	r.t.Helper()
	c.Write(files)
	r.refresh(c)
}

func (r *dating) refresh(c *chronicle) {
	r.t.Helper()
	if _, err := r.in.Refresh(r.t.Context(), c.Describe().Name); err != nil {
		r.t.Fatal(err)
	}
}

func newKeeper() *memoryKeeper { return &memoryKeeper{kept: map[string]*ingest.Kept{}} }

func TestPastIsLookedUpInTheBackground(t *testing.T) {
	c := newChronicle("a", "one.test")
	c.Write(map[string]string{"x/catalog-info.yaml": component("x"), "y/catalog-info.yaml": component("y"), "other.txt": "x"})
	c.Write(map[string]string{"y/catalog-info.yaml": component("y") + "# again\n"})
	c.answers(func(context.Context, ingest.Question) (ingest.Answer, error) {
		return ingest.Answer{Changed: map[string]ingest.CommitInfo{"x/catalog-info.yaml": commitOf(1)}}, nil
	})
	r := startDating(t, newKeeper(), c)
	r.dated("x", 1)
	if q := c.questions(); len(q) != 1 || q[0].Revision != revisionOf(2) || q[0].Base != "" || strings.Join(q[0].Paths, " ") != "x/catalog-info.yaml y/catalog-info.yaml" {
		t.Errorf("asked %+v", q)
	}
	if r.changed("y") != 0 || r.made != 1 {
		t.Errorf("y was changed in %d; there were %d snapshots", r.changed("y"), r.made)
	}
	// What history does not tell is not asked for again, and a commit that
	// follows directly needs no question.
	r.write(c, map[string]string{"x/catalog-info.yaml": component("x") + "# new\n"})
	r.write(c, map[string]string{"other.txt": "y"})
	if r.changed("x") != 3 || r.changed("y") != 0 || len(c.questions()) != 1 {
		t.Errorf("x was changed in %d, y in %d; asked %+v", r.changed("x"), r.changed("y"), c.questions())
	}
}

func TestPastOfTheFirstCommitNeedsNoQuestion(t *testing.T) {
	c := newChronicle("a", "one.test")
	c.parents[1] = []int{}
	c.Write(map[string]string{"catalog-info.yaml": component("x")})
	r := startDating(t, newKeeper(), c)
	if r.changed("x") != 1 || len(c.questions()) != 0 {
		t.Errorf("x was changed in %d; asked %+v", r.changed("x"), c.questions())
	}
}

// TestPastIsDoubted makes steps that are not direct: nothing is told until it
// has been looked up, from what was known on.
func TestPastIsDoubted(t *testing.T) {
	c := newChronicle("a", "one.test")
	c.Write(map[string]string{"x/catalog-info.yaml": component("x"), "y/catalog-info.yaml": component("y")})
	r := startDating(t, newKeeper(), c)
	r.dated("x", 1)
	ready := make(chan struct{})
	c.answers(func(ctx context.Context, q ingest.Question) (ingest.Answer, error) {
		select {
		case <-ready:
		case <-ctx.Done():
			return ingest.Answer{}, ctx.Err()
		}
		return ingest.Answer{Changed: map[string]ingest.CommitInfo{"y/catalog-info.yaml": commitOf(2)}, AsBase: map[string]bool{"x/catalog-info.yaml": true}}, nil
	})
	c.Write(map[string]string{"y/catalog-info.yaml": component("y") + "# new\n"})
	r.write(c, map[string]string{"other.txt": "x"})
	if r.changed("x") != 0 || r.changed("y") != 0 {
		t.Errorf("x was changed in %d, y in %d before that was looked up", r.changed("x"), r.changed("y"))
	}
	r.await("the question", func() bool { return len(c.questions()) == 2 })
	r.write(c, map[string]string{"z/catalog-info.yaml": component("z")}) // a direct step meanwhile
	close(ready)
	r.dated("x", 1)
	r.dated("y", 2)
	r.dated("z", 4)
	if q := c.questions()[1]; q.Base != revisionOf(1) || q.Revision != revisionOf(3) || len(q.Paths) != 2 {
		t.Errorf("asked %+v", q)
	}
	if n := len(c.questions()); n != 2 {
		t.Errorf("asked %d times", n)
	}
}

// TestPastOfMerges asks for what a merge changed, and for nothing else.
func TestPastOfMerges(t *testing.T) {
	c := newChronicle("a", "one.test")
	c.Write(map[string]string{"x/catalog-info.yaml": component("x"), "y/catalog-info.yaml": component("y")})
	r := startDating(t, newKeeper(), c)
	r.dated("y", 1)
	c.parents[3] = []int{1, 2}
	c.Write(map[string]string{"y/catalog-info.yaml": component("y") + "# side\n"})
	c.answers(func(context.Context, ingest.Question) (ingest.Answer, error) {
		return ingest.Answer{Changed: map[string]ingest.CommitInfo{"y/catalog-info.yaml": commitOf(2)}}, nil
	})
	r.write(c, map[string]string{"other.txt": "merged"})
	if r.changed("x") != 1 {
		t.Errorf("x was changed in %d", r.changed("x"))
	}
	r.dated("y", 2)
	if q := c.questions()[1]; strings.Join(q.Paths, " ") != "y/catalog-info.yaml" || q.Base != "" {
		t.Errorf("asked %+v", q)
	}
}

func TestPastIsKept(t *testing.T) {
	c, keeper := newChronicle("a", "one.test"), newKeeper()
	c.Write(map[string]string{"x/catalog-info.yaml": component("x"), "y/catalog-info.yaml": component("y")})
	r := startDating(t, keeper, c)
	r.dated("x", 1)
	r.write(c, map[string]string{"y/catalog-info.yaml": "kind: [broken\n"})
	r.await("y is stale", func() bool { return r.in.Sources()[0].Problems > 0 })
	if r.changed("y") != 1 {
		t.Errorf("y, which is older than its file, was changed in %d", r.changed("y"))
	}
	r.stop()
	r = startDating(t, keeper, c)
	if r.changed("x") != 1 || len(c.questions()) != 1 {
		t.Errorf("after a restart x was changed in %d; asked %+v", r.changed("x"), c.questions())
	}
	c.answers(func(context.Context, ingest.Question) (ingest.Answer, error) {
		return ingest.Answer{}, errors.New("down")
	})
	c.Write(nil)
	r.write(c, nil)
	r.await("the question", func() bool { return len(c.questions()) == 2 })
	r.stop()
	c.answers(func(_ context.Context, q ingest.Question) (ingest.Answer, error) {
		if q.Base != revisionOf(2) {
			t.Errorf("asked %+v", q)
		}
		return ingest.Answer{AsBase: map[string]bool{"x/catalog-info.yaml": true, "y/catalog-info.yaml": true}}, nil
	})
	r = startDating(t, keeper, c)
	r.dated("x", 1)
}

// TestPastIsTriedAgain has questions fail: they are put again later, not at
// once.
func TestPastIsTriedAgain(t *testing.T) {
	c := newChronicle("a", "one.test")
	c.Write(map[string]string{"catalog-info.yaml": component("x")})
	good := c.answer
	c.answers(func(context.Context, ingest.Question) (ingest.Answer, error) { panic("down") })
	r := startDating(t, newKeeper(), c)
	r.await("the first question", func() bool { return len(c.questions()) == 1 })
	c.answers(good)
	r.await("the answer", func() bool {
		r.mu.Lock()
		r.now = r.now.Add(time.Hour)
		r.mu.Unlock()
		r.refresh(c)
		return r.changed("x") == 1
	})
}

// TestHostsDoNotWaitForOneAnother has one host hang.
func TestHostsDoNotWaitForOneAnother(t *testing.T) {
	a, b, c := newChronicle("a", "one.test"), newChronicle("b", "one.test"), newChronicle("c", "two.test")
	hang := func(ctx context.Context, _ ingest.Question) (ingest.Answer, error) {
		<-ctx.Done()
		return ingest.Answer{}, ctx.Err()
	}
	a.answers(hang)
	b.answers(hang)
	for i, s := range []*chronicle{a, b, c} {
		s.Write(map[string]string{"catalog-info.yaml": component(string(rune('x' + i)))})
	}
	r := startDating(t, newKeeper(), a, b, c)
	r.dated("z", 1)
	r.await("one question at the host", func() bool { return len(a.questions())+len(b.questions()) == 1 })
	r.write(a, map[string]string{"catalog-info.yaml": component("x") + "# new\n"}) // is read while it is asked
	if r.changed("x") != 2 {
		t.Errorf("x was changed in %d", r.changed("x"))
	}
}

// TestPastOfDiscoveredSourcesIsKept serves what was kept before the provider
// has found the source again.
func TestPastOfDiscoveredSourcesIsKept(t *testing.T) {
	c, keeper, o := newChronicle("a", "one.test"), newKeeper(), &organization{}
	c.parents[1] = []int{}
	c.Write(map[string]string{"catalog-info.yaml": component("x")})
	o.set(nil, c)
	r := run(t, o, keeper)
	known := func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		e := r.snap.Get(everything(), "component:default/x")
		if e == nil {
			return false
		}
		last, ok := e.From.History.Last()
		return ok && last.Commit == string(revisionOf(1))
	}
	r.await("the last change", known)
	r.stop()
	o.set(errors.New("down"))
	r = run(t, o, keeper)
	r.await("the last change after a restart", known)
}
