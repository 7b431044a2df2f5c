package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime/pprof"
	"slices"
	"syscall"
	"time"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/catalog/descriptor"
	"github.com/fairlead-dev/fairlead/catalog/ingest"
	"github.com/fairlead-dev/fairlead/internal/git"
	"github.com/fairlead-dev/fairlead/internal/heap"
	"github.com/fairlead-dev/fairlead/internal/keep"
)

// sweepsTask is to read many repositories and then to look at all of them
// again and again while none of them changes.
type sweepsTask struct {
	URL     string // of the forge
	Names   []string
	State   string
	Sweeps  int
	Profile string // the beginning of the names of profiles; "" for none
}

// spent is how long something took, how much CPU time of this process, and how
// many requests for Git.
type spent struct {
	Wall, CPU time.Duration
	Asked     int64
}

// sweeps is what came of a sweepsTask.
type sweeps struct {
	Entities int
	First    spent
	// ByGit is a sweep whose every answer a Git of its own gives.
	ByGit spent
	All   []spent
	// Resident is what the process holds in bytes after some of the sweeps.
	Resident []int64
	Heap     int64
}

// shown are the sweeps after which memory is shown.
func shown() []int { return []int{1, 10, 100} }

// stopwatch gives what has been spent since.
func stopwatch() func() spent {
	start, before := time.Now(), cpuOfSelf()
	return func() spent { return spent{Wall: time.Since(start), CPU: cpuOfSelf() - before} }
}

// cpuOfSelf is the CPU time of this process, user and system.
func cpuOfSelf() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0 // it fails for unknown arguments only
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// rounds are the readings of all sources.
type rounds struct {
	ingester *ingest.Ingester
	catalog  *catalog.Service
	urls     []string
	read     chan error
}

// await waits until each source has been read once.
func (r *rounds) await(ctx context.Context) error {
	var errs []error
	for range r.urls {
		select {
		case err := <-r.read:
			if err != nil {
				errs = append(errs, err)
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if len(errs) > 0 {
		return fmt.Errorf("%d of %d sources were not read, the first for: %w", len(errs), len(r.urls), errs[0])
	}
	return nil
}

// sweep has each source looked at once, and fails if that asked the forge for
// anything but one list for each.
func (r *rounds) sweep(ctx context.Context, forgeURL string) (spent, error) {
	before, err := askedOf(ctx, forgeURL)
	if err != nil {
		return spent{}, err
	}
	took := stopwatch()
	r.ingester.Notify(r.urls...)
	err = r.await(ctx)
	s := took()
	if err != nil {
		return s, err
	}
	after, err := askedOf(ctx, forgeURL)
	s.Asked = after - before
	if err == nil && s.Asked != int64(len(r.urls)) {
		err = fmt.Errorf("a sweep of %d repositories asked for Git %d times", len(r.urls), s.Asked)
	}
	return s, err
}

func (t sweepsTask) open() (*rounds, *keep.Keeper, error) {
	keeper, err := keep.Open(t.State)
	if err != nil {
		return nil, nil, err
	}
	r := &rounds{read: make(chan error, len(t.Names))}
	limit := git.NewLimiter(git.DefaultFetches)
	var sources []ingest.Source
	for _, name := range t.Names {
		url := t.URL + "/" + owner + "/" + name + ".git"
		src, err := git.NewSource(name, git.SourceConfig{URL: url, Ref: "main"}, filepath.Join(t.State, "git", name), ".", limit)
		if err != nil {
			return nil, nil, errors.Join(err, keeper.Close())
		}
		sources, r.urls = append(sources, src), append(r.urls, url)
	}
	if r.catalog, err = catalog.New(catalog.Config{Policy: access.DefaultPolicy()}); err != nil {
		return nil, nil, errors.Join(err, keeper.Close())
	}
	r.ingester = ingest.New(ingest.Config{Sources: sources, Processor: descriptor.New(descriptor.Options{Template: true}), Publish: r.catalog.Publish,
		Keeper: keeper, Fingerprint: "bench", Refresh: 24 * time.Hour,
		Observe: func(_ context.Context, _ string, _ time.Duration, _ int, err error) { r.read <- err }})
	return r, keeper, nil
}

// do reads and sweeps, and prints what came of it.
func (t sweepsTask) do(ctx context.Context) error {
	r, keeper, err := t.open()
	if err != nil {
		return err
	}
	running, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	res := &sweeps{}
	started, took := heap.Start(), stopwatch()
	profiled, err := profile(t.Profile, "first")
	if err != nil {
		return err
	}
	go func() { ended <- r.ingester.Run(running) }()
	err = r.await(ctx)
	res.First, res.Entities = took(), r.catalog.Snapshot().Len()
	profiled()
	started()
	if err == nil {
		res.First.Asked, err = askedOf(ctx, t.URL)
	}
	if err == nil {
		err = t.sweep(ctx, r, res)
	}
	stop()
	if err := errors.Join(err, <-ended, keeper.Close()); err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(res)
}

func (t sweepsTask) sweep(ctx context.Context, r *rounds, res *sweeps) (err error) {
	if res.ByGit, err = r.sweep(ctx, t.URL); err != nil {
		return err
	}
	if err := postEmpty(ctx, t.URL+"/quick"); err != nil {
		return err
	}
	profiled, err := profile(t.Profile, "sweeps")
	if err != nil {
		return err
	}
	defer profiled()
	for i := range t.Sweeps {
		s, err := r.sweep(ctx, t.URL)
		if err != nil {
			return err
		}
		res.All = append(res.All, s)
		if slices.Contains(shown(), i+1) {
			now, _, err := settled(ctx, os.Getpid())
			if err != nil {
				return err
			}
			res.Resident = append(res.Resident, now)
		}
	}
	res.Heap = held()
	return nil
}

func postEmpty(ctx context.Context, url string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, nil)
	if err != nil {
		return err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	return res.Body.Close()
}

// profile notes where CPU time goes until it is stopped, if that is wanted.
func profile(prefix, name string) (stop func(), err error) {
	if prefix == "" {
		return func() {}, nil
	}
	f, err := os.Create(prefix + "-" + name + ".cpu")
	if err != nil {
		return nil, err
	}
	return func() { pprof.StopCPUProfile(); f.Close() }, pprof.StartCPUProfile(f)
}
