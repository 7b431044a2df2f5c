package store_test

import (
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/access/accesstest"
	"github.com/fairlead-dev/fairlead/gitops"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

func TestFiguresAreRead(t *testing.T) {
	engines(t, func(t *testing.T, dsn func(testing.TB) string) {
		s, ctx := open(t, dsn(t)), t.Context()
		now := time.Now().UTC().Truncate(time.Microsecond)
		var rows []gitops.Deployed
		for i, id := range []string{"a", "b", "c"} {
			d := deployedAt(id, "r-"+id, now.Add(time.Duration(i-3)*time.Hour))
			if i < 2 {
				d.ReplacedAt, d.ReplacedBy = d.At.Add(time.Hour), "next"
			}
			rows = append(rows, d)
		}
		if err := s.NoteDeployed(ctx, rows); err != nil {
			t.Fatal(err)
		}
		for id, kind := range map[string]string{"p-1": "change", "p-2": "rollback", "p-3": "answer"} {
			r := proposalOf(id, id)
			r.Kind, r.Environment, r.Usage, r.Course.Ready, r.Slot = kind, "staging", gitops.Usage{Tokens: 1 << 40, Cost: 0.25}, now, "slot-"+id
			if _, err := s.AddProposal(ctx, r); err != nil {
				t.Fatal(err)
			}
		}
		for _, agent := range []string{"claude", "claude", ""} {
			for _, action := range []access.Action{access.ProposeChange, access.CreatePreview} {
				b := access.Begun{Time: now, Action: action, Operation: "propose_change", Target: "component:default/shop", Who: accesstest.As("user:default/alice", accesstest.Agent(agent)), Outcome: &access.Outcome{Status: access.StatusRefused, Code: fault.Forbidden}}
				if _, err := s.Begin(ctx, b); err != nil {
					t.Fatal(err)
				}
			}
		}
		q := gitops.FigureQuery{Since: now.Add(-24 * time.Hour), Until: now.Add(time.Minute), Most: 10}
		read := func(q gitops.FigureQuery) (d []gitops.Deployed, p []gitops.ProposedFigure, r []gitops.RefusedFigure) {
			t.Helper()
			var errs [3]error
			d, errs[0] = s.DeployedIn(ctx, q)
			p, errs[1] = s.ProposedIn(ctx, q)
			r, errs[2] = s.RefusedIn(ctx, q)
			for _, err := range errs {
				if err != nil {
					t.Fatal(err)
				}
			}
			return d, p, r
		}
		d, p, r := read(q)
		if len(d) != 3 || d[0].ID != "a" || len(p) != 2 || p[0].Usage != (gitops.Usage{Tokens: 1 << 40, Cost: 0.25}) || !p[0].Course.Ready.Equal(now) || len(r) != 2 || r[0] != (gitops.RefusedFigure{Service: "component:default/shop", Agent: "claude", Count: 2}) {
			t.Errorf("%+v\n%+v\n%+v", d, p, r)
		}
		few := q
		few.Most = 2
		if d, _, _ := read(few); len(d) != 2 || d[0].ID != "b" || d[1].ID != "c" {
			t.Errorf("the newest two: %+v", d)
		}
		other := q
		other.Environment = "production"
		if d, p, _ := read(other); len(d)+len(p) > 0 {
			t.Errorf("another environment: %+v %+v", d, p)
		}
		other = q
		other.Service = "component:default/none"
		if d, p, r := read(other); len(d)+len(p)+len(r) > 0 {
			t.Errorf("another service: %+v %+v %+v", d, p, r)
		}
	})
}
