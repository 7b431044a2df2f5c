package jobs

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/riverqueue/river"

	"github.com/fairlead-dev/fairlead/internal/fault"
)

// tryAgain is the pause after a failure.
const tryAgain = 2 * time.Second

// longestNap is the longest pause in which a task stays with its worker, and
// mostNaps how many do so at once: others go back to the database, which takes
// more than waiting.
const longestNap, mostNaps = 5 * time.Second, 200

// worker does tasks for River.
type worker struct {
	river.WorkerDefaults[Task]
	cfg Config
	// slots are of those at work, naps of those that wait.
	slots, naps chan struct{}
	// ending is closed where nobody shall wait any more.
	ending chan struct{}
	wake   func()
}

func newWorker(cfg Config) *worker {
	w := &worker{cfg: cfg, slots: make(chan struct{}, cfg.Workers), naps: make(chan struct{}, mostNaps), ending: make(chan struct{})}
	w.wake = sync.OnceFunc(func() { close(w.ending) })
	return w
}

// longest is how long a task may stay with its worker: the last go begins a nap
// and a wait for its turn after half the time of one has passed.
func (w *worker) longest() time.Duration { return w.cfg.Timeout/2 + 2*longestNap + w.cfg.Timeout }

// Timeout has River set no limit: each go has one of its own.
func (w *worker) Timeout(*river.Job[Task]) time.Duration { return -1 }

// Work does one task, again and again while the pauses are short.
func (w *worker) Work(ctx context.Context, job *river.Job[Task]) error {
	do := w.cfg.Works[job.Args.What]
	if do == nil {
		return river.JobCancel(fmt.Errorf("there is no work %q", job.Args.What))
	}
	for began := time.Now(); ; {
		again, err := w.once(ctx, do, job.Args)
		switch {
		case ctx.Err() != nil, errors.Is(err, errFull):
			return river.JobSnooze(0) // handed back
		case err != nil:
			w.cfg.Logger.WarnContext(ctx, "a job failed and is tried again", "job", job.Args.What, "key", job.Args.Key, "error", err)
			again = tryAgain
		case again < 0:
			return nil
		}
		if time.Since(began) > w.cfg.Timeout/2 || !w.nap(ctx, again) {
			return river.JobSnooze(again)
		}
	}
}

// nap waits; false where others are to be let in, or it is the end.
func (w *worker) nap(ctx context.Context, d time.Duration) bool {
	if d > longestNap {
		return false
	}
	select {
	case w.naps <- struct{}{}:
		defer func() { <-w.naps }()
	default:
		return false
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
	case <-w.ending:
	}
	return false
}

// errFull tells that there was no slot for long.
var errFull = errors.New("too many tasks are at work")

// once has one go at a task, in bounded time, once there is a slot for it.
func (w *worker) once(ctx context.Context, do Work, t Task) (again time.Duration, err error) {
	full := time.NewTimer(longestNap)
	defer full.Stop()
	select {
	case w.slots <- struct{}{}:
		defer func() { <-w.slots }()
	case <-full.C:
		return 0, errFull
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	ctx, cancel := context.WithTimeout(ctx, w.cfg.Timeout)
	defer cancel()
	return guarded(ctx, do, t)
}

// guarded makes an error of a panic.
func guarded(ctx context.Context, do Work, t Task) (again time.Duration, err error) {
	defer fault.Catch(&err, "doing job %s for %s", t.What, t.Key)
	return do(ctx, t)
}
