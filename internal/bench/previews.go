package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fairlead-dev/fairlead/internal/demo"
)

// What the part previews does.
const (
	previewsInTurn = 10 // created one after the other
	previewsAtOnce = 50 // created at once
	previewsRoom   = 20 // of those there is room for
	previewsIdle   = 200
	idleFor        = 15 * time.Second
)

// previews measures previews: real ones on this machine, of the demo's
// services, and many of a deployer in memory.
func (s settings) previews(ctx context.Context, r report, dir string) error {
	if s.server == "" {
		return errors.New("the part previews needs -server")
	}
	if err := s.localPreviews(ctx, r, filepath.Join(dir, "previews")); err != nil {
		return err
	}
	t := task{Previews: &previewsTask{Dir: filepath.Join(dir, "fake"), Count: previewsIdle, For: idleFor, Profile: s.profiles}}
	var got previewsFigures
	if err := t.apart(ctx, &got); err != nil {
		return err
	}
	r.section("%d previews of a deployer in memory (that of the tests), in one server with its state in SQLite", previewsIdle)
	r.line(fmt.Sprintf("%d created at once, each asked for twice: ready", previewsIdle), fmt.Sprintf("%d, made %d times", got.Ready, got.Made), fmt.Sprintf("%d, %d times", previewsIdle, previewsIdle))
	r.line("the time until all are ready", seconds(got.All), "")
	r.line("processor of the idle server before, of one core", percent(got.Before), "")
	r.line("the same with all of them ready", percent(got.After), "5 %")
	return nil
}

func percent(f float64) string { return fmt.Sprintf("%.1f %%", f*100) }

// previewDemo makes the demo's repositories and a configuration that reads
// them once, and lets in so many previews.
func previewDemo(ctx context.Context, dir, section string) (*demo.Set, error) {
	set, err := demo.Prepare(ctx, dir, "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	data, err := os.ReadFile(set.Config)
	if err != nil {
		return nil, err
	}
	config, _, _ := strings.Cut(string(data), "previews:")
	config = strings.Replace(config, "refresh: 2s", "refresh: 1h", 1)
	return set, os.WriteFile(set.Config, []byte(config+"policy: {limits: {previews.create: 100000/m, secrets.request: 100000/m, secrets.revoke: 100000/m}}\n"+section), 0o600) //nolint:gosec // a file in the folder that was made for it
}

// localPreviews measures previews on this machine.
func (s settings) localPreviews(ctx context.Context, r report, dir string) error {
	set, err := previewDemo(ctx, dir, fmt.Sprintf("previews: {deployers: {local: {}}, limits: {perTeam: 1000, perPerson: %d, perAgent: 1000, queue: 1000}}\n", previewsRoom))
	if err != nil {
		return err
	}
	srv, err := startServer(ctx, s.server, set.Config)
	if err != nil {
		return err
	}
	srv.token = set.Tokens["sre"]
	if err = srv.ready(ctx); err == nil {
		err = srv.measurePreviews(ctx, r)
	}
	return errors.Join(err, srv.endPreviews(context.WithoutCancel(ctx)), srv.stop())
}

// ready waits until the catalog has been read.
func (s *server) ready(ctx context.Context) (err error) {
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if _, err = s.ask(ctx, request{method: http.MethodGet, path: "/api/v1/entities/checkout"}); err == nil || ctx.Err() != nil {
			return err
		}
	}
	return err
}

// preview is what the figures need of a preview.
type preview struct {
	ID       string `json:"id"`
	Phase    string `json:"phase"`
	Reason   string `json:"reason"`
	Position int    `json:"position"`
}

// create asks for a preview and waits so long for it.
func (s *server) create(ctx context.Context, key, wait string) (p preview, err error) {
	body := fmt.Sprintf(`{"service":"checkout","ttl":"10m","key":%q,"wait":%q}`, key, wait)
	data, err := s.ask(ctx, request{method: http.MethodPost, path: "/api/v1/previews", body: body, header: jsonBody()})
	if err == nil {
		err = json.Unmarshal(data, &p)
	}
	return p, err
}

// all are the previews that are not gone.
func (s *server) all(ctx context.Context) ([]preview, error) {
	var page struct{ Items []preview }
	data, err := s.ask(ctx, request{method: http.MethodGet, path: "/api/v1/previews?limit=200"})
	if err == nil {
		err = json.Unmarshal(data, &page)
	}
	return page.Items, err
}

// until waits until what there is of previews is as it should be.
func (s *server) until(ctx context.Context, what string, holds func([]preview) bool) (all []preview, err error) {
	for end := time.Now().Add(3 * time.Minute); time.Now().Before(end); {
		if all, err = s.all(ctx); err != nil || holds(all) {
			return all, err
		}
		select {
		case <-ctx.Done():
			return all, ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
	return all, fmt.Errorf("in vain waited until %s: %+v", what, all)
}

func (s *server) endPreviews(ctx context.Context) error {
	all, err := s.all(ctx)
	for _, p := range all {
		_, e := s.ask(ctx, request{method: http.MethodDelete, path: "/api/v1/previews/" + p.ID})
		err = errors.Join(err, e)
	}
	_, e := s.until(ctx, "all previews are gone", func(all []preview) bool { return len(all) == 0 })
	return errors.Join(err, e)
}

func (s *server) measurePreviews(ctx context.Context, r report) error {
	// The first one reads the repository and tries out what isolates.
	if _, err := s.create(ctx, "warm", "60s"); err != nil {
		return err
	}
	var times []time.Duration
	for i := range previewsInTurn {
		began := time.Now()
		p, err := s.create(ctx, fmt.Sprintf("turn-%d", i), "60s")
		if err != nil {
			return err
		}
		if p.Phase != "ready" {
			return fmt.Errorf("preview %s is %s: %s", p.ID, p.Phase, p.Reason)
		}
		times = append(times, time.Since(began))
	}
	slices.Sort(times)
	r.section("Previews on this machine, of the demo's checkout (a small HTTP server in Python)")
	r.line(fmt.Sprintf("ready after the call, of %d in turn: p50 / p99", previewsInTurn), seconds(quantile(times, .5))+" / "+seconds(quantile(times, .99)), "2 s")
	if err := s.endPreviews(ctx); err != nil {
		return err
	}
	return s.crowd(ctx, r)
}

// crowd creates many at once, each with two requests of one key, and sees what
// becomes of them.
func (s *server) crowd(ctx context.Context, r report) error {
	var mu sync.Mutex
	ids, failed := map[string]string{}, []error{}
	doubled := 0
	began := time.Now()
	var wg sync.WaitGroup
	for i := range 2 * previewsAtOnce {
		wg.Go(func() {
			key := fmt.Sprintf("crowd-%d", i/2)
			p, err := s.create(ctx, key, "0s")
			mu.Lock()
			defer mu.Unlock()
			switch was, known := ids[key]; {
			case err != nil:
				failed = append(failed, err)
			case known && was != p.ID:
				doubled++
			default:
				ids[key] = p.ID
			}
		})
	}
	wg.Wait()
	if len(failed) > 0 {
		return errors.Join(failed...)
	}
	accepted := time.Since(began)
	all, err := s.until(ctx, "all are ready or queued", func(all []preview) bool {
		ready, queued := settledPreviews(all)
		return ready == previewsRoom && queued == previewsAtOnce-previewsRoom
	})
	if err != nil {
		return err
	}
	ready, queued := settledPreviews(all)
	lost := 0
	for id := range maps.Values(ids) {
		if !slices.ContainsFunc(all, func(p preview) bool { return p.ID == id }) {
			lost++
		}
	}
	r.line(fmt.Sprintf("%d at once, each asked for twice: accepted within", previewsAtOnce), seconds(accepted), "")
	r.line(fmt.Sprintf("ready / queued (room for %d) / lost / doubled", previewsRoom), fmt.Sprintf("%d / %d / %d / %d, after %s", ready, queued, lost, doubled+len(all)-previewsAtOnce, seconds(time.Since(began))), "none lost or doubled")
	before, err := cpuOf(s.cmd.Process.Pid)
	if err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(idleFor):
	}
	after, err := cpuOf(s.cmd.Process.Pid)
	r.line(fmt.Sprintf("processor of the server with %d ready, %d queued, of a core", ready, queued), percent((after-before).Seconds()/idleFor.Seconds()), "5 %")
	return err
}

// settledPreviews are how many are ready, and how many wait for room.
func settledPreviews(all []preview) (ready, queued int) {
	for _, p := range all {
		switch {
		case p.Phase == "ready":
			ready++
		case p.Phase == "pending" && p.Position > 0:
			queued++
		}
	}
	return ready, queued
}
