package gitops_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/gitops"
	"github.com/fairlead-dev/fairlead/gitops/gitopstest"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// TestFollowedToHealthy goes from the proposal to what is live, well, and stays
// so; a later commit is live by then.
func TestFollowedToHealthy(t *testing.T) {
	ended := []string{}
	l := newLoop(t, func(c *gitops.Config) {
		c.Follow.Ended = func(_ context.Context, id string) { ended = append(ended, id) }
	})
	p, commit := l.merged(shopTo("v2"))
	f := p.Follow
	if p.State != gitops.Merged || f.Merged != commit || f.MergedAt.IsZero() || f.Outcome != "" || strings.Join(ended, " ") != p.ID {
		t.Fatalf("merged: %+v, ended %q", f, ended)
	}
	l.pass(3 * time.Second)
	if f = l.get(p.ID).Follow; f.Synced != "" || !strings.HasPrefix(f.Waits, "to be live: ") {
		t.Errorf("not live yet: %+v", f)
	}
	if _, looks := l.argo.Asked(); looks == 0 {
		t.Error("Argo CD was not asked to look")
	}
	newer := l.forge.Push(t, "main", map[string]string{"README.md": "more\n"})
	l.argo.Deploy(newer, "a/shop:v2")
	l.argo.Set(func(s gitopstest.State) { s.App.Health = "Progressing" })
	l.pass(time.Minute)
	if f = l.get(p.ID).Follow; f.Synced != newer || f.SyncedAt.IsZero() || f.Healthy != "" || !strings.HasPrefix(f.Waits, "to be healthy") {
		t.Errorf("synced: %+v", f)
	}
	l.argo.Set(func(s gitopstest.State) { s.App.Health = "Healthy" })
	l.pass(time.Minute)
	if f = l.get(p.ID).Follow; f.Healthy != newer || f.HealthyAt.Before(f.SyncedAt) || f.Outcome != "" {
		t.Errorf("healthy: %+v", f)
	}
	l.restart() // as if it had been killed
	l.pass(11 * time.Minute)
	f = l.get(p.ID).Follow
	if f.Outcome != gitops.OutcomeHealthy || f.EndedAt.Before(f.HealthyAt.Add(10*time.Minute)) || f.Window == nil || f.Window.Outcome != gitops.WindowUnmeasured || f.Window.Grounds[0] != "no Prometheus is configured" || f.Waits != "" {
		t.Errorf("ended: %+v %+v", f, f.Window)
	}
	// It is taken back later on.
	taken := l.forge.Push(t, "main", map[string]string{shopFile: shopBefore})
	l.pass(time.Hour)
	if f = l.get(p.ID).Follow; f.Outcome != gitops.OutcomeHealthy || f.RolledBack == nil || f.RolledBack.Commit != taken || f.RolledBack.At.IsZero() {
		t.Errorf("taken back: %+v %+v", f, f.RolledBack)
	}
	l.pass(time.Hour)
	if due, err := l.cfg.Reads.DueProposals(t.Context(), l.now().Add(1000*time.Hour), 10); err != nil || len(due) > 0 {
		t.Errorf("%d are still followed: %v", len(due), err)
	}
}

func TestFollowedToItsEnd(t *testing.T) {
	t.Run("rolled back", func(t *testing.T) {
		l := newLoop(t)
		p, commit := l.merged(shopTo("v2"))
		l.argo.Deploy(commit, "a/shop:v2")
		l.argo.Break("Back-off pulling image")
		l.pass(time.Minute)
		f := l.get(p.ID).Follow
		if f.DegradedAt.IsZero() || !strings.Contains(f.Grounds[0], "Back-off pulling image") || f.Outcome != "" || !strings.Contains(l.get(p.ID).Next, "rollback") {
			t.Fatalf("degraded: %+v", f)
		}
		back := l.forge.Push(t, "main", map[string]string{shopFile: shopBefore})
		if err := l.Tell(t.Context(), "f", l.forge.Repository, "main"); err != nil {
			t.Fatal(err)
		}
		l.pass(0)
		if f = l.get(p.ID).Follow; f.Outcome != gitops.OutcomeRolledBack || f.RolledBack == nil || f.RolledBack.Commit != back {
			t.Errorf("taken back: %+v %+v", f, f.RolledBack)
		}
	})
	t.Run("degraded", func(t *testing.T) {
		l := newLoop(t)
		p, commit := l.merged(shopTo("v2"))
		l.argo.Deploy(commit, "a/shop:v2")
		l.argo.Break("it crashes")
		l.pass(time.Minute)
		l.pass(5 * time.Minute)
		if f := l.get(p.ID).Follow; f.Outcome != "" {
			t.Errorf("too soon: %+v", f)
		}
		l.pass(6 * time.Minute)
		if f := l.get(p.ID).Follow; f.Outcome != gitops.OutcomeDegraded || f.EndedAt.IsZero() || len(f.Grounds) == 0 {
			t.Errorf("%+v", f)
		}
	})
	t.Run("recovered", func(t *testing.T) {
		l := newLoop(t)
		p, commit := l.merged(shopTo("v2"))
		l.argo.Deploy(commit, "a/shop:v2")
		l.argo.Break("it crashes")
		l.pass(time.Minute)
		l.argo.Set(func(s gitopstest.State) { s.App.Health, s.Running.Unwell = "Healthy", nil })
		l.pass(time.Minute)
		l.pass(11 * time.Minute)
		if f := l.get(p.ID).Follow; f.Outcome != gitops.OutcomeHealthy || f.DegradedAt.IsZero() || !f.HealthyAt.After(f.DegradedAt) || len(f.Grounds) > 0 {
			t.Errorf("%+v", f)
		}
	})
	t.Run("the sync failed", func(t *testing.T) {
		l := newLoop(t)
		p, commit := l.merged(shopTo("v2"))
		l.argo.Set(func(s gitopstest.State) {
			now := time.Now().Add(time.Second)
			s.App.Sync, s.App.Revisions = "OutOfSync", []string{commit}
			s.App.Operation = &gitops.Operation{Phase: gitops.OperationFailed, Message: "one or more objects failed to apply", Revision: commit, StartedAt: now, FinishedAt: now}
			s.App.ComparedAt = now.Add(time.Second)
		})
		l.pass(time.Minute)
		if f := l.get(p.ID).Follow; f.DegradedAt.IsZero() || f.Synced != "" || !strings.Contains(f.Grounds[0], "failed to apply") {
			t.Errorf("%+v", f)
		}
	})
	t.Run("never live", func(t *testing.T) {
		l := newLoop(t)
		p, _ := l.merged(shopTo("v2"))
		l.pass(time.Minute)
		l.pass(25 * time.Hour)
		if f := l.get(p.ID).Follow; f.Outcome != gitops.OutcomeUnknown || !strings.Contains(f.Grounds[0], "within 24h") || !strings.Contains(f.Grounds[0], "to be live") {
			t.Errorf("%+v", f)
		}
	})
	t.Run("closed", func(t *testing.T) {
		l := newLoop(t)
		p := l.propose(shopTo("v2"))
		if err := l.forge.ClosePull(t.Context(), l.forge.Repository, 1); err != nil {
			t.Fatal(err)
		}
		l.pass(11 * time.Minute)
		if got := l.get(p.ID); got.State != gitops.Closed || got.Follow.Outcome != gitops.OutcomeClosed || got.Follow.ClosedAt.IsZero() {
			t.Errorf("%+v", got.Follow)
		}
	})
	for environment, why := range map[string]string{"nowhere": "which application", "far": "does not know"} {
		t.Run("nobody tells what runs: "+environment, func(t *testing.T) {
			l := newLoop(t)
			p, _ := l.merged(shopTo("v2", func(in *gitops.ProposeChangeInput) { in.Environment = environment }))
			l.pass(time.Minute)
			if f := l.get(p.ID).Follow; f.Outcome != gitops.OutcomeMerged || len(f.Grounds) == 0 || !strings.Contains(f.Grounds[0], why) {
				t.Errorf("%+v", f)
			}
		})
	}
	t.Run("out of the catalog for a while", func(t *testing.T) {
		l := newLoop(t, func(c *gitops.Config) { c.Follow.Health = forgetful{c.Follow.Health} })
		p, _ := l.merged(shopTo("v2"))
		l.pass(time.Minute)
		if f := l.get(p.ID).Follow; f.Outcome != "" || !strings.Contains(f.Waits, "where it is deployed") {
			t.Errorf("%+v", f)
		}
		l.pass(15 * time.Minute)
		if f := l.get(p.ID).Follow; f.Outcome != gitops.OutcomeMerged || f.Grounds[0] != "there is no such service" {
			t.Errorf("%+v", f)
		}
	})
	t.Run("without an Argo CD", func(t *testing.T) {
		l := newLoop(t, func(c *gitops.Config) { c.Follow.Health = nil })
		if p, _ := l.merged(shopTo("v2")); p.Follow.Outcome != gitops.OutcomeMerged || p.Next != "Nothing: it is merged." {
			t.Errorf("%+v", p.Follow)
		}
	})
}

// TestFollowedOnce has replicas follow at once, an Argo CD that is down, and a
// forge that is.
func TestFollowedOnce(t *testing.T) {
	l := newLoop(t)
	p := l.propose(shopTo("v2"))
	_, before := l.forge.Opened()
	l.mu.Lock()
	l.ahead += 11 * time.Minute
	l.mu.Unlock()
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if err := l.Follow(t.Context(), 10); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if _, after := l.forge.Opened(); after != before+1 {
		t.Errorf("the forge was asked %d times", after-before)
	}
	l.forge.Down(fault.New(fault.Unavailable, "the forge is down").WithFix("Wait."))
	l.mu.Lock()
	l.ahead += 11 * time.Minute
	l.mu.Unlock()
	if err := l.Follow(t.Context(), 10); fault.CodeOf(err) != fault.Unavailable {
		t.Errorf("with the forge down: %v", err)
	}
	if err := l.Follow(t.Context(), 10); err != nil {
		t.Errorf("it is asked again at once: %v", err)
	}
	if b := l.get(p.ID).Blocking; len(b) == 0 || b[0].What != gitops.BlockedByForge || !strings.Contains(b[0].Detail, "the forge is down") {
		t.Errorf("blocked by %+v", b)
	}
	l.forge.Down(nil)
	l.forge.Merge(t, 1)
	l.pass(time.Minute)
	l.argo.Set(func(s gitopstest.State) { *s.Err = fault.New(fault.Unavailable, "Argo CD is down") })
	l.pass(time.Minute)
	if f := l.get(p.ID).Follow; f.Merged == "" || f.Outcome != "" || f.Waits == "" {
		t.Errorf("%+v", f)
	}
}

// forgetful knows of no service.
type forgetful struct{ gitops.Health }

func (forgetful) GetDeploymentHealth(context.Context, access.Caller, gitops.GetDeploymentHealthInput) (*gitops.DeploymentHealth, error) {
	return nil, fault.New(fault.NotFound, "there is no such service").WithFix("Name another.")
}
