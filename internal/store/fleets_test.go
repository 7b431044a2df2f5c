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

func fleetOf(id string, at time.Time) gitops.FleetRecord {
	return gitops.FleetRecord{ID: id, Person: "user:default/alice", Agent: "claude", Spec: gitops.PlanFleetInput{Query: []string{"kind=component"}, Environment: "staging", Reason: "why", Waves: []string{"1"}, MaxFailures: 1},
		Title: "v2 in staging", State: gitops.FleetPlanning, CreatedAt: at, UpdatedAt: at}
}

func memberOf(fleet string, position int, state string) gitops.FleetMember {
	service := fmt.Sprintf("component:default/s%d", position)
	return gitops.FleetMember{Fleet: fleet, Position: position, About: access.Attributes{Ref: service, Owners: []string{"group:default/team"}}, Binding: "sha256:1",
		Member: gitops.Member{Service: service, State: state, Title: "t", Repository: "r", Paths: []string{"a.yaml"}, Diff: "+a\n", Reason: "because", Fix: "so", Notes: []string{"n"},
			Conflicts: []gitops.Conflict{{Path: "a.yaml", Proposal: "p"}}, UpdatedAt: time.Now().UTC().Truncate(time.Microsecond)}}
}

// TestFleetsAreKept writes fleets down, and has replicas look after one at once.
func TestFleetsAreKept(t *testing.T) {
	engines(t, func(t *testing.T, dsn func(testing.TB) string) {
		name := dsn(t)
		s, other := open(t, name), open(t, name)
		ctx, now := t.Context(), time.Now().UTC().Truncate(time.Microsecond)
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		f := fleetOf("f-1", now)
		must(s.AddFleet(ctx, f, now.Add(-time.Hour), 5))
		members := []gitops.FleetMember{memberOf("f-1", 0, gitops.MemberWaiting), memberOf("f-1", 1, gitops.MemberRefused), memberOf("f-1", 2, gitops.MemberWaiting), memberOf("f-1", 3, gitops.MemberWaiting)}
		must(s.AddFleetMembers(ctx, members))
		must(s.FleetWaves(ctx, "f-1", []gitops.WaveRange{{Wave: 1, From: -1, To: 0}, {Wave: 2, From: 0, To: 3}}))
		members[0].Wave, members[2].Wave, members[3].Wave = 1, 2, 2
		got, err := s.FleetMembers(ctx, gitops.MemberQuery{Fleet: "f-1", After: -1, Limit: 10})
		must(err)
		if d := cmp.Diff(members, got); d != "" {
			t.Error(d)
		}
		if got, err = s.FleetMembers(ctx, gitops.MemberQuery{Fleet: "f-1", After: 0, Limit: 1, States: []string{gitops.MemberWaiting}, UpTo: 2, Bare: true}); err != nil || len(got) != 1 || got[0].Position != 2 || got[0].Diff != "" {
			t.Errorf("%+v %v", got, err)
		}
		f.State, f.PlanHash, f.Protected, f.Mandate = gitops.FleetRunning, "sha256:2", true, access.Mandate{Subject: f.Person, Agent: f.Agent, Token: "t", Groups: []string{"group:default/team"}, At: now}
		f.Approval, f.Wave, f.StartedAt = access.Grant{ID: "1", Rule: "r"}, 1, now
		if ok, err := s.MoveFleet(ctx, f, false, gitops.FleetPlanned); ok || err != nil {
			t.Errorf("moved from where it was not: %v %v", ok, err)
		}
		if ok, err := s.MoveFleet(ctx, f, false, gitops.FleetPlanning, gitops.FleetPlanned); !ok || err != nil {
			t.Errorf("%v %v", ok, err)
		}
		read, err := other.Fleet(ctx, "f-1")
		must(err)
		if d := cmp.Diff(f, read); d != "" {
			t.Error(d)
		}
		lookedAfter(t, s, other, f)
	})
}

// lookedAfter has two replicas turn to a fleet that runs.
func lookedAfter(t *testing.T, s, other *store.Store, f gitops.FleetRecord) {
	t.Helper()
	ctx, now := t.Context(), time.Now()
	if due, err := s.DueFleets(ctx, now, 5); err != nil || len(due) != 1 {
		t.Fatalf("%v %v", due, err)
	}
	var mu sync.Mutex
	var wg sync.WaitGroup
	holders := []string{}
	for i := range 8 {
		wg.Go(func() {
			_, ok, err := []*store.Store{s, other}[i%2].ClaimFleet(ctx, "f-1", fmt.Sprint("h", i), now, now.Add(time.Minute))
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				t.Error(err)
			}
			if ok {
				holders = append(holders, fmt.Sprint("h", i))
			}
		})
	}
	wg.Wait()
	if len(holders) != 1 {
		t.Fatalf("held by %v", holders)
	}
	m := memberOf("f-1", 0, gitops.MemberFailed)
	if ok, err := other.SaveFleetMember(ctx, m, "nobody"); ok || err != nil {
		t.Errorf("who does not hold it wrote: %v %v", ok, err)
	}
	if ok, err := s.SaveFleetMember(ctx, m, holders[0]); !ok || err != nil {
		t.Errorf("%v %v", ok, err)
	}
	// Somebody pauses it meanwhile: what is reported of the turn does not undo that.
	f.State = gitops.FleetPaused
	if ok, err := other.MoveFleet(ctx, f, true, gitops.FleetRunning); !ok || err != nil {
		t.Fatalf("%v %v", ok, err)
	}
	if ok, err := s.SaveFleetMember(ctx, m, holders[0]); ok || err != nil {
		t.Errorf("the turn goes on: %v %v", ok, err)
	}
	f.State = gitops.FleetDone
	if err := s.ReportFleet(ctx, f, holders[0], now); err != nil {
		t.Fatal(err)
	}
	if read, err := s.Fleet(ctx, "f-1"); err != nil || read.State != gitops.FleetPaused {
		t.Errorf("%+v %v", read, err)
	}
	counts := map[string]int{}
	if err := s.TallyFleet(ctx, "f-1", func(m gitops.MemberTally) { counts[fmt.Sprint(m.State, m.Wave, m.Conflicted, m.About.Ref != "")]++ }); err != nil || counts["failed1 true true"] != 1 || len(counts) != 3 {
		t.Errorf("%v %v", counts, err)
	}
	f.State = gitops.FleetRunning
	if ok, err := s.MoveFleet(ctx, f, true, gitops.FleetPaused); !ok || err != nil {
		t.Fatal(err)
	}
	if got, err := s.FleetMembers(ctx, gitops.MemberQuery{Fleet: "f-1", After: -1, Limit: 1}); err != nil || got[0].State != gitops.MemberWaiting {
		t.Errorf("what failed is not tried again: %+v %v", got, err)
	}
}

// TestPlansAreForgotten keeps the newest plans of somebody, and what was
// started for good.
func TestPlansAreForgotten(t *testing.T) {
	engines(t, func(t *testing.T, dsn func(testing.TB) string) {
		s := open(t, dsn(t))
		ctx, now := t.Context(), time.Now().UTC().Truncate(time.Microsecond)
		for i := range 6 {
			f := fleetOf(fmt.Sprint("f-", i), now.Add(time.Duration(i)*time.Second))
			if i == 5 {
				f.Person = "user:default/bob"
			}
			if err := s.AddFleet(ctx, f, now.Add(time.Second/2), 3); err != nil {
				t.Fatal(err)
			}
			if err := s.AddFleetMembers(ctx, []gitops.FleetMember{memberOf(f.ID, 0, gitops.MemberWaiting)}); err != nil {
				t.Fatal(err)
			}
			if f.State = gitops.FleetRunning; i == 1 {
				if ok, err := s.MoveFleet(ctx, f, false, gitops.FleetPlanning); !ok || err != nil {
					t.Fatal(err)
				}
			}
		}
		all, err := s.Fleets(ctx, gitops.FleetQuery{Limit: 10})
		var ids []string
		for _, f := range all {
			ids = append(ids, f.ID)
		}
		if d := cmp.Diff([]string{"f-5", "f-4", "f-3", "f-2", "f-1"}, ids); d != "" || err != nil {
			t.Error(d, err)
		}
		if page, err := s.Fleets(ctx, gitops.FleetQuery{Limit: 2, Before: all[1].CreatedAt, BeforeID: all[1].ID, Person: "user:default/alice"}); err != nil || len(page) != 2 || page[0].ID != "f-3" {
			t.Errorf("%+v %v", page, err)
		}
		if got, err := s.FleetMembers(ctx, gitops.MemberQuery{Fleet: "f-0", After: -1, Limit: 1}); err != nil || len(got) != 0 {
			t.Errorf("members of what is forgotten: %+v %v", got, err)
		}
		if _, err := s.Fleet(ctx, "f-0"); fault.CodeOf(err) != fault.NotFound {
			t.Errorf("%v", err)
		}
	})
}
