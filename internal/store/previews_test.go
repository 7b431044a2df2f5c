package store_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/store"
	"github.com/fairlead-dev/fairlead/previews"
)

func previewOf(id, key string) previews.Record {
	now := time.Now().UTC().Truncate(time.Microsecond)
	r := previews.Record{Wish: previews.Wish{ID: id, Service: "component:default/shop", Template: previews.Template{Deployer: "fake", Command: []string{"x"}, Env: map[string]string{"A": "b"}, TTL: time.Hour},
		Person: "user:default/alice", Agent: "claude", Owner: "group:default/shop", ExpiresAt: now.Add(time.Hour)}, CreatedAt: now, Key: key, InputHash: "h",
		About: access.Attributes{Ref: "component:default/shop", Owners: []string{"group:default/shop"}}}
	r.Phase, r.Since = previews.Pending, now
	return r
}

// TestPreviewsAtOnce has replicas ask for many previews at once: no more are
// let in than there may be, one key makes one, and a full queue refuses.
func TestPreviewsAtOnce(t *testing.T) {
	engines(t, func(t *testing.T, dsn func(testing.TB) string) {
		name := dsn(t)
		replicas := []*store.Store{open(t, name), open(t, name)}
		limits := previews.Limits{PerTeam: 3, Queue: 4}.WithDefaults()
		var mu sync.Mutex
		var wg sync.WaitGroup
		codes := map[fault.Code]int{}
		ids := map[string]bool{}
		for i := range 20 {
			wg.Go(func() {
				key := ""
				if i < 8 {
					key = "same"
				}
				r, err := replicas[i%2].AddPreview(t.Context(), previewOf(fmt.Sprint("p-", i), key), limits)
				mu.Lock()
				defer mu.Unlock()
				codes[fault.CodeOf(err)]++
				if err == nil && key != "" {
					ids[r.ID] = true
				}
			})
		}
		wg.Wait()
		all, err := replicas[0].Previews(t.Context(), previews.Query{Limit: 100})
		if err != nil {
			t.Fatal(err)
		}
		waiting := slices.DeleteFunc(slices.Clone(all), func(r previews.Record) bool { return !r.AdmittedAt.IsZero() })
		if len(all) != 7 || len(waiting) != 4 || len(ids) > 1 || codes[fault.QuotaExceeded]+codes[""] != 20 {
			t.Errorf("%d there, %d wait, key made %v, codes %v", len(all), len(waiting), ids, codes)
		}
	})
}

// TestPreviewClaims has a preview held, taken over, and changed beneath its
// holder.
func TestPreviewClaims(t *testing.T) {
	engines(t, func(t *testing.T, dsn func(testing.TB) string) {
		s := open(t, dsn(t))
		want := previewOf("a", "")
		made, err := s.AddPreview(t.Context(), want, previews.Limits{}.WithDefaults())
		if err != nil || made.Template.Env["A"] != "b" {
			t.Fatal(made, err)
		}
		now := time.Now()
		claim := func(turn int64, who string, at time.Time) (previews.Record, previews.Hold) {
			t.Helper()
			r, h, err := s.ClaimPreview(t.Context(), previews.Turn{ID: "a", Number: turn}, who, at, at.Add(time.Minute))
			if err != nil {
				t.Fatal(err)
			}
			return r, h
		}
		r, h := claim(1, "x", now)
		if h != previews.Taken || r.About.Owners[0] != "group:default/shop" || !r.ExpiresAt.Equal(want.ExpiresAt) {
			t.Errorf("claimed %+v, %v", r, h)
		}
		if _, h := claim(1, "y", now); h != previews.Held {
			t.Errorf("taken from who holds it: %v", h)
		}
		if _, h := claim(9, "y", now); h != previews.Over {
			t.Errorf("a turn that is none: %v", h)
		}
		ended, err := s.EndPreview(t.Context(), "a", now, "alice")
		if err != nil || ended.Turn != 2 {
			t.Fatal(ended, err)
		}
		r.Phase = previews.Ready
		if ok, err := s.ReportPreview(t.Context(), r, "x", nil, now.Add(time.Hour)); ok || err != nil {
			t.Errorf("reported what is over: %v, %v", ok, err)
		}
		if r, h = claim(2, "y", now); h != previews.Taken || r.Phase != previews.Pending {
			t.Errorf("once let go: %+v, %v", r, h)
		}
		if turns, err := s.OverduePreviews(t.Context(), now.Add(2*time.Minute)); err != nil || len(turns) != 1 || turns[0].Number != 3 {
			t.Errorf("overdue %v, %v", turns, err)
		}
		if _, err := s.PutOffPreview(t.Context(), "a", now.Add(9*time.Hour), now, "alice"); fault.CodeOf(err) != fault.FailedPrecondition {
			t.Errorf("put off though ended: %v", err)
		}
	})
}

// TestAdmittedWhileHeld has one let in while somebody holds it who has seen it
// without room: what that one puts down does not count, and it is looked after
// at once.
func TestAdmittedWhileHeld(t *testing.T) {
	engines(t, func(t *testing.T, dsn func(testing.TB) string) {
		s, now := open(t, dsn(t)), time.Now()
		for _, id := range []string{"a", "b"} {
			if _, err := s.AddPreview(t.Context(), previewOf(id, ""), previews.Limits{PerAgent: 1}.WithDefaults()); err != nil {
				t.Fatal(err)
			}
		}
		r, h, err := s.ClaimPreview(t.Context(), previews.Turn{ID: "b", Number: 1}, "x", now, now.Add(time.Minute))
		if err != nil || h != previews.Taken || !r.AdmittedAt.IsZero() {
			t.Fatal(r, h, err)
		}
		if err := s.AdmitPreviews(t.Context(), previews.Limits{PerAgent: 2}.WithDefaults(), now); err != nil {
			t.Fatal(err)
		}
		if ok, err := s.ReportPreview(t.Context(), r, "x", nil, now.Add(time.Hour)); ok || err != nil {
			t.Errorf("put down what was seen before: %v, %v", ok, err)
		}
		turns, err := s.OverduePreviews(t.Context(), now.Add(time.Millisecond))
		if err != nil || !slices.Contains(turns, previews.Turn{ID: "b", Number: 2}) {
			t.Errorf("turns %v, %v", turns, err)
		}
	})
}
