package gitea_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/forge"
	"github.com/fairlead-dev/fairlead/internal/forge/gitea"
	"github.com/fairlead-dev/fairlead/internal/realtest"
)

// makeRepo makes a repository with a first commit.
func makeRepo(t *testing.T, f *realtest.Forge, org, name string, private bool) {
	t.Helper()
	f.API(t, http.MethodPost, "/orgs/"+org+"/repos", map[string]any{"name": name, "auto_init": true, "private": private, "default_branch": "main"}, nil)
}

func makeOrg(t *testing.T, f *realtest.Forge, name string) {
	t.Helper()
	f.API(t, http.MethodPost, "/orgs", map[string]string{"username": name}, nil)
}

// source is a client with a token of its own in a file.
func source(t *testing.T, f *realtest.Forge, org string, change func(*gitea.Config)) (c *gitea.Client, token string, revoke func()) {
	t.Helper()
	token, revoke = f.NewToken(t, "read:organization", "read:repository", "read:user")
	dir := t.TempDir()
	write(t, filepath.Join(dir, "token"), token)
	write(t, filepath.Join(dir, "secret"), "hook-secret")
	cfg := gitea.Config{URL: f.URL, Org: org, TokenFile: "token", WebhookSecretFile: "secret"}
	if change != nil {
		change(&cfg)
	}
	c, err := gitea.New("real", cfg, dir)
	if err != nil {
		t.Fatal(err)
	}
	return c, token, revoke
}

func write(t testing.TB, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func list(t *testing.T, c *gitea.Client) []forge.Repository {
	t.Helper()
	out, err := c.Repositories(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// push commits a file with Git itself and gives the commit.
func push(t *testing.T, f *realtest.Forge, repo, file string) string {
	t.Helper()
	dir := t.TempDir()
	git := func(args ...string) string {
		cmd := exec.CommandContext(t.Context(), "git", append([]string{"-c", "user.name=t", "-c", "user.email=t@example.invalid"}, args...)...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	git("clone", "-q", strings.Replace(f.URL, "://", "://"+f.User+":"+f.Token+"@", 1)+"/"+repo+".git", ".")
	write(t, filepath.Join(dir, file), "content\n")
	git("add", ".")
	git("commit", "-qm", "add "+file)
	git("push", "-q", "origin", "HEAD:main")
	return git("rev-parse", "HEAD")
}

func TestRealOrganizationIsListed(t *testing.T) {
	f := realtest.Gitea(t)
	makeOrg(t, f, "listed")
	for _, name := range []string{"shop", "cart", "vault", "old"} {
		makeRepo(t, f, "listed", name, name == "vault")
	}
	f.API(t, http.MethodPost, "/orgs/listed/repos", map[string]any{"name": "empty", "default_branch": "main"}, nil)
	f.API(t, http.MethodPut, "/repos/listed/shop/topics", map[string]any{"topics": []string{"web", "backstage"}}, nil)
	f.API(t, http.MethodPatch, "/repos/listed/old", map[string]any{"archived": true}, nil)
	c, _, _ := source(t, f, "listed", nil)
	got := list(t, c)
	var names []string
	for _, r := range got {
		names = append(names, r.FullName)
		if (r.Head == "") != r.Empty || r.CloneURL != f.URL+"/"+r.FullName+".git" || r.WebURL != f.URL+"/"+r.FullName || r.Updated.IsZero() {
			t.Errorf("%+v", r)
		}
	}
	if s := strings.Join(names, " "); s != "listed/cart listed/empty listed/shop listed/vault" {
		t.Errorf("listed: %s", s)
	}
	if s := strings.Join(got[2].Topics, " "); s != "backstage web" || got[2].DefaultBranch != "main" {
		t.Errorf("%+v", got[2])
	}
	for want, change := range map[string]func(*gitea.Config){
		"listed/shop":  func(c *gitea.Config) { c.Filter.Topics.Include = []string{"Web"} },
		"listed/vault": func(c *gitea.Config) { c.Filter.Visibility = "private" },
		"listed/old":   func(c *gitea.Config) { c.Filter.Archived, c.Filter.Names.Include = true, []string{"o*"} },
	} {
		c, _, _ := source(t, f, "listed", change)
		if got := list(t, c); len(got) != 1 || got[0].FullName != want {
			t.Errorf("%s: %+v", want, got)
		}
	}
}

func TestRealPushIsToldAndListed(t *testing.T) {
	f := realtest.Gitea(t)
	makeOrg(t, f, "pushed")
	makeRepo(t, f, "pushed", "svc", true)
	c, _, _ := source(t, f, "pushed", nil)
	before := list(t, c)[0].Head
	events := make(chan forge.Event, 10)
	hooks := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e, err := c.Event(r)
		if err != nil {
			t.Errorf("the webhook: %v", err)
			w.WriteHeader(fault.CodeOf(err).HTTPStatus())
			return
		}
		events <- e
	}))
	defer hooks.Close()
	f.API(t, http.MethodPost, "/orgs/pushed/hooks", map[string]any{"type": "gitea", "active": true, "events": []string{"push", "pull_request", "repository"},
		"config": map[string]string{"url": hooks.URL, "content_type": "json", "secret": "hook-secret"}}, nil)
	after := push(t, f, "pushed/svc", "catalog-info.yaml")
	e := next(t, events)
	if e.Kind != forge.KindPush || e.Repository != "pushed/svc" || e.Ref != "refs/heads/main" || e.Before != before || e.After != after || e.Delivery == "" || e.Replay || e.CloneURLs[0] != f.URL+"/pushed/svc.git" {
		t.Errorf("%+v", e)
	}
	if got := list(t, c)[0].Head; got != after {
		t.Errorf("after the push the head is %s, not %s", got, after)
	}
	makeRepo(t, f, "pushed", "another", false)
	for e = next(t, events); e.Kind != forge.KindRepository; e = next(t, events) {
	}
	if e.Repository != "pushed/another" {
		t.Errorf("%+v", e)
	}
}

func next(t *testing.T, events <-chan forge.Event) forge.Event {
	t.Helper()
	select {
	case e := <-events:
		return e
	case <-time.After(time.Minute):
		t.Fatal("no webhook came within a minute")
		return forge.Event{}
	}
}

func TestRealUnsignedHookIsForbidden(t *testing.T) {
	f := realtest.Gitea(t)
	makeOrg(t, f, "unsigned")
	makeRepo(t, f, "unsigned", "svc", true)
	c, _, _ := source(t, f, "unsigned", nil)
	codes := make(chan fault.Code, 10)
	hooks := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, err := c.Event(r)
		codes <- fault.CodeOf(err)
	}))
	defer hooks.Close()
	for _, secret := range []string{"another", ""} {
		f.API(t, http.MethodPost, "/repos/unsigned/svc/hooks", map[string]any{"type": "gitea", "active": true, "events": []string{"push"},
			"config": map[string]string{"url": hooks.URL, "content_type": "json", "secret": secret}}, nil)
	}
	push(t, f, "unsigned/svc", "a")
	for range 2 {
		select {
		case code := <-codes:
			if code != fault.Forbidden {
				t.Errorf("a webhook that is not ours gives %q", code)
			}
		case <-time.After(time.Minute):
			t.Fatal("no webhook came within a minute")
		}
	}
}

func TestRealRevokedTokenIsTold(t *testing.T) {
	f := realtest.Gitea(t)
	makeOrg(t, f, "revoked")
	makeRepo(t, f, "revoked", "svc", true)
	c, token, revoke := source(t, f, "revoked", nil)
	list(t, c)
	revoke()
	_, err := c.Repositories(t.Context())
	wantFault(t, err, token, fault.Unauthenticated, "organization revoked", "refuses the token", "/token", strings.TrimPrefix(f.URL, "http://"))
	c, token, _ = source(t, f, "no-such-org", nil)
	_, err = c.Repositories(t.Context())
	wantFault(t, err, token, fault.NotFound, "organization no-such-org")
}

func wantFault(t *testing.T, err error, token string, code fault.Code, words ...string) {
	t.Helper()
	f := fault.From(err)
	if f == nil || f.Code != code || f.Fix == "" {
		t.Fatalf("%v (fix %q), not %s", err, f.Fix, code)
	}
	for _, word := range words {
		if !strings.Contains(f.Message+f.Fix, word) {
			t.Errorf("%q is not in %q, fix %q", word, f.Message, f.Fix)
		}
	}
	if strings.Contains(f.Error()+f.Fix, token) {
		t.Errorf("the token is in the error: %s", f.Error())
	}
}

func TestRealUserIsListed(t *testing.T) {
	f := realtest.Gitea(t)
	f.API(t, http.MethodPost, "/admin/users", map[string]any{"username": "alice", "email": "alice@example.invalid", "password": "Test-pw-123456", "must_change_password": false}, nil)
	f.API(t, http.MethodPost, "/admin/users/alice/repos", map[string]any{"name": "notes", "auto_init": true}, nil)
	c, _, _ := source(t, f, "", func(cfg *gitea.Config) { cfg.User = "alice" })
	if got := list(t, c); len(got) != 1 || got[0].FullName != "alice/notes" || got[0].Head == "" {
		t.Errorf("%+v", got)
	}
}
