package app

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/access/oidc/oidctest"
	"github.com/fairlead-dev/fairlead/internal/demo"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/secrets"
	"github.com/fairlead-dev/fairlead/secrets/secretstest"
)

// actions is the part of a GitHub that tells of jobs; its state is what one
// answers.
func actions(t *testing.T, state *atomic.Value) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		status, _ := state.Load().(string)
		if r.URL.Path != "/api/v3/repos/acme/checkout/actions/jobs/77" {
			http.Error(w, "{}", http.StatusBadGateway)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"id":77,"status":%q}`, status)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func TestWhatAJobOfCIBorrowsEndsWithIt(t *testing.T) {
	var state atomic.Value
	state.Store("in_progress")
	i, dir := oidctest.New(t), t.TempDir()
	set, err := demo.Prepare(t.Context(), dir, "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(filepath.Dir(set.Config), "hub.token"), []byte("hub-token"), 0o600); err != nil {
		t.Fatal(err)
	}
	config := strings.Replace(withoutPreviews(readFile(t, set.Config)), "auth:\n", fmt.Sprintf(`auth:
  oidc: {issuer: %q, audience: fairlead, subjectClaim: repository, subjects: {acme/checkout: user:default/alice}, groups: {ci: group:default/storefront}, roles: {sre: ["*"]}, jobs: hub}
`, i.URL), 1)
	write(t, set.Config, config+fmt.Sprintf("forges: [{name: hub, github: {url: %q, tokenFile: ./hub.token}}]\n", actions(t, &state)))
	f := &secretstest.Fake{}
	s := &server{t: t, dir: dir, tokens: set.Tokens, lender: f}
	s.start(set.Config)
	job := i.Token("JWT", i.With(oidctest.Claims{"repository": "acme/checkout", "check_run_id": "77", "run_id": "5"}))
	const ask = `{"service":"checkout","name":"db-readonly","environment":"staging","ttl":"10m"%s}`
	lend := func(token, more string) answer {
		return s.send(token, http.MethodPost, "/api/v1/credentials", fmt.Sprintf(ask, more))
	}
	decode := func(a answer) (out map[string]any) {
		t.Helper()
		if err := json.Unmarshal([]byte(a.body), &out); err != nil || a.status != http.StatusOK {
			t.Fatalf("%d %s", a.status, a.body)
		}
		return out
	}
	own := decode(lend(job, ""))
	if own["boundTo"] != "job:hub/acme/checkout#job/77" || own["state"] != string(secrets.Live) {
		t.Fatalf("a job borrows: %v", own)
	}
	if a := lend("sre", `,"boundTo":"job"`); a.status != http.StatusBadRequest || !strings.Contains(a.body, "no job of CI") {
		t.Errorf("a person who is no job: %d %s", a.status, a.body)
	}
	if a := lend("sre", `,"boundTo":"job:hub/acme/checkout#job/77"`); a.status != http.StatusBadRequest {
		t.Errorf("a person names a job: %d %s", a.status, a.body)
	}
	other := decode(lend("sre", ""))
	get := func(lease any) string {
		return s.send("sre", http.MethodGet, fmt.Sprintf("/api/v1/credentials/%s", lease), "").body
	}
	state.Store("completed")
	s.await("the job's lease is revoked", func() bool { return strings.Contains(get(own["lease"]), `"state":"revoked"`) })
	if text := get(other["lease"]); !strings.Contains(text, `"state":"live"`) {
		t.Errorf("another's lease: %s", text)
	}
}

// told is a forge that answers as it is told to.
type told struct {
	over  bool
	err   error
	asked int
}

// JobOver answers.
func (f *told) JobOver(context.Context, string, string, string) (bool, error) {
	f.asked++
	return f.over, f.err
}

func TestJobsOfForgesInTrouble(t *testing.T) {
	down, gone := fault.New(fault.Unavailable, "down"), fault.New(fault.NotFound, "gone")
	const job = "hub/acme/checkout#run/5"
	for name, c := range map[string]struct {
		id    string
		steps []told // what the forge says, with asked for whether it is asked
		over  bool
		fails bool
	}{
		"runs":                      {job, []told{{asked: 1}}, false, false},
		"asked seldom":              {job, []told{{asked: 1}, {over: true, asked: 1}}, false, false},
		"over for good":             {job, []told{{over: true, asked: 1}, {asked: 1}}, true, false},
		"down":                      {job, []told{{err: down, asked: 1}}, false, true},
		"left alone once it failed": {job, []told{{err: down, asked: 1}, {over: true, asked: 1}}, false, false},
		"never seen":                {job, []told{{err: gone, asked: 1}}, false, true},
		"no job":                    {"hub/acme/checkout", []told{{}}, true, false},
		"another forge":             {"lab/acme/checkout#job/5", []told{{}}, false, true},
	} {
		f := &told{}
		j := newCIJobs(func(name string) (jobsForge, bool) { return f, name == "hub" })
		var over bool
		var err error
		for _, step := range c.steps {
			f.over, f.err = step.over, step.err
			over, err = j.over(t.Context(), c.id)
			if f.asked != step.asked {
				t.Errorf("%s: asked %d times, not %d", name, f.asked, step.asked)
			}
		}
		if over != c.over || (err != nil) != c.fails {
			t.Errorf("%s: over %v, %v", name, over, err)
		}
	}
	f := &told{}
	j := newCIJobs(func(string) (jobsForge, bool) { return f, true })
	known, _ := access.ParseJob(job)
	j.learn(known, jobState{seen: true, at: time.Now().Add(-time.Minute)}, nil)
	f.err = gone
	if over, err := j.over(t.Context(), job); !over || err != nil {
		t.Errorf("deleted since: %v, %v", over, err)
	}
}
