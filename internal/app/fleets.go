package app

import (
	"context"
	"time"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/gitops"
)

// How fleets are driven: how often it is looked for those that are due, and how
// many go on in turn.
const fleetTick, fleetsMost = time.Second, 10

// fleets are what changes of many services are made with.
func (a *App) fleets() *gitops.FleetConfig {
	pace := map[string][]access.Rate{}
	for _, f := range a.forges {
		pace[f.name] = fleetPace(f.kind)
	}
	return &gitops.FleetConfig{Reads: a.store, Writes: a.store, Claims: a.store, Neighbours: a.store, Acting: a.auth.Resume, Quota: a.store, Pace: pace}
}

// fleetPace is how many pull requests fleets open at a forge. GitHub takes 80
// requests a minute and 500 an hour that make something
// (docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api), and a
// pull request with its labels and reviewers is three; GitLab and Gitea tell by
// 429 what is too much.
func fleetPace(kind string) []access.Rate {
	if kind == "github" {
		return []access.Rate{{Burst: 150, Per: time.Hour}, {Burst: 1, Per: 3 * time.Second}}
	}
	return []access.Rate{{Burst: 1, Per: 750 * time.Millisecond}}
}

// driveFleets goes on with running fleets until ctx ends.
func (a *App) driveFleets(ctx context.Context) error {
	if a.gitops == nil {
		return nil
	}
	tick := time.NewTicker(fleetTick)
	defer tick.Stop()
	for {
		if err := a.gitops.DriveFleets(ctx, fleetsMost); err != nil && ctx.Err() == nil {
			a.telemetry.log.WarnContext(ctx, "a change of many services could not go on, and is tried again", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}
