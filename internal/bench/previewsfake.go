package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime/pprof"
	"sync"
	"time"

	"github.com/fairlead-dev/fairlead/internal/app"
	"github.com/fairlead-dev/fairlead/previews/previewstest"
)

// previewsTask is a server with previews of a deployer in memory.
type previewsTask struct {
	Dir     string
	Count   int
	For     time.Duration
	Profile string
}

// previewsFigures are what it measures.
type previewsFigures struct {
	// Ready are how many were ready, and Made how often one was made; All is
	// how long that took.
	Ready, Made int
	All         time.Duration
	// Before and After are the shares of a core that the idle server takes
	// without and with them.
	Before, After float64
}

func (t *previewsTask) do(ctx context.Context) error {
	set, err := previewDemo(ctx, t.Dir, "previews: {limits: {perTeam: 1000, perPerson: 1000, perAgent: 1000}}\n")
	if err != nil {
		return err
	}
	cfg, err := app.LoadConfig(set.Config)
	if err != nil {
		return err
	}
	f := &previewstest.Fake{Looks: 2}
	cfg.AddDeployer("local", f)
	a, err := app.New(ctx, cfg, io.Discard)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	for !a.Ready() && ctx.Err() == nil {
		time.Sleep(10 * time.Millisecond)
	}
	srv := &server{url: a.URL(), token: set.Tokens["sre"], client: &http.Client{Transport: &http.Transport{MaxConnsPerHost: connections}, Timeout: time.Minute}}
	got, err := t.measure(ctx, srv, f)
	stop()
	if err = errors.Join(err, <-ended); err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(got)
}

func (t *previewsTask) measure(ctx context.Context, srv *server, f *previewstest.Fake) (got previewsFigures, err error) {
	time.Sleep(5 * time.Second) // until what is read at the start has been
	if got.Before, err = t.idle(ctx, ""); err != nil {
		return got, err
	}
	began := time.Now()
	var wg sync.WaitGroup
	failed := make(chan error, 2*t.Count)
	for i := range 2 * t.Count {
		wg.Go(func() {
			if _, err := srv.create(ctx, fmt.Sprintf("key-%d", i/2), "0s"); err != nil {
				failed <- err
			}
		})
	}
	wg.Wait()
	if len(failed) > 0 {
		return got, <-failed
	}
	all, err := srv.until(ctx, "all are ready", func(all []preview) bool {
		got.Ready, _ = settledPreviews(all)
		return got.Ready == t.Count
	})
	if err != nil {
		return got, err
	}
	got.All = time.Since(began)
	for _, p := range all {
		got.Made += f.Made(p.ID)
	}
	if there := len(f.There()); there != t.Count {
		return got, fmt.Errorf("the deployer has %d previews", there)
	}
	time.Sleep(5 * time.Second) // until nobody looks often any more
	got.After, err = t.idle(ctx, "previews")
	return got, err
}

// idle is the share of a core that this process takes while nobody asks it
// anything.
func (t *previewsTask) idle(ctx context.Context, profile string) (float64, error) {
	if t.Profile != "" && profile != "" {
		file, err := os.Create(filepath.Join(t.Profile, profile+".cpu"))
		if err != nil {
			return 0, err
		}
		defer file.Close()
		if err := pprof.StartCPUProfile(file); err != nil {
			return 0, err
		}
		defer pprof.StopCPUProfile()
	}
	before, err := cpuOf(os.Getpid())
	if err != nil {
		return 0, err
	}
	select {
	case <-ctx.Done():
		return 0, ctx.Err()
	case <-time.After(t.For):
	}
	after, err := cpuOf(os.Getpid())
	return (after - before).Seconds() / t.For.Seconds(), err
}
