package jobs_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/internal/jobs"
	"github.com/fairlead-dev/fairlead/internal/realtest"
	"github.com/fairlead-dev/fairlead/internal/store"
)

// replica is a queue that works until it is stopped.
type replica struct {
	*jobs.Queue
	stop func()
}

// run starts a replica that ends with the test; done is called at its end.
func run(t *testing.T, q *jobs.Queue, done func()) *replica {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- q.Run(ctx) }()
	stop := sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		q.Close()
		done()
	})
	t.Cleanup(stop)
	return &replica{q, stop}
}

// engines runs a test on each engine; open gives a replica on one database.
func engines(t *testing.T, test func(t *testing.T, open func(jobs.Work, ...time.Duration) *replica)) {
	t.Run("sqlite", func(t *testing.T) {
		dir := t.TempDir()
		test(t, func(w jobs.Work, poll ...time.Duration) *replica {
			db, err := store.OpenJobs(dir)
			if err != nil {
				t.Fatal(err)
			}
			q, err := jobs.OverSQLite(t.Context(), db, jobs.Config{Works: map[string]jobs.Work{"w": w}, Poll: cmp.Or(poll...)})
			if err != nil {
				t.Fatal(err)
			}
			return run(t, q, func() { _ = db.Close() })
		})
	})
	t.Run("postgres", func(t *testing.T) {
		url := realtest.Postgres(t)
		test(t, func(w jobs.Work, poll ...time.Duration) *replica {
			q, err := jobs.OverPostgres(t.Context(), url, jobs.Config{Works: map[string]jobs.Work{"w": w}, Poll: cmp.Or(poll...)})
			if err != nil {
				t.Fatal(err)
			}
			return run(t, q, func() {})
		})
	})
}

func await(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("in vain waited for: " + what)
		}
	}
}

// TestTasks has tasks snooze, fail, panic and end, each as often as it should.
func TestTasks(t *testing.T) {
	engines(t, func(t *testing.T, open func(jobs.Work, ...time.Duration) *replica) {
		var mu sync.Mutex
		done := map[string]int{}
		q := open(func(_ context.Context, task jobs.Task) (time.Duration, error) {
			mu.Lock()
			defer mu.Unlock()
			done[task.Key]++
			switch n := done[task.Key]; {
			case task.Key == "again" && n < 3:
				return 10 * time.Millisecond, nil
			case task.Key == "fails" && n < 2:
				return 0, errors.New("not yet")
			case task.Key == "panics" && n < 2:
				panic("oh")
			}
			return -1, nil
		})
		for _, key := range []string{"once", "again", "fails", "panics"} {
			if err := q.Add(t.Context(), jobs.Task{What: "w", Key: key}); err != nil {
				t.Fatal(err)
			}
		}
		await(t, "all are done", func() bool {
			mu.Lock()
			defer mu.Unlock()
			return fmt.Sprint(done) == "map[again:3 fails:2 once:1 panics:2]"
		})
	})
}

// TestHandedBack ends a replica in the middle of a task, and has another do it.
func TestHandedBack(t *testing.T) {
	engines(t, func(t *testing.T, open func(jobs.Work, ...time.Duration) *replica) {
		began := make(chan struct{})
		first := open(func(ctx context.Context, _ jobs.Task) (time.Duration, error) {
			close(began)
			<-ctx.Done()
			return 0, ctx.Err()
		})
		if err := first.Add(t.Context(), jobs.Task{What: "w", Key: "a"}); err != nil {
			t.Fatal(err)
		}
		<-began
		first.stop()
		done := make(chan struct{})
		open(func(context.Context, jobs.Task) (time.Duration, error) { close(done); return -1, nil })
		select {
		case <-done:
		case <-time.After(time.Minute):
			t.Error("nobody went on with it")
		}
	})
}

// TestWoken adds tasks one after the other, each done at once and not when
// somebody looks.
func TestWoken(t *testing.T) {
	engines(t, func(t *testing.T, open func(jobs.Work, ...time.Duration) *replica) {
		done := make(chan struct{})
		q := open(func(context.Context, jobs.Task) (time.Duration, error) { done <- struct{}{}; return -1, nil }, time.Hour)
		for i := range int64(20) {
			if err := q.Add(t.Context(), jobs.Task{What: "w", Number: i}); err != nil {
				t.Fatal(err)
			}
			select {
			case <-done:
			case <-time.After(time.Minute):
				t.Fatalf("task %d is not begun, and none is looked for by itself within the hour", i)
			}
			time.Sleep(5 * time.Millisecond) // what is told of at once after another may have to wait
		}
	})
}

// TestCrowd has many more tasks rest than may do so in the program, and few
// done at once.
func TestCrowd(t *testing.T) {
	dir, atWork, most := t.TempDir(), atomic.Int64{}, atomic.Int64{}
	db, err := store.OpenJobs(dir)
	if err != nil {
		t.Fatal(err)
	}
	var done sync.Map
	var ended atomic.Int64
	q, err := jobs.OverSQLite(t.Context(), db, jobs.Config{Workers: 3, Works: map[string]jobs.Work{"w": func(_ context.Context, task jobs.Task) (time.Duration, error) {
		now := atWork.Add(1)
		defer atWork.Add(-1)
		for was := most.Load(); now > was && !most.CompareAndSwap(was, now); was = most.Load() {
		}
		if _, again := done.LoadOrStore(task.Number, true); !again {
			return 500 * time.Millisecond, nil
		}
		ended.Add(1)
		return -1, nil
	}}})
	if err != nil {
		t.Fatal(err)
	}
	r := run(t, q, func() { _ = db.Close() })
	for i := range int64(230) {
		if err := r.Add(t.Context(), jobs.Task{What: "w", Number: i}); err != nil {
			t.Fatal(err)
		}
	}
	await(t, "all are done", func() bool { return ended.Load() == 230 })
	if n := most.Load(); n > 3 {
		t.Errorf("%d were at work at once", n)
	}
}

// TestNapsEnd ends a replica while a task of its rests, and has another go on.
func TestNapsEnd(t *testing.T) {
	engines(t, func(t *testing.T, open func(jobs.Work, ...time.Duration) *replica) {
		rests := make(chan struct{}, 1)
		first := open(func(context.Context, jobs.Task) (time.Duration, error) {
			rests <- struct{}{}
			return 4 * time.Second, nil
		})
		if err := first.Add(t.Context(), jobs.Task{What: "w", Key: "a"}); err != nil {
			t.Fatal(err)
		}
		<-rests
		first.stop()
		done := make(chan struct{})
		open(func(context.Context, jobs.Task) (time.Duration, error) { close(done); return -1, nil })
		select {
		case <-done:
		case <-time.After(time.Minute):
			t.Error("nobody went on with it")
		}
	})
}
