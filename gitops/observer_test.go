package gitops_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/catalog/catalogtest"
	"github.com/fairlead-dev/fairlead/gitops"
	"github.com/fairlead-dev/fairlead/gitops/gitopstest"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/store"
)

// state opens a state of its own.
func state(t testing.TB) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if _, err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

// counted counts what is asked of records.
type counted struct {
	gitops.DeployedRecords
	reads, writes atomic.Int64
}

func (c *counted) Deployed(ctx context.Context, service, environment string, most int) ([]gitops.Deployed, error) {
	c.reads.Add(1)
	return c.DeployedRecords.Deployed(ctx, service, environment, most)
}

func (c *counted) NoteDeployed(ctx context.Context, rows []gitops.Deployed) error {
	c.writes.Add(1)
	return c.DeployedRecords.NoteDeployed(ctx, rows)
}

// observe runs an observer until the test ends, or stop is called.
func observe(t testing.TB, cfg gitops.ObserverConfig) (stop func()) {
	t.Helper()
	cfg.Every = 5 * time.Millisecond
	cfg.Logger = slog.New(slog.DiscardHandler)
	o, err := gitops.NewObserver(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() {
		if err := o.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	stop = func() { cancel(); running.Wait() }
	t.Cleanup(stop)
	return stop
}

func quiet(records gitops.DeployedRecords) *gitops.Recorder {
	return gitops.NewRecorder(records, slog.New(slog.DiscardHandler))
}

// until waits for a condition.
func until(t testing.TB, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !is(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("it does not come to be that %s", what)
		}
	}
}

func lastOf(t testing.TB, s gitops.DeployedRecords, environment string) gitops.Deployed {
	t.Helper()
	all, err := s.Deployed(t.Context(), "component:default/checkout", environment, 1)
	if err != nil {
		t.Fatal(err)
	}
	return append(all, gitops.Deployed{})[0]
}

func TestObserver(t *testing.T) {
	s := &counted{DeployedRecords: state(t)}
	well, dead := gitopstest.NewFake("checkout", first, "web:1"), gitopstest.NewFake("checkout", first, "web:1")
	dead.Set(func(s gitopstest.State) { *s.Err = fault.New(fault.Unavailable, "it does not answer") })
	// Production names no instance, and there are several.
	text := strings.Replace(checkout, "{name: production, argocd: {app: checkout}}", "{name: production, argocd: {instance: main, app: checkout}}", 1)
	observe(t, gitops.ObserverConfig{Recorder: quiet(s), Catalog: catalogtest.New(t, text), Instances: map[string]gitops.ArgoCD{"main": well, "far": dead}})
	until(t, "what is there is written down", func() bool { return !lastOf(t, s, "production").HealthyAt.IsZero() })
	d := lastOf(t, s, "production")
	if d.Revision != first || d.Application != "main/checkout" || len(d.Images) != 1 || d.Images[0].Tag != "1" {
		t.Errorf("%+v", d)
	}
	turns, reads, writes := well.Listed(), s.reads.Load(), s.writes.Load()
	until(t, "it looks on", func() bool { return well.Listed() > turns+5 })
	if n := s.writes.Load() - writes; n > 0 {
		t.Errorf("%d writes where nothing has changed", n)
	}
	if n := s.reads.Load() - reads; n > 0 {
		t.Errorf("%d reads where nothing has changed", n)
	}
	time.Sleep(time.Second) // Argo CD tells the time in seconds
	well.Deploy(second, "web:2")
	well.Break("CrashLoopBackOff")
	until(t, "a degraded one is written down", func() bool { d = lastOf(t, s, "production"); return d.Revision == second && !d.DegradedAt.IsZero() })
	if all, err := s.DeployedRecords.Deployed(t.Context(), d.Service, "production", 9); err != nil || len(all) != 2 || all[1].ReplacedBy != second || all[1].ReplacedAt.IsZero() {
		t.Errorf("%+v %v", all, err)
	}
	dead.Set(func(s gitopstest.State) { *s.Err = nil })
	until(t, "one that was dead is asked again", func() bool { return !lastOf(t, s, "elsewhere").HealthyAt.IsZero() })
	if d := lastOf(t, s, "staging"); d.ID != "" { // an application that is not there
		t.Errorf("%+v", d)
	}
}

// TestOneObserver: of two replicas one asks Argo CD, and the other goes on where
// it ends, once its time is up. The clock stands still until then, as a busy
// machine may be later than any patience.
func TestOneObserver(t *testing.T) {
	s := state(t)
	var ahead atomic.Int64
	began := time.Now()
	now := func() time.Time { return began.Add(time.Duration(ahead.Load())) }
	text := catalogtest.New(t, strings.Replace(checkout, "far", "main", 1))
	fakes, stops := []*gitopstest.Fake{}, []func(){}
	for i := range 2 {
		f := gitopstest.NewFake("checkout", first, "web:1")
		fakes = append(fakes, f)
		stops = append(stops, observe(t, gitops.ObserverConfig{Recorder: quiet(s), Catalog: text, Instances: map[string]gitops.ArgoCD{"main": f}, Claim: s.ClaimTurn, Now: now}))
		until(t, "the first one looks", func() bool { return fakes[0].Listed() > 5*(i+1) })
	}
	until(t, "it looks on", func() bool { return fakes[0].Listed() > 20 })
	if n := fakes[1].Listed(); n > 0 {
		t.Errorf("the other one has looked %d times, too", n)
	}
	stops[0]()
	ahead.Store(int64(time.Hour))
	until(t, "the other one goes on", func() bool { return fakes[1].Listed() > 0 })
}

// TestHealthIsWrittenDown: what somebody asks for is written down, too.
func TestHealthIsWrittenDown(t *testing.T) {
	s := &counted{DeployedRecords: state(t)}
	w := newWorld(t, func(c *gitops.HealthConfig) { c.Recorder = quiet(s) })
	w.ask("")
	w.ask("")
	if d := lastOf(t, s, "production"); d.Revision != first || d.HealthyAt.IsZero() || s.writes.Load() != 1 {
		t.Errorf("%+v by %d writes", d, s.writes.Load())
	}
}

// overtaken are records in which somebody else writes first, once, who looked
// before it was healthy.
type overtaken struct {
	gitops.DeployedRecords
	once sync.Once
}

func (o *overtaken) NoteDeployed(ctx context.Context, rows []gitops.Deployed) (err error) {
	o.once.Do(func() {
		theirs := slices.Clone(rows)
		last := &theirs[len(theirs)-1]
		last.ID, last.HealthyAt = "of-another", time.Time{}
		err = o.DeployedRecords.NoteDeployed(ctx, theirs)
	})
	return errors.Join(err, o.DeployedRecords.NoteDeployed(ctx, rows))
}

// TestHealthIsWrittenDownBehindAnother: what was seen to be healthy is known to
// have been, though another look at it was written down in the same moment.
func TestHealthIsWrittenDownBehindAnother(t *testing.T) {
	s := &overtaken{DeployedRecords: state(t)}
	newWorld(t, func(c *gitops.HealthConfig) { c.Recorder = quiet(s) }).ask("")
	if d := lastOf(t, s, "production"); d.ID != "of-another" || d.HealthyAt.IsZero() {
		t.Errorf("%+v", d)
	}
}

// many is an Argo CD of many applications.
type many struct {
	gitops.Deployments
	apps []gitops.ListedApplication
	n    atomic.Int64
}

func (m *many) ListApplications(context.Context, []string) ([]gitops.ListedApplication, error) {
	m.n.Add(1)
	return m.apps, nil
}

func TestObserverOfAThousand(t *testing.T) {
	n := int64(1000)
	if testing.Short() {
		n = 200
	}
	s, m := &counted{DeployedRecords: state(t)}, &many{}
	docs := make([]string, n)
	at := time.Now().UTC().Truncate(time.Second).Add(-time.Hour)
	for i := range int(n) {
		docs[i] = fmt.Sprintf("kind: Component\nmetadata: {name: s%d}\nspec: {type: service, lifecycle: production, owner: team, fairlead: {environments: [{name: staging, argocd: {app: s%d}}]}}", i, i)
		app := gitops.Application{Revisions: []string{first}, Sync: "Synced", Health: "Healthy", HealthSince: at, ComparedAt: at}
		for h := range 2 {
			app.History = append(app.History, gitops.PastDeployment{Revision: fmt.Sprintf("%040d", h), At: at.Add(time.Duration(h-2) * time.Hour)})
		}
		m.apps = append(m.apps, gitops.ListedApplication{Application: app, At: gitops.AppName{Name: fmt.Sprint("s", i), Namespace: "argocd"}})
	}
	c := catalogtest.New(t, docs...)
	start := time.Now()
	observe(t, gitops.ObserverConfig{Recorder: quiet(s), Catalog: c, Instances: map[string]gitops.ArgoCD{"main": m}})
	until(t, "all are written down", func() bool { return s.writes.Load() == n && m.n.Load() > 1 })
	t.Logf("%d applications with two deployments each took %s", n, time.Since(start))
	reads, turns := s.reads.Load(), m.n.Load()
	until(t, "it looks on", func() bool { return m.n.Load() > turns+3 })
	if s.writes.Load() != n || s.reads.Load() != reads {
		t.Errorf("%d writes and %d reads where nothing has changed", s.writes.Load()-n, s.reads.Load()-reads)
	}
}
