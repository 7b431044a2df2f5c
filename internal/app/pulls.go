package app

import (
	"context"
	"errors"
	"time"

	"github.com/fairlead-dev/fairlead/internal/jobs"
	"github.com/fairlead-dev/fairlead/previews"
)

// pullWork is what jobs call the work on pull requests.
const pullWork = "pull"

// makePulls has previews follow pull requests, where there is a forge that
// tells of them.
func (a *App) makePulls() {
	if forges := a.pullForges(); forges != nil && a.previews != nil {
		a.pulls = previews.NewPullKeeper(a.previews, forges, a.store, a.telemetry.log)
	}
}

// tellPull notes that there is news of a pull request.
func (a *App) tellPull(ctx context.Context, at previews.PullRef) {
	if a.pulls == nil || at.Number <= 0 {
		return
	}
	if err := a.store.TellPull(ctx, at, time.Now()); err != nil {
		a.telemetry.log.ErrorContext(ctx, "news of a pull request is lost", "pull", at.String(), "error", err)
	}
}

// keepPull looks after one pull request.
func (a *App) keepPull(ctx context.Context, t jobs.Task) (time.Duration, error) {
	at, ok := previews.ParsePullRef(t.Key)
	if !ok || a.pulls == nil {
		return previews.Forever, nil
	}
	return previews.Forever, a.pulls.Turn(ctx, at)
}

// sweepPulls has those looked after that are due.
func (a *App) sweepPulls(ctx context.Context) error {
	if a.pulls == nil {
		return nil
	}
	due, err := a.store.DuePulls(ctx, time.Now())
	errs := []error{err}
	for _, at := range due {
		errs = append(errs, a.jobs.Add(ctx, jobs.Task{What: pullWork, Key: at.String(), Number: time.Now().UnixMilli()}))
	}
	return errors.Join(errs...)
}

// pullForges are the forges that tell of pull requests, nil for none.
func (a *App) pullForges() previews.PullForges { return a.cfg.pulls }
