package gitea_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/forge"
	"github.com/fairlead-dev/fairlead/internal/forge/gitea"
)

const token = "0123456789abcdef0123456789abcdef01234567"

// host is as much of Gitea as makes trouble that a real one is hard to bring
// to.
type host struct {
	mu        sync.Mutex
	repos     []*repo
	branches  int
	running   int
	most      int
	afterPage func(page int)
	branch    http.HandlerFunc // answers in the place of a branch, if set
}

type repo struct {
	id      int64
	name    string
	head    string
	updated time.Time
}

func newHost(n int) *host {
	h := &host{}
	for i := range n {
		h.repos = append(h.repos, &repo{int64(i + 1), fmt.Sprintf("service-%04d", i), fmt.Sprintf("%040x", i+1), time.Now().Add(-time.Hour)})
	}
	return h
}

func (h *host) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := strings.TrimPrefix(r.URL.Path, "/api/v1/")
	id, byID := strings.CutPrefix(path, "repositories/")
	switch {
	case r.Header.Get("Authorization") != "token "+token:
		w.WriteHeader(http.StatusUnauthorized)
	case path == "orgs/acme":
		fmt.Fprint(w, `{"id":7,"username":"acme"}`)
	case path == "repos/search":
		h.search(w, r)
	case strings.HasSuffix(path, "/branches/main"):
		h.serveBranch(w, r, strings.Split(path, "/")[2])
	case byID:
		h.one(w, id)
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

func (h *host) search(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	page, _ := strconv.Atoi(r.URL.Query().Get("page"))
	from := min((page-1)*50, len(h.repos))
	out := []any{}
	for _, one := range h.repos[from:min(from+50, len(h.repos))] {
		out = append(out, one.json())
	}
	w.Header().Set("X-Total-Count", strconv.Itoa(len(h.repos)))
	json.NewEncoder(w).Encode(map[string]any{"ok": true, "data": out})
	if h.afterPage != nil {
		h.afterPage(page)
	}
}

func (r *repo) json() map[string]any {
	return map[string]any{"id": r.id, "full_name": "acme/" + r.name, "owner": map[string]any{"id": 7}, "default_branch": "main", "updated_at": r.updated.Format(time.RFC3339)}
}

func (h *host) find(is func(*repo) bool) *repo {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, one := range h.repos {
		if is(one) {
			return one
		}
	}
	return nil
}

func (h *host) one(w http.ResponseWriter, id string) {
	one := h.find(func(r *repo) bool { return strconv.FormatInt(r.id, 10) == id })
	if one == nil {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	json.NewEncoder(w).Encode(one.json())
}

func (h *host) serveBranch(w http.ResponseWriter, r *http.Request, name string) {
	h.mu.Lock()
	h.branches++
	h.running++
	h.most = max(h.most, h.running)
	answer := h.branch
	h.mu.Unlock()
	defer func() { h.mu.Lock(); h.running--; h.mu.Unlock() }()
	one := h.find(func(r *repo) bool { return r.name == name })
	if answer != nil && strings.HasSuffix(name, "5") {
		answer(w, r)
		return
	}
	fmt.Fprintf(w, `{"name":"main","commit":{"id":%q}}`, one.head)
}

func client(t testing.TB, at string, change func(*gitea.Config)) *gitea.Client {
	t.Helper()
	dir := t.TempDir()
	cfg := gitea.Config{URL: at, Org: "acme", TokenFile: "token", WebhookSecretFile: "secret"}
	write(t, filepath.Join(dir, "token"), token)
	write(t, filepath.Join(dir, "secret"), "hook-secret")
	cfg.Limits.RequestsPerMinute = 10_000_000
	if change != nil {
		change(&cfg)
	}
	c, err := gitea.New("fake", cfg, dir)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestHeadsAreReadWhereThereIsActivity(t *testing.T) {
	h := newHost(230)
	server := httptest.NewServer(h)
	defer server.Close()
	c := client(t, server.URL, nil)
	got := list(t, c)
	if len(got) != 230 || got[101].Head != fmt.Sprintf("%040x", 102) || h.branches != 230 || h.most > 4 {
		t.Fatalf("%d repositories, %d branches read, %d at a time", len(got), h.branches, h.most)
	}
	list(t, c)
	if h.branches != 230 {
		t.Errorf("%d branches read where nothing happened", h.branches-230)
	}
	h.repos[9].head, h.repos[9].updated = strings.Repeat("a", 40), time.Now()
	for range 2 { // the second of the push is not over: another one would not show
		if got := list(t, c); got[9].Head != strings.Repeat("a", 40) {
			t.Errorf("the head is still %s", got[9].Head)
		}
	}
	if h.branches != 232 {
		t.Errorf("%d branches read after a push just now", h.branches-230)
	}
}

func TestTroubleOfOneRepositoryIsItsOwn(t *testing.T) {
	h := newHost(30)
	h.branch = func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) }
	server := httptest.NewServer(h)
	defer server.Close()
	c := client(t, server.URL, nil)
	got := list(t, c)
	for i, r := range got {
		if (r.Head == "") != (i%10 == 5) {
			t.Errorf("%s has the head %q", r.FullName, r.Head)
		}
	}
	h.branch = func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "3600")
		w.WriteHeader(http.StatusTooManyRequests)
	}
	if got := list(t, c); len(got) != 30 || got[5].Head != "" || got[4].Head == "" {
		t.Errorf("%d repositories where a proxy limits requests", len(got))
	}
	if _, err := c.Repositories(t.Context()); fault.CodeOf(err) != fault.QuotaExceeded {
		t.Errorf("the next list, in the hour the proxy asks for: %v", err)
	}
}

func TestListsThatMoveHideNobody(t *testing.T) {
	for name, change := range map[string]func(h *host){
		"deleted": func(h *host) { h.repos = h.repos[1:] },
		"swapped": func(h *host) { h.repos = append(h.repos[1:], &repo{900, "new", strings.Repeat("b", 40), time.Now()}) },
	} {
		h := newHost(120)
		server := httptest.NewServer(h)
		defer server.Close()
		c := client(t, server.URL, nil)
		list(t, c)
		h.afterPage = func(int) { h.afterPage = nil; change(h) }
		found := false
		for _, r := range list(t, c) {
			found = found || r.FullName == "acme/service-0050"
		}
		if !found {
			t.Errorf("%s: the one that moved to a page that was read is missing", name)
		}
	}
}

func TestConfigProblems(t *testing.T) {
	for field, cfg := range map[string]gitea.Config{
		"url":               {Org: "a"},
		"org":               {URL: "https://git.example.com", Org: "a/b"},
		"host":              {Host: "git.example.com", URL: "https://git.example.com", Org: "a"},
		"credentials":       {Host: "git.example.com", Org: "a", TokenFile: "x", Credentials: forge.Credentials{TokenFile: "y"}},
		"filter.visibility": {Host: "git.example.com", User: "a", Filter: forge.Filter{Visibility: "internal"}},
	} {
		if ps := cfg.Validate(); len(ps) != 1 || ps[0].Field != field {
			t.Errorf("%s: %+v", field, ps)
		}
	}
}
