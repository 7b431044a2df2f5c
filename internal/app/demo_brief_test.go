package app

import (
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/catalog"
)

// Two services of the demo declare nothing for agents: what is known of them
// is found in their files, and that AGENTS.md and CI disagree is told.
func TestDemoShowsInference(t *testing.T) {
	s := startDemo(t)
	s.awaitFollowed() // the services' own files, and the deploy repository's
	b := s.brief("notifications")
	if c := b.Commands; c == nil || c.Test == nil || c.Test.Source.Path != ".gitea/workflows/ci.yaml" || c.Test.Value != "pnpm run test:ci" || c.Test.Kind != catalog.Inferred || len(c.Test.Disagrees) != 1 || c.Test.Disagrees[0] != "AGENTS.md:5 says `npm test`" {
		t.Fatalf("commands: %+v", c)
	}
	for _, name := range []string{"notifications", "inventory", "checkout"} {
		b := s.brief(name)
		if c := b.Commands; c == nil || c.TestOne == nil || c.TestOne.Value != "make test TEST=health" || c.Build == nil || c.Lint == nil || c.Run == nil || c.Setup == nil {
			t.Errorf("%s: commands: %+v", name, c)
		}
		if b.Owner == nil || b.Owner.Disagrees != nil || len(b.SLOs) != 1 || len(b.Environments) != 2 || b.DeployRepo == nil || len(b.Rules) != 1 || len(b.Problems) != 0 {
			t.Errorf("%s: %s", name, b.Text())
		}
		if n := len(b.Text()) / 4; n > 1200 || b.Omitted != nil {
			t.Errorf("%s: %d tokens, omitted %v", name, n, b.Omitted)
		}
	}
	runbooks := s.brief("inventory").Runbooks
	if len(runbooks) != 2 || runbooks[0].Value != "https://runbooks.shop.test/inventory/slow" || runbooks[0].Name != "InventorySlow" || runbooks[1].Value != "docs/runbooks/slow.md" {
		t.Errorf("runbooks: %+v", runbooks)
	}
	var c catalog.Coverage
	s.send("developer", "GET", "/api/v1/coverage?missing=oncall", "").decode(t, &c)
	if c.Total != 2 || len(c.Items[0].Add) != 1 || !strings.HasPrefix(c.Items[0].Add[0].Lines, "    oncall:") || c.All.Percent < 95 {
		t.Errorf("coverage: %+v", c)
	}
}

// The demo takes changes without a forge, and says what it would need for the
// rest.
func TestDemoTakesChanges(t *testing.T) {
	s := startDemo(t)
	code, out := s.cli("developer", "change", "propose", "checkout", "staging", "--image", "1.5.0", "--reason", "the fix for orders")
	if code != 0 || !strings.Contains(out, "pushed") || !strings.Contains(out, `+    newTag: "1.5.0"`) {
		t.Errorf("a change: %d %s", code, out)
	}
	if branches := s.asked("deploy", "branch", "--list", "fairlead/change-*"); branches == "" {
		t.Error("there is no branch in the deploy repository")
	}
	for section, args := range map[string][]string{
		"the section argocd": {"health", "checkout", "staging"},
		"the section vault":  {"creds", "request", "checkout", "db-readonly"},
	} {
		if code, out := s.cli("developer", args...); code != 1 || !strings.Contains(out, section) {
			t.Errorf("%q: %d %s", args, code, out)
		}
	}
}
