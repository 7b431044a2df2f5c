package app

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/gitops"
)

const (
	checkoutStaging = "apps/checkout/overlays/staging/kustomization.yaml"
	aDigest         = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
)

// startChanges serves the demo with the room of proposals, no forge, and the
// policies that the documentation gives to start from.
func startChanges(t *testing.T, with ...func(*server)) *server {
	t.Helper()
	s, set := newDemo(t, "127.0.0.1:0")
	policy := filepath.Join(s.dir, "policy")
	if err := os.Mkdir(policy, 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(policy, "changes.rego"), readFile(t, filepath.Join("..", "..", "docs", "policy", "changes.rego")))
	write(t, filepath.Join(policy, "config.yaml"), "registries: [registry.shop.test/]\nfreezes: []\nexempt: [sre]\n")
	write(t, set.Config, withoutPreviews(readFile(t, set.Config))+"proposals: {}\npolicy: {rego: ./policy}\n")
	for _, more := range with {
		more(s)
	}
	s.start(set.Config)
	return s
}

// change proposes a change as the agent, by MCP.
func (s *server) change(args map[string]any) (p gitops.Proposal, a toolResult) {
	s.t.Helper()
	a = s.tool("agent", "propose_change", args)
	if !a.IsError && json.Unmarshal(a.StructuredContent, &p) != nil {
		s.t.Fatalf("proposing: %s", a.raw)
	}
	return p, a
}

// newTag asks for a new image of checkout in staging.
func newTag(tag string, more map[string]any) map[string]any {
	args := map[string]any{"service": "checkout", "environment": "staging", "reason": "The fix for orders.", "change": map[string]any{"image": map[string]any{"tag": tag}}}
	for k, v := range more {
		args[k] = v
	}
	return args
}

func TestChangeStory(t *testing.T) {
	s := startChanges(t)
	before := s.asked("deploy", "show", "main:"+checkoutStaging)
	dry, a := s.change(newTag("1.5.0", map[string]any{"dry_run": true}))
	if dry.State != gitops.Planned || dry.ID != "" || len(dry.Notes) > 0 || !strings.Contains(dry.Plan.Diff, "-    newTag: \"1.4.0\"\n+    newTag: \"1.5.0\"\n") || s.asked("deploy", "branch", "--list", "fairlead/*") != "" {
		t.Fatalf("tried: %s", a.raw)
	}
	p, a := s.change(newTag("1.5.0", map[string]any{"evidence": "tests: https://ci.test/7"}))
	if p.State != gitops.Pushed || p.Plan.Hash != dry.Plan.Hash || p.Title != "checkout: registry.shop.test/checkout 1.5.0 in staging" || p.Kind != "change" || strings.Join(p.Paths, " ") != checkoutStaging {
		t.Fatalf("proposed: %s", a.raw)
	}
	if got, want := s.asked("deploy", "show", p.Branch+":"+checkoutStaging), strings.Replace(before, `"1.4.0"`, `"1.5.0"`, 1); got != want {
		t.Errorf("the file is\n%s", got)
	}
	said := s.asked("deploy", "log", "-1", "--format=%an|%cn|%B", p.Branch)
	for _, want := range []string{"|Fairlead|checkout: registry.shop.test/checkout 1.5.0 in staging\n\nThe fix for orders.\n", "Co-authored-by: ", "Fairlead-Proposal: " + p.ID, "Fairlead-Audit: "} {
		if !strings.Contains(said, want) {
			t.Errorf("%q is not in the commit: %s", want, said)
		}
	}
	base := s.asked("deploy", "rev-parse", "main")
	if again, a := s.change(newTag("1.5.0", nil)); again.ID != p.ID || s.asked("deploy", "rev-list", "--count", base+".."+p.Branch) != "1" {
		t.Errorf("asked again: %s", a.raw)
	}
	s.commit("deploy", "NEWS.md", "The base moves.\n")
	if newer, a := s.change(newTag("1.6.0", nil)); newer.ID != p.ID || s.asked("deploy", "rev-parse", p.Branch+"^") != s.asked("deploy", "rev-parse", "main") || !strings.Contains(newer.Plan.Diff, `"1.6.0"`) {
		t.Errorf("brought up to date: %s", a.raw)
	}
	if same, a := s.change(newTag("1.4.0", map[string]any{"reason": "as it is"})); same.State != gitops.Unchanged || same.ID != "" {
		t.Errorf("what is so already: %s", a.raw)
	}

	// Somebody else wants something else of the same.
	body := `{"service":"checkout","environment":"staging","reason":"another","change":{"image":{"name":"registry.shop.test/checkout","tag":"1.7.0"}}}`
	if a := s.send("sre", http.MethodPost, "/api/v1/proposals", body); a.status != http.StatusConflict || !strings.Contains(a.body, p.ID) {
		t.Errorf("two at once: %d %s", a.status, a.body)
	}
	s.asked("deploy", "update-ref", "-d", "refs/heads/"+p.Branch)
	var other gitops.Proposal
	s.send("sre", http.MethodPost, "/api/v1/proposals", body).decode(t, &other)
	if other.State != gitops.Pushed || other.ID == p.ID {
		t.Errorf("once the branch is gone: %+v", other)
	}
	replicas := s.graph("sre", `mutation { proposeChange(service: "checkout", environment: "staging", reason: "load", change: {set: [{path: "namePrefix", value: "x-"}]}) { id state plan { diff } } }`)
	if !strings.Contains(replicas.body, "+namePrefix: x-") || !strings.Contains(replicas.body, `"pushed"`) {
		t.Errorf("by GraphQL: %s", replicas.body)
	}
	s.asked("deploy", "fsck", "--strict")
}

func TestChangesAreRefused(t *testing.T) {
	s := startChanges(t)
	write(t, filepath.Join(s.repo("deploy"), "apps", "cart", "overlays", "staging", "values.yaml"), "a: 1\n")
	s.asked("deploy", "add", ".")
	s.commit("deploy", "apps/cart/overlays/staging/other.yaml", "a: 1\n")
	image := func(of map[string]any) map[string]any { return map[string]any{"change": map[string]any{"image": of}} }
	set := func(of ...map[string]any) map[string]any { return map[string]any{"change": map[string]any{"set": of}} }
	production := map[string]any{"environment": "production", "change": map[string]any{"image": map[string]any{"tag": "1.5.0", "digest": aDigest}}}
	for what, c := range map[string]struct {
		more map[string]any
		want string
	}{
		"no environment":      {map[string]any{"environment": "moon"}, "There is staging, production."},
		"no service":          {map[string]any{"service": "nobody"}, "not_found"},
		"no reason":           {map[string]any{"reason": " "}, "reason is empty"},
		"nothing":             {map[string]any{"change": map[string]any{}}, "says 0 things"},
		"two things":          {map[string]any{"change": map[string]any{"replicas": 1, "image": map[string]any{"tag": "1"}}}, "says 2 things"},
		"an unknown thing":    {map[string]any{"change": map[string]any{"imag": 1}}, "change"},
		"no version":          {image(map[string]any{"name": "x"}), "neither tag nor digest"},
		"another image":       {image(map[string]any{"name": "evil.test/checkout2", "tag": "1"}), "has no image evil.test/checkout2"},
		"no tag":              {image(map[string]any{"tag": "a b"}), "is no tag"},
		"no digest":           {image(map[string]any{"digest": "sha256:1"}), "is no digest"},
		"another registry":    {set(map[string]any{"path": "images[0].newName", "value": "evil.test/checkout"}), "evil.test/checkout comes from a registry"},
		"a downgrade":         {image(map[string]any{"tag": "1.3.0"}), "goes back from 1.4.0 to 1.3.0"},
		"replicas of nothing": {map[string]any{"service": "cart", "change": map[string]any{"replicas": 3, "file": "other.yaml"}}, "nowhere how many replicas"},
		"outside":             {set(map[string]any{"file": "../production/kustomization.yaml", "path": "a", "value": "b"}), "is no path within"},
		"a file not there":    {set(map[string]any{"file": "none.yaml", "path": "a", "value": "b"}), "there is no file"},
		"several files":       {map[string]any{"service": "cart", "change": map[string]any{"set": []any{map[string]any{"path": "a", "value": 2}}}}, "kustomization.yaml, other.yaml, values.yaml"},
		"a list":              {set(map[string]any{"path": "a", "value": []string{"b"}}), "value is no text"},
		"no evidence":         {production, "production is protected, and nothing shows"},
	} {
		_, a := s.change(newTag("1.5.0", c.more))
		if !a.IsError || !strings.Contains(a.raw, c.want) {
			t.Errorf("%s: %s", what, a.raw)
		}
	}
	production["dry_run"] = true
	if p, a := s.change(newTag("", production)); p.State != gitops.Planned || len(p.Notes) != 2 || !strings.Contains(a.raw, "policy would refuse it: production is protected") || !strings.Contains(a.raw, "needs the approval of") {
		t.Errorf("tried: %s", a.raw)
	}
	delete(production, "dry_run")
	production["evidence"] = []string{"tests: https://ci.test/7"}
	if _, a := s.change(newTag("", production)); !a.IsError || !strings.Contains(a.raw, "approval_required") {
		t.Errorf("with evidence: %s", a.raw)
	}
	if out := s.asked("deploy", "branch", "--list", "fairlead/*"); out != "" {
		t.Errorf("there are branches: %s", out)
	}
	if code, out := s.cli("developer", "change", "propose", "checkout", "staging", "--image", "1.5.0", "--reason", "the fix", "--dry-run"); code != 0 || !strings.Contains(out, "1.5.0") {
		t.Errorf("by the command line: %d %s", code, out)
	}
}

// TestToolsFit holds the list of tools of a server with previews and proposals
// to what agents are promised, in tokens of four bytes.
func TestToolsFit(t *testing.T) {
	s := startDemo(t)
	body := `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"test","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`
	a := s.send("agent", http.MethodPost, "/mcp", body, "Accept", "application/json, text/event-stream", "MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/list")
	for _, tool := range []string{"propose_change", "create_preview_environment", "get_service_brief"} {
		if !strings.Contains(a.body, `"name":"`+tool+`"`) {
			t.Errorf("%s is not listed: %.300s", tool, a.body)
		}
	}
	t.Logf("the list of tools takes %d tokens", len(a.body)/4)
	if n := len(a.body) / 4; n > 6000 {
		t.Errorf("the list of tools takes %d tokens, more than 6000", n)
	}
}
