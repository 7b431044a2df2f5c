package app

import (
	"encoding/json"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/gitops"
	"github.com/fairlead-dev/fairlead/gitops/gitopstest"
	"github.com/fairlead-dev/fairlead/internal/demo"
)

// TestRollbackStory has an agent deploy a bad image and take it back, by MCP,
// under the policies that the documentation gives to start from.
func TestRollbackStory(t *testing.T) {
	dir := t.TempDir()
	set, err := demo.Prepare(t.Context(), dir, "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "changes.rego"), readFile(t, filepath.Join("..", "..", "docs", "policy", "changes.rego")))
	write(t, filepath.Join(dir, "config.yaml"), "registries: [registry.shop.test/]\nfreezes: []\nexempt: [sre]\n")
	write(t, set.Config, withoutPreviews(readFile(t, set.Config))+"proposals: {}\npolicy: {rego: "+dir+"}\n"+argoSection)
	argo := gitopstest.NewFake("checkout", strings.Repeat("a", 40), "registry.shop.test/checkout:0")
	s := &server{t: t, dir: dir, tokens: set.Tokens, argo: fakeArgo(argo)}
	good := s.asked("deploy", "rev-parse", "main")
	argo.Set(func(st gitopstest.State) { st.App.History = nil })
	argo.Deploy(good, "registry.shop.test/checkout:1.4.0")
	s.start(set.Config)
	s.await("what is there is written down", func() bool {
		all, err := s.app.store.Deployed(t.Context(), "component:default/checkout", "production", 5)
		return err == nil && len(all) == 1 && !all[0].HealthyAt.IsZero()
	})
	const file = "apps/checkout/overlays/production/kustomization.yaml"
	was := s.asked("deploy", "show", "main:"+file)
	s.commit("deploy", file, strings.Replace(was, `"1.4.0"`, `"1.5.0"`, 1)+"\n")
	bad := s.asked("deploy", "rev-parse", "main")
	argo.Deploy(bad, "registry.shop.test/checkout:1.5.0")
	argo.Set(func(st gitopstest.State) { st.App.History[1].At = st.App.History[1].At.Add(1e9) })
	argo.Break("CrashLoopBackOff")

	args := map[string]any{"service": "checkout", "environment": "production", "reason": "orders fail", "dry_run": true}
	var dry, p gitops.Proposal
	a := s.tool("agent", "propose_rollback", args)
	if a.IsError || json.Unmarshal(a.StructuredContent, &dry) != nil || dry.State != gitops.Planned || !strings.Contains(dry.Plan.Diff, "-    newTag: \"1.5.0\"\n+    newTag: \"1.4.0\"\n") || strings.Contains(a.raw, "policy would refuse") {
		t.Fatalf("tried: %s", a.raw)
	}
	// Production is protected, and people agree first.
	delete(args, "dry_run")
	if a = s.tool("agent", "propose_rollback", args); !a.IsError || !strings.Contains(a.raw, "approval_required") {
		t.Fatalf("without approval: %s", a.raw)
	}
	var refusal struct {
		Details struct{ Approval string }
	}
	if err := json.Unmarshal(a.StructuredContent, &refusal); err != nil || refusal.Details.Approval == "" {
		t.Fatalf("no request for approval: %s", a.raw)
	}
	if g := s.send("sre", http.MethodPost, "/api/v1/approvals/"+refusal.Details.Approval+"/grant", `{"reason":"it is broken"}`); g.status != http.StatusOK {
		t.Fatalf("granting: %d %s", g.status, g.body)
	}
	// What is wrong is told in other words by now, and it is the same plan.
	argo.Break("Back-off restarting failed container")
	if a = s.tool("agent", "propose_rollback", args); a.IsError || json.Unmarshal(a.StructuredContent, &p) != nil || p.State != gitops.Pushed || p.Plan.Hash != dry.Plan.Hash {
		t.Fatalf("with approval: %s", a.raw)
	}
	if s.asked("deploy", "rev-parse", p.Branch+":apps/checkout/overlays/production") != s.asked("deploy", "rev-parse", good+":apps/checkout/overlays/production") {
		t.Error("the folder is not what it was")
	}
	if a := s.send("sre", http.MethodPost, "/api/v1/rollbacks", `{"service":"checkout","environment":"production","reason":"orders fail","dryRun":true}`); a.status != http.StatusOK || !strings.Contains(a.body, `"kind":"rollback"`) {
		t.Errorf("by REST: %d %s", a.status, a.body)
	}
	code, out := s.cli("developer", "change", "rollback", "checkout", "production", "--reason", "orders fail", "--dry-run", "-o", "json")
	if code != 0 || json.Unmarshal([]byte(out), &p) != nil || p.Plan.Hash != dry.Plan.Hash || !strings.Contains(strings.Join(p.Evidence, "\n"), "degraded") {
		t.Errorf("by the command line: %d %s", code, out)
	}
}
