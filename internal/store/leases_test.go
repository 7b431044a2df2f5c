package store_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/store"
	"github.com/fairlead-dev/fairlead/secrets"
)

func leaseOf(id string) secrets.Record {
	now := time.Now().UTC().Truncate(time.Microsecond)
	return secrets.Record{ID: id, Service: "component:default/shop", Environment: "staging", Person: "user:default/alice", Agent: "claude", InputHash: "h-" + id, Purpose: "test", Task: "T-1", BoundTo: "preview:a",
		Offer:     secrets.Offer{Name: "db", Engine: secrets.EngineDatabase, Mount: "database", Role: "ro", Params: map[string]string{"a": "b"}, MaxTTL: time.Hour, Environments: []string{"staging"}},
		About:     access.Attributes{Ref: "component:default/shop", Owners: []string{"group:default/shop"}, Credential: "db"},
		CreatedAt: now, ExpiresAt: now.Add(time.Hour), Until: now.Add(2 * time.Hour), BeatAt: now, State: secrets.Issuing, Wrapping: secrets.WrappingNone, DueAt: now.Add(time.Minute)}
}

func addLease(t *testing.T, s *store.Store, r secrets.Record) secrets.Record {
	t.Helper()
	out, err := s.AddLease(t.Context(), r, secrets.Limits{PerAgent: 1e6, PerPerson: 1e6, PerService: 1e6}, false)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestLeasesAtOnce has replicas ask for many leases at once: there are no more
// than there may be, and one key, or one wish that is shared, makes one.
func TestLeasesAtOnce(t *testing.T) {
	engines(t, func(t *testing.T, dsn func(testing.TB) string) {
		for _, tt := range []struct {
			name   string
			limits secrets.Limits
			change func(i int, r *secrets.Record)
			share  bool
			want   int
		}{
			{"of an agent", secrets.Limits{PerAgent: 3}, func(int, *secrets.Record) {}, false, 3},
			{"of a person", secrets.Limits{PerPerson: 4}, func(i int, r *secrets.Record) { r.Agent = fmt.Sprint("agent-", i) }, false, 4},
			{"of a service", secrets.Limits{PerService: 5}, func(i int, r *secrets.Record) { r.Person = fmt.Sprint("user:default/", i) }, false, 5},
			{"with a key", secrets.Limits{}, func(_ int, r *secrets.Record) { r.Key, r.InputHash = "k", "h" }, false, 1},
			{"the same", secrets.Limits{}, func(_ int, r *secrets.Record) { r.InputHash = "h" }, true, 1},
		} {
			t.Run(tt.name, func(t *testing.T) {
				name := dsn(t)
				replicas := []*store.Store{open(t, name), open(t, name)}
				var mu sync.Mutex
				var wg sync.WaitGroup
				ids, refused := map[string]int{}, 0
				for i := range 20 {
					wg.Go(func() {
						r := leaseOf(fmt.Sprint("l-", i))
						tt.change(i, &r)
						out, err := replicas[i%2].AddLease(t.Context(), r, tt.limits.WithDefaults(), tt.share)
						mu.Lock()
						defer mu.Unlock()
						switch {
						case err == nil:
							ids[out.ID]++
						case fault.CodeOf(err) == fault.QuotaExceeded:
							refused++
						default:
							t.Error(err)
						}
					})
				}
				wg.Wait()
				all, err := replicas[0].Leases(t.Context(), secrets.Query{Limit: 100, Open: true})
				if err != nil || len(all) != tt.want || len(ids) != tt.want {
					t.Errorf("%d there, %v given, %d refused, %v", len(all), ids, refused, err)
				}
			})
		}
	})
}

// TestLeaseIsKeptWhole writes everything that a lease has and reads it again.
func TestLeaseIsKeptWhole(t *testing.T) {
	engines(t, func(t *testing.T, dsn func(testing.TB) string) {
		s := open(t, dsn(t))
		r := addLease(t, s, leaseOf("a"))
		now := r.CreatedAt
		r.State, r.Handle, r.OpenedAt, r.Wrapping, r.Accessor, r.WrapEnds = secrets.Live, "handle", now.Add(1e6), secrets.WrappingUnopened, "acc", now.Add(2e6)
		r.HandedAt, r.MissedAt, r.BeatAt, r.EndedAt, r.GoneAt = now.Add(3e6), now.Add(4e6), now.Add(5e6), now.Add(6e6), now.Add(7e6)
		r.EndedBy, r.Reason, r.Ends, r.Alarm, r.Tries, r.DueAt, r.ExpiresAt = "bob", "why", secrets.Revoked, true, 3, now.Add(8e6), now.Add(9e6)
		stale := r
		saved, err := s.SaveLease(t.Context(), r)
		if err != nil || saved.Version != r.Version+1 {
			t.Fatal(saved, err)
		}
		got, err := s.Lease(t.Context(), "a")
		if d := cmp.Diff(saved, got); d != "" || err != nil {
			t.Error(d, err)
		}
		stale.Reason = "another"
		if _, err := s.SaveLease(t.Context(), stale); fault.CodeOf(err) != fault.Conflict {
			t.Errorf("what was changed meanwhile was written over: %v", err)
		}
		if _, err := s.Lease(t.Context(), "b"); fault.CodeOf(err) != fault.NotFound {
			t.Error(err)
		}
		other := leaseOf("k1")
		other.Key = "k"
		addLease(t, s, other)
		other.ID, other.InputHash = "k2", "something else"
		if _, err := s.AddLease(t.Context(), other, secrets.Limits{}.WithDefaults(), false); fault.CodeOf(err) != fault.Conflict {
			t.Errorf("a key was used for two things: %v", err)
		}
	})
}

// TestLeaseClaims has replicas claim leases that are due: each is given once,
// until its time is up or it is changed.
func TestLeaseClaims(t *testing.T) {
	engines(t, func(t *testing.T, dsn func(testing.TB) string) {
		name := dsn(t)
		replicas := []*store.Store{open(t, name), open(t, name)}
		now := time.Now().UTC().Truncate(time.Microsecond)
		for i := range 30 {
			r := leaseOf(fmt.Sprintf("l-%02d", i))
			r.DueAt = now
			addLease(t, replicas[0], r)
		}
		later := leaseOf("later")
		later.DueAt = now.Add(10 * time.Minute)
		addLease(t, replicas[0], later)
		var mu sync.Mutex
		var wg sync.WaitGroup
		given := map[string]int{}
		for i := range 8 {
			wg.Go(func() {
				for {
					due, _, err := replicas[i%2].ClaimLeases(t.Context(), now, now.Add(time.Minute), 4)
					if err != nil {
						t.Error(err)
					}
					mu.Lock()
					for _, r := range due {
						given[r.ID]++
					}
					mu.Unlock()
					if len(due) == 0 {
						return
					}
				}
			})
		}
		wg.Wait()
		for id, n := range given {
			if n != 1 {
				t.Errorf("%s was given %d times", id, n)
			}
		}
		due, next, err := replicas[0].ClaimLeases(t.Context(), now, now.Add(time.Minute), 4)
		if err != nil || len(given) != 30 || len(due) != 0 || !next.Equal(now.Add(time.Minute)) {
			t.Errorf("%d were given, then %v, the next at %s, %v", len(given), due, next.Sub(now), err)
		}
		due, _, err = replicas[1].ClaimLeases(t.Context(), now.Add(2*time.Minute), now.Add(3*time.Minute), 100)
		if err != nil || len(due) != 30 {
			t.Errorf("of those that died with their claims %d are given, %v", len(due), err)
		}
	})
}

// TestLeasesEnd ends leases of a binding and of a person, and holds accounts
// against them.
func TestLeasesEnd(t *testing.T) {
	engines(t, func(t *testing.T, dsn func(testing.TB) string) {
		s := open(t, dsn(t))
		now := time.Now().UTC().Truncate(time.Microsecond)
		for i, id := range []string{"a", "b", "c", "d"} {
			r := leaseOf(id)
			r.BoundTo = []string{"preview:a", "preview:b", secrets.Session, ""}[i]
			r = addLease(t, s, r)
			r.State, r.Handle, r.OpenedAt = secrets.Live, "h-"+id, now.Add(-time.Hour)
			if _, err := s.SaveLease(t.Context(), r); err != nil {
				t.Fatal(err)
			}
		}
		to, err := s.LeaseBindings(t.Context())
		if slices.Sort(to); err != nil || !slices.Equal(to, []string{"preview:a", "preview:b"}) {
			t.Errorf("bound to %v, %v", to, err)
		}
		if n, err := s.EndLeases(t.Context(), secrets.Query{BoundTo: "preview:a"}, secrets.End{At: now, By: "bob", Reason: "over"}); err != nil || n != 1 {
			t.Errorf("ended %d, %v", n, err)
		}
		for since, want := range map[time.Time]int{time.Now().Add(-time.Minute): 4, time.Now().Add(time.Minute): 0} {
			if all, err := s.Leases(t.Context(), secrets.Query{ChangedSince: since, Limit: 10}); err != nil || len(all) != want {
				t.Errorf("%d changed since %s, %v", len(all), since, err)
			}
		}
		between := time.Now()
		if n, err := s.EndLeases(t.Context(), secrets.Query{BoundTo: "preview:b"}, secrets.End{At: now, By: "bob", Reason: "over"}); err != nil || n != 1 {
			t.Errorf("ended %d, %v", n, err)
		}
		if all, err := s.Leases(t.Context(), secrets.Query{ChangedSince: between, Limit: 10}); err != nil || len(all) != 1 || all[0].ID != "b" {
			t.Errorf("changed by an end: %v, %v", all, err)
		}
		if n, err := s.EndLeases(t.Context(), secrets.Query{}, secrets.End{At: now}); err == nil || n != 0 {
			t.Errorf("ended all that there are: %d", n)
		}
		r, err := s.Lease(t.Context(), "a")
		if err != nil || r.State != secrets.Revoking || r.Ends != secrets.Revoked || r.EndedBy != "bob" || !r.DueAt.Equal(now) || r.Version != 3 {
			t.Errorf("ended: %+v, %v", r, err)
		}
		if f, err := s.LeaseFigures(t.Context(), now.Add(2*time.Minute)); err != nil || f != (secrets.Figures{Live: 2, Revoking: 2, Overdue: 2}) {
			t.Errorf("figures %+v, %v", f, err)
		}
		unknown, err := s.SeenAccounts(t.Context(), []string{"h-a", "h-b", "stray"}, now)
		if err != nil || !slices.Equal(unknown, []string{"stray"}) {
			t.Errorf("unknown are %v, %v", unknown, err)
		}
		gone, err := s.UnseenLeases(t.Context(), now.Add(-time.Minute), now, 10)
		if err != nil || len(gone) != 2 || gone[0].ID != "c" || gone[1].ID != "d" {
			t.Errorf("gone are %v, %v", gone, err)
		}
		r.State, r.GoneAt, r.DueAt = secrets.Revoked, now.Add(-time.Hour), time.Time{}
		if _, err = s.SaveLease(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		if err := s.ForgetLeases(t.Context(), now.Add(-time.Minute)); err != nil {
			t.Fatal(err)
		}
		if left, err := s.Leases(t.Context(), secrets.Query{Limit: 10}); err != nil || len(left) != 3 {
			t.Errorf("left are %v, %v", left, err)
		}
	})
}
