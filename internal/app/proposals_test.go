package app

import (
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/gitops"
	"github.com/fairlead-dev/fairlead/knowledge"
)

// startProposals serves the demo with the room of proposals, and no forge.
func startProposals(t *testing.T) *server {
	t.Helper()
	s, set := newDemo(t, "127.0.0.1:0")
	config := withoutPreviews(readFile(t, set.Config)) + "proposals: {}\n"
	if err := os.WriteFile(set.Config, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	s.start(set.Config)
	return s
}

// asked is what git says in one of the demo's repositories.
func (s *server) asked(repo string, args ...string) string {
	s.t.Helper()
	out, err := exec.CommandContext(s.t.Context(), "git", append([]string{"-C", s.repo(repo)}, args...)...).CombinedOutput()
	if err != nil {
		s.t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// propose proposes an answer as the agent, by MCP.
func (s *server) propose(args map[string]any) (p knowledge.ProposedDocument) {
	s.t.Helper()
	a := s.tool("agent", "propose_answer", args)
	if a.IsError || json.Unmarshal(a.StructuredContent, &p) != nil {
		s.t.Fatalf("proposing: %s", a.raw)
	}
	return p
}

func restartAnswer(more map[string]any) map[string]any {
	args := map[string]any{"question": "How is checkout restarted without losing carts?", "answer": "Drain it first:\n\n```sh\nmake drain\n```\n\nThen roll the pods.", "applies_to": []string{"checkout"},
		"verify_command": "make drain-check", "reason": "Asked in every incident.", "evidence": []string{"drained on staging"}}
	for k, v := range more {
		args[k] = v
	}
	return args
}

func TestAnswerStoryWithoutAForge(t *testing.T) {
	s := startProposals(t)
	base := s.asked("checkout", "rev-parse", "main")
	dry := s.propose(restartAnswer(map[string]any{"dry_run": true}))
	if dry.State != gitops.Planned || dry.ID != "" || !strings.Contains(dry.Plan.Diff, "+verifyCommand: make drain-check") || s.asked("checkout", "branch", "--list", "fairlead/*") != "" {
		t.Errorf("tried: %+v", dry)
	}
	p := s.propose(restartAnswer(nil))
	if p.State != gitops.Pushed || p.Path != "docs/answers/how-is-checkout-restarted-without-losing-carts.md" || p.Base != "main" || p.Plan.Hash != dry.Plan.Hash {
		t.Fatalf("proposed %+v", p)
	}
	said := s.asked("checkout", "log", "-1", "--format=%an <%ae>|%cn|%P|%B", p.Branch)
	for _, want := range []string{"|Fairlead|" + base + "|Answer: How is checkout restarted", "Asked in every incident.", "Co-authored-by: ", "Fairlead-Proposal: " + p.ID, "Fairlead-Audit: "} {
		if !strings.Contains(said, want) {
			t.Errorf("%q is not in the commit: %s", want, said)
		}
	}
	again := s.propose(restartAnswer(nil))
	if again.ID != p.ID || s.asked("checkout", "rev-list", "--count", base+".."+p.Branch) != "1" {
		t.Errorf("asked again: %+v", again)
	}
	s.commit("checkout", "NEWS.md", "The base moves.\n")
	better := s.propose(restartAnswer(map[string]any{"answer": "Just drain it."}))
	if better.ID != p.ID || s.asked("checkout", "rev-parse", p.Branch+"^") != s.asked("checkout", "rev-parse", "main") || !strings.Contains(s.asked("checkout", "show", p.Branch+":"+p.Path), "Just drain it.") {
		t.Errorf("brought up to date: %+v", better)
	}
	s.asked("checkout", "fsck", "--strict")

	for door, body := range map[string]string{
		"rest":    s.send("developer", http.MethodGet, "/api/v1/proposals/"+p.ID, "").body,
		"graphql": s.graph("developer", `{ proposal(id: "`+p.ID+`") { id state person agent plan { diff } paths } proposals(service: "checkout") { items { id } } }`).body,
		"mcp":     s.tool("agent", "get_proposal", map[string]any{"id": p.ID}).raw,
	} {
		if !strings.Contains(body, p.ID) || !strings.Contains(body, "Just drain it.") || !strings.Contains(body, gitops.Pushed) {
			t.Errorf("%s says %s", door, body)
		}
	}

	s.git("checkout", "merge", "-q", "--ff-only", p.Branch)
	s.reread("checkout")
	s.knows("restarted losing carts", p.Path, true)
	if same := s.propose(restartAnswer(map[string]any{"answer": "Just drain it."})); same.State != gitops.Unchanged || same.ID != "" {
		t.Errorf("of what is so already: %+v", same)
	}
	handle := "doc://checkout/" + p.Path
	var skill knowledge.ProposedDocument
	s.send("developer", http.MethodPost, "/api/v1/knowledge/skills", `{"handle":"`+handle+`","name":"restart-checkout","allowedTools":["Bash(make:*)"]}`).decode(t, &skill)
	text := s.asked("checkout", "show", skill.Branch+":skills/restart-checkout/SKILL.md")
	for _, want := range []string{"name: restart-checkout", "description: How is checkout restarted", "allowed-tools:", "- Bash(make:*)", "lastVerified:", "make drain-check", "Just drain it."} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in the skill:\n%s", want, text)
		}
	}

	newer := s.propose(map[string]any{"question": "How is checkout drained?", "answer": "By make drain.", "applies_to": []string{"checkout"}, "supersedes": handle})
	old := s.asked("checkout", "show", newer.Branch+":"+p.Path)
	if !strings.HasPrefix(old, "---\nsupersededBy: "+newer.Path+"\nquestion:") {
		t.Errorf("what is superseded:\n%s", old)
	}
}

func TestProposalsAreRefused(t *testing.T) {
	s := startProposals(t)
	s.knows("checkout slow", slowRunbook, true)
	for what, c := range map[string]struct {
		args map[string]any
		want string
	}{
		"a secret":       {map[string]any{"answer": "Fine.\n\nUse it:\nexport TOKEN=ghp_0123456789abcdef0123456789abcdef0123"}, "holds what looks like a secret"},
		"a key":          {map[string]any{"answer": "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----"}, "holds what looks like a secret"},
		"no question":    {map[string]any{"question": "?"}, "question is shorter"},
		"two lines":      {map[string]any{"question": "How?\nsupersededBy: x"}, "control characters"},
		"no answer":      {map[string]any{"answer": " \n"}, "answer is empty"},
		"a day gone":     {map[string]any{"expires": "2020-01-01"}, "no day to come"},
		"nobody":         {map[string]any{"applies_to": []string{"nobody"}}, "not_found"},
		"another's":      {map[string]any{"supersedes": slowRunbook}, "is no answer"},
		"no such handle": {map[string]any{"supersedes": "doc://cart/none.md"}, "there is no document"},
	} {
		a := s.tool("agent", "propose_answer", restartAnswer(c.args))
		if !a.IsError || !strings.Contains(a.raw, c.want) || strings.Contains(a.raw, "ghp_0123456789") {
			t.Errorf("%s: %s", what, a.raw)
		}
	}
	if a := s.send("developer", http.MethodPost, "/api/v1/knowledge/skills", `{"handle":"doc://checkout/docs/runbooks/slow.md"}`); a.status != http.StatusUnprocessableEntity || !strings.Contains(a.body, "is no answer") {
		t.Errorf("a runbook: %d %s", a.status, a.body)
	}
	if a := s.send("sre", http.MethodGet, "/api/v1/proposals", ""); !strings.Contains(a.body, `"items":[]`) {
		t.Errorf("there are %s", a.body)
	}
	if out := s.asked("checkout", "branch", "--list", "fairlead/*"); out != "" {
		t.Errorf("there are branches: %s", out)
	}
}
