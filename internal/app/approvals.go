package app

import (
	"context"
	"time"
)

// sweepApprovalsEvery is how often it is noted which requests for approval
// have expired. They count as expired from the moment on, noted or not.
const sweepApprovalsEvery = 5 * time.Second

// sweepApprovals notes which requests have expired until ctx ends. Several
// replicas may do so at once.
func (a *App) sweepApprovals(ctx context.Context) error {
	tick := time.NewTicker(sweepApprovalsEvery)
	defer tick.Stop()
	for {
		if err := a.store.SweepApprovals(ctx, time.Now()); err != nil && ctx.Err() == nil {
			a.telemetry.log.WarnContext(ctx, "expired requests for approval could not be swept", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}
