package gitlab_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/internal/forge"
	"github.com/fairlead-dev/fairlead/internal/forge/gitlab"
)

const token = "glpat-secretOfTheTest0123"

// host behaves as GitLab does where Fairlead can tell: lists of projects in
// counted pages, limits by the minute, conditional requests.
type host struct {
	t *testing.T

	mu        sync.Mutex
	projects  []*project
	limit     int // requests a minute
	used      int
	window    time.Time
	untold    bool // as of more than ten thousand: no totals
	revoked   bool
	afterPage func(page int)
	same      int // answers of status 304
	refused   int
	queries   []string
}

type project struct {
	id                      int64
	path, visibility, topic string
	archived, fork, doomed  bool
}

func newHost(t *testing.T, n int) *host {
	h := &host{t: t, limit: 600}
	for i := range n {
		h.projects = append(h.projects, &project{id: int64(i + 1), path: fmt.Sprintf("acme/team-%d/service-%04d", i%7, i), visibility: "private"})
	}
	return h
}

func (h *host) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	if h.revoked || r.Header.Get("Authorization") != "Bearer "+token {
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprintf(w, `{"message":"401 Unauthorized %s"}`, r.Header.Get("Authorization"))
		return
	}
	if !h.charge(w) {
		return
	}
	path := strings.TrimPrefix(r.URL.EscapedPath(), "/api/v4/")
	id, isProject := strings.CutPrefix(path, "projects/")
	switch {
	case path == "groups/acme/projects", path == "groups/acme%2Fteam-1/projects", path == "users/alice/projects":
		h.list(w, r, path)
	case isProject:
		h.one(w, id)
	default:
		notFound(w)
	}
}

func notFound(w http.ResponseWriter) {
	w.WriteHeader(http.StatusNotFound)
	fmt.Fprint(w, `{"message":"404 Not Found"}`)
}

func (h *host) charge(w http.ResponseWriter) bool {
	now := time.Now()
	if !now.Before(h.window) {
		h.used, h.window = 0, now.Add(time.Minute)
	}
	h.used++
	for name, n := range map[string]int64{"Limit": int64(h.limit), "Observed": int64(h.used), "Remaining": int64(max(h.limit-h.used, 0)), "Reset": h.window.Unix()} {
		w.Header().Set("RateLimit-"+name, strconv.FormatInt(n, 10))
	}
	if h.used > h.limit {
		h.refused++
		w.Header().Set("Retry-After", "60")
		w.WriteHeader(http.StatusTooManyRequests)
		return false
	}
	return true
}

func (h *host) list(w http.ResponseWriter, r *http.Request, path string) {
	q := r.URL.Query()
	h.queries = append(h.queries, r.URL.RawQuery)
	if q.Get("order_by") != "id" || q.Get("sort") != "asc" || strings.HasPrefix(path, "groups") && (q.Get("include_subgroups") != "true" || q.Get("with_shared") != "false") {
		h.t.Errorf("the question is %s", r.URL.RawQuery)
	}
	owner, _ := strings.CutSuffix(strings.NewReplacer("groups/", "", "users/", "", "%2F", "/").Replace(path), "/projects")
	all := slices.DeleteFunc(slices.Clone(h.projects), func(p *project) bool {
		return !strings.HasPrefix(p.path, owner+"/") || q.Get("archived") == "false" && p.archived ||
			q.Has("visibility") && q.Get("visibility") != p.visibility || q.Has("topic") && q.Get("topic") != p.topic
	})
	page, _ := strconv.Atoi(q.Get("page"))
	size, _ := strconv.Atoi(q.Get("per_page"))
	from := min((page-1)*size, len(all))
	to := min(from+size, len(all))
	out := []any{}
	for _, p := range all[from:to] {
		out = append(out, p.json())
	}
	if !h.untold {
		w.Header().Set("X-Total", strconv.Itoa(len(all)))
	}
	w.Header().Set("X-Page", strconv.Itoa(page))
	if to < len(all) {
		w.Header().Set("X-Next-Page", strconv.Itoa(page+1))
	}
	h.answer(w, r, out)
	if h.afterPage != nil {
		h.afterPage(page)
	}
}

func (h *host) one(w http.ResponseWriter, id string) {
	for _, p := range h.projects {
		if strconv.FormatInt(p.id, 10) == id {
			json.NewEncoder(w).Encode(p.json())
			return
		}
	}
	notFound(w)
}

func (h *host) answer(w http.ResponseWriter, r *http.Request, out any) {
	body, _ := json.Marshal(out)
	etag := fmt.Sprintf(`W/"%x"`, sha256.Sum256(body))
	w.Header().Set("ETag", etag)
	if r.Header.Get("If-None-Match") == etag {
		h.same++
		w.WriteHeader(http.StatusNotModified)
		return
	}
	w.Write(body)
}

func (p *project) json() map[string]any {
	web := "https://gitlab.example.com/" + p.path
	out := map[string]any{"id": p.id, "path_with_namespace": p.path, "default_branch": "main", "visibility": p.visibility, "web_url": web, "http_url_to_repo": web + ".git",
		"ssh_url_to_repo": "git@gitlab.example.com:" + p.path + ".git", "archived": p.archived, "empty_repo": false, "topics": []string{}, "last_activity_at": "2026-11-01T12:00:00.000Z", "marked_for_deletion_on": nil}
	if p.topic != "" {
		out["topics"] = []string{p.topic}
	}
	if p.fork {
		out["forked_from_project"] = map[string]any{"id": 99, "path_with_namespace": "other/x"}
	}
	if p.doomed {
		out["marked_for_deletion_on"] = "2026-12-01"
	}
	return out
}

// client talks to a host at a URL, with the token in a file.
func client(t testing.TB, at string, change func(*gitlab.Config)) *gitlab.Client {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"token": token + "\n", "secret": "hook-secret\nwhsec_" + signingKey + "\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cfg := gitlab.Config{URL: at, Group: "acme", WebhookSecretFile: "secret"}
	cfg.Credentials.TokenFile = "token"
	cfg.Limits.RequestsPerMinute = 1_000_000
	if change != nil {
		change(&cfg)
	}
	c, err := gitlab.New("group", cfg, dir)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func list(t *testing.T, c *gitlab.Client) []forge.Repository {
	t.Helper()
	out, err := c.Repositories(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return out
}
