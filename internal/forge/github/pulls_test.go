package github_test

import (
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

	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/forge/forgetest"
	"github.com/fairlead-dev/fairlead/internal/forge/github"
)

// pullHost behaves as GitHub Enterprise does with the pull requests of one
// repository, acme/shop.
type pullHost struct {
	t        *testing.T
	mu       sync.Mutex
	branches map[string]string
	pulls    []*pull
	runs     map[string][]map[string]any // check runs by commit
	comments []*comment
	readOnly bool
}

type pull struct {
	Title, Body, head, base, state string
	draft                          bool
	merged                         string
	reviews                        []map[string]any
}

type comment struct {
	id         int64
	pull       int
	user, body string
}

func (h *pullHost) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	rest, ok := strings.CutPrefix(r.URL.Path, "/api/v3/repos/acme/shop/")
	switch {
	case r.Header.Get("Authorization") != "Bearer "+token:
		fail(w, http.StatusUnauthorized, "Bad credentials")
	case r.URL.Path == "/api/v3/user":
		say(w, map[string]any{"login": "fairlead-bot"})
	case !ok:
		fail(w, http.StatusNotFound, "Not Found")
	case h.readOnly && r.Method != http.MethodGet:
		fail(w, http.StatusForbidden, "Resource not accessible by personal access token")
	default:
		h.serve(w, r, strings.Split(rest, "/"))
	}
}

func (h *pullHost) serve(w http.ResponseWriter, r *http.Request, path []string) {
	var in struct {
		Title, Body, State, Head, Base *string
		Draft                          bool
		Reviewers                      []string
	}
	if r.Method == http.MethodPost || r.Method == http.MethodPatch {
		json.NewDecoder(r.Body).Decode(&in) // a list of labels is none of these
	}
	number := 0
	if len(path) > 1 {
		number, _ = strconv.Atoi(path[1])
	}
	switch route := r.Method + " " + path[0] + " " + strings.Join(path[min(2, len(path)):], "/"); {
	case route == "GET pulls " && number == 0 && len(path) == 1:
		h.list(w, r)
	case route == "POST pulls ":
		h.create(w, *in.Title, *in.Body, *in.Head, *in.Base, in.Draft)
	case path[0] == "pulls" && (number < 1 || number > len(h.pulls)):
		fail(w, http.StatusNotFound, "Not Found")
	case route == "GET pulls ":
		say(w, h.json(number, true))
	case route == "PATCH pulls ":
		p := h.pulls[number-1]
		for at, v := range map[*string]*string{&p.Title: in.Title, &p.Body: in.Body, &p.state: in.State} {
			if v != nil {
				*at = *v
			}
		}
		say(w, h.json(number, true))
	case route == "POST pulls requested_reviewers":
		if in.Reviewers[0] != "ada" {
			fail(w, http.StatusUnprocessableEntity, "Reviews may only be requested from collaborators. One or more of the users or teams you specified is not a collaborator of the acme/shop repository.")
			return
		}
		w.WriteHeader(http.StatusCreated)
		say(w, h.json(number, false))
	case route == "GET pulls files":
		say(w, []any{map[string]any{"filename": "new.md", "previous_filename": "old.md"}})
	case route == "GET pulls reviews":
		say(w, h.pulls[number-1].reviews)
	case route == "POST issues labels":
		say(w, []any{})
	case route == "GET commits status":
		say(w, map[string]any{"state": "pending", "statuses": []any{}})
	case route == "GET commits check-runs":
		say(w, map[string]any{"total_count": len(h.runs[path[1]]), "check_runs": h.runs[path[1]]})
	case path[0] == "issues":
		h.comment(w, r, path[1:], in.Body)
	default:
		h.t.Errorf("asked for %s %s", r.Method, r.URL.Path)
		fail(w, http.StatusNotFound, "Not Found")
	}
}

func (h *pullHost) list(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	out := []any{}
	for i := len(h.pulls); i > 0; i-- {
		p := h.pulls[i-1]
		if (q.Get("state") == "all" || p.state == q.Get("state")) && (q.Get("head") == "" || q.Get("head") == "acme:"+p.head) && (q.Get("base") == "" || q.Get("base") == p.base) {
			out = append(out, h.json(i, false))
		}
	}
	if q.Get("page") != "1" {
		out = nil
	}
	say(w, out)
}

func (h *pullHost) create(w http.ResponseWriter, title, body, head, base string, draft bool) {
	refuse := func(detail map[string]string) {
		w.WriteHeader(http.StatusUnprocessableEntity)
		say(w, map[string]any{"message": "Validation Failed", "errors": []any{detail}, "documentation_url": "https://docs.github.com/rest/pulls/pulls#create-a-pull-request"})
	}
	if h.branches[head] == "" {
		refuse(map[string]string{"resource": "PullRequest", "field": "head", "code": "invalid"})
		return
	}
	if slices.ContainsFunc(h.pulls, func(p *pull) bool { return p.head == head && p.base == base && p.state == "open" }) {
		refuse(map[string]string{"resource": "PullRequest", "code": "custom", "message": "A pull request already exists for acme:" + head + "."})
		return
	}
	h.pulls = append(h.pulls, &pull{Title: title, Body: body, head: head, base: base, state: "open", draft: draft})
	w.WriteHeader(http.StatusCreated)
	say(w, h.json(len(h.pulls), true))
}

// json is a pull request as GitHub shows it; lists leave some fields out, and
// hold a test merge in merge_commit_sha.
func (h *pullHost) json(number int, full bool) map[string]any {
	p := h.pulls[number-1]
	out := map[string]any{"number": number, "html_url": fmt.Sprintf("https://github.example.com/acme/shop/pull/%d", number), "title": p.Title, "body": p.Body, "state": p.state,
		"draft": p.draft, "user": map[string]any{"login": "fairlead-bot"},
		"head": map[string]any{"ref": p.head, "sha": h.branches[p.head], "repo": map[string]any{"id": 7}}, "base": map[string]any{"ref": p.base, "repo": map[string]any{"id": 7}}, "merge_commit_sha": strings.Repeat("f", 40), "merged_at": nil}
	if p.merged != "" {
		out["merged_at"], out["merge_commit_sha"], out["state"] = "2026-11-01T12:00:00Z", p.merged, "closed"
	}
	if p.state == "closed" {
		out["closed_at"] = "2026-11-01T12:00:00Z"
	}
	if full {
		out["merged"], out["mergeable"], out["mergeable_state"] = p.merged != "", nil, "unknown"
		if p.draft {
			out["mergeable_state"] = "draft"
		}
	}
	return out
}

func (h *pullHost) comment(w http.ResponseWriter, r *http.Request, path []string, body *string) {
	id, _ := strconv.ParseInt(path[len(path)-1], 10, 64)
	number, _ := strconv.Atoi(path[0])
	switch r.Method {
	case http.MethodPost:
		h.comments = append(h.comments, &comment{int64(len(h.comments) + 1), number, "fairlead-bot", *body})
		w.WriteHeader(http.StatusCreated)
		say(w, map[string]any{})
	case http.MethodGet:
		out := []any{}
		for _, c := range h.comments {
			if c.pull == number {
				out = append(out, map[string]any{"id": c.id, "body": c.body, "user": map[string]any{"login": c.user}})
			}
		}
		say(w, out)
	case http.MethodPatch:
		h.comments[id-1].body = *body
		say(w, map[string]any{})
	case http.MethodDelete:
		h.comments[id-1].pull = 0
		w.WriteHeader(http.StatusNoContent)
	}
}

func pullClient(t *testing.T, h http.Handler) *github.Client {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "token"), []byte(token), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := github.NewForge("acme", github.Config{URL: server.URL, TokenFile: "token"}, dir)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestPullsAreThoseOfEveryForge(t *testing.T) {
	h := &pullHost{t: t, branches: map[string]string{"main": commit(0)}, runs: map[string][]map[string]any{}}
	at := func(number int64) *pull { return h.pulls[number-1] }
	forgetest.Run(t, forgetest.Host{
		Client: pullClient(t, h), Repository: "acme/shop", Reviewer: "ada", Approver: "grace",
		Branch: func(_ *testing.T, name string) string {
			h.branches[name] = commit(len(h.branches))
			return h.branches[name]
		},
		Merge: func(_ *testing.T, number int64) { at(number).merged, at(number).state = commit(77), "closed" },
		Check: func(_ *testing.T, commit, name, state string) {
			run := map[string]any{"name": name, "status": "in_progress", "conclusion": nil}
			if state != "pending" {
				run["status"], run["conclusion"] = "completed", map[string]string{"passed": "success", "failed": "failure"}[state]
			}
			h.runs[commit] = append(slices.DeleteFunc(h.runs[commit], func(r map[string]any) bool { return r["name"] == name }), run)
		},
		Approve: func(_ *testing.T, number int64) {
			for _, state := range []string{"CHANGES_REQUESTED", "COMMENTED", "APPROVED", "COMMENTED"} {
				at(number).reviews = append(at(number).reviews, map[string]any{"state": state, "user": map[string]any{"login": "grace"}})
			}
		},
		Comment: func(_ *testing.T, number int64, body string) {
			h.comments = append(h.comments, &comment{int64(len(h.comments) + 1), int(number), "somebody", body})
		},
		Comments: func(_ *testing.T, number int64) (out []string) {
			for _, c := range h.comments {
				if int64(c.pull) == number {
					out = append(out, c.body)
				}
			}
			return out
		},
	})
}

func TestPullsOfATokenThatOnlyReads(t *testing.T) {
	h := &pullHost{t: t, branches: map[string]string{"main": commit(0), "x": commit(1)}, readOnly: true, pulls: []*pull{{head: "x", base: "main", state: "open"}}}
	c := pullClient(t, h)
	_, err := c.UpdatePull(t.Context(), "acme/shop", 1, "t", "b")
	if f := fault.From(err); f.Code != fault.FailedPrecondition || !strings.Contains(f.Message, "does not allow that with the token file") || !strings.Contains(f.Fix, "may write") {
		t.Errorf("%v", err)
	}
	start := time.Now()
	if err := c.UpsertComment(t.Context(), "acme/shop", 1, "m", "b"); fault.CodeOf(err) != fault.FailedPrecondition || time.Since(start) > 20*time.Second {
		t.Errorf("%v", err)
	}
}

func TestForgeConfigProblems(t *testing.T) {
	for field, cfg := range map[string]github.Config{
		"org":       {Org: "acme", TokenFile: "t"},
		"tokenFile": {},
		"filter":    {TokenFile: "t", Ref: "main"},
		"url":       {URL: "http://github.example.com", TokenFile: "t"},
	} {
		if ps := cfg.ValidateForge(); len(ps) != 1 || ps[0].Field != field {
			t.Errorf("%s: %+v", field, ps)
		}
	}
}
