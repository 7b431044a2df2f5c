package store_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/gitops"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/store"
)

func proposalOf(id, key string) gitops.Record {
	now := time.Now().UTC().Truncate(time.Microsecond)
	return gitops.Record{ID: id, Kind: "answer", Title: "Answer: Why?", Service: "component:default/shop", About: access.Attributes{Ref: "component:default/shop", Owners: []string{"group:default/shop"}},
		Place: gitops.Place{Repository: "https://git.test/acme/shop.git", Base: "main", Dir: "docs", Forge: "acme", Name: "acme/shop"}, Branch: "fairlead/" + id, Person: "user:default/alice", Agent: "claude", Key: key,
		Reason: "because", Evidence: []string{"seen"}, Paths: []string{"docs/why.md"}, PlanHash: "sha256:1", Diff: "+so\n", StateThen: &gitops.EnvironmentState{At: time.Unix(1700000000, 0).UTC(), Verdict: "healthy", Alerts: []string{"Slow"}}, Rendered: &gitops.Rendered{Tool: "helm", OK: true, Changed: []string{"Deployment/shop"}, Diff: "+so\n"}, State: gitops.Preparing, CreatedAt: now, UpdatedAt: now,
		Environment: "staging", Asked: `{"service":"shop"}`, Touched: []gitops.Touched{{File: "docs/why.md", Path: "a.b", From: "1", To: "2"}},
		Course: gitops.Course{Repairs: 1, Reviewers: []string{"bob"}}, Follow: gitops.Follow{Waits: "to be live", Grounds: []string{"why not"}}}
}

// TestProposalsAtOnce has replicas propose under one key at once: one proposal
// is kept, and one caller at a time has it.
func TestProposalsAtOnce(t *testing.T) {
	engines(t, func(t *testing.T, dsn func(testing.TB) string) {
		name := dsn(t)
		replicas := []*store.Store{open(t, name), open(t, name)}
		now := time.Now()
		var mu sync.Mutex
		var wg sync.WaitGroup
		ids, holders := map[string]int{}, 0
		for i := range 12 {
			wg.Go(func() {
				s := replicas[i%2]
				r, err := s.AddProposal(t.Context(), proposalOf(fmt.Sprint("p-", i), "same"))
				if err != nil {
					t.Error(err)
					return
				}
				_, ok, err := s.ClaimProposal(t.Context(), r.ID, fmt.Sprint("h-", i), now, now.Add(time.Minute))
				mu.Lock()
				defer mu.Unlock()
				ids[r.ID]++
				if ok {
					holders++
				}
				if err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if len(ids) != 1 || holders != 1 {
			t.Errorf("kept %v, held by %d", ids, holders)
		}
	})
}

func TestProposalsAreKept(t *testing.T) {
	engines(t, func(t *testing.T, dsn func(testing.TB) string) {
		s := open(t, dsn(t))
		ctx, now := t.Context(), time.Now()
		r, err := s.AddProposal(ctx, proposalOf("p-1", "k"))
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(proposalOf("p-1", "k"), r, cmp.FilterPath(func(p cmp.Path) bool {
			return p.Last().String() == ".CreatedAt" || p.Last().String() == ".UpdatedAt" || p.Last().String() == ".Notes"
		}, cmp.Ignore())); d != "" {
			t.Error(d)
		}
		if err := s.SaveProposal(ctx, r, "nobody", true); fault.CodeOf(err) != fault.Conflict {
			t.Errorf("saved without holding it: %v", err)
		}
		claim := func(holder string, at time.Time, want bool) {
			t.Helper()
			if _, ok, err := s.ClaimProposal(ctx, "p-1", holder, at, at.Add(time.Minute)); ok != want || err != nil {
				t.Errorf("%s: %v %v", holder, ok, err)
			}
		}
		claim("a", now, true)
		claim("b", now.Add(time.Second), false)
		claim("b", now.Add(2*time.Minute), true) // a has died
		if err := s.SaveProposal(ctx, r, "a", true); fault.CodeOf(err) != fault.Conflict {
			t.Errorf("saved by who had lost it: %v", err)
		}
		r.State, r.Commit, r.CheckedAt = gitops.Open, "c0ffee", now.UTC().Truncate(time.Microsecond)
		r.Pull = gitops.Pull{Number: 7, URL: "https://git.test/acme/shop/pulls/7", State: gitops.PullOpen, Checks: []gitops.Check{{Name: "test", State: gitops.CheckPassed}}}
		if err := s.SaveProposal(ctx, r, "b", true); err != nil {
			t.Fatal(err)
		}
		claim("c", now, true)
		r.State, r.EndedAt, r.ChangedAt = gitops.Merged, now.UTC().Truncate(time.Microsecond), now.UTC().Truncate(time.Microsecond)
		if err := s.SaveProposal(ctx, r, "c", true); err != nil {
			t.Fatal(err)
		}
		next, err := s.AddProposal(ctx, proposalOf("p-2", "k")) // the key is free again
		if err != nil || next.ID != "p-2" {
			t.Errorf("%s %v", next.ID, err)
		}
		last, err := s.ProposalOfKey(ctx, r.Person, r.Agent, "k")
		if err != nil || last.ID != "p-2" {
			t.Errorf("%s %v", last.ID, err)
		}
		page, err := s.Proposals(ctx, gitops.Query{Service: r.Service, State: gitops.Merged, Limit: 10})
		if err != nil || len(page) != 1 || page[0].Pull.Checks[0].Name != "test" {
			t.Errorf("%+v %v", page, err)
		}
		page, err = s.Proposals(ctx, gitops.Query{Before: next.CreatedAt, BeforeID: next.ID, Limit: 10})
		if err != nil || len(page) != 1 || page[0].ID != "p-1" {
			t.Errorf("%+v %v", page, err)
		}
		if _, err := s.Proposal(ctx, "none"); fault.CodeOf(err) != fault.NotFound {
			t.Error(err)
		}
	})
}

// TestProposalsHaveOneSlot has two callers propose for the same thing at once.
func TestProposalsHaveOneSlot(t *testing.T) {
	engines(t, func(t *testing.T, dsn func(testing.TB) string) {
		s := open(t, dsn(t))
		ctx := t.Context()
		add := func(id, key, slot, want string) {
			t.Helper()
			r := proposalOf(id, key)
			r.Slot = slot
			if have, err := s.AddProposal(ctx, r); err != nil || have.ID != want || have.Slot != slot {
				t.Errorf("%s: %s %v", id, have.ID, err)
			}
		}
		add("p-1", "a", "x", "p-1")
		add("p-2", "b", "x", "p-1")
		add("p-3", "c", "y", "p-3")
		add("p-4", "d", "", "p-4")
		add("p-5", "e", "", "p-5")
		r, ok, err := s.ClaimProposal(ctx, "p-1", "h", time.Now(), time.Now().Add(time.Minute))
		if r.EndedAt = time.Now(); err != nil || !ok || s.SaveProposal(ctx, r, "h", true) != nil {
			t.Errorf("%t %v", ok, err)
		}
		add("p-6", "b", "x", "p-6")
		if _, err := s.AddProposal(ctx, r); err != nil && fault.CodeOf(err) != fault.NotFound { // it is there, and has ended
			t.Error(err)
		}
		next := proposalOf("p-7", "a")
		next.Follows = "p-1"
		if _, err := s.AddProposal(ctx, next); fault.CodeOf(err) != fault.NotFound {
			t.Errorf("after one that has ended: %v", err)
		}
		next.Follows = "p-6"
		if have, err := s.AddProposal(ctx, next); err != nil || have.ID != "p-7" {
			t.Errorf("after one that is open: %s %v", have.ID, err)
		}
	})
}
