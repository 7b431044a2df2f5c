package main

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestStory has an agent bring a change to where it runs, through everything
// that is real: refused for want of evidence, proposed, merged by a person,
// synced by Argo CD and healthy; then a version that does not start, and back.
// Then the commands that the demo prints are run, and people see in a browser
// what others do.
func TestStory(t *testing.T) {
	w := startWorld(t)
	t.Run("agent", func(t *testing.T) { (&agent{world: w, t: t, service: "payments"}).story() })
	t.Run("guide", func(t *testing.T) { walk(t.Context(), t, w) })
	t.Run("browser", func(t *testing.T) { seen(t, w) })
}

func (a *agent) story() {
	begin := time.Now()
	if refused := a.call("propose_change", a.change("1.5.0", "faster"), nil); !refused.IsError || !strings.Contains(refused.text(), "nothing shows that the change is good") {
		a.t.Fatalf("without evidence: %s", refused.text())
	}
	var tests struct{ State, URL string }
	a.call("get_ci_status", map[string]any{"service": a.service}, &tests)
	if tests.State != "passed" {
		a.t.Errorf("its tests: %+v", tests)
	}

	good := a.propose("propose_change", a.change("1.5.0", "faster", "tests: "+tests.URL))
	well := a.until("healthy", a.merge(good), 2*time.Minute)
	if !well.runs("1.5.0") || well.runs("1.4.0") {
		a.t.Errorf("it is healthy with %+v", well.Live)
	}
	a.await("the proposal is followed to where it is healthy", time.Minute, func() bool {
		f := a.seen(good.ID).Follow
		return f.Merged == well.Live.Revision && f.Synced == f.Merged && f.Healthy == f.Merged
	})

	bad := a.propose("propose_change", a.change("1.6.0-crashes", "faster still", "tests: "+tests.URL))
	ill := a.until("degraded", a.merge(bad), 3*time.Minute)
	if !strings.Contains(strings.Join(ill.Grounds, "\n"), "CrashLoopBackOff") || !ill.runs("1.6.0-crashes") {
		a.t.Errorf("it is degraded because of %q", ill.Grounds)
	}
	a.await("the proposal is followed to where it is degraded", time.Minute, func() bool {
		f := a.seen(bad.ID).Follow
		return f.Synced == ill.Live.Revision && f.Healthy == "" && !f.DegradedAt.IsZero() && strings.Contains(strings.Join(f.Grounds, "\n"), "CrashLoopBackOff")
	})

	back := a.propose("propose_rollback", map[string]any{"service": a.service, "environment": "staging", "reason": "1.6.0 does not start"})
	again := a.until("healthy", a.merge(back), 2*time.Minute)
	if !again.runs("1.5.0") || again.runs("1.6.0-crashes") {
		a.t.Errorf("it is healthy with %+v", again.Live)
	}
	if a.blob(again.Live.Revision) != a.blob(well.Live.Revision) {
		a.t.Error("the file is not, byte by byte, what it was")
	}
	if f := a.seen(good.ID).Follow; f.Outcome != "healthy" || !f.DegradedAt.IsZero() {
		a.t.Errorf("what came after it is said of it: %+v", f)
	}
	a.await("what was taken back is known to be", 2*time.Minute, func() bool { return a.seen(bad.ID).Follow.RolledBack.Proposal != "" })
	if f := a.seen(bad.ID).Follow; f.RolledBack.Proposal != back.ID || f.RolledBack.Commit == "" || f.Healthy != "" || f.Outcome == "healthy" {
		a.t.Errorf("it was taken back so: %+v", f)
	}
	a.await("the way back is followed to its end", 2*time.Minute, func() bool { return a.seen(back.ID).Follow.Outcome != "" })
	if f := a.seen(back.ID).Follow; f.Outcome != "healthy" || f.Healthy != again.Live.Revision || f.Window.Outcome == "" || f.Window.Outcome == "unmeasured" {
		a.t.Errorf("the way back ended so: %+v", f)
	}
	a.t.Logf("the story took %s", time.Since(begin).Round(time.Second))
}

// propose proposes something by a tool, and holds it to be a pull request.
func (a *agent) propose(tool string, args map[string]any) (p proposal) {
	a.t.Helper()
	a.call(tool, args, &p)
	if p.State != "open" || !strings.HasPrefix(p.URL, a.gitea.URL+"/"+organization+"/deploy/pulls/") || len(p.Notes) > 0 {
		a.t.Fatalf("proposed: %+v", p)
	}
	return p
}

// blob names the content of the file that describes the environment.
func (a *agent) blob(revision string) string {
	a.t.Helper()
	var file struct{ SHA string }
	path := "/repos/" + organization + "/deploy/contents/apps/" + a.service + "/overlays/staging/kustomization.yaml?ref=" + revision
	if err := a.gitea.Ask(a.t.Context(), http.MethodGet, path, nil, &file); err != nil || file.SHA == "" {
		a.t.Fatal(err, "there is no such file")
	}
	return file.SHA
}
