package git

import (
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// server is a real Git server over smart HTTP: the git program's own.
type server struct {
	*httptest.Server
	root  string
	posts atomic.Int32
	sent  atomic.Int64
	// before may answer in the place of Git; it returns true if it has.
	before func(w http.ResponseWriter, r *http.Request) bool
}

// serve serves the repositories below root.
func serve(t *testing.T, root string) *server {
	t.Helper()
	exec := runGit(t, root, "--exec-path")
	if _, err := os.Stat(filepath.Join(exec, "git-http-backend")); err != nil {
		t.Skip("git-http-backend is not installed")
	}
	s := &server{root: root}
	backend := &cgi.Handler{Path: filepath.Join(exec, "git-http-backend"),
		Env: []string{"GIT_PROJECT_ROOT=" + root, "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null"}}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.before != nil && s.before(w, r) {
			return
		}
		if r.Method == http.MethodPost {
			s.posts.Add(1)
		}
		backend.ServeHTTP(&counting{w, &s.sent}, r)
	}))
	t.Cleanup(s.Close)
	return s
}

type counting struct {
	http.ResponseWriter
	sent *atomic.Int64
}

func (c *counting) Write(p []byte) (int, error) {
	c.sent.Add(int64(len(p)))
	return c.ResponseWriter.Write(p)
}

// remoteRepo is a repository with a server before it.
type remoteRepo struct {
	*repo
	server *server
	limit  *Limiter
	state  string
}

func newRemoteRepo(t *testing.T) *remoteRepo {
	t.Helper()
	r := newRepo(t)
	r.git("config", "uploadpack.allowFilter", "true")
	s := serve(t, filepath.Dir(r.dir))
	limit := NewLimiter(4)
	t.Cleanup(func() { limit.Close() })
	return &remoteRepo{repo: r, server: s, limit: limit, state: filepath.Join(t.TempDir(), "state")}
}

func (r *remoteRepo) source(cfg SourceConfig) *Source {
	r.t.Helper()
	if cfg.URL == "" {
		cfg.URL = r.server.URL + "/repo"
	}
	src, err := NewSource("test", cfg, r.state, "", r.limit)
	if err != nil {
		r.t.Fatal(err)
	}
	return src
}

// requireAuth has the server ask for a user and a token.
func (r *remoteRepo) requireAuth(user, token string) {
	r.server.before = func(w http.ResponseWriter, req *http.Request) bool {
		if u, p, ok := req.BasicAuth(); ok && u == user && p == token {
			return false
		}
		w.Header().Set("WWW-Authenticate", `Basic realm="git"`)
		w.WriteHeader(http.StatusUnauthorized)
		return true
	}
}

// kept are the folders of a source's state.
func (r *remoteRepo) kept() []string {
	r.t.Helper()
	entries, err := os.ReadDir(r.state)
	if err != nil && !os.IsNotExist(err) {
		r.t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

// packs counts the packs of a source's state.
func (r *remoteRepo) packs() int {
	all, err := filepath.Glob(filepath.Join(r.state, "*", "objects", "pack", "*.pack"))
	if err != nil {
		r.t.Fatal(err)
	}
	return len(all)
}

func mustNotSay(t *testing.T, err error, secret string) {
	t.Helper()
	if err != nil && strings.Contains(err.Error(), secret) {
		t.Errorf("the error tells the secret: %v", err)
	}
}

// remoteURL is where the server is.
func (r *remoteRepo) remoteURL() *url.URL {
	u, err := url.Parse(r.server.URL)
	if err != nil {
		r.t.Fatal(err)
	}
	return u
}

func fileSize(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}
