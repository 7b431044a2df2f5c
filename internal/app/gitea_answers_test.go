package app

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/gitops"
	"github.com/fairlead-dev/fairlead/internal/realtest"
	"github.com/fairlead-dev/fairlead/knowledge"
)

// startWithGitea serves a catalog of one service at a real Gitea, where
// proposals go, too.
func startWithGitea(t *testing.T, f *realtest.Forge, org string, more ...string) *server {
	t.Helper()
	return startGitea(t, f, org, func(_, config string) string { return config + strings.Join(more, "") })
}

// startGitea is startWithGitea by a configuration that is changed.
func startGitea(t *testing.T, f *realtest.Forge, org string, change func(dir, config string) string) *server {
	t.Helper()
	f.API(t, http.MethodPost, "/orgs", map[string]string{"username": org}, nil)
	f.API(t, http.MethodPost, "/orgs/"+org+"/repos", map[string]any{"name": "shop", "auto_init": true, "private": true, "default_branch": "main"}, nil)
	const entity = "kind: Component\nmetadata: {name: shop}\nspec: {type: service, lifecycle: production, owner: team}\n---\nkind: Group\nmetadata: {name: team}\nspec: {type: team, children: []}\n---\n" +
		"kind: User\nmetadata: {name: ada}\nspec: {profile: {displayName: Ada Lovelace, email: ada@shop.test}, memberOf: [team]}\n"
	var docs strings.Builder
	for doc := range strings.SplitSeq(entity, "---\n") {
		docs.WriteString("---\napiVersion: backstage.io/v1alpha1\n" + doc)
	}
	f.API(t, http.MethodPost, "/repos/"+org+"/shop/contents/catalog-info.yaml", map[string]any{"branch": "main", "message": "add", "content": []byte(docs.String())}, nil)
	dir := t.TempDir()
	writing, _ := f.NewToken(t, "write:repository", "write:issue", "read:user")
	reading, _ := f.NewToken(t, "read:repository")
	s := &server{t: t, dir: dir, tokens: map[string]string{"agent": "token-of-the-agent-0123456789", "developer": "token-of-the-developer-0123456789", "sre": "token-of-the-sre-0123456789"}}
	for name, text := range map[string]string{"writing": writing, "reading": reading, "hook": "hook-secret", "agent": s.tokens["agent"], "developer": s.tokens["developer"], "sre": s.tokens["sre"]} {
		write(t, filepath.Join(dir, name), text)
	}
	config := filepath.Join(dir, "fairlead.yaml")
	write(t, config, change(dir, fmt.Sprintf(`listen: 127.0.0.1:0
auth:
  tokens:
    - {name: agent, tokenFile: ./agent, subject: user:default/ada, agent: claude, groups: [group:default/team], roles: [developer]}
    - {name: developer, tokenFile: ./developer, subject: user:default/ada, groups: [group:default/team], roles: [developer]}
    - {name: sre, tokenFile: ./sre, subject: user:default/eve, roles: [sre]}
catalog:
  refresh: 1h
  sources: [{name: shop, git: {url: "%s/%s/shop.git", ref: main, credentials: {tokenFile: ./reading}}}]
forges: [{name: tea, gitea: {url: "%s", tokenFile: ./writing, webhookSecretFile: ./hook}}]
`, f.URL, org, f.URL)))
	s.start(config)
	f.API(t, http.MethodPost, "/repos/"+org+"/shop/hooks", map[string]any{"type": "gitea", "active": true, "events": []string{"push", "pull_request"},
		"config": map[string]string{"url": s.url + "/webhooks/gitea", "content_type": "json", "secret": "hook-secret"}}, nil)
	return s
}

func (s *server) proposal(id string) (p gitops.Proposal) {
	s.t.Helper()
	s.send("developer", http.MethodGet, "/api/v1/proposals/"+id, "").decode(s.t, &p)
	return p
}

// TestGiteaAnswerStory has an agent propose an answer to a real Gitea, people
// merge it, and everybody find it; then a skill is made of it.
func TestGiteaAnswerStory(t *testing.T) {
	f := realtest.Gitea(t)
	s := startWithGitea(t, f, "answers")
	const api = "/repos/answers/shop"
	args := map[string]any{"question": "How is the shop drained?", "answer": "Run make drain, then wait.", "applies_to": []string{"shop"}, "verify_command": "make drain-check", "reason": "asked often"}
	p := s.propose(args)
	if p.State != gitops.Open || !strings.HasPrefix(p.URL, f.URL+"/answers/shop/pulls/") || p.Path != "docs/answers/how-is-the-shop-drained.md" || len(p.Notes) > 0 {
		t.Fatalf("proposed %+v", p)
	}
	var commits []struct {
		Commit struct {
			Message string
			Author  struct{ Name, Email string }
		}
	}
	f.API(t, http.MethodGet, api+"/commits?limit=1&sha="+url.QueryEscape(p.Branch), nil, &commits)
	if len(commits) != 1 {
		t.Fatalf("the branch holds %+v", commits)
	}
	if c := commits[0].Commit; c.Author.Name != "Ada Lovelace" || c.Author.Email != "ada@shop.test" || !strings.Contains(c.Message, "Co-authored-by: claude <claude@noreply.") || !strings.Contains(c.Message, "Fairlead-Audit: ") {
		t.Errorf("the commit is %+v", c)
	}
	done := make(chan knowledge.ProposedDocument, 6)
	for range cap(done) {
		go func() { // at once, and all the same
			var out knowledge.ProposedDocument
			_ = json.Unmarshal(s.tool("agent", "propose_answer", args).StructuredContent, &out)
			done <- out
		}()
	}
	for range cap(done) {
		if out := <-done; out.ID != p.ID || out.URL != p.URL {
			t.Errorf("a double is %+v", out)
		}
	}
	var pulls []struct{ Number int }
	f.API(t, http.MethodGet, api+"/pulls?state=all", nil, &pulls)
	if len(pulls) != 1 {
		t.Fatalf("%d pull requests", len(pulls))
	}
	s.knows("shop drained", p.Path, false)
	f.Merge(t, fmt.Sprintf("%s/pulls/%d", api, pulls[0].Number))
	s.await("the proposal is merged", func() bool { return s.proposal(p.ID).State == gitops.Merged })
	if m := s.proposal(p.ID); len(m.Follow.Merged) != 40 || m.Follow.MergedAt.IsZero() {
		t.Errorf("merged %+v", m)
	}
	s.knows("shop drained", p.Path, true)
	for door, body := range s.searches("shop drained") {
		if !strings.Contains(body, "group:default/team") {
			t.Errorf("%s does not tell the owner: %s", door, body)
		}
	}
	if body := s.send("developer", http.MethodGet, "/api/v1/knowledge?query=shop+drained", "").body; !strings.Contains(body, `"lastVerified"`) {
		t.Errorf("when it was verified is not told: %s", body)
	}
	skill := s.tool("agent", "promote_answer", map[string]any{"handle": "doc://shop/" + p.Path, "name": "drain-shop", "allowed_tools": []string{"Bash(make:*)"}})
	var k knowledge.ProposedDocument
	if err := json.Unmarshal(skill.StructuredContent, &k); err != nil || k.State != gitops.Open || k.Path != "skills/drain-shop/SKILL.md" {
		t.Errorf("the skill: %s", skill.raw)
	}
}

// TestGiteaProposalsThatPeopleTouch leaves alone what people have closed or
// changed, and takes up what broke off.
func TestGiteaProposalsThatPeopleTouch(t *testing.T) {
	f := realtest.Gitea(t)
	s := startWithGitea(t, f, "touched")
	const api = "/repos/touched/shop"
	ask := func(answer string) toolResult {
		return s.tool("agent", "propose_answer", map[string]any{"question": "How is the shop drained?", "answer": answer, "applies_to": []string{"shop"}})
	}
	p := s.propose(map[string]any{"question": "How is the shop drained?", "answer": "One.", "applies_to": []string{"shop"}})
	f.API(t, http.MethodPost, api+"/contents/other.md", map[string]any{"branch": "main", "message": "move the base", "content": []byte("x")}, nil)
	if a := ask("Two."); a.IsError || !bytes.Contains(a.StructuredContent, []byte(p.URL)) {
		t.Errorf("on a base that has moved: %s", a.raw)
	}
	f.API(t, http.MethodPost, api+"/contents/mine.md", map[string]any{"branch": p.Branch, "message": "a person's own", "content": []byte("x")}, nil)
	if a := ask("Three."); !a.IsError || !strings.Contains(a.raw, "somebody has pushed to the branch") {
		t.Errorf("onto a person's commit: %s", a.raw)
	}
	f.API(t, http.MethodPatch, api+"/pulls/1", map[string]any{"state": "closed"}, nil)
	s.await("the proposal is closed", func() bool { return s.proposal(p.ID).State == gitops.Closed })
	if a := ask("Four."); !a.IsError || !strings.Contains(a.raw, "was closed without being merged") {
		t.Errorf("after it was closed: %s", a.raw)
	}
	write(t, filepath.Join(s.dir, "writing"), "revoked-and-gone-0123456789")
	other := map[string]any{"question": "How is the shop filled?", "answer": "Slowly.", "applies_to": []string{"shop"}}
	a := s.tool("agent", "propose_answer", other)
	if !a.IsError || strings.Contains(a.raw, "revoked-and-gone") {
		t.Errorf("with a token that does not hold: %s", a.raw)
	}
	fresh, _ := f.NewToken(t, "write:repository", "write:issue", "read:user")
	write(t, filepath.Join(s.dir, "writing"), fresh)
	if again := s.propose(other); again.State != gitops.Open {
		t.Errorf("taken up: %+v", again)
	}
}
