package app

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/gitops"
)

// followFields is all that GraphQL tells of how a proposal went on.
const followFields = `id state environment next blocking { what detail since next } follow { merged mergedAt closedAt synced syncedAt healthy healthyAt degradedAt grounds
	rolledBack { at commit proposal } window { from until outcome grounds figures { name unit before after worse } } waits outcome endedAt }`

// keepProposal writes a proposal down as if it had come to be so.
func (s *server) keepProposal(r gitops.Record) {
	s.t.Helper()
	ctx := s.t.Context()
	begun := r
	begun.EndedAt = time.Time{}
	if _, err := s.app.store.AddProposal(ctx, begun); err != nil {
		s.t.Fatal(err)
	}
	if _, ok, err := s.app.store.ClaimProposal(ctx, r.ID, "test", time.Now(), time.Now().Add(time.Minute)); !ok || err != nil {
		s.t.Fatal(ok, err)
	}
	if err := s.app.store.SaveProposal(ctx, r, "test", true); err != nil {
		s.t.Fatal(err)
	}
}

// TestDoorsAgreeOnWhatFollowed has all doors tell the same of how a proposal
// went on, and of what is in its way; and who watches is told of it.
func TestDoorsAgreeOnWhatFollowed(t *testing.T) {
	s := startProposals(t)
	at := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	more, less := 3.5, 0.25
	base := gitops.Record{Kind: "change", Title: "checkout: 2", Service: "component:default/checkout", About: access.Attributes{Ref: "component:default/checkout"}, Environment: "production",
		Place: gitops.Place{Repository: "https://git.test/acme/deploy.git", Base: "main"}, Branch: "fairlead/x", Person: "user:default/ada", Agent: "claude", Paths: []string{"a.yaml"}, PlanHash: "sha256:1",
		CreatedAt: at, UpdatedAt: at, ChangedAt: time.Now()}
	ended, open := base, base
	ended.ID, ended.Key, ended.State, ended.EndedAt = "change-ended", "1", gitops.Merged, at
	ended.Follow = gitops.Follow{Merged: strings.Repeat("a", 40), MergedAt: at, Synced: strings.Repeat("b", 40), SyncedAt: at.Add(time.Second), Healthy: strings.Repeat("b", 40), HealthyAt: at.Add(time.Minute),
		DegradedAt: at.Add(2 * time.Minute), Grounds: []string{"Pod web-1 is Degraded"}, RolledBack: &gitops.RolledBack{At: at.Add(time.Hour), Commit: strings.Repeat("c", 40), Proposal: "change-other"},
		Window:  &gitops.Window{From: at, Until: at.Add(10 * time.Minute), Outcome: gitops.WindowRegressed, Grounds: []string{"restarts went from 0.25 to 3.5"}, Figures: []gitops.Figure{{Name: "restarts", Unit: "count", Before: &less, After: &more, Worse: true}, {Name: "error rate a", Unit: "ratio", After: &more}}},
		Outcome: gitops.OutcomeDegraded, EndedAt: at.Add(10 * time.Minute)}
	open.ID, open.Key, open.State = "change-open", "2", gitops.Open
	open.Pull = gitops.Pull{Number: 7, URL: "https://git.test/acme/deploy/pulls/7", State: gitops.PullOpen, Mergeable: gitops.MergeConflict, Rejected: []string{"rita"}, Checks: []gitops.Check{{Name: "lint", State: gitops.CheckFailed, URL: "https://ci.test/1"}}}
	open.Course = gitops.Course{Opened: at, Moved: at}
	open.CheckedAt = at
	told := s.subscribe("developer", `subscription { proposalChanged(service: "checkout") { id outcome degraded rolledBack blocking } }`)
	s.keepProposal(ended)
	s.keepProposal(open)
	for _, id := range []string{ended.ID, open.ID} {
		answers := map[string]gitops.Proposal{}
		var rest, mcp gitops.Proposal
		s.send("developer", http.MethodGet, "/api/v1/proposals/"+id, "").decode(t, &rest)
		a := s.tool("agent", "get_proposal", map[string]any{"id": id})
		if err := json.Unmarshal(a.StructuredContent, &mcp); err != nil {
			t.Fatalf("%v: %s", err, a.raw)
		}
		var graph struct {
			Data struct{ Proposal gitops.Proposal }
		}
		s.graph("developer", `{ proposal(id: "`+id+`") { `+followFields+` } }`).decode(t, &graph)
		answers["mcp"], answers["graphql"] = mcp, graph.Data.Proposal
		for door, got := range answers {
			for what, pair := range map[string][2]any{"follow": {rest.Follow, got.Follow}, "blocking": {rest.Blocking, got.Blocking}, "next": {rest.Next, got.Next}, "environment": {rest.Environment, got.Environment}, "state": {rest.State, got.State}} {
				if d := cmp.Diff(asJSON(t, pair[0]), asJSON(t, pair[1])); d != "" {
					t.Errorf("%s of %s by %s is not what REST says:\n%s", what, id, door, d)
				}
			}
		}
		if id == ended.ID {
			if d := cmp.Diff(ended.Follow, rest.Follow); d != "" {
				t.Errorf("what followed:\n%s", d)
			}
			for _, want := range []string{"degraded", "rolled back", "regressed", "change-other", "ended"} {
				if !strings.Contains(a.Content[0].Text, want) {
					t.Errorf("%q is not in\n%s", want, a.Content[0].Text)
				}
			}
			continue
		}
		var whats []string
		for _, b := range rest.Blocking {
			whats = append(whats, b.What)
		}
		if got := strings.Join(whats, " "); got != "forge conflict checks review stale" {
			t.Errorf("blocked by %s: %+v", got, rest.Blocking)
		}
	}
	seen := map[string]string{}
	s.await("who watches is told of both", func() bool {
		select {
		case c := <-told:
			for _, id := range []string{ended.ID, open.ID} {
				if strings.Contains(string(c), id) {
					seen[id] = string(c)
				}
			}
		default:
		}
		return len(seen) == 2
	})
	if !strings.Contains(seen[ended.ID], `"outcome":"degraded","degraded":true,"rolledBack":true`) || !strings.Contains(seen[open.ID], "failed: lint https://ci.test/1") {
		t.Errorf("told %q", seen)
	}
	if code, out := s.cli("developer", "change", "show", ended.ID); code != 0 || !strings.Contains(out, "restarts") || !strings.Contains(out, "0.25 → 3.5 count") || !strings.Contains(out, "Rolled back") {
		t.Errorf("by the command line: %d %s", code, out)
	}
	if code, out := s.cli("developer", "change", "show", ended.ID, "--watch"); code != 1 {
		t.Errorf("it ended badly: %d %s", code, out)
	}
}

// asJSON is a value as JSON.
func asJSON(t *testing.T, v any) string {
	t.Helper()
	out, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return strings.NewReplacer("[]", "null").Replace(string(out))
}
