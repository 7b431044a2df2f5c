package main

import (
	"strings"
	"testing"
	"time"
)

// TestStory has an agent bring a change to where it runs, through everything
// that is real: refused for want of evidence, proposed, merged by a person,
// synced by Argo CD and healthy; then a version that does not start, and back.
func TestStory(t *testing.T) {
	w := startWorld(t)
	t.Run("agent", func(t *testing.T) {
		a := &agent{world: w, t: t, service: "payments"}
		begin := time.Now()
		if refused := a.call("propose_change", a.change("1.5.0", "faster"), nil); !refused.IsError || !strings.Contains(refused.text(), "nothing shows that the change is good") {
			t.Fatalf("without evidence: %s", refused.text())
		}
		good := a.deploy("1.5.0", "faster", "healthy", 90*time.Second)
		if !good.runs("1.5.0") || good.runs("1.4.0") {
			t.Errorf("it is healthy with %+v", good.Live)
		}
		bad := a.deploy("1.6.0-crashes", "faster still", "degraded", 2*time.Minute)
		if !strings.Contains(strings.Join(bad.Grounds, "\n"), "CrashLoopBackOff") {
			t.Errorf("it is degraded because of %q", bad.Grounds)
		}
		back := a.deploy("1.5.0", "rollback of 1.6.0, which does not start", "healthy", 90*time.Second)
		if !back.runs("1.5.0") || back.runs("1.6.0-crashes") {
			t.Errorf("it is healthy with %+v", back.Live)
		}
		t.Logf("the story took %s", time.Since(begin).Round(time.Second))
	})
	t.Run("guide", func(t *testing.T) { walk(t.Context(), t, w) })
}

// deploy proposes a version, has it merged, and waits for what is said of it.
func (a *agent) deploy(tag, reason, verdict string, within time.Duration) health {
	a.t.Helper()
	var p proposal
	a.call("propose_change", a.change(tag, reason, "tests: https://ci.shop.test/7"), &p)
	if p.State != "open" || !strings.HasPrefix(p.URL, a.gitea.URL+"/"+organization+"/deploy/pulls/") || len(p.Notes) > 0 {
		a.t.Fatalf("proposed: %+v", p)
	}
	revision := a.merge(p)
	a.await("the proposal is merged", 20*time.Second, func() bool {
		var now proposal
		a.call("get_proposal", map[string]any{"id": p.ID}, &now)
		return now.State == "merged"
	})
	h := a.until(verdict, revision, within)
	if h.Live.Revision != revision {
		a.t.Errorf("it is %s at %s, not %s", verdict, h.Live.Revision, revision)
	}
	return h
}
