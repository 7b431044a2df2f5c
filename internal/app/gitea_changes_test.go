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
)

const deployed = "resources: [deployment.yaml]\nimages:\n  - name: ghcr.io/acme/shop # ours\n    newTag: \"1.4.0\"\n"

// startChangesAtGitea serves a service whose environments are described in
// another repository of a real Gitea.
func startChangesAtGitea(t *testing.T, f *realtest.Forge, org string, more ...string) (s *server, api string) {
	t.Helper()
	s = startWithGitea(t, f, org, more...)
	return s, s.changesAt(f, org)
}

// changesAt makes that repository, and has the service name it.
func (s *server) changesAt(f *realtest.Forge, org string) (api string) {
	t := s.t
	t.Helper()
	f.API(t, http.MethodPost, "/orgs/"+org+"/repos", map[string]any{"name": "deploy", "auto_init": true, "private": true, "default_branch": "main"}, nil)
	api = "/repos/" + org + "/deploy"
	s.file(f, api, "shop/staging/kustomization.yaml", []byte(deployed))
	s.file(f, api, "shop/staging/deployment.yaml", []byte("kind: Deployment\nspec: {template: {spec: {containers: [{name: shop, image: ghcr.io/acme/shop}]}}}\n"))
	var have struct{ SHA, Content string }
	f.API(t, http.MethodGet, "/repos/"+org+"/shop/contents/catalog-info.yaml", nil, &have)
	var old []byte
	if err := json.Unmarshal([]byte(`"`+strings.ReplaceAll(have.Content, "\n", "")+`"`), &old); err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(string(old), "owner: team}", "owner: team, fairlead: {deployRepo: '"+f.URL+"/"+org+"/deploy', environments: [{name: staging, path: shop/staging}, {name: odd, path: shop/odd}]}}", 1)
	f.API(t, http.MethodPut, "/repos/"+org+"/shop/contents/catalog-info.yaml", map[string]any{"branch": "main", "message": "deploy", "sha": have.SHA, "content": []byte(text)}, nil)
	s.await("the environments are known", func() bool {
		return strings.Contains(s.send("developer", http.MethodGet, "/api/v1/brief?service=shop", "").body, "shop/staging")
	})
	return api
}

// file commits a file by Gitea's API.
func (s *server) file(f *realtest.Forge, api, path string, data []byte) {
	s.t.Helper()
	f.API(s.t, http.MethodPost, api+"/contents/"+path, map[string]any{"branch": "main", "message": "add " + path, "content": data}, nil)
}

func pullsOf(t *testing.T, f *realtest.Forge, api string) (pulls []struct {
	Number      int
	Title, Body string
	State       string
	Labels      []struct{ Name string }
}) {
	t.Helper()
	f.API(t, http.MethodGet, api+"/pulls?state=all", nil, &pulls)
	return pulls
}

func shopTag(tag string, more map[string]any) map[string]any {
	args := map[string]any{"service": "shop", "environment": "staging", "reason": "The fix for orders.", "evidence": []string{"tests: https://ci.test/7"},
		"change": map[string]any{"image": map[string]any{"tag": tag}}}
	for k, v := range more {
		args[k] = v
	}
	return args
}

// TestGiteaChangeStory has an agent propose a change to a real Gitea, again and
// at once, people merge it and take it back.
func TestGiteaChangeStory(t *testing.T) {
	f := realtest.Gitea(t)
	s, api := startChangesAtGitea(t, f, "changes")
	p, a := s.change(shopTag("1.5.0", nil))
	if p.State != gitops.Open || !strings.HasPrefix(p.URL, f.URL+"/changes/deploy/pulls/") || len(p.Notes) > 0 {
		t.Fatalf("proposed: %s", a.raw)
	}
	done := make(chan string, 6)
	for range cap(done) {
		go func() { // at once, and all the same
			done <- string(s.tool("agent", "propose_change", shopTag("1.5.0", nil)).StructuredContent)
		}()
	}
	for range cap(done) {
		if out := <-done; !strings.Contains(out, p.URL) {
			t.Errorf("a double is %s", out)
		}
	}
	body, err := json.Marshal(shopTag("1.6.0", nil))
	if err != nil {
		t.Fatal(err)
	}
	if a := s.send("sre", http.MethodPost, "/api/v1/proposals", string(body)); a.status != http.StatusConflict || !strings.Contains(a.body, p.ID) {
		t.Errorf("another wants another: %d %s", a.status, a.body)
	}
	same, err := json.Marshal(shopTag("1.5.0", nil))
	if err != nil {
		t.Fatal(err)
	}
	if a := s.send("sre", http.MethodPost, "/api/v1/proposals", string(same)); !strings.Contains(a.body, p.URL) || !strings.Contains(a.body, "it was proposed already, by claude for user:default/ada") {
		t.Errorf("another wants the same: %d %s", a.status, a.body)
	}
	s.file(f, api, "NEWS.md", []byte("The base moves.\n"))
	if newer, a := s.change(shopTag("1.5.1", nil)); newer.URL != p.URL {
		t.Errorf("on a base that has moved: %s", a.raw)
	}
	pulls := pullsOf(t, f, api)
	if len(pulls) != 1 {
		t.Fatalf("%d pull requests", len(pulls))
	}
	for _, want := range []string{"The fix for orders.", "- tests: https://ci.test/7", "`shop/staging/kustomization.yaml` line 4, `images[0].newTag`: `1.4.0` → `1.5.1`", "the agent `claude` for `user:default/ada`", "revert its one commit"} {
		if !strings.Contains(pulls[0].Body, want) {
			t.Errorf("%q is not in\n%s", want, pulls[0].Body)
		}
	}
	if pulls[0].Title != "shop: ghcr.io/acme/shop 1.5.1 in staging" || len(pulls[0].Labels) != 1 || pulls[0].Labels[0].Name != "fairlead" {
		t.Errorf("%+v", pulls[0])
	}
	var commits []struct {
		SHA    string
		Commit struct {
			Message string
			Author  struct{ Name, Email string }
		}
	}
	f.API(t, http.MethodGet, api+"/commits?limit=1&sha="+url.QueryEscape(p.Branch), nil, &commits)
	if c := commits[0].Commit; c.Author.Name != "Ada Lovelace" || !strings.Contains(c.Message, "Co-authored-by: claude <claude@noreply.") || !strings.Contains(c.Message, "Fairlead-Audit: ") {
		t.Errorf("the commit is %+v", c)
	}
	f.Merge(t, fmt.Sprintf("%s/pulls/%d", api, pulls[0].Number))
	s.await("the proposal is merged", func() bool { return s.proposal(p.ID).State == gitops.Merged })
	var file struct{ SHA string }
	f.API(t, http.MethodGet, api+"/contents/shop/staging/kustomization.yaml", nil, &file)
	f.API(t, http.MethodPut, api+"/contents/shop/staging/kustomization.yaml", map[string]any{"branch": "main", "message": "back", "sha": file.SHA, "content": []byte(deployed)}, nil)
	if _, a := s.change(shopTag("1.5.1", nil)); !a.IsError || !strings.Contains(a.raw, "has been taken back since") {
		t.Errorf("what people took back: %s", a.raw)
	}
	if again, a := s.change(shopTag("1.5.1", map[string]any{"key": "again"})); again.State != gitops.Open || again.URL == p.URL {
		t.Errorf("under another key: %s", a.raw)
	}
}

// TestGiteaChangesInTrouble gives one pull request or a clear refusal, whatever
// goes wrong.
func TestGiteaChangesInTrouble(t *testing.T) {
	f := realtest.Gitea(t)
	s, api := startChangesAtGitea(t, f, "trouble")
	s.file(f, api, "shop/odd/large.yaml", bytes.Repeat([]byte("a: 1\n"), 1<<20))
	s.file(f, api, "shop/odd/latin.yaml", []byte("a: 1\nb: caf\xe9\n"))
	for file, want := range map[string]string{"large.yaml": "is too large", "latin.yaml": "UTF-8", "none.yaml": "there is no file"} {
		_, a := s.change(map[string]any{"service": "shop", "environment": "odd", "reason": "x", "change": map[string]any{"set": []any{map[string]any{"file": file, "path": "a", "value": 2}}}})
		if !a.IsError || !strings.Contains(a.raw, want) {
			t.Errorf("%s: %s", file, a.raw)
		}
	}
	write(t, filepath.Join(s.dir, "writing"), "revoked-and-gone-0123456789")
	if _, a := s.change(shopTag("1.5.0", nil)); !a.IsError || strings.Contains(a.raw, "revoked-and-gone") {
		t.Errorf("with a token that does not hold: %s", a.raw)
	}
	fresh, _ := f.NewToken(t, "write:repository", "write:issue", "read:user")
	write(t, filepath.Join(s.dir, "writing"), fresh)
	p, a := s.change(shopTag("1.5.0", nil))
	if p.State != gitops.Open {
		t.Fatalf("taken up: %s", a.raw)
	}
	f.API(t, http.MethodDelete, api+"/branches/"+url.PathEscape(p.Branch), nil, nil)
	again, a := s.change(shopTag("1.5.0", nil))
	if n := len(pullsOf(t, f, api)); n != 1 || !a.IsError && again.ID != p.ID || a.IsError && !strings.Contains(a.raw, "was closed") {
		t.Errorf("without its branch: %d pull requests, %s", n, a.raw)
	}
	if _, a := s.change(shopTag("1.5.0", map[string]any{"environment": "odd"})); !a.IsError || !strings.Contains(a.raw, "large.yaml is too large") {
		t.Errorf("an environment of which nobody can tell the images: %s", a.raw)
	}
}
