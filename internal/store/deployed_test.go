package store_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fairlead-dev/fairlead/gitops"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/store"
)

func deployedAt(id, revision string, at time.Time) gitops.Deployed {
	return gitops.Deployed{ID: id, Service: "component:default/shop", Environment: "staging", Application: "main/shop", Revision: revision, At: at, SeenAt: at.Add(time.Second), Images: []gitops.DeployedImage{}}
}

func lastDeployed(t *testing.T, s *store.Store, most int) []gitops.Deployed {
	t.Helper()
	out, err := s.Deployed(t.Context(), "component:default/shop", "staging", most)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestDeploymentsAreKept(t *testing.T) {
	engines(t, func(t *testing.T, dsn func(testing.TB) string) {
		s := open(t, dsn(t))
		t0 := time.Now().UTC().Truncate(time.Microsecond).Add(-time.Hour)
		note := func(rows ...gitops.Deployed) {
			t.Helper()
			if err := s.NoteDeployed(t.Context(), rows); err != nil {
				t.Fatal(err)
			}
		}
		first := deployedAt("d-1", "one", t0)
		note(first)
		stale := first
		first.HealthyAt, first.Images = t0.Add(time.Minute), []gitops.DeployedImage{{Name: "shop", Tag: "1"}}
		note(first)
		first.DegradedAt = t0.Add(2 * time.Minute)
		note(first)
		stale.HealthyAt = t0.Add(time.Hour) // somebody who has seen less
		note(stale)
		if d := cmp.Diff([]gitops.Deployed{first}, lastDeployed(t, s, 5)); d != "" {
			t.Error(d)
		}
		second := deployedAt("d-2", "two", t0.Add(3*time.Minute))
		first.ReplacedAt, first.ReplacedBy, first.Undone = second.At, "two", true
		note(first, second)
		if d := cmp.Diff([]gitops.Deployed{second, first}, lastDeployed(t, s, 5)); d != "" {
			t.Error(d)
		}
		other := stale
		other.ReplacedAt, other.ReplacedBy = t0.Add(4*time.Minute), "three"
		third := deployedAt("d-3", "three", t0.Add(4*time.Minute))
		if err := s.NoteDeployed(t.Context(), []gitops.Deployed{other, third}); fault.CodeOf(err) != fault.Conflict {
			t.Errorf("replaced twice: %v", err)
		}
		if got := lastDeployed(t, s, 5); len(got) != 2 {
			t.Errorf("half of it was written: %+v", got)
		}
	})
}

// TestDeploymentsAreForgotten keeps the last of an environment, nothing that is
// very old, and what is deployed now however old that is.
func TestDeploymentsAreForgotten(t *testing.T) {
	engines(t, func(t *testing.T, dsn func(testing.TB) string) {
		s := open(t, dsn(t))
		now := time.Now().UTC().Truncate(time.Microsecond)
		old := deployedAt("old", "zero", now.Add(-2*gitops.KeptDeployedFor))
		old.Environment = "production"
		rows := []gitops.Deployed{old}
		last := deployedAt("d-0", "r-0", now)
		for i := 1; i <= gitops.KeptDeployed+20; i++ {
			next := deployedAt(fmt.Sprint("d-", i), fmt.Sprint("r-", i), now.Add(time.Duration(i)*time.Second))
			last.ReplacedAt, last.ReplacedBy = next.At, next.Revision
			rows = append(rows, last)
			last = next
		}
		if err := s.NoteDeployed(t.Context(), append(rows, last)); err != nil {
			t.Fatal(err)
		}
		got := lastDeployed(t, s, 1000)
		if len(got) != gitops.KeptDeployed || got[0].Revision != last.Revision {
			t.Errorf("%d are kept, the last is %+v", len(got), got[0])
		}
		kept, err := s.Deployed(t.Context(), old.Service, "production", 5)
		if err != nil || len(kept) != 1 {
			t.Errorf("what is deployed now: %+v %v", kept, err)
		}
	})
}

// TestDeploymentsAtOnce has replicas see the same at once: one of them writes
// it down.
func TestDeploymentsAtOnce(t *testing.T) {
	engines(t, func(t *testing.T, dsn func(testing.TB) string) {
		name := dsn(t)
		replicas := []*store.Store{open(t, name), open(t, name)}
		at := time.Now().UTC().Truncate(time.Microsecond)
		if err := replicas[0].NoteDeployed(t.Context(), []gitops.Deployed{deployedAt("d-0", "r-0", at)}); err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				was, next := deployedAt("d-0", "r-0", at), deployedAt(fmt.Sprint("n-", i), "r-1", at.Add(time.Second))
				was.ReplacedAt, was.ReplacedBy = next.At, next.Revision
				if err := replicas[i%2].NoteDeployed(t.Context(), []gitops.Deployed{was, next}); err != nil && fault.CodeOf(err) != fault.Conflict {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if got := lastDeployed(t, replicas[1], 50); len(got) != 2 || got[0].Revision != "r-1" || got[1].ReplacedBy != "r-1" {
			t.Errorf("%+v", got)
		}
	})
}

func TestTurns(t *testing.T) {
	engines(t, func(t *testing.T, dsn func(testing.TB) string) {
		s, now := open(t, dsn(t)), time.Now()
		claim := func(work, holder string, at time.Time, want bool) {
			t.Helper()
			if ok, err := s.ClaimTurn(t.Context(), work, holder, at, at.Add(time.Minute)); ok != want || err != nil {
				t.Errorf("%s of %s: %t %v", work, holder, ok, err)
			}
		}
		claim("w", "a", now, true)
		claim("w", "b", now.Add(30*time.Second), false)
		claim("v", "b", now, true)
		claim("w", "a", now.Add(30*time.Second), true)
		claim("w", "b", now.Add(80*time.Second), false)
		claim("w", "b", now.Add(2*time.Minute), true)
		claim("w", "a", now.Add(2*time.Minute), false)
	})
}
