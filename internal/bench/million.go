package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"
)

// million sends many requests of every kind, as fast as they are answered, and
// prints what the server holds after the first of them and after all.
func (s settings) million(ctx context.Context, r report, dir string) error {
	if s.server == "" {
		return errors.New("the part million needs -server")
	}
	repo, err := newRepository(ctx, filepath.Join(dir, "million"), s.components)
	if err != nil {
		return err
	}
	config, err := configure(filepath.Join(dir, "million-server"), repo)
	if err != nil {
		return err
	}
	srv, err := startServer(ctx, s.server, config)
	if err != nil {
		return err
	}
	return errors.Join(s.marathon(ctx, r, srv, repo), srv.stop())
}

func (s settings) marathon(ctx context.Context, r report, srv *server, repo *repository) error {
	if _, _, err := srv.queryable(ctx, repo.entities); err != nil {
		return err
	}
	kinds, err := visits(ctx, srv, repo)
	if err != nil {
		return err
	}
	r.section("Memory over %d requests of %d kinds (REST, Backstage's REST, GraphQL, MCP) over %d connections", s.requests, len(kinds), connections)
	next := func(i int) request { return kinds[i%len(kinds)].next(i / len(kinds)) }
	var first int64
	done, start := 0, time.Now()
	for _, mark := range marks(s.requests) {
		if err := srv.fire(ctx, done, mark, next); err != nil {
			return err
		}
		done = mark
		now, peak, err := settled(ctx, srv.cmd.Process.Pid)
		if err != nil {
			return err
		}
		goal := ""
		if first == 0 {
			first = now
		} else {
			goal = fmt.Sprintf("flat: as after the first %d", marks(s.requests)[0])
		}
		r.line(fmt.Sprintf("resident after %d requests, settled / peak", mark), fmt.Sprintf("%s / %s, %+.1f %%", megabytes(now), megabytes(peak), 100*float64(now-first)/float64(first)), goal)
	}
	r.line("time for all of them", seconds(time.Since(start)), "")
	return nil
}

// marks are after how many requests the memory is looked at.
func marks(total int) []int {
	var out []int
	for _, part := range []int{100, 10, 2, 1} {
		if n := total / part; n > 0 {
			out = append(out, n)
		}
	}
	return out
}

// fire sends requests from one number up to another, as fast as they are
// answered; the first that fails ends it.
func (s *server) fire(ctx context.Context, from, to int, next func(i int) request) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var at atomic.Int64
	at.Store(int64(from))
	var wg sync.WaitGroup
	for range connections {
		wg.Go(func() {
			for i := int(at.Add(1)) - 1; i < to && ctx.Err() == nil; i = int(at.Add(1)) - 1 {
				if _, err := s.ask(ctx, next(i)); err != nil {
					cancel(err)
				}
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}
