package app

import (
	"encoding/base64"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/internal/realtest"
)

// file writes a file in a repository by Gitea's API; sha is of the file as it
// is, "" where there is none. It gives the new sha.
func file(t *testing.T, f *realtest.Forge, repo, path, text, sha string) string {
	t.Helper()
	method := http.MethodPost
	in := map[string]any{"content": base64.StdEncoding.EncodeToString([]byte(text)), "message": "Change " + path, "branch": "main"}
	if sha != "" {
		method, in["sha"] = http.MethodPut, sha
	}
	var out struct{ Content struct{ SHA string } }
	f.API(t, method, "/repos/"+repo+"/contents/"+path, in, &out)
	return out.Content.SHA
}

func giteaComponent(name, title string) string {
	return "apiVersion: backstage.io/v1alpha1\nkind: Component\nmetadata: {name: " + name + ", title: " + title + "}\nspec: {type: service, lifecycle: production, owner: shop}\n"
}

// TestGiteaOrganization discovers an organization of a real Gitea, sees a
// pushed change by a webhook alone, and keeps the last good state when the
// token is revoked.
func TestGiteaOrganization(t *testing.T) {
	f := realtest.Gitea(t)
	const org = "appacme"
	f.API(t, http.MethodPost, "/orgs", map[string]string{"username": org}, nil)
	for _, name := range []string{"one", "two"} {
		f.API(t, http.MethodPost, "/orgs/"+org+"/repos", map[string]any{"name": name, "auto_init": true, "private": true, "default_branch": "main"}, nil)
	}
	sha := file(t, f, org+"/one", "catalog-info.yaml", giteaComponent("one", "Before"), "")
	file(t, f, org+"/two", "catalog-info.yaml", giteaComponent("two", "Two"), "")
	token, revoke := f.NewToken(t, "read:organization", "read:repository", "read:user")

	s := &server{t: t, dir: t.TempDir(), tokens: map[string]string{"sre": "token-of-the-operator-0123456789"}}
	write(t, filepath.Join(s.dir, "sre"), s.tokens["sre"])
	write(t, filepath.Join(s.dir, "token"), token)
	write(t, filepath.Join(s.dir, "secret"), hookSecret)
	config := filepath.Join(s.dir, "fairlead.yaml")
	write(t, config, "listen: 127.0.0.1:0\nauth: {tokens: [{name: sre, tokenFile: ./sre, subject: user:default/sam, roles: [sre]}]}\n"+
		"catalog: {refresh: 1h, sources: [{name: acme, gitea: {url: "+f.URL+", org: "+org+", tokenFile: token, webhookSecretFile: secret}}]}\n")
	s.start(config)
	entity := func(name string) string {
		return s.send("sre", http.MethodGet, "/api/v1/entities/component:default/"+name, "").body
	}
	s.await("both repositories are read", func() bool {
		return strings.Contains(entity("one"), "Before") && strings.Contains(entity("two"), "Two")
	})

	f.API(t, http.MethodPost, "/orgs/"+org+"/hooks", map[string]any{"type": "gitea", "active": true, "events": []string{"push"},
		"config": map[string]string{"url": s.url + "/webhooks/gitea", "content_type": "json", "secret": hookSecret}}, nil)
	file(t, f, org+"/one", "catalog-info.yaml", giteaComponent("one", "After"), sha)
	s.await("the pushed change is visible", func() bool { return strings.Contains(entity("one"), "After") })

	revoke()
	if a := s.refresh("sre", "acme/"+org+"/one"); a.status == http.StatusOK || strings.Contains(a.body, token) {
		t.Errorf("a reading with a revoked token answers %d: %s", a.status, a.body)
	}
	if body := s.send("sre", http.MethodGet, "/api/v1/errors", "").body; !strings.Contains(body, "SourceError") || strings.Contains(body, token) {
		t.Errorf("the report says %s", body)
	}
	if !strings.Contains(entity("one"), "After") {
		t.Error("the last good state is gone")
	}
}
