package app

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/catalog"
)

func (s *server) brief(service string) catalog.Brief {
	s.t.Helper()
	var b catalog.Brief
	a := s.send("developer", http.MethodGet, "/api/v1/brief?max_tokens=8000&service="+service, "")
	a.decode(s.t, &b)
	return b
}

// undeclare takes everything that is for Fairlead out of a catalog file.
func undeclare(file string) string {
	before, rest, _ := strings.Cut(file, "  fairlead:\n")
	_, after, _ := strings.Cut(rest, "---\n")
	return before + "---\n" + after
}

// What nobody declares is found in the service's own repository and in the
// deploy repository, with its place; what is declared is held against it.
func TestBriefIsInferred(t *testing.T) {
	s := startDemo(t)
	s.awaitFollowed() // the deploy repository, too
	if err := os.MkdirAll(s.repo("fraud", ".github", "workflows"), 0o755); err != nil {
		t.Fatal(err)
	}
	s.commit("fraud", ".github/workflows/ci.yml", "on: push\njobs:\n  test:\n    steps:\n      - run: make deps test\n")
	s.commit("fraud", "CODEOWNERS", "* @shop/risk\n")
	s.commit("fraud", "catalog-info.yaml", undeclare(readFile(t, s.repo("fraud", "catalog-info.yaml"))))
	s.reread("fraud")
	s.await("the workflow is followed", func() bool {
		c := s.brief("fraud").Commands
		return c != nil && c.Test != nil && c.Test.Source.Path == ".github/workflows/ci.yml"
	})
	b := s.brief("fraud")
	if c := b.Commands; c.Test.Value != "make deps test" || c.Test.Source.Line != 5 || c.Test.Kind != catalog.Inferred ||
		c.Build.Value != "make build" || c.Build.Source.Path != "AGENTS.md" || c.Run.Value != "make run" || c.Run.Source.Path != "Makefile" {
		t.Errorf("commands: %+v %+v %+v", c.Test, c.Build, c.Run)
	}
	if len(b.Rules) != 1 || b.Rules[0].Value != "AGENTS.md" {
		t.Errorf("rules: %+v", b.Rules)
	}
	if b.Owner == nil || len(b.Owner.Disagrees) != 1 || b.Owner.Disagrees[0] != "CODEOWNERS:1 says @shop/risk" {
		t.Errorf("owner: %+v", b.Owner)
	}
	if b.DeployRepo == nil || !strings.HasSuffix(b.DeployRepo.Value, "/deploy") || len(b.Environments) != 2 || b.Environments[0].Path != "apps/fraud/overlays/production" {
		t.Errorf("deployment: %+v %+v", b.DeployRepo, b.Environments)
	}
	if len(b.SLOs) != 1 || b.SLOs[0].Value != "99.9% over 28d: Fraud check availability" || b.SLOs[0].Source.Path != "slo/fraud.yaml" {
		t.Errorf("SLOs: %+v", b.SLOs)
	}
	if len(b.Runbooks) == 0 || !strings.HasPrefix(b.Runbooks[0].Value, "docs/runbooks/") {
		t.Errorf("runbooks: %+v", b.Runbooks)
	}
	for door, text := range map[string]string{
		"mcp":     s.tool("agent", "get_service_brief", map[string]any{"service": "fraud"}).Content[0].Text,
		"graphql": s.graph("developer", `{ serviceBrief(service: "fraud") { commands { test { value kind disagrees stale } } } }`).body,
	} {
		if !strings.Contains(text, "make deps test") {
			t.Errorf("%s does not show the test command: %s", door, text)
		}
	}
}

// A changed target of the Makefile makes a command stale at the next refresh,
// as every door and the command line tell it.
func TestChangedTargetMakesStale(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	s := startDemo(t)
	s.await("the Makefile is followed", func() bool { return len(s.brief("ledger").Rules) == 1 })
	const mark = "Makefile has no target test"
	if f := s.brief("ledger").Commands.Test; f.Stale != "" || f.Kind != catalog.Declared {
		t.Fatalf("stale already: %+v", f)
	}
	good := readFile(t, s.repo("ledger", "Makefile"))
	s.commit("ledger", "Makefile", strings.ReplaceAll(good, "test:", "check:"))
	s.reread("ledger")
	if f := s.brief("ledger").Commands.Test; f.Stale != mark || f.Value != "make test" {
		t.Errorf("at the next refresh the command is %+v", f)
	}
	for door, said := range s.briefs("ledger") {
		if !strings.Contains(said, mark) {
			t.Errorf("%s does not tell: %s", door, said)
		}
	}
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	s.start(filepath.Join(s.dir, "fairlead.yaml"))
	if f := s.brief("ledger").Commands.Test; f.Stale != mark {
		t.Error("a restart forgets what was found")
	}
	s.commit("ledger", "Makefile", good)
	s.reread("ledger")
	for door, said := range s.briefs("ledger") {
		if strings.Contains(said, mark) {
			t.Errorf("%s does not forget it: %s", door, said)
		}
	}
}

// briefs are what the doors and the command line say of the commands of a
// service.
func (s *server) briefs(service string) map[string]string {
	s.t.Helper()
	mcp := s.tool("agent", "get_service_brief", map[string]any{"service": service, "sections": []string{"commands"}})
	out := map[string]string{
		"mcp":     string(mcp.StructuredContent),
		"graphql": s.graph("developer", `{ serviceBrief(service: "`+service+`") { commands { test { value stale } } } }`).body,
	}
	for _, c := range mcp.Content {
		out["mcp text"] += c.Text
	}
	for form, args := range map[string][]string{"command line": nil, "command line, JSON": {"-o", "json"}, "hook": {"hook"}} {
		if form == "hook" {
			args = []string{"hook", "session-start", "--format", "text", "--within", "1m", "--repo", s.repo(service)}
		} else {
			args = append([]string{"brief", service}, args...)
		}
		code, said := s.cli("developer", args...)
		if code != 0 {
			s.t.Errorf("fairlead %q ends with %d: %s", args, code, said)
		}
		out[form] = said
	}
	return out
}
