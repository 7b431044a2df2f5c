package gitops_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/access/accesstest"
	"github.com/fairlead-dev/fairlead/gitops"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// watched is a room that is told what is healthy; what follows proposals is
// played by the test.
type watched struct {
	gitops.Health
	gitops.Lineage
}

// GetDeploymentHealth does not answer those who ask how it is before a change.
func (watched) GetDeploymentHealth(context.Context, access.Caller, gitops.GetDeploymentHealthInput) (*gitops.DeploymentHealth, error) {
	return nil, fault.New(fault.Unavailable, "nobody is asked here").WithFix("Wait.")
}

// settle has a proposal be merged, and end so.
func (y *yard) settle(id string, f gitops.Follow) {
	y.t.Helper()
	ctx, now := y.t.Context(), y.now
	r, ok, err := y.store.ClaimProposal(ctx, id, "test", now, now.Add(time.Second))
	if err != nil || !ok {
		y.t.Fatal(ok, err)
	}
	r.State, r.Follow, r.EndedAt, r.CheckedAt = gitops.Merged, f, now, now
	if err := y.store.SaveProposal(ctx, r, "test", true); err != nil {
		y.t.Fatal(err)
	}
}

// TestFleetWaitsForHealth goes on when all of a wave are healthy, and stops on
// what is not.
func TestFleetWaitsForHealth(t *testing.T) {
	y := newYard(t, 3)
	healthy := func(in *gitops.PlanFleetInput) { in.Until, in.Waves = gitops.UntilHealthy, []string{"1"} }
	if _, err := y.PlanFleet(t.Context(), captain, wish(healthy)); fault.CodeOf(err) != fault.FailedPrecondition {
		t.Errorf("nobody tells what is healthy: %v", err)
	}
	y.cfg.Follow = gitops.FollowConfig{Health: watched{}, Lineage: watched{}}
	var err error
	if y.Service, err = gitops.New(y.cfg); err != nil {
		t.Fatal(err)
	}
	f := y.drive(y.start(healthy).ID)
	of := func(i int) gitops.Member { return f.Members[len(f.Members)-3+i] } // behind library and other
	y.settle(of(0).Proposal, gitops.Follow{MergedAt: y.now, Waits: "until it is synced"})
	if f = y.drive(f.ID); f.Counts.Merged != 1 || f.Wave != 1 || of(0).Reason != "until it is synced" || f.Next != "Wave 1 waits for 1 to be healthy." {
		t.Fatalf("%+v", f)
	}
	y.settle(of(0).Proposal, gitops.Follow{MergedAt: y.now, Outcome: gitops.OutcomeHealthy, EndedAt: y.now})
	y.drive(f.ID)
	if f = y.drive(f.ID); f.Counts.Done != 1 || f.Wave != 2 || f.Counts.Open != 1 {
		t.Fatalf("%+v", f)
	}
	y.settle(of(1).Proposal, gitops.Follow{MergedAt: y.now, Outcome: gitops.OutcomeDegraded, Grounds: []string{"CrashLoopBackOff"}, EndedAt: y.now})
	if f = y.drive(f.ID); f.State != gitops.FleetStopped || !strings.Contains(f.Failing[0].Reason, "degraded: CrashLoopBackOff") || !strings.Contains(f.Failing[0].Fix, "rollback") {
		t.Fatalf("%+v", f)
	}
	if _, all := y.count(); all != 2 {
		t.Errorf("%d pull requests are opened", all)
	}
}

// TestFleetStopsOnWhatIsStuck does not wait for what nobody will merge.
func TestFleetStopsOnWhatIsStuck(t *testing.T) {
	for what, change := range map[string]func(*gitops.Pull){
		"failed: lint":             func(p *gitops.Pull) { p.Checks = []gitops.Check{{Name: "lint", State: gitops.CheckFailed}} },
		"changes are asked for by": func(p *gitops.Pull) { p.Rejected = []string{"bob"} },
		"":                         func(p *gitops.Pull) { p.Checks = []gitops.Check{{Name: "lint", State: gitops.CheckPending}} },
	} {
		y := newYard(t, 2)
		f := y.drive(y.start(nil).ID)
		change(&y.pulls[0])
		if f = y.drive(f.ID); (f.State == gitops.FleetStopped) != (what != "") {
			t.Fatalf("%q: %+v", what, f)
		}
		if what != "" && !strings.Contains(f.Failing[0].Reason, "it is stuck: "+what) {
			t.Errorf("%+v", f.Failing[0])
		}
	}
}

// TestFleetKeepsPace opens no more than a forge is to be given, and waits while
// it is down.
func TestFleetKeepsPace(t *testing.T) {
	y := newYard(t, 4)
	y.cfg.Fleets.Pace = map[string][]access.Rate{"f": {{Burst: 2, Per: 20 * time.Hour}}}
	f := y.drive(y.start(func(in *gitops.PlanFleetInput) { in.Waves = []string{"100%"} }).ID)
	if open, _ := y.count(); open != 2 || f.Counts.Waiting != 2 || !strings.Contains(f.Why, "f opens at most 2/20h") {
		t.Fatalf("%d are open: %+v", open, f)
	}
	y.cfg.Fleets.Pace["f"] = nil
	y.down = true
	y.now = y.now.Add(11 * time.Hour)
	if f = y.drive(f.ID); f.State != gitops.FleetRunning || f.Counts.Waiting != 2 || !strings.Contains(f.Why, "the forge is down") {
		t.Fatalf("%+v", f)
	}
	y.down = false
	if f = y.drive(f.ID); f.Counts.Open != 4 || f.Why != "" {
		t.Fatalf("%+v", f)
	}
	// Somebody pauses it, and it is let be.
	if _, err := y.StopFleet(t.Context(), captain, gitops.StopFleetInput{ID: f.ID}); err != nil {
		t.Fatal(err)
	}
	y.end(gitops.PullMerged)
	if f = y.drive(f.ID); f.State != gitops.FleetPaused || f.Counts.Open != 4 {
		t.Fatalf("%+v", f)
	}
}

// TestFleetTellsEachWhatTheyMaySee shows who may read one service that one.
func TestFleetTellsEachWhatTheyMaySee(t *testing.T) {
	rules := strings.Replace(yardRules, "actions: [catalog.read, gitops.read]}", "actions: [catalog.read]}\n  - {name: some, effect: allow, who: {groups: [team]}, actions: [gitops.read]}\n  - {name: one, effect: allow, who: {groups: [them]}, actions: [gitops.read], on: {owners: [them]}}", 1)
	y := newYardOf(t, 2, rules)
	f := y.plan(nil)
	for who, want := range map[string]int{"team": 4, "them": 1} {
		got, err := y.GetFleet(context.Background(), accesstest.As("eve", accesstest.Groups(who)), gitops.GetFleetInput{ID: f.ID})
		if err != nil || got.Counts.Total != want || len(got.Members) != want || len(got.Failing) > want {
			t.Errorf("%s: %+v %v", who, got, err)
		}
	}
	stranger := accesstest.As("mallory")
	if got, err := y.GetFleet(t.Context(), stranger, gitops.GetFleetInput{ID: f.ID}); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("a stranger: %+v %v", got, err)
	}
	if page, err := y.ListFleets(t.Context(), stranger, gitops.ListFleetsInput{}); err != nil || len(page.Items) != 0 {
		t.Errorf("a stranger: %+v %v", page, err)
	}
}
