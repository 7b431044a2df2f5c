// Package jobs does durable work on River: what is asked for once is done by
// one of the replicas, again where that one dies, and handed back where a
// server ends. Jobs are in SQLite or in PostgreSQL.
package jobs

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/riverdriver/riversqlite"
	"github.com/riverqueue/river/rivertype"

	"github.com/fairlead-dev/fairlead/internal/fault"
)

// Task is one piece of work. Equal tasks are one, until it is done.
type Task struct {
	// What names the kind of work, and Key what it is done to.
	What string `json:"what" river:"unique"`
	Key  string `json:"key" river:"unique"`
	// Number tells apart works of one kind on one thing.
	Number int64 `json:"number" river:"unique"`
}

// Kind is what River calls tasks.
func (Task) Kind() string { return "fairlead" }

// Work does a task and tells after how long to go on with it; less than 0 is
// never: it is done. One that fails is tried again after a while. It is done
// again from the start where the server died in it.
type Work func(ctx context.Context, t Task) (again time.Duration, err error)

// Config is how tasks are done.
type Config struct {
	// Works do tasks, by what the task is. Tasks of no work here fail.
	Works map[string]Work
	// Workers are how many tasks are done at once, 16 if 0.
	Workers int
	// Timeout bounds one go at a task, 1 minute if 0.
	Timeout time.Duration
	// Poll is how often it is looked for tasks that nobody told of: those that
	// another replica left and those that rest for longer than a nap; 1s if 0.
	Poll time.Duration
	// Logger is told of what fails; nil is slog.Default.
	Logger *slog.Logger
}

// softStop is how long tasks may go on once the server ends; then their
// contexts end, and they are handed back.
const softStop = time.Second

// Queue is where tasks wait and who does them.
type Queue struct {
	insert func(ctx context.Context, t Task) error
	run    func(ctx context.Context) error
	count  func(ctx context.Context) (Backlog, error)
	close  func()
}

// OverSQLite makes a queue in an SQLite database, which is to have one
// connection and no other process at work on it: tasks that another one adds
// wait until this one looks, which it does every second.
func OverSQLite(ctx context.Context, db *sql.DB, cfg Config) (*Queue, error) {
	return open(ctx, alone[*sql.Tx]{riversqlite.New(db)}, cfg, func() {})
}

// OverPostgres makes a queue in the PostgreSQL database of a URL, which
// replicas share.
func OverPostgres(ctx context.Context, url string, cfg Config) (*Queue, error) {
	pool, err := connect(ctx, url)
	if err != nil {
		return nil, err
	}
	q, err := open(ctx, riverpgxv5.New(pool), cfg, pool.Close)
	if err != nil {
		pool.Close()
		return nil, err
	}
	return q, nil
}

func connect(ctx context.Context, url string) (*pgxpool.Pool, error) {
	cfg, err := pgxpool.ParseConfig(url)
	if err != nil { // its text may hold the password
		return nil, fault.New(fault.Invalid, "the state's postgres:// URL cannot be read").
			WithFix("Write postgres://user@host:5432/database?sslmode=verify-full, with special characters percent-encoded.")
	}
	cfg.MaxConns = max(cfg.MaxConns, 6)
	cfg.ConnConfig.RuntimeParams["application_name"] = "fairlead-jobs"
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, unavailable(err)
	}
	return pool, nil
}

func unavailable(err error) error {
	return fault.New(fault.Unavailable, "the queue of jobs cannot be opened").WithFix("Check that the state's database runs and may be written.").Because(err)
}

func open[TTx any](ctx context.Context, driver riverdriver.Driver[TTx], cfg Config, release func()) (*Queue, error) {
	if cfg.Logger == nil {
		cfg.Logger = slog.Default()
	}
	if cfg.Workers == 0 {
		cfg.Workers = 16
	}
	if cfg.Timeout == 0 {
		cfg.Timeout = time.Minute
	}
	quiet := slog.New(atLeast{cfg.Logger.Handler(), slog.LevelWarn})
	if _, err := migrate(ctx, driver, quiet); err != nil {
		return nil, unavailable(err)
	}
	w := newWorker(cfg)
	workers := river.NewWorkers()
	if err := river.AddWorkerSafely(workers, w); err != nil {
		return nil, err
	}
	client, err := river.NewClient(driver, &river.Config{
		Queues: map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: cfg.Workers + mostNaps}}, Workers: workers, Logger: quiet,
		FetchCooldown: pause(driver), FetchPollInterval: cmp.Or(cfg.Poll, time.Second), JobTimeout: -1, RescueStuckJobsAfter: w.longest() + cfg.Timeout/2,
		CompletedJobRetentionPeriod: time.Minute, CancelledJobRetentionPeriod: time.Hour, DiscardedJobRetentionPeriod: time.Hour, SoftStopTimeout: softStop,
	})
	if err != nil {
		return nil, fmt.Errorf("jobs: %w", err)
	}
	var starting sync.RWMutex
	return &Queue{insert: inserter(client, &starting), run: runner(client, &starting, w), count: counter(driver, client), close: release}, nil
}

// inserter adds tasks, but not while the client starts: adding wakes what only
// starting makes.
func inserter[TTx any](client *river.Client[TTx], starting *sync.RWMutex) func(context.Context, Task) error {
	unique := river.UniqueOpts{ByArgs: true, ByState: []rivertype.JobState{rivertype.JobStateAvailable, rivertype.JobStatePending,
		rivertype.JobStateRetryable, rivertype.JobStateRunning, rivertype.JobStateScheduled}}
	return func(ctx context.Context, t Task) error {
		starting.RLock()
		defer starting.RUnlock()
		_, err := client.Insert(ctx, t, &river.InsertOpts{UniqueOpts: unique, MaxAttempts: 100})
		return err
	}
}

func runner[TTx any](client *river.Client[TTx], starting *sync.RWMutex, w *worker) func(context.Context) error {
	return func(ctx context.Context) error {
		starting.Lock()
		err := client.Start(context.WithoutCancel(ctx))
		starting.Unlock()
		if err != nil {
			return fmt.Errorf("starting jobs: %w", err)
		}
		<-ctx.Done()
		w.wake()
		stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), 4*softStop)
		defer cancel()
		if err := client.Stop(stop); err != nil {
			return fmt.Errorf("stopping jobs: %w", err)
		}
		return nil
	}
}

// Add has a task done soon, by whichever replica.
func (q *Queue) Add(ctx context.Context, t Task) error {
	if err := q.insert(ctx, t); err != nil {
		return fault.New(fault.Unavailable, "the job could not be queued").WithFix("Nothing is to be done: it is tried again.").Because(err)
	}
	return nil
}

// Run does tasks until ctx ends. Then those at work may go on for a second
// before their contexts end; what is not done is done by another replica, or
// after the next start.
func (q *Queue) Run(ctx context.Context) error { return q.run(ctx) }

// Close lets go of the database. Run must have ended.
func (q *Queue) Close() { q.close() }

// atLeast passes on records of a level or above.
type atLeast struct {
	slog.Handler
	least slog.Level
}

// Enabled tells whether a level is passed on.
func (h atLeast) Enabled(ctx context.Context, l slog.Level) bool {
	return l >= h.least && h.Handler.Enabled(ctx, l)
}

// WithAttrs adds attributes.
func (h atLeast) WithAttrs(attrs []slog.Attr) slog.Handler {
	return atLeast{h.Handler.WithAttrs(attrs), h.least}
}

// WithGroup adds a group.
func (h atLeast) WithGroup(name string) slog.Handler {
	return atLeast{h.Handler.WithGroup(name), h.least}
}
