package gitlab_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/gitops"
	"github.com/fairlead-dev/fairlead/gitops/gitopstest"
	"github.com/fairlead-dev/fairlead/internal/forge/gitlab"
)

// checkHost behaves as GitLab does with the checks of one project, acme/web/shop.
type checkHost struct {
	t         *testing.T
	mu        sync.Mutex
	refs      map[string]string
	all       bool
	statuses  map[string][]map[string]any // by commit, the newest first
	pipelines map[string][]map[string]any
}

func (h *checkHost) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	path, ok := strings.CutPrefix(r.URL.EscapedPath(), "/api/v4/projects/acme%2Fweb%2Fshop")
	if r.Header.Get("Authorization") != "Bearer "+token {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	if !ok || path != "" && path[0] != '/' {
		notFound(w)
		return
	}
	commit := strings.TrimSuffix(strings.TrimPrefix(path, "/repository/commits/"), "/statuses")
	switch {
	case path == "":
		say(w, map[string]any{"id": 1, "default_branch": "main", "only_allow_merge_if_pipeline_succeeds": h.all})
	case strings.HasSuffix(path, "/statuses"):
		say(w, h.statuses[commit])
	case strings.HasPrefix(path, "/repository/commits/"):
		h.find(w, commit)
	case path == "/pipelines":
		say(w, h.pipelines[r.URL.Query().Get("sha")])
	case path == "/pipelines/8":
		say(w, map[string]any{"id": 8, "yaml_errors": "jobs config should contain at least one visible job"})
	case strings.HasPrefix(path, "/jobs/") && strings.HasSuffix(path, "/trace"):
		fmt.Fprint(w, "2026-11-01T12:00:00.000000Z 00O \x1b[0Ksection_start\r\n2026-11-01T12:00:01.000000Z 00O sum_test.go:7: expected 3, got 4\n2026-11-01T12:00:01.000000Z 00O \x1b[31;1mERROR: Job failed\x1b[0m\n")
	case path == "/jobs/70":
		say(w, map[string]any{"id": 70, "name": "test", "stage": "verify", "failure_reason": "script_failure"})
	case strings.HasPrefix(path, "/jobs/"):
		notFound(w) // a status from outside
	default:
		h.t.Errorf("asked for %s %s", r.Method, path)
		notFound(w)
	}
}

func (h *checkHost) find(w http.ResponseWriter, escaped string) {
	revision, err := url.PathUnescape(escaped)
	if err != nil {
		h.t.Error(err)
	}
	for name, commit := range h.refs {
		if name == revision || len(revision) >= 7 && strings.HasPrefix(commit, revision) {
			say(w, map[string]any{"id": commit})
			return
		}
	}
	notFound(w)
}

func checkClient(t *testing.T) (*gitlab.Client, *checkHost) {
	t.Helper()
	h := &checkHost{t: t, refs: map[string]string{"main": strings.Repeat("a", 40), "v1": strings.Repeat("a", 40), "feature/x": strings.Repeat("b", 40)},
		statuses: map[string][]map[string]any{}, pipelines: map[string][]map[string]any{}}
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "token"), []byte(token), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := gitlab.NewForge("acme", gitlab.Config{URL: server.URL, TokenFile: "token"}, dir)
	if err != nil {
		t.Fatal(err)
	}
	return c, h
}

func (h *checkHost) status(commit string, one map[string]any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if one["id"] == nil {
		one["id"] = 1000 + len(h.statuses[commit])
	}
	h.statuses[commit] = append([]map[string]any{one}, h.statuses[commit]...)
}

func (h *checkHost) pipeline(commit string, id int, status string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.pipelines[commit] = append(h.pipelines[commit], map[string]any{"id": id, "ref": "main", "source": "push", "status": status, "web_url": fmt.Sprintf("https://gitlab.example.com/acme/web/shop/-/pipelines/%d", id),
		"created_at": "2026-11-01T12:00:00Z", "updated_at": "2026-11-01T12:01:00Z"})
}

func TestChecksAreThoseOfEveryForge(t *testing.T) {
	c, h := checkClient(t)
	gitopstest.CIContract(t, gitopstest.CISubject{CI: c, Repository: "acme/web/shop", Main: h.refs["main"], Feature: h.refs["feature/x"],
		Report: func(_ *testing.T, commit, name, state string) {
			one := map[string]any{"name": name, "status": map[string]string{"pending": "running", "passed": "success", "failed": "failed"}[state], "target_url": "https://ci.example.com/" + name, "started_at": time.Now().UTC()}
			if state != gitops.CheckPending {
				one["finished_at"] = time.Now().UTC()
			}
			h.status(commit, one)
		},
		Require: func(*testing.T, ...string) gitops.Gate { // it knows of no single ones
			h.mu.Lock()
			defer h.mu.Unlock()
			h.all = true
			return gitops.Gate{Branch: "main", All: true}
		},
		Break: func(_ *testing.T, commit string) (string, string) {
			h.pipeline(commit, 7, "failed")
			h.status(commit, map[string]any{"id": 70, "name": "test", "status": "failed", "pipeline_id": 7, "target_url": "https://gitlab.example.com/acme/web/shop/-/jobs/70", "started_at": "2026-11-01T12:00:00Z", "finished_at": "2026-11-01T12:01:00Z"})
			return "test", "stage verify"
		},
	})
}

func TestChecksOfPipelines(t *testing.T) {
	c, h := checkClient(t)
	main := h.refs["main"]
	h.pipeline(main, 5, "failed") // replaced by the one after it
	h.pipeline(main, 8, "failed") // could not be made
	h.status(main, map[string]any{"name": "deploy", "status": "manual", "allow_failure": true})
	h.status(main, map[string]any{"name": "gate", "status": "manual"})
	h.status(main, map[string]any{"name": "flaky", "status": "failed", "allow_failure": true})
	h.status(main, map[string]any{"name": "stopped", "status": "canceled"})
	found, err := c.CommitChecks(t.Context(), "acme/web/shop", main)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range found.Checks {
		got = append(got, strings.TrimSpace(strings.Join([]string{c.Name, c.State, c.Result, map[bool]string{true: "optional"}[c.Optional], strings.Join(c.Detail, " ")}, " ")))
	}
	slices.Sort(got)
	want := []string{"deploy passed manual optional", "flaky failed  optional", "gate pending manual", "pipeline 8 (push) failed   jobs config should contain at least one visible job", "stopped failed canceled"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, not %q", got, want)
	}
}
