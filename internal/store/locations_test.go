package store_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/store"
)

func locationOf(id, target string) catalog.Location {
	return catalog.Location{ID: id, Type: "url", Target: target, EntityRef: "location:default/generated-" + id,
		Subject: "user:default/alice", Agent: "claude", Groups: []string{"group:default/payments"}, At: time.Date(2026, 1, 1, 0, 0, 0, 1000, time.UTC)}
}

func mustLocations(t *testing.T, s *store.Store) []catalog.Location {
	t.Helper()
	all, err := s.Locations(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestLocations(t *testing.T) {
	engines(t, func(t *testing.T, dsn func(testing.TB) string) {
		name := dsn(t)
		one, other := open(t, name), open(t, name) // two replicas
		revision := func() int64 {
			t.Helper()
			n, err := other.LocationsRevision(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		if all := mustLocations(t, one); len(all) != 0 || revision() != 0 {
			t.Errorf("a new database holds %+v", all)
		}
		a, b := locationOf("a", "https://x/a"), locationOf("b", "https://x/b")
		b.At, b.Groups = b.At.Add(time.Second), nil
		for _, l := range []catalog.Location{b, a} {
			if err := one.AddLocation(t.Context(), l, 2); err != nil {
				t.Fatal(err)
			}
		}
		all := mustLocations(t, other)
		if len(all) != 2 || fmt.Sprint(all[0]) != fmt.Sprint(a) || all[1].ID != "b" || len(all[1].Groups) != 0 || revision() != 2 {
			t.Errorf("the other replica sees %+v at revision %d", all, revision())
		}
		for what, c := range map[string]struct {
			err  error
			code fault.Code
		}{
			"again":              {other.AddLocation(t.Context(), locationOf("c", "https://x/a"), 9), fault.Conflict},
			"one too many":       {other.AddLocation(t.Context(), locationOf("c", "https://x/c"), 2), fault.FailedPrecondition},
			"onto another":       {other.MoveLocation(t.Context(), "a", "https://x/b"), fault.Conflict},
			"moving none":        {other.MoveLocation(t.Context(), "none", "https://x/z"), fault.NotFound},
			"removing none":      {other.RemoveLocation(t.Context(), "none"), fault.NotFound},
			"moving to same":     {other.MoveLocation(t.Context(), "a", "https://x/a"), ""},
			"moving":             {other.MoveLocation(t.Context(), "a", "https://x/'; DROP TABLE locations"), ""},
			"removing the other": {other.RemoveLocation(t.Context(), "b"), ""},
		} {
			if fault.CodeOf(c.err) != c.code {
				t.Errorf("%s: %v", what, c.err)
			}
		}
		all = mustLocations(t, one)
		if len(all) != 1 || all[0].ID != "a" || all[0].EntityRef != a.EntityRef || revision() != 5 {
			t.Errorf("left is %+v at revision %d", all, revision())
		}
	})
}

// TestLocationsAtOnce has replicas register one location and many up to the
// bound.
func TestLocationsAtOnce(t *testing.T) {
	engines(t, func(t *testing.T, dsn func(testing.TB) string) {
		name := dsn(t)
		replicas := []*store.Store{open(t, name), open(t, name)}
		var mu sync.Mutex
		var wg sync.WaitGroup
		var codes []fault.Code
		for i := range 12 {
			wg.Go(func() {
				target := "https://x/same"
				if i >= 6 {
					target = fmt.Sprint("https://x/", i)
				}
				err := replicas[i%2].AddLocation(t.Context(), locationOf(fmt.Sprint(i), target), 4)
				mu.Lock()
				defer mu.Unlock()
				codes = append(codes, fault.CodeOf(err))
			})
		}
		wg.Wait()
		count := func(want fault.Code) int {
			return len(slices.DeleteFunc(slices.Clone(codes), func(c fault.Code) bool { return c != want }))
		}
		if all := mustLocations(t, replicas[0]); len(all) != 4 || count("") != 4 || count(fault.Unavailable) != 0 {
			t.Errorf("%d are registered; codes %q", len(all), codes)
		}
	})
}
