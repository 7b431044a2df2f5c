package gitops_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/access/accesstest"
	"github.com/fairlead-dev/fairlead/catalog/catalogtest"
	"github.com/fairlead-dev/fairlead/gitops"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/store"
)

// yard is a room with many services in one repository in memory.
type yard struct {
	*gitops.Service
	*memory
	t         testing.TB
	store     *store.Store
	log       *accesstest.Log
	cfg       gitops.Config
	approvals *accesstest.Approvals
	// out is who has lost their token.
	out bool
	now time.Time
}

const yardRules = `rules:
  - {name: read, effect: allow, who: {subjects: ["*"]}, actions: [catalog.read, gitops.read]}
  - {name: own, effect: allow, who: {subjects: ["*"]}, actions: [gitops.propose], on: {owners: [own]}}
  - {name: agreed, effect: approval, who: {subjects: ["*"]}, actions: ["*"], on: {protected: true}, approval: {by: {owners: true, roles: [sre]}}}
`

// newYard makes one with so many services of a team, and one of another.
func newYard(t testing.TB, services int) *yard {
	t.Helper()
	return newYardOf(t, services, yardRules)
}

func newYardOf(t testing.TB, services int, rules string) *yard {
	t.Helper()
	y := &yard{t: t, memory: &memory{files: map[string]string{}, branches: map[string]string{}}, now: time.Now()}
	docs := []string{"kind: Group\nmetadata: {name: team}\nspec: {type: team, children: []}", "kind: Group\nmetadata: {name: them}\nspec: {type: team, children: []}"}
	for i := range services {
		name := fmt.Sprintf("s%03d", i)
		y.files[name+"/kustomization.yaml"] = "images:\n- {name: acme/web, newTag: v1}\n"
		docs = append(docs, fmt.Sprintf("kind: Component\nmetadata: {name: %s}\nspec: {type: service, lifecycle: production, owner: team, fairlead: {deployRepo: 'https://f.test/acme/deploy', environments: [{name: staging, path: %s}, {name: live, protected: true, path: %s}]}}", name, name, name))
	}
	y.files["other/kustomization.yaml"] = "images:\n- {name: acme/web, newTag: v1}\n"
	docs = append(docs, "kind: Component\nmetadata: {name: other}\nspec: {type: service, lifecycle: production, owner: them, fairlead: {deployRepo: 'https://f.test/acme/deploy', environments: [{name: staging, path: other}]}}",
		"kind: Component\nmetadata: {name: library}\nspec: {type: library, lifecycle: production, owner: team}")
	s, err := store.Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if _, err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	policy := accesstest.Policy(t, rules)
	y.store = s
	y.approvals, y.log = accesstest.NewApprovals(), accesstest.NewLog()
	guard, err := access.NewGuard(access.GuardConfig{Policy: policy, Log: y.log, Quota: accesstest.NewQuota(), Approvals: y.approvals})
	if err != nil {
		t.Fatal(err)
	}
	y.cfg = gitops.Config{Policy: policy, Guard: guard, Catalog: catalogtest.New(t, docs...), Repositories: y.memory, Forges: map[string]gitops.Forge{"f": y.memory}, Records: s, Reads: s,
		Mail: func(name string) string { return name + "@f.test" }, Now: func() time.Time { return y.now },
		Fleets: &gitops.FleetConfig{Reads: s, Writes: s, Claims: s, Neighbours: s, Quota: s, Acting: func(m access.Mandate, _ time.Time) (access.Caller, error) {
			if y.out {
				return access.Caller{}, fault.New(fault.Unauthenticated, "the token of %s is gone", m.Subject).WithFix("Show another.")
			}
			return accesstest.As(m.Subject, accesstest.Agent(m.Agent), accesstest.Groups(m.Groups...)), nil
		}}}
	if y.Service, err = gitops.New(y.cfg); err != nil {
		t.Fatal(err)
	}
	return y
}

var captain = accesstest.As("alice", accesstest.Agent("claude"), accesstest.Groups("team"))

// wish is a new version everywhere.
func wish(more func(*gitops.PlanFleetInput)) gitops.PlanFleetInput {
	in := gitops.PlanFleetInput{Query: []string{"kind=component"}, Environment: "staging", Reason: "the fix", Change: gitops.Change{Image: &gitops.ImageChange{Tag: "v2"}}, Waves: []string{"1", "50%"}}
	if more != nil {
		more(&in)
	}
	return in
}

// plan plans.
func (y *yard) plan(more func(*gitops.PlanFleetInput)) *gitops.Fleet {
	y.t.Helper()
	f, err := y.PlanFleet(y.t.Context(), captain, wish(more))
	if err != nil {
		y.t.Fatal(err)
	}
	return f
}

// start plans and starts.
func (y *yard) start(more func(*gitops.PlanFleetInput)) *gitops.Fleet {
	y.t.Helper()
	f, err := y.StartFleet(y.t.Context(), captain, gitops.StartFleetInput{ID: y.plan(more).ID})
	if err != nil {
		y.t.Fatal(err)
	}
	return f
}

// drive has a turn after a while, and gives the fleet as it is then.
func (y *yard) drive(id string) *gitops.Fleet {
	y.t.Helper()
	y.now = y.now.Add(time.Minute)
	if err := y.DriveFleets(y.t.Context(), 5); err != nil {
		y.t.Fatal(err)
	}
	f, err := y.GetFleet(y.t.Context(), captain, gitops.GetFleetInput{ID: id, Limit: 200})
	if err != nil {
		y.t.Fatal(err)
	}
	return f
}

// end has the pull requests that are open be merged or closed, and what is
// merged be in the files.
func (y *yard) end(state string) {
	y.mu.Lock()
	defer y.mu.Unlock()
	for i := range y.pulls {
		if y.pulls[i].State == gitops.PullOpen {
			y.pulls[i].State = state
		}
	}
}

func (y *yard) count() (open, all int) {
	y.mu.Lock()
	defer y.mu.Unlock()
	for i := range y.pulls {
		if y.pulls[i].State == gitops.PullOpen {
			open++
		}
	}
	return open, len(y.pulls)
}

func TestFleetIsPlanned(t *testing.T) {
	y := newYard(t, 6)
	y.files["s001/kustomization.yaml"] = "images:\n- {name: acme/web, newTag: v2}\n" // so already
	y.files["s002/kustomization.yaml"] = "images: [{name: acme/web, newTag: '{{ .tag }}'}]\n{{- end }}\n"
	if _, err := y.ProposeChange(t.Context(), accesstest.As("bob", accesstest.Groups("team")), gitops.ProposeChangeInput{Service: "s003", Environment: "staging", Reason: "x", Change: gitops.Change{Image: &gitops.ImageChange{Tag: "v3"}}}); err != nil {
		t.Fatal(err)
	}
	f := y.plan(nil)
	if c := f.Counts; f.State != gitops.FleetPlanned || c != (gitops.FleetCounts{Total: 8, Waiting: 4, Unchanged: 1, Refused: 3, Conflicted: 1}) {
		t.Fatalf("%+v", f)
	}
	if len(f.Waves) != 3 || f.Waves[0].Size != 1 || f.Waves[1].Size != 2 || f.Waves[2].Size != 1 || len(f.PlanHash) != 71 || f.Title != "v2 in staging" {
		t.Errorf("%+v", f)
	}
	by := map[string]gitops.Member{}
	for _, m := range f.Members {
		by[m.Service] = m
	}
	if m := by["component:default/s000"]; m.Wave != 1 || m.Title != "s000: acme/web v2 in staging" || !strings.Contains(m.Diff, "+- {name: acme/web, newTag: v2}") || !slices.Equal(m.Paths, []string{"s000/kustomization.yaml"}) {
		t.Errorf("%+v", m)
	}
	if m := by["component:default/s003"]; len(m.Conflicts) != 1 || !strings.HasPrefix(m.Conflicts[0].Proposal, "change-") || m.Conflicts[0].URL == "" {
		t.Errorf("%+v", m)
	}
	for service, want := range map[string]string{"s002": "has 0 images", "other": "no rule allows", "library": "not known where"} {
		if m := by["component:default/"+service]; !strings.Contains(m.Reason, want) {
			t.Errorf("%+v", m)
		}
	}
	if open, _ := y.count(); open != 1 || len(y.log.Entries()) != 1 {
		t.Errorf("a plan has done something: %d, %+v", open, y.log.Entries())
	}
	if again := y.plan(nil); again.PlanHash != f.PlanHash || again.ID == f.ID {
		t.Errorf("planned again: %+v", again)
	}
	for range 6 {
		y.plan(nil)
	}
	if page, err := y.ListFleets(t.Context(), captain, gitops.ListFleetsInput{}); err != nil || len(page.Items) != 5 {
		t.Errorf("%d plans are kept, %v", len(page.Items), err)
	}
}

func TestFleetIsCarriedOut(t *testing.T) {
	y := newYard(t, 5)
	f := y.start(nil)
	if f.State != gitops.FleetRunning || f.Wave != 1 {
		t.Fatalf("%+v", f)
	}
	want := []struct{ wave, open, all int }{{1, 1, 1}, {2, 3, 4}, {3, 1, 5}}
	for _, w := range want {
		f = y.drive(f.ID)
		f = y.drive(f.ID)
		if open, all := y.count(); f.Wave != w.wave || open != w.open || all != w.all || f.Counts.Open != w.open {
			t.Fatalf("wave %d: %d open of %d: %+v", w.wave, open, all, f)
		}
		if want := fmt.Sprintf("Wave %d waits for %d to be reviewed and merged.", w.wave, w.open); f.Next != want {
			t.Errorf("%q", f.Next)
		}
		y.end(gitops.PullMerged)
	}
	if f = y.drive(f.ID); f.State != gitops.FleetDone || f.Counts.Done != 5 || f.EndedAt.IsZero() {
		t.Fatalf("%+v", f)
	}
	if !strings.Contains(y.opened[3].Body, "fleet `"+f.ID+"`, wave 2") {
		t.Error(y.opened[3].Body)
	}
	acts := map[string]int{}
	for _, e := range y.log.Entries() {
		acts[e.Operation+" "+e.Subject+" "+e.Agent+" "+string(e.Status)]++
	}
	if acts["start_fleet user:default/alice claude ok"] != 1 || acts["propose_change user:default/alice claude ok"] != 5 || len(acts) != 2 {
		t.Errorf("recorded %v", acts)
	}
}

func TestFleetStops(t *testing.T) {
	y := newYard(t, 5)
	f := y.start(nil)
	f = y.drive(f.ID)
	y.end(gitops.PullClosed)
	f = y.drive(f.ID)
	if _, all := y.count(); f.State != gitops.FleetStopped || all != 1 || f.Counts.Failed != 1 || !strings.Contains(f.Why, "s000") || !strings.Contains(f.Failing[0].Reason, "closed") {
		t.Fatalf("%d: %+v", all, f)
	}
	// Started again it stops again, unless so many may fail.
	if _, err := y.StartFleet(t.Context(), captain, gitops.StartFleetInput{ID: f.ID}); err != nil {
		t.Fatal(err)
	}
	if f = y.drive(f.ID); f.State != gitops.FleetStopped {
		t.Fatalf("%+v", f)
	}
	if _, err := y.StartFleet(t.Context(), captain, gitops.StartFleetInput{ID: f.ID, MaxFailures: 1}); err != nil {
		t.Fatal(err)
	}
	y.drive(f.ID)
	if f = y.drive(f.ID); f.State != gitops.FleetRunning || f.Wave != 2 || f.Counts.Open != 3 {
		t.Fatalf("%+v", f)
	}
	// Who has lost their token goes on with nothing.
	y.end(gitops.PullMerged)
	y.out = true
	if f = y.drive(f.ID); f.State != gitops.FleetStopped || !strings.Contains(f.Why, "is gone") {
		t.Fatalf("%+v", f)
	}
	y.out = false
	if _, err := y.StartFleet(t.Context(), captain, gitops.StartFleetInput{ID: f.ID}); err != nil {
		t.Fatal(err)
	}
	// What has changed since the plan is not changed otherwise.
	y.files["s004/kustomization.yaml"] = "images:\n- {name: acme/web, newTag: v1.9}\n"
	if f = y.drive(f.ID); f.State != gitops.FleetStopped || f.Counts.Failed != 2 || !strings.Contains(f.Failing[1].Reason, "when the fleet was planned") {
		t.Fatalf("%+v", f)
	}
	f, err := y.StopFleet(t.Context(), captain, gitops.StopFleetInput{ID: f.ID, Cancel: true, Reason: "enough"})
	if err != nil || f.State != gitops.FleetCancelled || f.Why != "by claude for user:default/alice: enough" {
		t.Fatalf("%+v %v", f, err)
	}
	if _, err := y.StartFleet(t.Context(), captain, gitops.StartFleetInput{ID: f.ID}); fault.CodeOf(err) != fault.FailedPrecondition {
		t.Errorf("what is cancelled begins: %v", err)
	}
}

// TestFleetNeedsAgreement has one approval of the whole count for each service
// that the same rule guards.
func TestFleetNeedsAgreement(t *testing.T) {
	y := newYard(t, 3)
	f := y.plan(func(in *gitops.PlanFleetInput) { in.Environment = "live" })
	if !strings.Contains(f.Next, "role:sre") {
		t.Errorf("%+v", f)
	}
	_, err := y.StartFleet(t.Context(), captain, gitops.StartFleetInput{ID: f.ID})
	if fault.CodeOf(err) != fault.ApprovalRequired {
		t.Fatalf("%v", err)
	}
	grant := func(err error) {
		t.Helper()
		id, _ := fault.From(err).Details["approval"].(string)
		if _, err := y.approvals.DecideApproval(t.Context(), access.ApprovalDecision{ID: id, State: access.ApprovalGranted, By: "user:default/sre", At: time.Now()}); err != nil {
			t.Fatal(err)
		}
	}
	grant(err)
	if _, err := y.StartFleet(t.Context(), captain, gitops.StartFleetInput{ID: f.ID}); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		y.drive(f.ID)
		y.end(gitops.PullMerged)
		f = y.drive(f.ID)
		y.end(gitops.PullMerged)
	}
	if f.State != gitops.FleetDone || f.Counts.Done != 3 {
		t.Fatalf("%+v", f)
	}
	for _, e := range y.log.Entries() {
		if e.Approval == "" {
			t.Errorf("without the approval: %+v", e)
		}
	}
}

// TestFleetWaitsForOne has one service ask for an approval of its own.
func TestFleetWaitsForOne(t *testing.T) {
	y := newYardOf(t, 3, yardRules+"  - {name: one, effect: approval, who: {subjects: [\"*\"]}, actions: [gitops.propose], on: {refs: [component:default/s001]}, approval: {by: {roles: [sre]}}}\n")
	f := y.start(func(in *gitops.PlanFleetInput) { in.Waves = []string{"100%"} })
	y.drive(f.ID)
	y.end(gitops.PullMerged)
	for range 3 {
		f = y.drive(f.ID)
	}
	if f.State != gitops.FleetRunning || f.Counts.Approval != 1 || f.Counts.Done != 2 || f.Next != "Wave 1 waits for 1 to be approved." || !strings.Contains(f.Failing[0].Fix, "fairlead approvals grant") {
		t.Fatalf("%+v", f)
	}
	waiting, err := y.approvals.ListApprovals(t.Context(), access.ApprovalQuery{Limit: 10, Now: time.Now()})
	if err != nil || len(waiting) != 1 {
		t.Fatalf("%+v %v", waiting, err)
	}
	if _, err := y.approvals.DecideApproval(t.Context(), access.ApprovalDecision{ID: waiting[0].ID, State: access.ApprovalGranted, By: "user:default/sre", At: time.Now()}); err != nil {
		t.Fatal(err)
	}
	y.drive(f.ID)
	y.end(gitops.PullMerged)
	if f = y.drive(f.ID); f.State != gitops.FleetDone {
		t.Fatalf("%+v", f)
	}
}

func TestFleetsAreRefused(t *testing.T) {
	y := newYard(t, 2)
	for what, c := range map[string]struct {
		more func(*gitops.PlanFleetInput)
		code fault.Code
	}{
		"no query":    {func(in *gitops.PlanFleetInput) { in.Query = nil }, fault.Invalid},
		"no reason":   {func(in *gitops.PlanFleetInput) { in.Reason = " " }, fault.Invalid},
		"no change":   {func(in *gitops.PlanFleetInput) { in.Change = gitops.Change{} }, fault.Invalid},
		"no size":     {func(in *gitops.PlanFleetInput) { in.Waves = []string{"0"} }, fault.Invalid},
		"percents":    {func(in *gitops.PlanFleetInput) { in.Waves = []string{"101%"} }, fault.Invalid},
		"no until":    {func(in *gitops.PlanFleetInput) { in.Until = "then" }, fault.Invalid},
		"a bad query": {func(in *gitops.PlanFleetInput) { in.Query = []string{"=x"} }, fault.Invalid},
		"nobody":      {func(in *gitops.PlanFleetInput) { in.Query = []string{"metadata.name=nobody"} }, fault.NotFound},
	} {
		if _, err := y.PlanFleet(t.Context(), captain, wish(c.more)); fault.CodeOf(err) != c.code {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := y.PlanFleet(t.Context(), accesstest.As("eve"), wish(nil)); fault.CodeOf(err) != fault.Forbidden {
		t.Errorf("who owns nothing plans: %v", err)
	}
	for n := range 21 {
		_, err := y.PlanFleet(t.Context(), accesstest.As("often", accesstest.Groups("team")), wish(nil))
		if (fault.CodeOf(err) == fault.QuotaExceeded) != (n == 20) {
			t.Errorf("plan %d: %v", n, err)
		}
	}
	f := y.plan(nil)
	if _, err := y.StartFleet(t.Context(), accesstest.As("eve"), gitops.StartFleetInput{ID: f.ID}); fault.CodeOf(err) != fault.Forbidden {
		t.Errorf("another starts it: %v", err)
	}
	if _, err := y.StartFleet(t.Context(), captain, gitops.StartFleetInput{ID: f.ID, PlanHash: "sha256:0"}); fault.CodeOf(err) != fault.Conflict {
		t.Errorf("another plan: %v", err)
	}
	if _, err := y.StopFleet(t.Context(), accesstest.As("eve"), gitops.StopFleetInput{ID: f.ID, Cancel: true}); fault.CodeOf(err) != fault.Forbidden {
		t.Errorf("another ends it: %v", err)
	}
	if _, err := y.StopFleet(t.Context(), captain, gitops.StopFleetInput{ID: f.ID}); fault.CodeOf(err) != fault.FailedPrecondition {
		t.Errorf("what does not run is paused: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := y.PlanFleet(ctx, captain, wish(nil)); err == nil {
		t.Error("planned after it was called off")
	}
}
