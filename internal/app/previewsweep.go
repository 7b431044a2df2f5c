package app

import (
	"context"
	"errors"
	"time"

	"github.com/fairlead-dev/fairlead/internal/fault/beside"
	"github.com/fairlead-dev/fairlead/previews"
)

func (a *App) sweepPreviews(ctx context.Context) {
	tick := time.NewTicker(sweepPreviewsEvery)
	defer tick.Stop()
	var forgotten time.Time
	var at beside.All
	defer at.Wait()
	slots := make(chan struct{}, turnsAtOnce)
	for {
		turns, err := a.reconciler.Sweep(ctx)
		err = errors.Join(err, a.sweepPulls(ctx))
		for _, t := range turns {
			a.turn(ctx, t, slots, &at)
		}
		if time.Since(forgotten) > time.Hour {
			forgotten = time.Now()
			err = errors.Join(err, a.store.ForgetPreviews(ctx, forgotten.Add(-forgetPreviewsAfter)))
		}
		if err != nil && ctx.Err() == nil {
			a.telemetry.log.WarnContext(ctx, "previews could not be swept", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// turnsAtOnce are how many turns are done without a job at once.
const turnsAtOnce = 8

// turn does one turn of a preview that was overdue, without a job: most find
// that all is well, and a job for each would take more than looking. A turn
// that does not end by that gets one; one of a server that dies is overdue
// again.
func (a *App) turn(ctx context.Context, t previews.Turn, slots chan struct{}, at *beside.All) {
	select {
	case slots <- struct{}{}:
	default:
		a.wakePreview(ctx, t)
		return
	}
	at.Go(func() {
		defer func() { <-slots }()
		beside.Logged(ctx, a.telemetry.log, "looking after preview "+t.ID, func() {
			again, err := a.reconciler.Turn(ctx, t)
			if ctx.Err() == nil && (err != nil || again != previews.Forever) {
				a.wakePreview(ctx, t)
			}
		})
	})
}

// countStraysEvery is how often it is looked what there is of previews that
// are not known any more.
const countStraysEvery = 5 * time.Minute

// countStrays tells the metrics how many strays there are until ctx ends.
func (a *App) countStrays(ctx context.Context) {
	tick := time.NewTicker(countStraysEvery)
	defer tick.Stop()
	for {
		counts, unseen := a.previews.CountStrays(ctx)
		if ctx.Err() != nil {
			return
		}
		a.strays.tell(counts, unseen)
		for _, u := range unseen {
			a.telemetry.log.WarnContext(ctx, "it could not be looked for strays of previews", "deployer", u.Deployer, "reason", u.Reason)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
