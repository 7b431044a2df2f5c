package gitops_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/access/accesstest"
	"github.com/fairlead-dev/fairlead/gitops"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// judge keeps what it was asked.
type judge struct{ asked []access.Question }

func (j *judge) Judge(_ context.Context, q access.Question) ([]access.Objection, error) {
	j.asked = append(j.asked, q)
	return nil, nil
}

// does is a health that says one thing after a while.
type does struct {
	says  *gitops.DeploymentHealth
	after time.Duration
}

func (d does) GetDeploymentHealth(ctx context.Context, _ access.Caller, _ gitops.GetDeploymentHealthInput) (*gitops.DeploymentHealth, error) {
	select {
	case <-time.After(d.after):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if d.says == nil {
		return nil, fault.New(fault.NotFound, "no deployment").WithFix("Ask.")
	}
	return d.says, nil
}

func (does) CompareWindows(context.Context, access.Caller, gitops.CompareWindowsInput) (*gitops.Window, error) {
	return nil, fault.New(fault.NotFound, "none").WithFix("None.")
}

type noLineage struct{}

func (noLineage) Contains(context.Context, gitops.Place, string, string) (bool, error) {
	return false, nil
}

func (noLineage) LastChange(context.Context, gitops.Place, string, string) (string, time.Time, error) {
	return "", time.Time{}, nil
}

// TestHowItDidWhenProposed has the pull request, policy and the record say how
// the environment does, and does without where nobody can tell.
func TestHowItDidWhenProposed(t *testing.T) {
	left := 12.5
	at := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	says := &gitops.DeploymentHealth{Verdict: gitops.DegradedVerdict, Grounds: []string{"Pod web-1 <b>fails</b> @all", "two", "three"}, ObservedAt: at, Live: &gitops.DeployedState{Revision: "0123456789abcdef0123456789abcdef01234567"},
		SLO: []gitops.ObjectiveState{{Name: "availability", Objective: 99.9, Window: "30d", State: "burning", BudgetLeft: &left}}, Alerts: []gitops.FiringAlert{{Name: "TooSlow"}}}
	for what, c := range map[string]struct {
		health does
		known  bool
	}{
		"known": {does{says: says, after: 10 * time.Millisecond}, true}, "nobody knows": {does{}, false}, "too late": {does{says: says, after: time.Hour}, false},
	} {
		m := &memory{files: map[string]string{"shop/kustomization.yaml": "images: [{name: a/shop, newTag: v1}]\n"}, branches: map[string]string{}}
		j := &judge{}
		g := room(t, m, func(cfg *gitops.Config) {
			var err error
			if cfg.Guard, err = access.NewGuard(access.GuardConfig{Policy: accesstest.OpenPolicy(), Log: accesstest.NewLog(), Quota: accesstest.NewQuota(), Approvals: accesstest.NewApprovals(), Judge: j}); err != nil {
				t.Fatal(err)
			}
			cfg.Follow = gitops.FollowConfig{Health: c.health, Lineage: noLineage{}}
		})
		began := time.Now()
		p, err := g.ProposeChange(t.Context(), accesstest.As("alice"), gitops.ProposeChangeInput{Service: "shop", Environment: "staging", Reason: "why", Change: v2()})
		if err != nil || time.Since(began) > time.Minute {
			t.Errorf("%s: after %s: %v", what, time.Since(began), err)
			continue
		}
		asked, err := json.Marshal(j.asked[0])
		if err != nil {
			t.Fatal(err)
		}
		body := m.opened[0].Body
		if !c.known {
			if p.StateThen != nil || strings.Contains(body, "When it was proposed") || strings.Contains(string(asked), `"state"`) {
				t.Errorf("%s: %+v\n%s\n%s", what, p.StateThen, body, asked)
			}
			continue
		}
		kept, err := g.GetProposal(t.Context(), accesstest.As("alice"), gitops.GetProposalInput{ID: p.ID})
		if err != nil || kept.StateThen == nil || kept.StateThen.Verdict != "degraded" || len(kept.StateThen.Grounds) != 2 || !kept.StateThen.At.Equal(at) {
			t.Errorf("kept: %+v, %v", kept, err)
		}
		for _, want := range []string{"staging was **degraded** at revision `0123456789", "&lt;b>fails", "slo availability: 99.9% over 30d burning, budget left 12.5%", "alerts firing: TooSlow"} {
			if !strings.Contains(body, want) {
				t.Errorf("%q is not in\n%s", want, body)
			}
		}
		if !strings.Contains(string(asked), `"state":{"at":"2026-11-30T12:00:00Z","verdict":"degraded"`) {
			t.Errorf("policy was asked %s", asked)
		}
	}
}
