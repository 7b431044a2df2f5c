package gitea_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/gitops"
	"github.com/fairlead-dev/fairlead/gitops/gitopstest"
	"github.com/fairlead-dev/fairlead/internal/realtest"
)

const failingWorkflow = `name: CI
on: {workflow_dispatch: {}, push: {branches: [broken]}}
jobs:
  unit:
    runs-on: fairlead-test
    steps: [{name: go test, run: "go test ./..."}]
`

// runner is one that does as a test says, by the protocol of Gitea's own, which
// is RPCs over HTTP that take JSON.
type runner struct {
	t           *testing.T
	url         string
	uuid, token string
}

func newRunner(t *testing.T, f *realtest.Forge, api string) *runner {
	t.Helper()
	var made struct{ Token string }
	f.API(t, http.MethodPost, api+"/actions/runners/registration-token", nil, &made)
	r := &runner{t: t, url: f.URL + "/api/actions/runner.v1.RunnerService/"}
	var registered struct {
		Runner struct{ UUID, Token string }
	}
	r.call("Register", map[string]any{"name": "fairlead-test", "token": made.Token, "labels": []string{"fairlead-test"}, "version": "v0"}, &registered)
	r.uuid, r.token = registered.Runner.UUID, registered.Runner.Token
	return r
}

func (r *runner) call(method string, in, out any) {
	r.t.Helper()
	text, err := json.Marshal(in)
	if err != nil {
		r.t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(r.t.Context(), http.MethodPost, r.url+method, bytes.NewReader(text))
	if err != nil {
		r.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Runner-Uuid", r.uuid)
	req.Header.Set("X-Runner-Token", r.token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(out); err != nil || resp.StatusCode != http.StatusOK {
		r.t.Fatalf("%s: %s %v", method, resp.Status, err)
	}
}

// fail takes the next job and has its first step fail with a log.
func (r *runner) fail(log ...string) {
	r.t.Helper()
	var got struct {
		Task struct{ ID json.Number }
	}
	for deadline := time.Now().Add(20 * time.Second); got.Task.ID == ""; time.Sleep(100 * time.Millisecond) {
		if time.Now().After(deadline) {
			r.t.Fatal("no job came")
		}
		r.call("FetchTask", map[string]any{}, &got)
	}
	now := time.Now().UTC()
	rows := []any{}
	for _, l := range log {
		rows = append(rows, map[string]any{"time": now, "content": l})
	}
	r.call("UpdateLog", map[string]any{"taskId": got.Task.ID, "index": 0, "rows": rows, "noMore": true}, &struct{}{})
	step := map[string]any{"id": 0, "result": "RESULT_FAILURE", "startedAt": now.Add(-3 * time.Second), "stoppedAt": now, "logIndex": 0, "logLength": len(rows)}
	r.call("UpdateTask", map[string]any{"state": map[string]any{"id": got.Task.ID, "result": "RESULT_FAILURE", "startedAt": now.Add(-5 * time.Second), "stoppedAt": now, "steps": []any{step}}}, &struct{}{})
}

func TestRealChecksAreThoseOfEveryForge(t *testing.T) {
	f := realtest.Gitea(t)
	makeOrg(t, f, "checks")
	makeRepo(t, f, "checks", "shop", true)
	api := "/repos/checks/shop"
	var made struct{ Commit struct{ SHA string } }
	f.API(t, http.MethodPost, api+"/contents/.gitea/workflows/ci.yml", map[string]any{"branch": "main", "content": base64.StdEncoding.EncodeToString([]byte(failingWorkflow)), "message": "add"}, &made)
	main := made.Commit.SHA
	f.API(t, http.MethodPost, api+"/contents/x", map[string]any{"branch": "main", "new_branch": "feature/x", "content": "eA==", "message": "add"}, &made)
	f.API(t, http.MethodPost, api+"/tags", map[string]any{"tag_name": "v1", "target": main}, nil)
	c, _ := forgeClient(t, f, "read:repository")
	gitopstest.CIContract(t, gitopstest.CISubject{CI: c, Repository: "checks/shop", Main: main, Feature: made.Commit.SHA,
		Report: func(t *testing.T, commit, name, state string) {
			state = map[string]string{"pending": "pending", "passed": "success", "failed": "failure"}[state]
			f.API(t, http.MethodPost, api+"/statuses/"+commit, map[string]any{"state": state, "context": name, "target_url": "https://ci.example.com/" + name}, nil)
		},
		Require: func(t *testing.T, names ...string) gitops.Gate {
			f.API(t, http.MethodPost, api+"/branch_protections", map[string]any{"rule_name": "main", "enable_status_check": true, "status_check_contexts": names}, nil)
			return gitops.Gate{Branch: "main", Required: names}
		},
		Break: func(t *testing.T, _ string) (string, string) {
			r := newRunner(t, f, api)
			f.API(t, http.MethodPost, api+"/branches", map[string]any{"new_branch_name": "broken", "old_ref_name": "main"}, nil)
			r.fail("sum_test.go:7: expected 3, got 4", "exit status 1")
			return "CI / unit (push)", "go test"
		},
	})
	// Of a run that was asked for no status tells.
	f.API(t, http.MethodPost, api+"/actions/workflows/ci.yml/dispatches", map[string]any{"ref": "main"}, nil)
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(100 * time.Millisecond) {
		found, err := c.CommitChecks(t.Context(), "checks/shop", main)
		if err != nil {
			t.Fatal(err)
		}
		if slices.ContainsFunc(found.Checks, func(c gitops.CheckRun) bool {
			return c.Name == "ci.yml (workflow_dispatch main)" && c.State == gitops.CheckPending && c.StartedAt.IsZero()
		}) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%+v", found.Checks)
		}
	}
}
