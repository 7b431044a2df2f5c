package gitops_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/access/accesstest"
	"github.com/fairlead-dev/fairlead/catalog/catalogtest"
	"github.com/fairlead-dev/fairlead/gitops"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// told are figures to read, whatever is asked.
type toldFigures struct {
	deployed []gitops.Deployed
	proposed []gitops.ProposedFigure
	refused  []gitops.RefusedFigure
}

func (f toldFigures) DeployedIn(context.Context, gitops.FigureQuery) ([]gitops.Deployed, error) {
	return f.deployed, nil
}

func (f toldFigures) ProposedIn(context.Context, gitops.FigureQuery) ([]gitops.ProposedFigure, error) {
	return f.proposed, nil
}

func (f toldFigures) RefusedIn(context.Context, gitops.FigureQuery) ([]gitops.RefusedFigure, error) {
	return f.refused, nil
}

const twoServices = `kind: Component
metadata: {name: shop}
spec: {type: service, lifecycle: production, owner: crew}
---
kind: Component
metadata: {name: vault}
spec: {type: service, lifecycle: production, owner: guards}`

func figuresRoom(t *testing.T, policy *access.Policy, f toldFigures) *gitops.Service {
	t.Helper()
	s := state(t)
	guard, _ := accesstest.Guard(t, policy)
	m := &memory{}
	g, err := gitops.New(gitops.Config{Policy: policy, Guard: guard, Catalog: catalogtest.NewWith(t, []string{twoServices}, catalogtest.WithPolicy(policy)), Repositories: m, Records: s, Reads: s, Figures: f, Mail: func(n string) string { return n }})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// someFigures are a good deployment, a bad one that was replaced by a good one
// two hours later, one that nobody saw, and one that was ill a week later.
func someFigures() (f toldFigures) {
	t0 := time.Now().Add(-20 * 24 * time.Hour)
	at := func(h float64) time.Time { return t0.Add(time.Duration(h * float64(time.Hour))) }
	add := func(d gitops.Deployed) {
		d.Environment = "production"
		f.deployed = append(f.deployed, d)
	}
	const shop, vault = "component:default/shop", "component:default/vault"
	add(gitops.Deployed{Service: shop, Revision: "a", At: at(0), HealthyAt: at(0.1), DegradedAt: at(170), RecoveredAt: at(171), ReplacedAt: at(200)})
	add(gitops.Deployed{Service: shop, Revision: "b", At: at(200), DegradedAt: at(200.1), ReplacedAt: at(202)})
	add(gitops.Deployed{Service: shop, Revision: "c", At: at(202), HealthyAt: at(202.1), Undone: true})
	add(gitops.Deployed{Service: shop, Revision: "d", At: at(203)})
	add(gitops.Deployed{Service: vault, Revision: "a", At: at(0), HealthyAt: at(1)})
	propose := func(p gitops.ProposedFigure) {
		p.About = access.Attributes{Ref: p.Service}
		f.proposed = append(f.proposed, p)
	}
	propose(gitops.ProposedFigure{Service: shop, Agent: "claude", State: gitops.Merged, CreatedAt: at(0), EndedAt: at(2), Commit: "x", Pull: gitops.Pull{Head: "x"}, Course: gitops.Course{Ready: at(0.5)}, Usage: gitops.Usage{Tokens: 1000, Cost: 3},
		Follow: gitops.Follow{MergedAt: at(2), SyncedAt: at(3), HealthyAt: at(4)}})
	propose(gitops.ProposedFigure{Service: shop, Agent: "claude", State: gitops.Closed, Slot: "s", CreatedAt: at(5), EndedAt: at(6), Usage: gitops.Usage{Tokens: 1, Cost: 1}})
	propose(gitops.ProposedFigure{Service: shop, Agent: "claude", State: gitops.Open, Slot: "s", CreatedAt: at(7), Commit: "x", Pull: gitops.Pull{Head: "y"}})
	propose(gitops.ProposedFigure{Service: vault, State: gitops.Merged, CreatedAt: at(0), EndedAt: at(1), Follow: gitops.Follow{MergedAt: at(1), SyncedAt: at(1), DegradedAt: at(2), HealthyAt: at(3)}})
	f.refused = []gitops.RefusedFigure{{Service: shop, Agent: "claude", Count: 3}, {Service: vault, Agent: "codex", Count: 1}}
	return f
}

func figured(l gitops.FigureLine) string {
	text := func(s *gitops.Spread) string {
		if s == nil {
			return "-"
		}
		return fmt.Sprint(s.Count, "x", s.Median)
	}
	rate := func(f *float64) string {
		if f == nil {
			return "-"
		}
		return fmt.Sprint(*f)
	}
	return fmt.Sprintf("%s: %d (%v/d), %d of %d failed %s, recovery %s; %d proposed %d merged %d closed, lead %s, ready %s, rework %d, refused %d, %v tokens, each %s", l.Name, l.Deployments, l.PerDay, l.Failed, l.Observed, rate(l.FailureRate), text(l.Recovery),
		l.Proposals, l.Merged, l.Closed, text(l.LeadTime), text(l.Approvable), l.Reworked, l.Refused, l.Tokens, rate(l.CostPerMerged))
}

func TestChangeFigures(t *testing.T) {
	g := figuresRoom(t, accesstest.OpenPolicy(), someFigures())
	out, err := g.GetChangeFigures(t.Context(), alice, gitops.GetChangeFiguresInput{})
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, l := range append(append(append([]gitops.FigureLine{out.Total}, out.Teams...), out.Services...), out.Agents...) {
		lines = append(lines, figured(l))
	}
	want := []string{
		": 5 (0.17/d), 2 of 4 failed 50, recovery 1x2h0m0s; 4 proposed 2 merged 1 closed, lead 2x3h0m0s, ready 1x30m0s, rework 2, refused 4, 1001 tokens, each 4",
		"group:default/crew: 4 (0.13/d), 2 of 3 failed 66.7, recovery 1x2h0m0s; 3 proposed 1 merged 1 closed, lead 1x4h0m0s, ready 1x30m0s, rework 2, refused 3, 1001 tokens, each 4",
		"group:default/guards: 1 (0.03/d), 0 of 1 failed 0, recovery -; 1 proposed 1 merged 0 closed, lead 1x3h0m0s, ready -, rework 0, refused 1, 0 tokens, each -",
		"component:default/shop: 4 (0.13/d), 2 of 3 failed 66.7, recovery 1x2h0m0s; 3 proposed 1 merged 1 closed, lead 1x4h0m0s, ready 1x30m0s, rework 2, refused 3, 1001 tokens, each 4",
		"component:default/vault: 1 (0.03/d), 0 of 1 failed 0, recovery -; 1 proposed 1 merged 0 closed, lead 1x3h0m0s, ready -, rework 0, refused 1, 0 tokens, each -",
		"claude: 1 (0.03/d), 0 of 1 failed 0, recovery -; 3 proposed 1 merged 1 closed, lead 1x4h0m0s, ready 1x30m0s, rework 2, refused 3, 1001 tokens, each 4",
		"codex: 0 (0/d), 0 of 0 failed -, recovery -; 0 proposed 0 merged 0 closed, lead -, ready -, rework 0, refused 1, 0 tokens, each -",
	}
	for i := range max(len(lines), len(want)) {
		if i >= len(lines) || i >= len(want) || lines[i] != want[i] {
			t.Fatalf("line %d:\n%s", i, strings.Join(lines, "\n"))
		}
	}
}

// TestChangeFiguresAreForWhoMayRead counts nothing that the caller may not read
// of.
func TestChangeFiguresAreForWhoMayRead(t *testing.T) {
	policy, err := access.LoadPolicy([]byte("rules:\n  - {name: r, effect: allow, who: {subjects: [\"*\"]}, actions: [gitops.read, gitops.health], on: {owners: [own]}}\n"), "rules.yaml")
	if err != nil {
		t.Fatal(err)
	}
	g := figuresRoom(t, policy, someFigures())
	out, err := g.GetChangeFigures(t.Context(), accesstest.As("user:default/olga", accesstest.Groups("group:default/guards")), gitops.GetChangeFiguresInput{})
	if err != nil || out.Total.Deployments != 1 || out.Total.Proposals != 1 || out.Total.Refused != 1 || len(out.Services) != 1 || out.Services[0].Name != "component:default/vault" || len(out.Agents) != 1 {
		t.Errorf("%+v %v", out, err)
	}
	if out, err = g.GetChangeFigures(t.Context(), access.Caller{}, gitops.GetChangeFiguresInput{}); err != nil || figured(out.Total) != figured(gitops.FigureLine{}) || len(out.Teams)+len(out.Services)+len(out.Agents) > 0 {
		t.Errorf("nobody: %+v %v", out, err)
	}
	for field, in := range map[string]gitops.GetChangeFiguresInput{"period": {Period: "soon"}, "9600h": {Period: "100000h"}, "service": {Service: "a\x00b"}} {
		if _, err := g.GetChangeFigures(t.Context(), alice, in); fault.CodeOf(err) != fault.Invalid || !strings.Contains(fault.From(err).Message, field) {
			t.Errorf("%s: %v", field, err)
		}
	}
}

func TestUsageIsReported(t *testing.T) {
	for _, u := range []gitops.Usage{{Tokens: -1}, {Cost: -0.1}, {Tokens: 1e16}} {
		in := gitops.ProposeChangeInput{Service: "shop", Environment: "staging", Reason: "x", Change: gitops.Change{Replicas: new(1)}, Usage: &u}
		if _, err := room(t, &memory{}).ProposeChange(t.Context(), alice, in); fault.CodeOf(err) != fault.Invalid || !strings.Contains(fault.From(err).Message, "usage") {
			t.Errorf("%+v: %v", u, err)
		}
	}
	r := newRollbackRoom(t)
	r.broken()
	r.back(claude, func(in *gitops.ProposeRollbackInput) { in.Usage = &gitops.Usage{Tokens: 48_000, Cost: 0.4} })
	r.back(claude) // without one
	r.back(claude, func(in *gitops.ProposeRollbackInput) { in.Usage = &gitops.Usage{Tokens: 50_000, Cost: 0.5} })
	all, err := r.state.ProposedIn(t.Context(), gitops.FigureQuery{Since: time.Now().Add(-time.Hour), Until: time.Now().Add(time.Hour), Most: 9})
	if err != nil || len(all) != 1 || all[0].Usage != (gitops.Usage{Tokens: 50_000, Cost: 0.5}) || all[0].Course.Ready.IsZero() {
		t.Errorf("%+v %v", all, err)
	}
}
