package gitops_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/access/accesstest"
	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/catalog/catalogtest"
	"github.com/fairlead-dev/fairlead/gitops"
	"github.com/fairlead-dev/fairlead/gitops/gitopstest"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// TestFakeCIContract holds the fake to what the real ones do.
func TestFakeCIContract(t *testing.T) {
	f := gitopstest.NewFakeCI("acme/shop", first)
	f.Ref("feature/x", second)
	f.Ref("v1", first)
	gitopstest.CIContract(t, gitopstest.CISubject{CI: f, Repository: "acme/shop", Main: first, Feature: second,
		Report: func(_ *testing.T, commit, name, state string) {
			c := gitops.CheckRun{Name: name, State: state, URL: "https://ci.example.com/" + name, StartedAt: time.Now()}
			if state != gitops.CheckPending {
				c.FinishedAt = time.Now()
			}
			f.Report(commit, c)
		},
		Require: func(_ *testing.T, names ...string) gitops.Gate {
			f.Require(names...)
			return gitops.Gate{Branch: "main", Required: names}
		},
	})
}

// checked is a room before a fake forge.
type checked struct {
	*gitops.CIService
	t    *testing.T
	fake *gitopstest.FakeCI
}

func newChecked(t *testing.T, change ...func(*gitops.CIConfig)) *checked {
	t.Helper()
	f := gitopstest.NewFakeCI("acme/checkout", first)
	cfg := gitops.CIConfig{Policy: accesstest.OpenPolicy(), Catalog: catalogtest.New(t, checkout), Forges: map[string]gitops.CI{"main": f}, Keep: time.Nanosecond,
		Locate: func(e *catalog.Entity) (gitops.Place, error) {
			return gitops.Place{Repository: "https://git.example.com/acme/checkout", Forge: "main", Name: "acme/checkout"}, nil
		}}
	for _, c := range change {
		c(&cfg)
	}
	s, err := gitops.NewCI(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return &checked{s, t, f}
}

func (w *checked) ask(revision string) *gitops.CIStatus {
	w.t.Helper()
	out, err := w.GetCIStatus(w.t.Context(), alice, gitops.GetCIStatusInput{Service: "checkout", Revision: revision})
	if err != nil {
		w.t.Fatal(err)
	}
	return out
}

func TestStatesOfCommits(t *testing.T) {
	c := func(name, state string) gitops.CheckRun { return gitops.CheckRun{Name: name, State: state} }
	may := func(name, state string) gitops.CheckRun {
		return gitops.CheckRun{Name: name, State: state, Optional: true}
	}
	for name, tt := range map[string]struct {
		required []string
		checks   []gitops.CheckRun
		blind    []string
		err      error
		state    string
		grounds  []string
	}{
		"nothing":            {nil, nil, nil, nil, "none", []string{"no check is known of this commit, and none is required"}},
		"nothing of what is": {[]string{"lint"}, nil, nil, nil, "pending", []string{"required, and nothing is known of: lint"}},
		"all passed":         {nil, []gitops.CheckRun{c("a", "passed"), c("b", "passed")}, nil, nil, "passed", []string{"2 of 2 checks passed"}},
		"one that may fail":  {nil, []gitops.CheckRun{c("a", "passed"), may("b", "failed")}, nil, nil, "passed", []string{"1 of 2 checks passed"}},
		"one runs":           {[]string{"a"}, []gitops.CheckRun{c("a", "passed"), c("b", "pending")}, nil, nil, "pending", []string{"1 of 2 checks have not ended: b"}},
		"one failed":         {[]string{"b*"}, []gitops.CheckRun{c("a", "pending"), c("b/x", "failed")}, nil, nil, "failed", []string{"1 of 2 checks failed: b/x", "1 of 2 checks have not ended: a"}},
		"none required":      {[]string{"a"}, []gitops.CheckRun{c("a", "passed"), c("b", "failed")}, nil, nil, "failed", []string{"1 of 2 checks failed: b", "none of those that failed is required"}},
		"one is missing":     {[]string{"ci/*", "z"}, []gitops.CheckRun{c("ci/a/b", "passed")}, nil, nil, "pending", []string{"required, and nothing is known of: z"}},
		"not all is known":   {nil, []gitops.CheckRun{c("a", "passed")}, []string{"statuses"}, nil, "unknown", []string{"not all could be read: statuses"}},
		"but one failed":     {nil, []gitops.CheckRun{c("a", "failed")}, []string{"statuses"}, nil, "failed", []string{"1 of 1 checks failed: a", "not all could be read: statuses"}},
		"the forge is down":  {nil, nil, nil, fault.New(fault.Unavailable, "git.example.com cannot be reached").WithFix("Look."), "unknown", []string{"git.example.com cannot be reached", "Look."}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newChecked(t)
			w.fake.Require(tt.required...)
			for _, one := range tt.checks {
				w.fake.Report(first, one)
			}
			w.fake.Fail(tt.err, tt.blind...)
			out := w.ask("")
			if d := cmp.Diff(tt.grounds, out.Grounds); out.State != tt.state || d != "" {
				t.Errorf("%s, not %s (-want +got):\n%s", out.State, tt.state, d)
			}
		})
	}
}

func TestChecksAreTold(t *testing.T) {
	w := newChecked(t)
	w.fake.Require("lint")
	w.fake.Ref("release/2", second)
	now := time.Now().UTC().Truncate(time.Second)
	w.fake.Report(second, gitops.CheckRun{Name: "unit", State: "passed", StartedAt: now.Add(-time.Minute), FinishedAt: now.Add(-30 * time.Second)})
	w.fake.Report(second, gitops.CheckRun{Name: "lint", State: "failed", URL: "https://u:secret@ci.example.com/jobs/7", Run: "https://ci.example.com/runs/7", Failed: []string{"golangci\n-lint"},
		Detail: []string{"\x1b[31mmain.go:3: expected 3\x1b[0m", "password=hunter2-hunter2-hunter2", "ghp_0123456789abcdefghijklmnopqrstuvwxyz"}})
	out := w.ask("release/2")
	if out.State != "failed" || out.Commit != second || out.Revision != "release/2" || out.URL != "https://ci.example.com/runs/7" || out.Service != "component:default/checkout" || out.Repository != "acme/checkout" {
		t.Errorf("%+v", out)
	}
	lint, unit := out.Checks[0], out.Checks[1]
	if !lint.Required || unit.Required || unit.Duration != "30s" || lint.Failed[0] != "golangci -lint" || lint.Detail[0] != "main.go:3: expected 3" {
		t.Errorf("%+v", out.Checks)
	}
	enc, err := json.Marshal(out)
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"hunter2", "ghp_", "u:secret"} {
		if strings.Contains(string(enc)+out.Text(), secret) {
			t.Errorf("%s is in %s", secret, enc)
		}
	}
	if by := w.ask(second[:9]); by.Commit != second || by.Revision != second[:9] {
		t.Errorf("%+v", by)
	}
	if head := w.ask(""); head.Commit != first || head.Revision != "main" {
		t.Errorf("%+v", head)
	}
}

func TestChecksFit(t *testing.T) {
	w := newChecked(t)
	for i := range 400 {
		w.fake.Report(first, gitops.CheckRun{Name: fmt.Sprintf("matrix / %s (%d)", strings.Repeat("x", i%60), i), State: []string{"passed", "passed", "pending", "failed"}[i%4], URL: "https://ci.example.com/" + strings.Repeat("y", 200),
			Failed: []string{"step"}, Detail: []string{strings.Repeat("long ", 100), strings.Repeat("<&", 200), strings.Repeat("z", 5000)}})
	}
	out := w.ask("")
	enc, err := json.Marshal(out)
	if err != nil {
		t.Fatal(err)
	}
	if len(out.Text()) > 2400 || len(enc) > 4800 || out.State != "failed" || len(out.Checks) == 0 || out.Checks[0].State != "failed" {
		t.Errorf("%d and %d bytes, %s", len(out.Text()), len(enc), enc)
	}
	if d := cmp.Diff([]string{fmt.Sprintf("%d failed", 100-len(out.Checks)), "100 pending", "200 passed"}, out.Omitted); d != "" {
		t.Error(d)
	}
}

func TestChecksAreRefused(t *testing.T) {
	policy, err := access.LoadPolicy([]byte("rules: [{name: r, effect: allow, who: {subjects: [\"*\"]}, actions: [catalog.read]}]\n"), "rules.yaml")
	if err != nil {
		t.Fatal(err)
	}
	open := newChecked(t)
	for name, tt := range map[string]struct {
		room *gitops.CIService
		in   gitops.GetCIStatusInput
		code fault.Code
	}{
		"no room":           {nil, gitops.GetCIStatusInput{Service: "checkout"}, fault.FailedPrecondition},
		"no service":        {open.CIService, gitops.GetCIStatusInput{Service: "nobody"}, fault.NotFound},
		"no right":          {newChecked(t, func(c *gitops.CIConfig) { c.Policy = policy }).CIService, gitops.GetCIStatusInput{Service: "checkout"}, fault.NotFound},
		"no commit":         {open.CIService, gitops.GetCIStatusInput{Service: "checkout", Revision: "nope"}, fault.NotFound},
		"an option":         {open.CIService, gitops.GetCIStatusInput{Service: "checkout", Revision: "--upload-pack=x"}, fault.Invalid},
		"a range":           {open.CIService, gitops.GetCIStatusInput{Service: "checkout", Revision: "a..b"}, fault.Invalid},
		"several lines":     {open.CIService, gitops.GetCIStatusInput{Service: "checkout", Revision: "a\nb"}, fault.Invalid},
		"a very long name":  {open.CIService, gitops.GetCIStatusInput{Service: "checkout", Revision: strings.Repeat("a", 300)}, fault.Invalid},
		"not at this forge": {newChecked(t, func(c *gitops.CIConfig) { c.Forges = map[string]gitops.CI{"other": open.fake} }).CIService, gitops.GetCIStatusInput{Service: "checkout"}, fault.FailedPrecondition},
	} {
		_, err := tt.room.GetCIStatus(t.Context(), alice, tt.in)
		if fault.CodeOf(err) != tt.code || fault.From(err).Fix == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestChecksAreKeptForAWhile(t *testing.T) {
	now := time.Now()
	var mu sync.Mutex
	w := newChecked(t, func(c *gitops.CIConfig) {
		c.Keep = 3 * time.Second
		c.Now = func() time.Time {
			mu.Lock()
			defer mu.Unlock()
			return now
		}
	})
	pass := func(d time.Duration) {
		mu.Lock()
		defer mu.Unlock()
		now = now.Add(d)
	}
	w.fake.Report(first, gitops.CheckRun{Name: "a", State: "pending"})
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() { w.ask("") })
	}
	all.Wait()
	if n := w.fake.Asked(); n != 1 {
		t.Errorf("asked %d times at once", n)
	}
	w.fake.Report(first, gitops.CheckRun{Name: "a", State: "passed"})
	pass(2 * time.Second)
	if out := w.ask(""); out.State != "pending" || out.Age != "2s" {
		t.Errorf("after 2 s: %+v", out)
	}
	pass(2 * time.Second)
	if out := w.ask(""); out.State != "passed" {
		t.Errorf("after 4 s: %+v", out)
	}
	w.fake.Report(first, gitops.CheckRun{Name: "a", State: "failed"}) // it was run anew
	pass(20 * time.Second)
	if out := w.ask(""); out.State != "passed" || out.Age != "20s" {
		t.Errorf("what is over, after 20 s: %+v", out)
	}
	pass(20 * time.Second)
	if out := w.ask(""); out.State != "failed" {
		t.Errorf("after 40 s: %+v", out)
	}
}
