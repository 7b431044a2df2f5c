package previews_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/realtest"
	"github.com/fairlead-dev/fairlead/internal/store"
	"github.com/fairlead-dev/fairlead/previews"
	"github.com/fairlead-dev/fairlead/previews/previewstest"
)

// world is a store, a deployer and a clock; reconcilers come and go.
type world struct {
	t     *testing.T
	store *store.Store
	fake  *previewstest.Fake
	data  *previewstest.FakeData
	mu    sync.Mutex
	now   time.Time
}

func newWorld(t *testing.T, dsn string) *world {
	t.Helper()
	s, err := store.Open(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if _, err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	return &world{t: t, store: s, fake: &previewstest.Fake{Looks: 2}, data: &previewstest.FakeData{}, now: time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)}
}

func onSQLite(t *testing.T) *world { return newWorld(t, filepath.Join(t.TempDir(), "state")) }

func (w *world) clock() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

func (w *world) pass(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(d)
}

func (w *world) reconciler(claims previews.Claims) *previews.Reconciler {
	return previews.NewReconciler(previews.ReconcilerConfig{Claims: claims, Deployers: map[string]previews.Deployer{"fake": w.fake}, Now: w.clock,
		Data: []previews.DataServer{{Kind: "postgres", Name: "main", Data: w.data}}, Limits: previews.Limits{PerAgent: 2}})
}

func (w *world) add(id string, ttl time.Duration, data ...previews.DataTemplate) previews.Record {
	w.t.Helper()
	r := previews.Record{Wish: previews.Wish{ID: id, Service: "component:default/shop", Commit: strings.Repeat("ab", 20), Template: previews.Template{Deployer: "fake", Data: data},
		Person: "user:default/alice", Agent: "claude", Owner: "group:default/shop", ExpiresAt: w.clock().Add(ttl)}, CreatedAt: w.clock()}
	r.Phase, r.Since = previews.Pending, r.CreatedAt
	made, err := w.store.AddPreview(w.t.Context(), r, previews.Limits{PerAgent: 2}.WithDefaults())
	if err != nil {
		w.t.Fatal(err)
	}
	return made
}

func (w *world) get(id string) previews.Record {
	w.t.Helper()
	r, err := w.store.Preview(w.t.Context(), id)
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

// drive does what jobs would until a preview is in a phase.
func (w *world) drive(c *previews.Reconciler, id string, want previews.Phase) previews.Record {
	w.t.Helper()
	for range 400 {
		r := w.get(id)
		if r.Phase == want {
			return r
		}
		again, err := c.Turn(w.t.Context(), previews.Turn{ID: id, Number: r.Turn})
		if err != nil && !errors.Is(err, errKilled) {
			w.t.Fatal(err)
		}
		if again < 0 {
			again = time.Second
			if _, err := c.Sweep(w.t.Context()); err != nil && !errors.Is(err, errKilled) {
				w.t.Fatal(err)
			}
		}
		w.pass(again + 10*time.Millisecond)
	}
	w.t.Fatalf("in vain waited for %s to be %s; it is %+v", id, want, w.get(id).State)
	return previews.Record{}
}

func TestLife(t *testing.T) {
	w := onSQLite(t)
	c := w.reconciler(w.store)
	w.add("a", time.Hour)
	r := w.drive(c, "a", previews.Ready)
	if r.URL == "" || r.ReadyAt.IsZero() || r.Running != r.Commit {
		t.Errorf("ready as %+v", r.State)
	}
	w.fake.Lose("a")
	w.drive(c, "a", previews.Degraded)
	w.drive(c, "a", previews.Ready)
	w.pass(time.Hour)
	if r = w.drive(c, "a", previews.Gone); r.URL != "" || len(w.fake.There()) > 0 {
		t.Errorf("gone as %+v, and there are %v", r.State, w.fake.There())
	}
	events, err := w.store.PreviewEvents(t.Context(), "a", 50)
	if err != nil {
		t.Fatal(err)
	}
	var phases []previews.Phase
	for _, e := range events {
		phases = append(phases, e.Phase)
	}
	want := []previews.Phase{previews.Pending, previews.Creating, previews.Ready, previews.Degraded, previews.Ready, previews.Deleting, previews.Gone}
	if !slices.Equal(phases, want) {
		t.Errorf("events: %+v", events)
	}
}

var errKilled = errors.New("killed")

// dying is the store of a process that dies at a step.
type dying struct {
	*store.Store
	step func() error
}

func (d dying) ClaimPreview(ctx context.Context, t previews.Turn, holder string, now, until time.Time) (previews.Record, previews.Hold, error) {
	if err := d.step(); err != nil {
		return previews.Record{}, previews.Over, err
	}
	return d.Store.ClaimPreview(ctx, t, holder, now, until)
}

func (d dying) ReportPreview(ctx context.Context, r previews.Record, holder string, e *previews.Event, overdue time.Time) (bool, error) {
	if err := d.step(); err != nil {
		return false, err
	}
	return d.Store.ReportPreview(ctx, r, holder, e, overdue)
}

// until does turns until the reconciler is dead or the preview is gone.
func (w *world) until(c *previews.Reconciler, died *bool, id string) {
	w.t.Helper()
	for range 400 {
		r := w.get(id)
		if *died || r.Phase == previews.Gone {
			return
		}
		again, _ := c.Turn(w.t.Context(), previews.Turn{ID: id, Number: r.Turn})
		if again < 0 {
			again = 10 * time.Second
		}
		w.pass(again + 10*time.Millisecond)
	}
	w.t.Fatal("it neither died nor went")
}

// TestKilledBetweenSteps kills the reconciler before every call that it makes,
// of the store, of the deployer and of who makes data, and has another one go
// on.
func TestKilledBetweenSteps(t *testing.T) {
	t.Run("without data", func(t *testing.T) { killedBetweenSteps(t, 15) })
	t.Run("with data", func(t *testing.T) {
		killedBetweenSteps(t, 30, previews.DataTemplate{Name: "db", Kind: "postgres", Server: "main", Env: "DATABASE_URL"})
	})
}

func killedBetweenSteps(t *testing.T, least int, data ...previews.DataTemplate) {
	w := onSQLite(t)
	for at := 0; ; at++ {
		died, id := false, fmt.Sprint("a", at)
		t.Run(fmt.Sprint(at), func(t *testing.T) {
			var mu sync.Mutex
			left := at
			step := func() error {
				mu.Lock()
				defer mu.Unlock()
				if left--; left < 0 {
					died = true
					return errKilled
				}
				return nil
			}
			hook := func(string, string) error { return step() } // once dead, nothing that it does happens
			w.fake.Hook, w.data.Hook = hook, hook
			doomed := w.reconciler(dying{w.store, step})
			w.add(id, 5*time.Minute, data...)
			w.until(doomed, &died, id)
			w.fake.Hook, w.data.Hook = nil, nil
			w.pass(2 * time.Minute) // the hold of the dead runs out
			c := w.reconciler(w.store)
			w.pass(5 * time.Minute)
			w.drive(c, id, previews.Gone)
			if there := w.fake.There(); len(there) > 0 || w.data.There() > 0 || w.fake.Made(id) > 2 {
				t.Errorf("there is %v and %d of its data, made %d times", there, w.data.There(), w.fake.Made(id))
			}
		})
		if !died {
			if at < least {
				t.Errorf("a life has only %d steps", at)
			}
			return
		}
	}
}

// TestQueue has previews wait for room and go in order.
func TestQueue(t *testing.T) {
	w := onSQLite(t)
	c := w.reconciler(w.store)
	for _, id := range []string{"a", "b", "c", "d"} {
		w.add(id, time.Hour)
		w.pass(time.Second)
	}
	places, err := w.store.PreviewPositions(t.Context())
	if err != nil || len(places) != 2 || places["c"] != 1 || places["d"] != 2 {
		t.Fatalf("places %v, %v", places, err)
	}
	w.drive(c, "a", previews.Ready)
	if r := w.get("d"); !strings.Contains(r.Reason, "2 previews of claude") {
		t.Errorf("waits because %s", r.Reason)
	}
	if _, err := w.store.EndPreview(t.Context(), "a", w.clock(), "alice"); err != nil {
		t.Fatal(err)
	}
	w.drive(c, "a", previews.Gone)
	if _, err := c.Turn(t.Context(), previews.Turn{ID: "d", Number: w.get("d").Turn}); err != nil {
		t.Fatal(err)
	}
	if r := w.get("d"); r.Phase != previews.Pending || !r.AdmittedAt.IsZero() {
		t.Errorf("d went before c: %+v", r.State)
	}
	w.drive(c, "c", previews.Ready)
}

func TestStuckRemovalIsNamed(t *testing.T) {
	w := onSQLite(t)
	w.fake.Looks = 1000
	c := w.reconciler(w.store)
	w.add("a", time.Minute)
	w.pass(time.Minute)
	w.drive(c, "a", previews.Deleting)
	// Something of it is there that does not go.
	w.fake.Hook = func(call, _ string) error {
		if call == "remove" {
			return fault.New(fault.Unavailable, "the cluster says no").WithFix("Ask it nicely.")
		}
		return nil
	}
	if err := w.fake.Apply(t.Context(), w.get("a").Wish); err != nil {
		t.Fatal(err)
	}
	for range 60 {
		again, err := c.Turn(t.Context(), previews.Turn{ID: "a", Number: w.get("a").Turn})
		if err != nil {
			t.Fatal(err)
		}
		if again < 0 {
			again = 10 * time.Second
		}
		w.pass(again)
	}
	if r := w.get("a"); r.Phase != previews.Deleting || !strings.Contains(r.Reason, "the cluster says no. Ask it nicely.") || !strings.Contains(r.Reason, "try") {
		t.Errorf("it is %s: %s", r.Phase, r.Reason)
	}
	events, err := w.store.PreviewEvents(t.Context(), "a", 50)
	stuck := slices.DeleteFunc(slices.Clone(events), func(e previews.Event) bool { return !strings.HasPrefix(e.Text, "stuck: not gone") })
	if err != nil || len(stuck) != 1 {
		t.Errorf("it was told %d times that it is stuck; events %+v, %v", len(stuck), events, err)
	}
	w.fake.Hook, w.fake.Looks = nil, 0
	w.fake.Lose("a")
	w.drive(c, "a", previews.Gone)
}

// TestReplicas has two reconcilers look after many previews at once, on each
// engine.
func TestReplicas(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) { replicas(t, onSQLite(t)) })
	t.Run("postgres", func(t *testing.T) { replicas(t, newWorld(t, realtest.Postgres(t))) })
}

func replicas(t *testing.T, w *world) {
	const n = 8
	for i := range n {
		r := w.add(fmt.Sprint("p", i), time.Hour)
		if i >= 2 && !r.AdmittedAt.IsZero() {
			t.Errorf("%s was let in", r.ID)
		}
	}
	cs := []*previews.Reconciler{w.reconciler(w.store), w.reconciler(w.store)}
	for i := range n {
		id := fmt.Sprint("p", i)
		if w.get(id).Phase == previews.Pending {
			w.pass(3 * time.Second)
		}
		for w.get(id).Phase != previews.Ready {
			var wg sync.WaitGroup
			for _, c := range cs {
				wg.Go(func() {
					if _, err := c.Turn(t.Context(), previews.Turn{ID: id, Number: w.get(id).Turn}); err != nil {
						t.Error(err)
					}
				})
			}
			wg.Wait()
			w.pass(time.Second)
			if t.Failed() {
				return
			}
		}
		if made := w.fake.Made(id); made != 1 {
			t.Errorf("%s was made %d times", id, made)
		}
		if _, err := w.store.EndPreview(t.Context(), id, w.clock(), "alice"); err != nil {
			t.Fatal(err)
		}
		w.drive(cs[i%2], id, previews.Gone)
	}
}

func TestContractOfTheFake(t *testing.T) {
	previewstest.Contract(t, func(*testing.T) previewstest.Subject {
		f := &previewstest.Fake{Looks: 2}
		return previewstest.Subject{Deployer: f, Restarted: func() previews.Deployer { return f },
			Wish: previews.Wish{ID: "shop-1", Commit: strings.Repeat("ab", 20)}, Another: strings.Repeat("cd", 20)}
	})
}
