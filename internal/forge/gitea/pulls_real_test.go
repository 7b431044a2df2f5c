package gitea_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/forge/forgetest"
	"github.com/fairlead-dev/fairlead/internal/forge/gitea"
	"github.com/fairlead-dev/fairlead/internal/realtest"
)

// person is a user of the forge's who may write.
func person(t *testing.T, f *realtest.Forge, name string) {
	t.Helper()
	f.API(t, http.MethodPost, "/admin/users", map[string]any{"username": name, "email": name + "@example.invalid", "password": "Test-pw-123456", "must_change_password": false}, nil)
}

// as calls the API as a person.
func as(t *testing.T, f *realtest.Forge, name, path string, in any) {
	t.Helper()
	body, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, f.URL+"/api/v1"+path, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.SetBasicAuth(name, "Test-pw-123456")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode >= http.StatusMultipleChoices {
		t.Fatalf("%s: %s", path, resp.Status)
	}
}

func forgeClient(t *testing.T, f *realtest.Forge, scopes ...string) (*gitea.Client, func()) {
	t.Helper()
	token, revoke := f.NewToken(t, scopes...)
	dir := t.TempDir()
	write(t, filepath.Join(dir, "token"), token)
	c, err := gitea.NewForge("real", gitea.Config{URL: f.URL, TokenFile: "token"}, dir)
	if err != nil {
		t.Fatal(err)
	}
	return c, revoke
}

// pullRepo is a repository that two persons work on.
func pullRepo(t *testing.T, f *realtest.Forge, org string) (repository, api string) {
	t.Helper()
	makeOrg(t, f, org)
	makeRepo(t, f, org, "shop", true)
	repository = org + "/shop"
	api = "/repos/" + repository
	for _, name := range []string{"ada", "grace"} {
		person(t, f, org+name)
		f.API(t, http.MethodPut, api+"/collaborators/"+org+name, map[string]string{"permission": "write"}, nil)
	}
	return repository, api
}

func TestRealPullsAreThoseOfEveryForge(t *testing.T) {
	f := realtest.Gitea(t)
	repository, api := pullRepo(t, f, "manypulls")
	c, _ := forgeClient(t, f, "write:repository", "write:issue", "read:user")
	files := 0
	forgetest.Run(t, forgetest.Host{
		Client: c, Repository: repository, Reviewer: "manypullsada", Approver: "manypullsgrace",
		Branch: func(t *testing.T, name string) string {
			files++
			var made struct{ Commit struct{ SHA string } }
			f.API(t, http.MethodPost, fmt.Sprintf("%s/contents/file-%d", api, files), map[string]any{"branch": "main", "new_branch": name, "content": "eA==", "message": "add"}, &made)
			return made.Commit.SHA
		},
		Merge: func(t *testing.T, number int64) {
			f.Merge(t, fmt.Sprintf("%s/pulls/%d", api, number))
		},
		Check: func(t *testing.T, commit, name, state string) {
			state = map[string]string{"pending": "pending", "passed": "success", "failed": "failure"}[state]
			f.API(t, http.MethodPost, api+"/statuses/"+commit, map[string]any{"state": state, "context": name, "target_url": "http://ci.example.com"}, nil)
		},
		Approve: func(t *testing.T, number int64) {
			for _, event := range []string{"REQUEST_CHANGES", "APPROVED"} {
				as(t, f, "manypullsgrace", fmt.Sprintf("%s/pulls/%d/reviews", api, number), map[string]any{"event": event, "body": "so"})
			}
		},
		Comment: func(t *testing.T, number int64, body string) {
			as(t, f, "manypullsada", fmt.Sprintf("%s/issues/%d/comments", api, number), map[string]any{"body": body})
		},
		Comments: func(t *testing.T, number int64) (out []string) {
			var all []struct{ Body string }
			f.API(t, http.MethodGet, fmt.Sprintf("%s/issues/%d/comments", api, number), nil, &all)
			for _, c := range all {
				out = append(out, strings.TrimSpace(c.Body))
			}
			return out
		},
	})
}

func TestRealPullsNeedTheRight(t *testing.T) {
	f := realtest.Gitea(t)
	repository, api := pullRepo(t, f, "rights")
	f.API(t, http.MethodPost, api+"/contents/x", map[string]any{"branch": "main", "new_branch": "x", "content": "eA==", "message": "add"}, nil)
	f.API(t, http.MethodPost, api+"/pulls", map[string]any{"head": "x", "base": "main", "title": "t"}, nil)
	c, revoke := forgeClient(t, f, "read:repository", "read:issue")
	_, err := c.UpdatePull(t.Context(), repository, 1, "other", "")
	if fault.CodeOf(err) != fault.FailedPrecondition || !strings.Contains(fault.From(err).Fix, "may write") {
		t.Errorf("a token that only reads: %v", err)
	}
	revoke()
	_, err = c.UpdatePull(t.Context(), repository, 1, "other", "")
	if fault.CodeOf(err) != fault.FailedPrecondition || !strings.Contains(fault.From(err).Message, "revoked") {
		t.Errorf("a token that is revoked: %v", err)
	}
}
