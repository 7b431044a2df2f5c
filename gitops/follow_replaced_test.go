package gitops_test

import (
	"strings"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/gitops"
)

// TestFollowedUntilReplaced: what comes of a later change to the same is not
// said of an earlier one.
func TestFollowedUntilReplaced(t *testing.T) {
	newer := strings.Replace(shopAfter, "v2", "v3", 1)
	t.Run("while it was healthy", func(t *testing.T) {
		l := newLoop(t)
		p, commit := l.merged(shopTo("v2"))
		l.argo.Deploy(commit, "a/shop:v2")
		l.pass(time.Minute)
		if f := l.get(p.ID).Follow; f.Healthy != commit || f.Outcome != "" {
			t.Fatalf("healthy: %+v", f)
		}
		l.argo.Deploy(l.forge.Push(t, "main", map[string]string{"README.md": "more\n"}), "a/shop:v2")
		l.pass(time.Minute)
		if f := l.get(p.ID).Follow; f.Outcome != "" {
			t.Fatalf("another file has changed: %+v", f)
		}
		l.argo.Deploy(l.forge.Push(t, "main", map[string]string{shopFile: newer}), "a/shop:v3")
		l.argo.Break("it crashes")
		l.pass(time.Minute)
		p = l.get(p.ID)
		if f := p.Follow; f.Outcome != gitops.OutcomeHealthy || !f.DegradedAt.IsZero() || f.Healthy != commit || f.RolledBack != nil || !strings.Contains(p.Next, "took its place") {
			t.Errorf("replaced: %+v, next: %s", f, p.Next)
		}
	})
	t.Run("while it was degraded", func(t *testing.T) {
		l := newLoop(t)
		p, commit := l.merged(shopTo("v2"))
		l.argo.Deploy(commit, "a/shop:v2")
		l.argo.Break("it crashes")
		l.pass(time.Minute)
		l.argo.Deploy(l.forge.Push(t, "main", map[string]string{shopFile: newer}), "a/shop:v3")
		l.pass(time.Minute)
		if f := l.get(p.ID).Follow; f.Outcome != gitops.OutcomeDegraded || f.Healthy != "" || !strings.Contains(strings.Join(f.Grounds, ""), "it crashes") {
			t.Errorf("replaced by what is healthy: %+v", f)
		}
	})
	t.Run("before it was known", func(t *testing.T) {
		l := newLoop(t)
		p, _ := l.merged(shopTo("v2"))
		l.argo.Deploy(l.forge.Push(t, "main", map[string]string{shopFile: newer}), "a/shop:v3")
		l.pass(time.Minute)
		if f := l.get(p.ID).Follow; f.Outcome != gitops.OutcomeUnknown || f.Healthy != "" {
			t.Errorf("replaced at once: %+v", f)
		}
	})
}
