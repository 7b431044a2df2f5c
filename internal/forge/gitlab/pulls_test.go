package gitlab_test

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

	"github.com/fairlead-dev/fairlead/internal/forge/forgetest"
	"github.com/fairlead-dev/fairlead/internal/forge/gitlab"
)

// pullHost behaves as GitLab does with the merge requests of one project,
// acme/web/shop.
type pullHost struct {
	t        *testing.T
	mu       sync.Mutex
	branches map[string]string
	merges   []*merge
	jobs     map[string][]map[string]any
	notes    []*note
}

type merge struct {
	title, description, source, target, state, merged string
	approved                                          bool
}

type note struct {
	id         int64
	merge      int
	user, body string
}

func (h *pullHost) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	path, ok := strings.CutPrefix(r.URL.EscapedPath(), "/api/v4/projects/acme%2Fweb%2Fshop/")
	switch {
	case r.Header.Get("Authorization") != "Bearer "+token:
		w.WriteHeader(http.StatusUnauthorized)
	case r.URL.Path == "/api/v4/user":
		fmt.Fprint(w, `{"id":9,"username":"fairlead-bot"}`)
	case r.URL.Path == "/api/v4/users":
		if r.URL.Query().Get("username") == "ada" {
			fmt.Fprint(w, `[{"id":3,"username":"ada"}]`)
			return
		}
		fmt.Fprint(w, `[]`)
	case !ok:
		notFound(w)
	default:
		h.serve(w, r, strings.Split(path, "/"))
	}
}

func (h *pullHost) serve(w http.ResponseWriter, r *http.Request, path []string) {
	var in struct {
		Title, Description, Body *string
		State                    string `json:"state_event"`
		Source                   string `json:"source_branch"`
		Target                   string `json:"target_branch"`
	}
	if r.Method == http.MethodPost || r.Method == http.MethodPut {
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			h.t.Errorf("%s %s: %v", r.Method, r.URL.Path, err)
		}
	}
	number := 0
	if len(path) > 1 {
		number, _ = strconv.Atoi(path[1])
	}
	switch {
	case path[0] == "repository": // commits/SHA/statuses
		say(w, h.jobs[path[2]])
	case len(path) == 1 && r.Method == http.MethodGet:
		h.list(w, r)
	case len(path) == 1:
		h.create(w, &merge{title: *in.Title, description: *in.Description, source: in.Source, target: in.Target, state: "opened"})
	case number < 1 || number > len(h.merges):
		notFound(w)
	case len(path) == 2 && r.Method == http.MethodPut:
		m := h.merges[number-1]
		if in.Title != nil {
			m.title = *in.Title
		}
		if in.Description != nil {
			m.description = *in.Description
		}
		if in.State == "close" {
			m.state = "closed"
		}
		say(w, h.json(number))
	case len(path) == 2:
		say(w, h.json(number))
	case path[2] == "diffs":
		say(w, []any{map[string]any{"new_path": "new.md", "old_path": "old.md"}})
	case path[2] == "approvals":
		by := []any{}
		if h.merges[number-1].approved {
			by = append(by, map[string]any{"user": map[string]any{"username": "grace"}})
		}
		say(w, map[string]any{"approved_by": by})
	default:
		h.note(w, r, number, path[3:], in.Body)
	}
}

func say(w http.ResponseWriter, v any) { json.NewEncoder(w).Encode(v) }

func (h *pullHost) list(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	out := []any{}
	for i := len(h.merges); i > 0; i-- {
		m := h.merges[i-1]
		if (q.Get("state") == "all" || m.state == q.Get("state")) && (q.Get("source_branch") == "" || q.Get("source_branch") == m.source) && (q.Get("target_branch") == "" || q.Get("target_branch") == m.target) {
			out = append(out, h.json(i))
			fork := h.json(i)
			fork["iid"], fork["source_project_id"] = 1000+i, 8
			out = append(out, fork)
		}
	}
	say(w, out)
}

func (h *pullHost) create(w http.ResponseWriter, m *merge) {
	refuse := func(status int, words string) {
		w.WriteHeader(status)
		say(w, map[string]any{"message": []string{words}})
	}
	switch {
	case h.branches[m.source] == "":
		refuse(http.StatusBadRequest, `Source branch "`+m.source+`" does not exist`)
	case slices.ContainsFunc(h.merges, func(o *merge) bool { return o.source == m.source && o.target == m.target && o.state == "opened" }):
		refuse(http.StatusConflict, "Another open merge request already exists for this source branch: !1")
	default:
		h.merges = append(h.merges, m)
		w.WriteHeader(http.StatusCreated)
		say(w, h.json(len(h.merges)))
	}
}

func (h *pullHost) json(number int) map[string]any {
	m := h.merges[number-1]
	draft := strings.HasPrefix(m.title, "Draft:")
	out := map[string]any{"iid": number, "web_url": fmt.Sprintf("https://gitlab.example.com/acme/web/shop/-/merge_requests/%d", number), "title": m.title, "description": m.description,
		"state": m.state, "draft": draft, "source_branch": m.source, "target_branch": m.target, "sha": h.branches[m.source], "author": map[string]any{"username": "fairlead-bot"}, "source_project_id": 7, "target_project_id": 7,
		"detailed_merge_status": "mergeable", "merge_commit_sha": nil, "merged_at": nil, "closed_at": nil}
	switch {
	case m.state == "merged":
		out["merge_commit_sha"], out["merged_at"], out["detailed_merge_status"] = m.merged, "2026-11-01T12:00:00.000Z", "not_open"
	case m.state == "closed":
		out["closed_at"] = "2026-11-01T12:00:00.000Z"
	case draft:
		out["detailed_merge_status"] = "draft_status"
	}
	return out
}

func (h *pullHost) note(w http.ResponseWriter, r *http.Request, number int, path []string, body *string) {
	id := int64(0)
	if len(path) > 0 {
		id, _ = strconv.ParseInt(path[0], 10, 64)
	}
	switch r.Method {
	case http.MethodPost:
		h.notes = append(h.notes, &note{int64(len(h.notes) + 1), number, "fairlead-bot", *body})
		w.WriteHeader(http.StatusCreated)
		say(w, map[string]any{"id": len(h.notes)})
	case http.MethodGet:
		out := []any{}
		for _, n := range h.notes {
			if n.merge == number {
				out = append(out, map[string]any{"id": n.id, "body": n.body, "author": map[string]any{"username": n.user}})
			}
		}
		say(w, out)
	case http.MethodPut:
		h.notes[id-1].body = *body
		say(w, map[string]any{"id": id})
	case http.MethodDelete:
		h.notes[id-1].merge = 0
		w.WriteHeader(http.StatusNoContent)
	}
}

func TestPullsAreThoseOfEveryForge(t *testing.T) {
	h := &pullHost{t: t, branches: map[string]string{"main": id(0)}, jobs: map[string][]map[string]any{}}
	server := httptest.NewServer(h)
	defer server.Close()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "token"), []byte(token), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := gitlab.NewForge("acme", gitlab.Config{URL: server.URL, TokenFile: "token"}, dir)
	if err != nil {
		t.Fatal(err)
	}
	forgetest.Run(t, forgetest.Host{
		Client: c, Repository: "acme/web/shop", Reviewer: "ada", Approver: "grace",
		Branch: func(_ *testing.T, name string) string {
			h.branches[name] = id(len(h.branches))
			return h.branches[name]
		},
		Merge: func(_ *testing.T, number int64) {
			h.merges[number-1].state, h.merges[number-1].merged = "merged", id(77)
		},
		Check: func(_ *testing.T, commit, name, state string) {
			job := map[string]any{"name": name, "status": map[string]string{"pending": "running", "passed": "success", "failed": "failed"}[state]}
			h.jobs[commit] = append([]map[string]any{job}, h.jobs[commit]...)
		},
		Approve: func(_ *testing.T, number int64) { h.merges[number-1].approved = true },
		Comment: func(_ *testing.T, number int64, body string) {
			h.notes = append(h.notes, &note{int64(len(h.notes) + 1), int(number), "somebody", body})
		},
		Comments: func(_ *testing.T, number int64) (out []string) {
			for _, n := range h.notes {
				if int64(n.merge) == number {
					out = append(out, n.body)
				}
			}
			return out
		},
	})
}

func id(i int) string { return fmt.Sprintf("%040x", i+1) }
