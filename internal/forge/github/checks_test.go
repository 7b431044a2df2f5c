package github_test

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/gitops"
	"github.com/fairlead-dev/fairlead/gitops/gitopstest"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// checkHost behaves as GitHub Enterprise does with the checks of one repository,
// acme/shop.
type checkHost struct {
	t         *testing.T
	mu        sync.Mutex
	refs      map[string]string
	required  []string
	statuses  map[string][]map[string]any // by commit, the last of each name
	runs      map[string][]map[string]any
	workflows map[string][]map[string]any
	kept      string // a path that the token may not read
	limited   bool
}

func (h *checkHost) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	rest, ok := strings.CutPrefix(r.URL.EscapedPath(), "/api/v3/repos/acme/shop")
	switch {
	case r.Header.Get("Authorization") != "Bearer "+token:
		fail(w, http.StatusUnauthorized, "Bad credentials")
	case h.limited:
		w.Header().Set("X-RateLimit-Remaining", "0")
		w.Header().Set("Retry-After", "3600")
		fail(w, http.StatusForbidden, "API rate limit exceeded for user")
	case !ok || rest != "" && rest[0] != '/':
		fail(w, http.StatusNotFound, "Not Found")
	case h.kept != "" && strings.Contains(rest, h.kept):
		fail(w, http.StatusForbidden, "Resource not accessible by personal access token")
	default:
		h.serve(w, r, strings.TrimPrefix(rest, "/"))
	}
}

func (h *checkHost) serve(w http.ResponseWriter, r *http.Request, rest string) {
	commit, is := "", func(prefix, suffix string) bool {
		return strings.HasPrefix(rest, prefix) && strings.HasSuffix(rest, suffix) && len(rest) > len(prefix)+len(suffix)
	}
	if parts := strings.Split(rest, "/"); len(parts) > 1 {
		commit = parts[1]
	}
	switch {
	case rest == "":
		say(w, map[string]any{"full_name": "acme/shop", "default_branch": "main"})
	case rest == "branches/main":
		say(w, map[string]any{"name": "main", "protected": true, "protection": map[string]any{"enabled": true, "required_status_checks": map[string]any{"enforcement_level": "everyone", "contexts": h.required[:min(len(h.required), 1)], "checks": []any{}}}})
	case rest == "rules/branches/main":
		rules := []any{}
		for _, name := range h.required[min(len(h.required), 1):] {
			rules = append(rules, map[string]any{"type": "required_status_checks", "ruleset_id": 1, "parameters": map[string]any{"required_status_checks": []any{map[string]any{"context": name}}, "strict_required_status_checks_policy": false}})
		}
		say(w, rules)
	case is("commits/", "/status"):
		say(w, map[string]any{"state": "pending", "total_count": len(h.statuses[commit]), "statuses": h.statuses[commit]})
	case is("commits/", "/check-runs"):
		say(w, map[string]any{"total_count": len(h.runs[commit]), "check_runs": h.runs[commit]})
	case rest == "actions/runs":
		found := h.workflows[r.URL.Query().Get("head_sha")]
		say(w, map[string]any{"total_count": len(found), "workflow_runs": found})
	case is("actions/jobs/", ""):
		say(w, map[string]any{"id": 55, "steps": []any{map[string]any{"name": "Set up job", "status": "completed", "conclusion": "success"}, map[string]any{"name": "go test ./...", "status": "completed", "conclusion": "failure"}, map[string]any{"name": "Complete job", "status": "queued"}}})
	case is("check-runs/", "/annotations"):
		say(w, []any{map[string]any{"path": "sum_test.go", "start_line": 7, "annotation_level": "failure", "message": "expected 3, got 4"}, map[string]any{"path": ".github", "start_line": 1, "annotation_level": "notice", "message": "a notice"}})
	case is("commits/", ""):
		h.find(w, strings.TrimPrefix(r.URL.Path, "/api/v3/repos/acme/shop/commits/"))
	default:
		h.t.Errorf("asked for %s %s", r.Method, r.URL.Path)
		fail(w, http.StatusNotFound, "Not Found")
	}
}

func (h *checkHost) find(w http.ResponseWriter, revision string) {
	for name, commit := range h.refs {
		if name == revision || len(revision) >= 7 && strings.HasPrefix(commit, revision) {
			fmt.Fprint(w, commit)
			return
		}
	}
	fail(w, http.StatusUnprocessableEntity, "No commit found for SHA: "+revision)
}

func newCheckHost(t *testing.T) *checkHost {
	return &checkHost{t: t, refs: map[string]string{"main": strings.Repeat("a", 40), "v1": strings.Repeat("a", 40), "feature/x": strings.Repeat("b", 40)},
		statuses: map[string][]map[string]any{}, runs: map[string][]map[string]any{}, workflows: map[string][]map[string]any{}}
}

// put keeps the last of a name.
func put(all []map[string]any, key string, one map[string]any) []map[string]any {
	return append(slices.DeleteFunc(all, func(o map[string]any) bool { return o[key] == one[key] }), one)
}

// job has a job of a workflow be there.
func (h *checkHost) job(commit, name string, suite int, conclusion string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	id := 1000 + len(h.runs[commit])
	h.runs[commit] = append(h.runs[commit], map[string]any{"id": id, "name": name, "status": "completed", "conclusion": conclusion, "html_url": "https://github.example.com/acme/shop/actions/runs/" + strconv.Itoa(suite) + "/job/55",
		"details_url": "https://github.example.com/acme/shop/actions/runs/" + strconv.Itoa(suite) + "/job/55", "check_suite": map[string]any{"id": suite}, "app": map[string]any{"slug": "github-actions"},
		"started_at": "2026-11-01T12:00:00Z", "completed_at": "2026-11-01T12:01:00Z", "output": map[string]any{"annotations_count": 2}})
}

func (h *checkHost) workflow(commit string, suite, number int, status, conclusion string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.workflows[commit] = append(h.workflows[commit], map[string]any{"id": 9000 + suite, "name": "CI", "workflow_id": 4, "event": "push", "run_number": number, "check_suite_id": suite, "status": status, "conclusion": conclusion,
		"html_url": "https://github.example.com/acme/shop/actions/runs/" + strconv.Itoa(suite), "run_started_at": "2026-11-01T12:00:00Z", "updated_at": "2026-11-01T12:01:00Z"})
}

func TestChecksAreThoseOfEveryForge(t *testing.T) {
	h := newCheckHost(t)
	gitopstest.CIContract(t, gitopstest.CISubject{CI: pullClient(t, h), Repository: "acme/shop", Main: h.refs["main"], Feature: h.refs["feature/x"],
		Report: func(_ *testing.T, commit, name, state string) {
			h.mu.Lock()
			defer h.mu.Unlock()
			now, page := stampNow(), "https://ci.example.com/"+name
			if name == "unit" { // one of an app
				h.runs[commit] = put(h.runs[commit], "name", map[string]any{"id": 1, "name": name, "status": map[string]string{"pending": "in_progress"}[state], "details_url": page, "started_at": now, "check_suite": map[string]any{"id": 3}, "app": map[string]any{"slug": "other"}})
				return
			}
			state = map[string]string{"pending": "pending", "passed": "success", "failed": "failure"}[state]
			h.statuses[commit] = put(h.statuses[commit], "context", map[string]any{"context": name, "state": state, "target_url": page, "created_at": now, "updated_at": now})
		},
		Require: func(_ *testing.T, names ...string) gitops.Gate {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.required = names
			return gitops.Gate{Branch: "main", Required: names}
		},
		Break: func(_ *testing.T, commit string) (string, string) {
			h.workflow(commit, 70, 1, "completed", "failure")
			h.job(commit, "test", 70, "failure")
			return "test", "go test ./..."
		},
	})
}

func TestChecksOfWorkflows(t *testing.T) {
	h := newCheckHost(t)
	c, main := pullClient(t, h), h.refs["main"]
	h.workflow(main, 70, 1, "completed", "failure")
	h.job(main, "test", 70, "failure")
	h.workflow(main, 71, 2, "completed", "success") // run anew
	h.job(main, "test", 71, "success")
	h.job(main, "lint", 71, "skipped")
	h.workflow(main, 72, 3, "waiting", "") // no job yet
	found, err := c.CommitChecks(t.Context(), "acme/shop", main)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range found.Checks {
		got = append(got, strings.Join([]string{c.Name, c.State, c.Result, c.Run[strings.LastIndex(c.Run, "/"):]}, " "))
	}
	slices.Sort(got)
	if want := []string{"CI pending waiting /72", "lint passed skipped /71", "test passed  /71"}; !slices.Equal(got, want) {
		t.Errorf("%q, not %q", got, want)
	}
}

func TestChecksThatATokenMayNotRead(t *testing.T) {
	h := newCheckHost(t)
	c := pullClient(t, h)
	h.kept = "check-runs"
	found, err := c.CommitChecks(t.Context(), "acme/shop", h.refs["main"])
	if err != nil || len(found.Blind) != 1 || !strings.Contains(found.Blind[0], "checks of apps") {
		t.Errorf("%+v, %v", found, err)
	}
	h.kept = "rules/"
	if g, err := c.Gate(t.Context(), "acme/shop"); err != nil || g.Branch != "main" {
		t.Errorf("%+v, %v", g, err)
	}
}

func TestChecksWithinTheLimits(t *testing.T) {
	h := newCheckHost(t)
	c := pullClient(t, h)
	h.limited = true
	for range 2 {
		_, err := c.CommitChecks(t.Context(), "acme/shop", h.refs["main"])
		if f := fault.From(err); f.Code != fault.QuotaExceeded || f.RetryAfter < 1 {
			t.Errorf("%v", err)
		}
	}
}

func stampNow() string { return time.Now().UTC().Format(time.RFC3339) }
