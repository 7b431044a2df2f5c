// Package beside has things done in goroutines of their own, and is the only
// one to start them: a panic that nobody recovers in its goroutine ends the
// whole program. Here it reaches who waits, or the log.
package beside

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/fairlead-dev/fairlead/internal/fault"
)

// All does things at a time for one who waits for all of them; the zero value
// is ready.
type All struct {
	running sync.WaitGroup
	first   first
}

// Go does something beside its caller.
func (a *All) Go(do func()) {
	a.running.Go(func() {
		defer func() { _ = a.first.take(recover()) }() // Wait panics with it
		do()
	})
}

// Wait waits until all is done. If a part has panicked, Wait panics with that,
// so that it counts as a panic of who waits.
func (a *All) Wait() {
	a.running.Wait()
	a.first.again()
}

// Group is All for what may fail, an errgroup.Group; the zero value is ready.
type Group struct {
	alone errgroup.Group
	bound *errgroup.Group // to a context; nil where there is none to end
	first first
}

// WithContext makes a group with a context that ends when a part fails or
// panics, or all are done.
func WithContext(ctx context.Context) (*Group, context.Context) {
	bound, ctx := errgroup.WithContext(ctx)
	return &Group{bound: bound}, ctx
}

func (g *Group) running() *errgroup.Group { return cmp.Or(g.bound, &g.alone) }

// SetLimit bounds how many are at work at once; others wait in Go.
func (g *Group) SetLimit(n int) { g.running().SetLimit(n) }

// Go does something beside its caller.
func (g *Group) Go(do func() error) {
	g.running().Go(func() (err error) {
		defer func() {
			if caught := g.first.take(recover()); caught != nil {
				err = caught // which ends the others' context
			}
		}()
		return do()
	})
}

// Wait waits until all is done and gives the first error. If a part has
// panicked, it panics as All.Wait does.
func (g *Group) Wait() error {
	err := g.running().Wait()
	g.first.again()
	return err
}

// first is the first panic of several goroutines.
type first struct{ is atomic.Pointer[fault.Panic] }

// take keeps what recover gave, and makes an error of it; nil for nil.
func (f *first) take(p any) error {
	if p == nil {
		return nil
	}
	caught := fault.Recovered(p, "")
	f.is.CompareAndSwap(nil, caught)
	return caught
}

// again panics with what was taken, if anything was.
func (f *first) again() {
	if p := f.is.Load(); p != nil {
		panic(p)
	}
}

// Go does something that nobody waits for. A panic ends it and is logged.
func Go(ctx context.Context, log *slog.Logger, doing string, do func()) {
	go Logged(ctx, log, doing, do)
}

// Logged does something in its caller's goroutine, and tells whether it came to
// its end. A panic is logged, and the caller goes on.
func Logged(ctx context.Context, log *slog.Logger, doing string, do func()) (ended bool) {
	defer func() {
		if p := recover(); p != nil {
			log.ErrorContext(ctx, "a part of Fairlead panicked", "doing", doing, "error", fault.Recovered(p, doing))
		}
	}()
	do()
	return true
}

// How long after a panic Always begins anew.
const (
	soonest = time.Second
	latest  = time.Minute
)

// Always does something that goes on until ctx ends, and begins it anew, after
// a pause that grows, where it panics.
func Always(ctx context.Context, log *slog.Logger, doing string, do func()) {
	for pause := soonest; !Logged(ctx, log, doing, do); pause = min(2*pause, latest) {
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
	}
}
