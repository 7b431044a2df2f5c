package gitops_test

import (
	"context"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/gitops"
)

// mortal dies before a step, as a server does that is killed: what it was about
// to do is not done, and nothing after it.
type mortal struct {
	gitops.Records
	gitops.FleetClaims
	gitops.Forge
	gitops.Repositories
	at, steps int
}

func (m *mortal) step() {
	if m.steps++; m.steps == m.at {
		runtime.Goexit()
	}
}

func (m *mortal) AddProposal(ctx context.Context, r gitops.Record) (gitops.Record, error) {
	m.step()
	return m.Records.AddProposal(ctx, r)
}

func (m *mortal) ClaimProposal(ctx context.Context, id, holder string, now, until time.Time) (gitops.Record, bool, error) {
	m.step()
	return m.Records.ClaimProposal(ctx, id, holder, now, until)
}

func (m *mortal) SaveProposal(ctx context.Context, r gitops.Record, holder string, release bool) error {
	m.step()
	return m.Records.SaveProposal(ctx, r, holder, release)
}

func (m *mortal) ClaimFleet(ctx context.Context, id, holder string, now, until time.Time) (gitops.FleetRecord, bool, error) {
	m.step()
	return m.FleetClaims.ClaimFleet(ctx, id, holder, now, until)
}

func (m *mortal) SaveFleetMember(ctx context.Context, one gitops.FleetMember, holder string) (bool, error) {
	m.step()
	return m.FleetClaims.SaveFleetMember(ctx, one, holder)
}

func (m *mortal) ReportFleet(ctx context.Context, r gitops.FleetRecord, holder string, due time.Time) error {
	m.step()
	return m.FleetClaims.ReportFleet(ctx, r, holder, due)
}

func (m *mortal) FindPull(ctx context.Context, repository, base, branch string) (*gitops.Pull, error) {
	m.step()
	return m.Forge.FindPull(ctx, repository, base, branch)
}

func (m *mortal) OpenPull(ctx context.Context, repository string, p gitops.NewPull) (*gitops.Pull, error) {
	m.step()
	return m.Forge.OpenPull(ctx, repository, p)
}

func (m *mortal) Open(ctx context.Context, at gitops.Place) (gitops.Repository, gitops.Base, error) {
	m.step()
	r, base, err := m.Repositories.Open(ctx, at)
	return mortalRepository{r, m}, base, err
}

type mortalRepository struct {
	gitops.Repository
	of *mortal
}

func (m mortalRepository) Push(ctx context.Context, p gitops.Push) (string, error) {
	m.of.step()
	return m.Repository.Push(ctx, p)
}

// TestFleetSurvives kills the server before each step in turn: another one goes
// on, and there is one pull request for each service.
func TestFleetSurvives(t *testing.T) {
	for at, died := 1, true; died; at++ {
		y := newYard(t, 2)
		f := y.start(func(in *gitops.PlanFleetInput) { in.Waves = []string{"100%"} })
		m := &mortal{Records: y.store, FleetClaims: y.store, Forge: y.memory, Repositories: y.memory, at: at}
		cfg, fleets := y.cfg, *y.cfg.Fleets
		fleets.Claims = m
		cfg.Fleets, cfg.Records, cfg.Repositories, cfg.Forges = &fleets, m, m, map[string]gitops.Forge{"f": m}
		first, err := gitops.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		died = true
		var wg sync.WaitGroup
		wg.Go(func() {
			_ = first.DriveFleets(t.Context(), 1)
			died = false
		})
		wg.Wait()
		y.now = y.now.Add(3 * time.Minute) // what the dead one held is free
		y.drive(f.ID)
		y.end(gitops.PullMerged)
		y.now = y.now.Add(time.Minute)
		f = y.drive(f.ID)
		if _, all := y.count(); all != 2 || len(y.branches) != 2 || f.State != gitops.FleetDone {
			t.Fatalf("killed before step %d: %d pull requests, %d branches: %+v", at, all, len(y.branches), f)
		}
		if !died && at < 15 {
			t.Fatalf("it did not die before step %d", at)
		}
	}
}
