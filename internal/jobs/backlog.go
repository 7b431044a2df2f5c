package jobs

import (
	"context"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/rivertype"

	"github.com/fairlead-dev/fairlead/internal/fault"
)

// Backlog is what waits to be done.
type Backlog struct {
	// Due are tasks whose time has come and that nobody does yet, counted up to
	// 10,000; Oldest is since when the first of them waits, zero for none.
	Due    int
	Oldest time.Time
	// Later are tasks whose time has not come, Running those that are being
	// done or rest for a moment between two goes, and GivenUp those that failed for good within the last hour.
	Later, Running, GivenUp int
}

// Backlog counts what waits to be done, by whichever replica.
func (q *Queue) Backlog(ctx context.Context) (Backlog, error) {
	b, err := q.count(ctx)
	if err != nil {
		return b, fault.New(fault.Unavailable, "the jobs could not be counted").WithFix("Try again in a moment.").Because(err)
	}
	return b, nil
}

// mostDue is how many tasks that are due are counted.
const mostDue = 10_000

func counter[TTx any](driver riverdriver.Driver[TTx], client *river.Client[TTx]) func(context.Context) (Backlog, error) {
	return func(ctx context.Context) (b Backlog, err error) {
		counts, err := driver.GetExecutor().JobCountByAllStates(ctx, &riverdriver.JobCountByAllStatesParams{})
		if err != nil {
			return b, err
		}
		b.Later = counts[rivertype.JobStateScheduled] + counts[rivertype.JobStateRetryable] + counts[rivertype.JobStatePending]
		b.Running = counts[rivertype.JobStateRunning]
		b.GivenUp = counts[rivertype.JobStateDiscarded] + counts[rivertype.JobStateCancelled]
		// One that rests for a few seconds only is available all the while.
		open, err := client.JobList(ctx, river.NewJobListParams().States(rivertype.JobStateAvailable).OrderBy(river.JobListOrderByScheduledAt, river.SortOrderAsc).First(mostDue))
		if err != nil {
			return b, err
		}
		now := time.Now()
		for _, job := range open.Jobs {
			if job.ScheduledAt.After(now) {
				b.Later++
				continue
			}
			if b.Due++; b.Oldest.IsZero() {
				b.Oldest = job.ScheduledAt
			}
		}
		return b, nil
	}
}
