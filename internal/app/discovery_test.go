package app

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/catalog/ingest"
	"github.com/fairlead-dev/fairlead/internal/forge"
	"github.com/fairlead-dev/fairlead/internal/forge/github"
	"github.com/fairlead-dev/fairlead/internal/git"
)

// list is a forge that lists what it is told.
type list struct {
	mu    sync.Mutex
	repos []forge.Repository
}

func (l *list) Repositories(context.Context) ([]forge.Repository, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]forge.Repository(nil), l.repos...), nil
}

func TestRepositoriesBecomeSources(t *testing.T) {
	l := &list{repos: []forge.Repository{
		{FullName: "acme/a", CloneURL: "https://git.example.test/acme/a.git", WebURL: "https://git.example.test/acme/a", DefaultBranch: "trunk", Head: strings.Repeat("a", 40)},
		{FullName: "acme/empty", CloneURL: "https://git.example.test/acme/empty.git", Empty: true},
	}}
	dir, limit := t.TempDir(), git.NewLimiter(1)
	defer limit.Close()
	o := &organization{desc: ingest.Description{Name: "org"}, lister: l, template: git.SourceConfig{Include: []string{"catalog-info.yaml"}},
		open: func(name string, cfg git.SourceConfig) (*git.Source, error) {
			return git.NewSource(name, cfg, filepath.Join(dir, name), dir, limit)
		}}
	first, err := o.Discover(t.Context())
	if err != nil || len(first) != 1 {
		t.Fatalf("got %v %v", first, err)
	}
	d := first[0].Describe()
	if d.Name != "org/acme/a" || d.Repository != "https://git.example.test/acme/a" || !strings.Contains(d.Base, "trunk") {
		t.Errorf("described as %+v", d)
	}
	if hint := first[0].(ingest.Hinted).Hint(); string(hint) != strings.Repeat("a", 40) {
		t.Errorf("the hint is %q", hint)
	}
	l.repos[0].Head = strings.Repeat("b", 40)
	second, err := o.Discover(t.Context())
	if err != nil || second[0] != first[0] || string(second[0].(ingest.Hinted).Hint()) != strings.Repeat("b", 40) {
		t.Errorf("the source is not the same with another hint: %v %v", second, err)
	}
	l.repos[0].DefaultBranch = "main"
	third, err := o.Discover(t.Context())
	if err != nil || third[0] == first[0] {
		t.Errorf("another branch made no other source: %v", err)
	}
}

const hookSecret = "a-secret-for-webhooks-0123456789"

// startHooked serves one repository that is polled so seldom that only a
// webhook can make a change visible.
func startHooked(t *testing.T) (s *server, repo string) {
	t.Helper()
	s = &server{t: t, dir: t.TempDir(), tokens: map[string]string{"developer": "token-of-the-developer-0123456789"}}
	repo = filepath.Join(s.dir, "repos", "hooked")
	files := map[string]string{"catalog-info.yaml": "apiVersion: backstage.io/v1alpha1\nkind: Component\nmetadata: {name: hooked, title: Before}\nspec: {type: service, lifecycle: production, owner: shop}\n"}
	if err := git.Create(repo, files, git.Commit{Message: "First", Author: "Test", Email: "test@shop.test", When: time.Now()}); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(s.dir, "token"), s.tokens["developer"])
	write(t, filepath.Join(s.dir, "secret"), hookSecret)
	config := filepath.Join(s.dir, "fairlead.yaml")
	write(t, config, "listen: 127.0.0.1:0\nauth: {tokens: [{name: developer, tokenFile: ./token, subject: user:default/d}]}\n"+
		"catalog: {refresh: 1h, sources: [{name: hooked, git: {url: ./repos/hooked, webURL: https://github.com/acme/hooked}}]}\n")
	s.start(config)
	client, err := github.New("acme", github.Config{Org: "acme", TokenFile: "token", WebhookSecretFile: "secret"}, s.dir)
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(s.app.webhooks([]hook{client}))
	t.Cleanup(web.Close)
	s.hooks = web.URL
	return s, repo
}

func (s *server) push(secret, delivery string) int {
	s.t.Helper()
	body := fmt.Sprintf(`{"ref":"refs/heads/main","before":%q,"after":%q,"repository":{"full_name":"acme/hooked","clone_url":"https://github.com/acme/hooked.git","html_url":"https://github.com/acme/hooked","default_branch":"main"}}`,
		strings.Repeat("1", 40), strings.Repeat("2", 40))
	mac := hmac.New(sha256.New, []byte(secret))
	_, _ = io.WriteString(mac, body) // a hash never fails
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.hooks+"/webhooks/github", strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	for k, v := range map[string]string{"X-GitHub-Event": "push", "X-GitHub-Delivery": delivery, "Content-Type": "application/json",
		"X-Hub-Signature-256": "sha256=" + hex.EncodeToString(mac.Sum(nil))} {
		req.Header.Set(k, v)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	return res.StatusCode
}

func TestAPushIsSeenAtOnce(t *testing.T) {
	s, repo := startHooked(t)
	write(t, filepath.Join(repo, "catalog-info.yaml"), strings.Replace(readFile(t, filepath.Join(repo, "catalog-info.yaml")), "Before", "After", 1))
	s.git("hooked", "commit", "-qam", "Change")
	if status := s.push("another secret", "d-1"); status != http.StatusForbidden {
		t.Errorf("a wrong signature got %d", status)
	}
	if status := s.push(hookSecret, "d-2"); status != http.StatusAccepted {
		t.Fatalf("the push got %d", status)
	}
	s.await("the change is visible", func() bool {
		return strings.Contains(s.send("developer", http.MethodGet, "/api/v1/entities/component:default/hooked", "").body, "After")
	})
}

func TestWebhooksWithoutAForgeAreRefused(t *testing.T) {
	s := startDemo(t)
	for _, kind := range []string{"github", "gitea", "gitlab"} {
		if a := s.send("", http.MethodPost, "/webhooks/"+kind, "{}"); a.status != http.StatusNotFound {
			t.Errorf("%s answers %d: %s", kind, a.status, a.body)
		}
	}
	if a := s.send("", http.MethodPost, "/webhooks/github", strings.Repeat("x", 5<<20)); a.status != http.StatusRequestEntityTooLarge {
		t.Errorf("a large event got %d", a.status)
	}
}
