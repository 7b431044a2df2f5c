package github_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/internal/forge/github"
)

const token = "ghp_secretOfTheTest0123456789"

// host behaves as GitHub Enterprise does where Fairlead can tell: GraphQL and
// REST, the headers and refusals of its limits, conditional requests, pages.
type host struct {
	t *testing.T

	mu      sync.Mutex
	repos   []*repo // in the order of creation
	windows map[string]*window
	reserve int       // of the window graphql, which background work leaves alone
	quiet   time.Time // a secondary limit: no request before this
	answers []http.HandlerFunc
	seen    []string // method and path of each request
	cheated []string // requests beyond a limit
	revoked bool
	maxPage int
}

type repo struct {
	name, head     string
	pushed         time.Time
	archived, fork bool
	topics         []string
	visibility     string
	defaultBranch  string
}

type window struct {
	limit, used int
	length      time.Duration
	reset       time.Time
}

func newHost(t *testing.T, repos int) *host {
	h := &host{t: t, windows: map[string]*window{"graphql": {limit: 5000, length: time.Hour}, "core": {limit: 5000, length: time.Hour}}}
	for i := range repos {
		h.repos = append(h.repos, &repo{name: fmt.Sprintf("service-%05d", i), head: commit(i), pushed: time.Unix(1_700_000_000+int64(i), 0), visibility: "PRIVATE", defaultBranch: "main"})
	}
	h.reserve = h.windows["graphql"].limit / 10
	return h
}

func commit(i int) string { return fmt.Sprintf("%040x", i+1) }

// RoundTrip serves in the process, so that time may be that of a bubble.
func (h *host) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result(), r.Context().Err()
}

func (h *host) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.seen = append(h.seen, r.Method+" "+r.URL.Path)
	w.Header().Set("Date", time.Now().UTC().Format(http.TimeFormat))
	w.Header().Set("Content-Type", "application/json")
	if time.Now().Before(h.quiet) {
		h.cheated = append(h.cheated, "a request while the host wants none")
	}
	if h.revoked || r.Header.Get("Authorization") != "Bearer "+token {
		fail(w, http.StatusUnauthorized, "Bad credentials")
		return
	}
	if len(h.answers) > 0 {
		next := h.answers[0]
		h.answers = h.answers[1:]
		if next != nil {
			next(w, r)
			return
		}
	}
	h.route(w, r)
}

func (h *host) route(w http.ResponseWriter, r *http.Request) {
	switch path := strings.TrimPrefix(r.URL.Path, "/api/"); path {
	case "graphql":
		h.graphql(w, r)
	case "v3/orgs/acme":
		h.rest(w, r, map[string]any{"login": "acme", "total_private_repos": len(h.repos)})
	case "v3/orgs/acme/repos":
		h.rest(w, r, h.pushedLast(r))
	default:
		fail(w, http.StatusNotFound, "Not Found")
	}
}

func fail(w http.ResponseWriter, status int, message string) {
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(map[string]string{"message": message, "documentation_url": "https://docs.github.com/rest"})
}

// charge takes a point of a window, as long as there are any, and tells so.
func (h *host) charge(w http.ResponseWriter, resource string, points, reserve int) bool {
	at := h.windows[resource]
	if now := time.Now(); !now.Before(at.reset) {
		at.used, at.reset = 0, now.Add(at.length)
	}
	ok := at.used+points <= at.limit
	if points > 0 && at.used+points > at.limit-reserve {
		h.cheated = append(h.cheated, fmt.Sprintf("%s: request %d of %d, of which %d are kept", resource, at.used+1, at.limit, reserve))
	}
	if ok {
		at.used += points
	}
	for name, n := range map[string]int64{"Limit": int64(at.limit), "Remaining": int64(at.limit - at.used), "Used": int64(at.used), "Reset": at.reset.Unix()} {
		w.Header().Set("X-RateLimit-"+name, strconv.FormatInt(n, 10))
	}
	w.Header().Set("X-RateLimit-Resource", resource)
	return ok
}

func (h *host) rest(w http.ResponseWriter, r *http.Request, answer any) {
	body, _ := json.Marshal(answer)
	etag := fmt.Sprintf(`W/"%x"`, sha256.Sum256(body))
	w.Header().Set("ETag", etag)
	if r.Header.Get("If-None-Match") == etag {
		h.charge(w, "core", 0, 0)
		w.WriteHeader(http.StatusNotModified)
		return
	}
	if !h.charge(w, "core", 1, h.windows["core"].limit/10) {
		fail(w, http.StatusForbidden, "API rate limit exceeded for user ID 1.")
		return
	}
	w.Write(body)
}

func (h *host) pushedLast(r *http.Request) []map[string]any {
	n, _ := strconv.Atoi(r.URL.Query().Get("per_page"))
	if r.URL.Query().Get("sort") != "pushed" || r.URL.Query().Get("direction") != "desc" || r.URL.Query().Get("type") != "all" || n < 1 {
		h.t.Errorf("the question for changes is %s", r.URL)
	}
	var out []map[string]any
	for _, one := range h.sorted("PUSHED_AT", h.repos)[:min(n, len(h.repos))] {
		out = append(out, map[string]any{"full_name": "acme/" + one.name, "pushed_at": one.pushed})
	}
	return out
}

func (h *host) sorted(field string, repos []*repo) []*repo {
	out := slices.Clone(repos)
	if field == "PUSHED_AT" {
		slices.SortStableFunc(out, func(x, y *repo) int { return y.pushed.Compare(x.pushed) })
	}
	return out
}

type question struct {
	Query     string
	Variables struct {
		Login      string
		First      int
		After      string
		Order      struct{ Field, Direction string }
		Archived   *bool
		Fork       *bool
		Visibility string
	}
}

func (h *host) graphql(w http.ResponseWriter, r *http.Request) {
	var q question
	if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
		fail(w, http.StatusBadRequest, "Problems parsing JSON")
		return
	}
	v := q.Variables
	if v.First < 1 || v.First > 100 {
		h.t.Errorf("a page of %d is asked for", v.First)
	}
	h.maxPage = max(h.maxPage, v.First)
	if !h.charge(w, "graphql", 1, h.reserve) {
		say(w, map[string]any{"errors": []any{map[string]string{"type": "RATE_LIMITED", "message": "API rate limit exceeded"}}})
		return
	}
	if v.Login != "acme" || !strings.Contains(q.Query, "owner:organization(") {
		say(w, map[string]any{"data": map[string]any{"owner": nil}, "errors": []any{map[string]any{"type": "NOT_FOUND", "path": []string{"owner"}, "message": "Could not resolve to an Organization"}}})
		return
	}
	say(w, map[string]any{"data": map[string]any{"owner": map[string]any{"repositories": h.page(&q)}}})
}

func say(w http.ResponseWriter, answer any) { json.NewEncoder(w).Encode(answer) }

func (h *host) page(q *question) map[string]any {
	v := q.Variables
	var all []*repo
	for _, one := range h.repos {
		if v.Archived != nil && one.archived != *v.Archived || v.Fork != nil && one.fork != *v.Fork || v.Visibility != "" && v.Visibility != one.visibility {
			continue
		}
		all = append(all, one)
	}
	all = h.sorted(v.Order.Field, all)
	from, _ := strconv.Atoi(strings.TrimPrefix(v.After, "cursor:"))
	to := min(from+v.First, len(all))
	nodes := []any{}
	for _, one := range all[from:to] {
		nodes = append(nodes, one.node())
	}
	return map[string]any{"totalCount": len(all), "nodes": nodes,
		"pageInfo": map[string]any{"hasNextPage": to < len(all), "endCursor": "cursor:" + strconv.Itoa(to)}}
}

func (r *repo) node() map[string]any {
	topics := []any{}
	for _, t := range r.topics {
		topics = append(topics, map[string]any{"topic": map[string]string{"name": t}})
	}
	n := map[string]any{"nameWithOwner": "acme/" + r.name, "url": "https://github.example.com/acme/" + r.name, "isArchived": r.archived, "isFork": r.fork,
		"isEmpty": r.head == "", "pushedAt": r.pushed, "updatedAt": r.pushed, "defaultBranchRef": nil, "repositoryTopics": map[string]any{"nodes": topics}}
	if r.head != "" {
		n["defaultBranchRef"] = map[string]any{"name": r.defaultBranch, "target": map[string]string{"oid": r.head}}
	}
	return n
}

// count tells how many requests began with a prefix since the last count.
func (h *host) count(prefix string) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := 0
	for _, s := range h.seen {
		if strings.HasPrefix(s, prefix) {
			n++
		}
	}
	return n
}

// fair fails the test if the client went beyond a limit.
func (h *host) fair() {
	h.t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.cheated) > 0 {
		h.t.Errorf("the client exceeded its budget %d times: %s", len(h.cheated), h.cheated[0])
	}
}

// client talks to a host at a URL, with the token in a file.
func client(t testing.TB, at string, change func(*github.Config), opts ...github.Option) *github.Client {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"token": token + "\n", "secret": "hook-secret\nolder-secret\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cfg := github.Config{URL: at, Org: "acme", WebhookSecretFile: "secret"}
	cfg.Credentials.TokenFile = "token"
	cfg.Limits.RequestsPerMinute = 1_000_000
	if change != nil {
		change(&cfg)
	}
	c, err := github.New("org", cfg, dir, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}
