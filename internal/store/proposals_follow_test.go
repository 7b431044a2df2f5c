package store_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/gitops"
	"github.com/fairlead-dev/fairlead/internal/store"
)

// TestProposalsAreDue tells of news of branches: of a proposal's own, and of one
// that is merged into.
func TestProposalsAreDue(t *testing.T) {
	engines(t, func(t *testing.T, dsn func(testing.TB) string) {
		s, ctx, now := open(t, dsn(t)), t.Context(), time.Now()
		due := func(at time.Time, want ...string) {
			t.Helper()
			all, err := s.DueProposals(ctx, at, 10)
			if len(all) != len(want) || err != nil {
				t.Fatalf("%d are due: %v", len(all), err)
			}
			for i, id := range want {
				if all[i].ID != id {
					t.Errorf("%s comes at %d", all[i].ID, i)
				}
			}
		}
		keep := func(id string, change func(r *gitops.Record)) {
			t.Helper()
			if _, err := s.AddProposal(ctx, proposalOf(id, id)); err != nil {
				t.Fatal(err)
			}
			r, _, err := s.ClaimProposal(ctx, id, "h", now, now.Add(time.Minute))
			if change(&r); err != nil || s.SaveProposal(ctx, r, "h", true) != nil {
				t.Fatalf("keeping %s: %v", id, err)
			}
		}
		at := now.Add(time.Hour)
		keep("open", func(r *gitops.Record) { r.State, r.FollowAt = gitops.Open, at })
		keep("merged", func(r *gitops.Record) { r.State, r.FollowAt, r.EndedAt = gitops.Merged, at.Add(time.Minute), now })
		keep("ended", func(r *gitops.Record) {
			r.State, r.FollowAt, r.EndedAt, r.Follow.Outcome = gitops.Merged, at.Add(2*time.Minute), now, gitops.OutcomeHealthy
		})
		keep("over", func(r *gitops.Record) { r.State, r.EndedAt = gitops.Closed, now })
		due(now)
		due(at, "open")
		tell := func(name, branch string) {
			t.Helper()
			if err := s.TellProposals(ctx, "acme", name, branch); err != nil {
				t.Fatal(err)
			}
		}
		tell("acme/other", "fairlead/open")
		tell("acme/other", "main")
		due(now)
		tell("acme/shop", "fairlead/open")
		due(now, "open")
		if r, err := s.Proposal(ctx, "open"); err != nil || !r.CheckedAt.IsZero() {
			t.Errorf("checked at %s: %v", r.CheckedAt, err)
		}
		tell("acme/shop", "main")
		due(now, "merged", "open")
		due(at.Add(time.Hour), "merged", "open", "ended")
		if _, ok, err := s.ClaimProposal(ctx, "merged", "a", now, now.Add(time.Minute)); !ok || err != nil {
			t.Fatal(ok, err)
		}
		due(now, "open")
		due(now.Add(2*time.Minute), "merged", "open") // who had it has died
		changed(t, s, now)
		for i := range 20 { // of many, each comes in its turn
			keep(fmt.Sprint("more-", i), func(r *gitops.Record) { r.State, r.FollowAt = gitops.Open, at })
		}
		tell("acme/shop", "main")
		if all, err := s.DueProposals(ctx, now.Add(2*time.Minute), 100); err != nil || len(all) > 2 {
			t.Errorf("%d of many are due at once: %v", len(all), err)
		}
	})
}

// changed asks for what has changed since a time.
func changed(t *testing.T, s *store.Store, now time.Time) {
	t.Helper()
	r, _, err := s.ClaimProposal(t.Context(), "over", "h", now, now.Add(time.Minute))
	if r.ChangedAt = now; err != nil || s.SaveProposal(t.Context(), r, "h", true) != nil {
		t.Fatal(err)
	}
	for since, want := range map[time.Time]int{now.Add(-time.Minute): 1, now.Add(time.Minute): 0} {
		all, err := s.Proposals(t.Context(), gitops.Query{ChangedSince: since, Limit: 10})
		if err != nil || len(all) != want {
			t.Errorf("%d changed since %s: %v", len(all), since, err)
		}
	}
}
