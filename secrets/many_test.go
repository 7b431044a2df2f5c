package secrets_test

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/access/accesstest"
	"github.com/fairlead-dev/fairlead/secrets"
)

// crowd is what an issuer and a ledger have of many leases, made without a
// service.
type crowd struct {
	secrets.Issuer
	n       int
	revoked atomic.Int64
	at      time.Time
}

func (c *crowd) Revoke(context.Context, string) error {
	c.revoked.Add(1)
	return nil
}

func (c *crowd) Accounts(_ context.Context, do func(secrets.Held) bool) error {
	for i := range c.n {
		if !do(secrets.Held{Handle: fmt.Sprint("handle-", i), Lease: fmt.Sprint("l-", i), CreatedAt: c.at}) {
			return nil
		}
	}
	return nil
}

func (c *crowd) Unopened(context.Context, string) (bool, error) { return true, nil }

func (c *crowd) Unwrap(context.Context, secrets.Wrapped) (map[string]secrets.Value, error) {
	return nil, nil //nolint:nilnil // nobody unwraps here
}

// many makes a world with n live leases, and a service on it.
func many(t testing.TB, n int) (*world, *crowd, *secrets.Service) {
	t.Helper()
	w := newWorld(t, filepath.Join(t.TempDir(), "state"), "")
	c := &crowd{n: n, at: w.clock()}
	limits := secrets.Limits{PerAgent: n + 1, PerPerson: n + 1, PerService: n + 1}
	for i := range n {
		r := secrets.Record{ID: fmt.Sprint("l-", i), Service: "component:default/shop", Offer: secrets.Offer{Name: "db", Engine: secrets.EngineDatabase, Mount: "database", Role: "ro"},
			About: access.Attributes{Ref: "component:default/shop", Owners: []string{"group:default/payments"}}, Person: "user:default/alice", Agent: "claude",
			CreatedAt: w.clock().Add(time.Duration(i) * time.Microsecond), ExpiresAt: w.clock().Add(time.Hour), Until: w.clock().Add(time.Hour), State: secrets.Live, Wrapping: secrets.WrappingOpened,
			Handle: fmt.Sprint("handle-", i), OpenedAt: w.clock(), DueAt: w.clock().Add(time.Hour)}
		if _, err := w.store.AddLease(t.Context(), r, limits, false); err != nil {
			t.Fatal(err)
		}
	}
	s, err := secrets.New(secrets.Config{Policy: w.policy, Guard: w.guard, Catalog: w.catalog, Issuer: c, Custodian: c, Ledger: w.store, Reads: w.store, Accounts: w.store, Now: w.clock})
	if err != nil {
		t.Fatal(err)
	}
	return w, c, s
}

// highest watches the heap while something is done, and gives by how much it grew
// at most, in bytes.
func highest(do func()) uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	before, most := m.HeapAlloc, m.HeapAlloc
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for tick := time.NewTicker(5 * time.Millisecond); ; {
			select {
			case <-stop:
				tick.Stop()
				return
			case <-tick.C:
				runtime.ReadMemStats(&m)
				most = max(most, m.HeapAlloc)
			}
		}
	})
	do()
	close(stop)
	wg.Wait()
	return most - before
}

// figure is what something took.
type figure struct {
	what  string
	took  time.Duration
	bytes uint64
}

// manyLeases lists, reconciles and reaps n live leases.
func manyLeases(t testing.TB, n int) (out []figure) {
	w, c, s := many(t, n)
	measure := func(what string, do func()) {
		began := time.Now()
		grew := highest(do)
		out = append(out, figure{what, time.Since(began), grew})
	}
	measure("list", func() {
		seen := 0
		for in := (secrets.ListInput{Limit: 200}); ; {
			page, err := s.List(t.Context(), accesstest.As("eve", accesstest.Roles("sre")), in)
			if err != nil {
				t.Fatal(err)
			}
			seen += len(page.Items)
			if in.Cursor = page.NextCursor; in.Cursor == "" {
				break
			}
		}
		if seen != n {
			t.Errorf("listed %d", seen)
		}
	})
	w.pass(5 * time.Minute)
	measure("reconcile", func() {
		if err := s.Reconcile(t.Context()); err != nil || c.revoked.Load() != 0 {
			t.Errorf("%v, and %d were revoked", err, c.revoked.Load())
		}
	})
	w.pass(time.Hour)
	measure("reap", func() {
		if _, err := s.Reap(t.Context()); err != nil || c.revoked.Load() != int64(n) {
			t.Errorf("%v, and %d were revoked", err, c.revoked.Load())
		}
	})
	if left, err := w.store.Leases(t.Context(), secrets.Query{Open: true, Limit: 1}); err != nil || len(left) > 0 {
		t.Errorf("left are %v, %v", left, err)
	}
	return out
}

// flat is what the collector lets gather while leases are gone through, however
// many there are.
const flat = 24 << 20

func TestManyLeases(t *testing.T) {
	for _, f := range manyLeases(t, 1000) {
		if f.bytes > flat {
			t.Errorf("%s takes %d bytes", f.what, f.bytes)
		}
	}
}

// BenchmarkTenThousandLeases goes through 10,000 live leases, in memory that
// does not grow with them.
func BenchmarkTenThousandLeases(b *testing.B) {
	for b.Loop() {
		for _, f := range manyLeases(b, 10_000) {
			b.ReportMetric(f.took.Seconds()*1000, f.what+"-ms")
			b.ReportMetric(float64(f.bytes)/1e6, f.what+"-MB")
			if f.bytes > flat {
				b.Errorf("%s takes %d bytes", f.what, f.bytes)
			}
		}
	}
}

// BenchmarkRequest is Fairlead's own part of a request: the issuer takes no
// time. The audit and the quota are in memory, and each is one more write where
// they are not.
func BenchmarkRequest(b *testing.B) {
	w := onSQLite(b, `rules: [{name: all, effect: allow, who: {subjects: ["*"]}, actions: ["*"]}]`)
	log := accesstest.NewLog()
	guard, err := access.NewGuard(access.GuardConfig{Policy: w.policy, Log: log, Quota: accesstest.NewQuota(), Limits: access.Limits{"*": {Burst: 1e6, Per: time.Second}, "secrets.request": {Burst: 1e6, Per: time.Second}}})
	if err != nil {
		b.Fatal(err)
	}
	w.guard = guard
	s := w.service(nil, secrets.Limits{PerAgent: 1e6, PerPerson: 1e6, PerService: 1e6})
	for b.Loop() {
		if _, err := s.Request(b.Context(), claude(), secrets.RequestInput{Service: "shop", Name: "db", New: true}); err != nil {
			b.Fatal(err)
		}
	}
}
