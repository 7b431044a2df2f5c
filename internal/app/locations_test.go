package app

import (
	"fmt"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/fairlead-dev/fairlead/internal/demo"
)

// gitHost serves repositories over HTTP, as a forge does: Git's own server.
type gitHost struct {
	t    *testing.T
	root string
	*httptest.Server
	asked atomic.Int32
}

func newGitHost(t *testing.T) *gitHost {
	t.Helper()
	h := &gitHost{t: t, root: t.TempDir()}
	backend := filepath.Join(strings.TrimSpace(h.git(h.root, "--exec-path")), "git-http-backend")
	if _, err := os.Stat(backend); err != nil {
		t.Skip("git-http-backend is not installed")
	}
	handler := &cgi.Handler{Path: backend, Env: []string{"GIT_PROJECT_ROOT=" + h.root, "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null"}}
	h.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.asked.Add(1)
		if repo, path, ok := strings.Cut(r.URL.Path, "/src/branch/main/"); ok { // the file itself, for who reads URLs
			http.ServeFile(w, r, filepath.Join(h.root, repo+".git", path))
			return
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(h.Close)
	return h
}

func (h *gitHost) git(dir string, args ...string) string {
	h.t.Helper()
	cmd := exec.CommandContext(h.t.Context(), "git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "GIT_AUTHOR_NAME=t", "GIT_AUTHOR_EMAIL=t@example.com", "GIT_COMMITTER_NAME=t", "GIT_COMMITTER_EMAIL=t@example.com")
	out, err := cmd.CombinedOutput()
	if err != nil {
		h.t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return string(out)
}

// push commits files to acme/NAME on a branch; "" removes one.
func (h *gitHost) push(name, branch string, files map[string]string) {
	h.t.Helper()
	dir := filepath.Join(h.root, "acme", name+".git")
	if _, err := os.Stat(dir); err != nil {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			h.t.Fatal(err)
		}
		h.git(dir, "init", "-q", "-b", branch)
	}
	for path, text := range files {
		if text == "" {
			h.git(dir, "rm", "-q", path)
			continue
		}
		write(h.t, filepath.Join(dir, path), text)
		h.git(dir, "add", path)
	}
	h.git(dir, "commit", "-q", "-m", "Change")
}

// page is where the host shows a file.
func (h *gitHost) page(name, path string) string {
	return h.URL + "/acme/" + name + "/src/branch/main/" + path
}

// startWithHost serves the demo; locations may be registered at a host.
func startWithHost(t *testing.T, h *gitHost) *server {
	t.Helper()
	dir := t.TempDir()
	set, err := demo.Prepare(t.Context(), dir, "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	config := readFile(t, set.Config)
	config = strings.Replace(config, "catalog:\n", fmt.Sprintf("catalog:\n  locations: {hosts: [{host: %q}], max: 5}\n", strings.TrimPrefix(h.URL, "http://")), 1)
	config = strings.Replace(config, "  tokens:\n", "  tokens:\n    - {name: reader, tokenFile: ./tokens/reader, subject: user:default/rolf, groups: [group:default/storefront], roles: [reader]}\n"+
		"    - {name: other, tokenFile: ./tokens/other, subject: user:default/otto, groups: [group:default/others], roles: [developer]}\n", 1)
	write(t, filepath.Join(dir, "tokens", "reader"), "token-of-the-reader-0123456789")
	write(t, filepath.Join(dir, "tokens", "other"), "token-of-another-0123456789")
	if err := os.WriteFile(set.Config, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	s := &server{t: t, dir: dir, tokens: set.Tokens}
	s.tokens["reader"], s.tokens["other"] = "token-of-the-reader-0123456789", "token-of-another-0123456789"
	s.start(set.Config)
	return s
}

func service(name, owner string) string {
	return "apiVersion: backstage.io/v1alpha1\nkind: Component\nmetadata: {name: " + name + "}\nspec: {type: service, lifecycle: production, owner: " + owner + "}\n"
}

// register sends what Backstage's client sends.
func (s *server) register(role, target string, dryRun bool) answer {
	s.t.Helper()
	path := "/api/catalog/locations"
	if dryRun {
		path += "?dryRun=true"
	}
	return s.send(role, http.MethodPost, path, fmt.Sprintf(`{"type":"url","target":%q}`, target))
}

// located is an answer about a location.
type located struct {
	Location struct{ ID, Type, Target, EntityRef string }
	Exists   *bool
	Entities []struct {
		Kind     string
		Metadata struct {
			Name        string
			Annotations map[string]string
		}
	}
}

func (s *server) registered(role, target string) located {
	s.t.Helper()
	a := s.register(role, target, false)
	if a.status != http.StatusCreated {
		s.t.Fatalf("registering answers %d %s", a.status, a.body)
	}
	var out located
	a.decode(s.t, &out)
	return out
}

func (s *server) entityStatus(ref string) int {
	s.t.Helper()
	return s.send("developer", http.MethodGet, "/api/v1/entities/"+url.PathEscape(ref), "").status
}

func TestRegisterLocations(t *testing.T) {
	h := newGitHost(t)
	h.push("shop", "main", map[string]string{"catalog-info.yaml": service("stock", "storefront"), "other.yaml": service("unasked", "storefront")})
	s := startWithHost(t, h)
	target := h.page("shop", "catalog-info.yaml")

	var try located
	a := s.register("developer", target, true)
	a.decode(t, &try)
	if a.status != http.StatusCreated || try.Exists == nil || *try.Exists || len(try.Entities) != 2 || try.Entities[0].Kind != "Location" || try.Entities[1].Metadata.Name != "stock" ||
		try.Location.ID != "url:"+target || try.Entities[1].Metadata.Annotations["backstage.io/managed-by-origin-location"] != "url:"+target {
		t.Fatalf("the dry run answers %d %s", a.status, a.body)
	}
	if got := s.entityStatus("component:default/stock"); got != http.StatusNotFound {
		t.Errorf("the dry run was kept: %d", got)
	}
	l := s.registered("agent", target)
	if l.Exists != nil || len(l.Entities) != 0 || l.Location.Target != target || !strings.HasPrefix(l.Location.EntityRef, "location:default/generated-") {
		t.Errorf("registering answers %+v", l)
	}
	s.everywhere("component:default/stock", "stock")
	if got := s.entityStatus("component:default/unasked"); got != http.StatusNotFound {
		t.Errorf("a file that nobody asked for is read: %d", got)
	}
	for path, want := range map[string]string{
		"/api/catalog/locations":                                                            `[{"data":{"id":"` + l.Location.ID + `","type":"url","target":"` + target + `","entityRef":"` + l.Location.EntityRef + `"}}]`,
		"/api/catalog/locations/" + l.Location.ID:                                           `{"id":"` + l.Location.ID + `"`,
		"/api/catalog/locations/by-entity/component/default/stock":                          `{"id":"` + l.Location.ID + `"`,
		"/api/catalog/locations/by-entity/component/default/nobody":                         `found no entity for ref component:default/nobody`,
		"/api/catalog/entities/by-name/component/default/stock/ancestry":                    l.Location.EntityRef,
		"/api/v1/locations":                                                                 l.Location.ID,
		"/api/v1/audit?action=catalog.register":                                             `"agent":"claude-code"`,
		"/api/catalog/entities?filter=kind=location,spec.target=" + url.QueryEscape(target): `"name":"generated-`,
	} {
		if a := s.send("sre", http.MethodGet, path, ""); !strings.Contains(a.body, want) {
			t.Errorf("%s: %s lacks %s", path, a.body, want)
		}
	}
	for name, c := range map[string]struct {
		answer
		status int
		words  string
	}{
		"again":             {s.register("developer", target, false), 409, "Location url:" + target + " already exists"},
		"a file":            {s.send("developer", "POST", "/api/catalog/locations", `{"type":"file","target":"/etc/passwd"}`), 400, "allowed type"},
		"a reader":          {s.register("reader", h.page("shop", "other.yaml"), false), 403, "catalog.register"},
		"a reader's try":    {s.register("reader", h.page("shop", "other.yaml"), true), 403, "catalog.register"},
		"no such file":      {s.register("developer", h.page("shop", "nowhere.yaml"), true), 400, "NotFoundError"},
		"no such branch":    {s.register("developer", h.URL+"/acme/shop/src/branch/nowhere/x.yaml", true), 404, "nowhere"},
		"refresh":           {s.send("developer", "POST", "/api/catalog/locations?onConflict=refresh", fmt.Sprintf(`{"type":"url","target":%q}`, target)), 201, l.Location.ID},
		"no such location":  {s.send("sre", "DELETE", "/api/catalog/locations/none", ""), 404, "Found no location with ID none"},
		"another team":      {s.send("other", "DELETE", "/api/catalog/locations/"+l.Location.ID, ""), 403, "component:default/stock"},
		"a reader's delete": {s.send("reader", "DELETE", "/api/catalog/locations/"+l.Location.ID, ""), 403, "catalog.unregister"},
	} {
		if c.answer.status != c.status || !strings.Contains(c.body, c.words) {
			t.Errorf("%s: %d %s", name, c.answer.status, c.body)
		}
	}

	// Who may not register learns nothing of what can be read.
	told := map[string]string{}
	for _, try := range []string{h.page("shop", "other.yaml"), h.page("shop", "nowhere.yaml"), target, h.URL + "/acme/shop/src/branch/nowhere/x.yaml", h.URL + "/acme/none/src/branch/main/x.yaml", "https://elsewhere.test/a/b/blob/main/x.yaml"} {
		for _, dry := range []bool{true, false} {
			a := s.register("reader", try, dry)
			told[strings.NewReplacer(try, "TARGET", "?dryRun=true", "").Replace(a.body)] = try
		}
	}
	if len(told) != 1 {
		t.Errorf("a reader's tries are told apart: %q", told)
	}

	h.push("shop", "main", map[string]string{"catalog-info.yaml": service("stock", "storefront") + "---\n" + service("more", "storefront")})
	s.await("a change is seen", func() bool { return s.entityStatus("component:default/more") == http.StatusOK })
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	s.start(filepath.Join(s.dir, "fairlead.yaml"))
	s.everywhere("component:default/stock", "stock")

	if a := s.send("developer", http.MethodDelete, "/api/catalog/locations/"+l.Location.ID, ""); a.status != http.StatusNoContent || a.body != "" {
		t.Fatalf("unregistering answers %d %s", a.status, a.body)
	}
	s.nowhere("component:default/stock")
	s.nowhere(l.Location.EntityRef)
	if a := s.send("sre", http.MethodGet, "/api/catalog/locations", ""); a.body != "[]" {
		t.Errorf("the list is %s", a.body)
	}
	s.await("nothing is left on disk", func() bool {
		left, err := os.ReadDir(filepath.Join(s.dir, "state", "git", "registered"))
		return err != nil || len(left) == 0
	})
}

// TestRegisterRefusesForeignHosts registers files of a host that nobody has
// configured, and of one that only looks like it.
func TestRegisterRefusesForeignHosts(t *testing.T) {
	h, foreign := newGitHost(t), newGitHost(t)
	foreign.push("shop", "main", map[string]string{"catalog-info.yaml": service("stock", "storefront")})
	s := startWithHost(t, h)
	for _, target := range []string{
		foreign.page("shop", "catalog-info.yaml"),
		strings.Replace(foreign.page("shop", "catalog-info.yaml"), "127.0.0.1", "localhost", 1),
		strings.Replace(foreign.page("shop", "catalog-info.yaml"), "http://", "http://"+strings.TrimPrefix(h.URL, "http://")+"@", 1),
		"http://169.254.169.254/a/b/blob/main/latest",
		"file:///etc/passwd",
		"https://github.com/acme/shop/blob/main/catalog-info.yaml",
	} {
		for _, try := range []bool{true, false} {
			a := s.register("sre", target, try)
			if a.status != http.StatusForbidden && a.status != http.StatusBadRequest || !strings.Contains(a.body, `"fix":"`) {
				t.Errorf("%s: %d %s", target, a.status, a.body)
			}
		}
	}
	if n := foreign.asked.Load() + h.asked.Load(); n != 0 {
		t.Errorf("%d requests were sent", n)
	}
	if a := s.register("sre", foreign.page("shop", "x.yaml"), true); !strings.Contains(a.body, "catalog.locations.hosts") {
		t.Errorf("the fix does not name the key: %s", a.body)
	}
}

func TestRegisterAtMost(t *testing.T) {
	h := newGitHost(t)
	h.push("shop", "main", map[string]string{"catalog-info.yaml": service("stock", "storefront")})
	s := startWithHost(t, h)
	for i := range 5 {
		s.registered("developer", h.page("shop", fmt.Sprintf("missing-%d.yaml", i)))
	}
	a := s.register("developer", h.page("shop", "catalog-info.yaml"), false)
	if a.status != http.StatusUnprocessableEntity || !strings.Contains(a.body, "catalog.locations.max") {
		t.Errorf("%d %s", a.status, a.body)
	}
	a = s.send("developer", http.MethodGet, "/api/v1/errors?limit=100", "")
	if !strings.Contains(a.body, "missing-0.yaml") {
		t.Errorf("a file that is not there is no problem: %s", a.body)
	}
	var all []struct{ Data struct{ ID string } }
	s.send("developer", http.MethodGet, "/api/catalog/locations", "").decode(t, &all)
	if a := s.send("other", http.MethodDelete, "/api/catalog/locations/"+all[0].Data.ID, ""); a.status != http.StatusForbidden {
		t.Errorf("what gave nothing was taken back by another team: %d %s", a.status, a.body)
	}
	if a := s.send("developer", http.MethodDelete, "/api/catalog/locations/"+all[0].Data.ID, ""); a.status != http.StatusNoContent {
		t.Errorf("what gave nothing cannot be taken back: %d %s", a.status, a.body)
	}
}
