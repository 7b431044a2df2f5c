// Package beside has things done in goroutines of their own, and is the only
// one to start them: a panic that nobody recovers in its goroutine ends the
// whole program. Here it reaches who waits, or the log.
package beside

import (
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
		defer a.first.note()
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
	running errgroup.Group
	stop    context.CancelCauseFunc // nil where there is no context to end
	first   first
}

// WithContext makes a group with a context that ends when a part fails or
// panics, or all are done.
func WithContext(ctx context.Context) (*Group, context.Context) {
	ctx, stop := context.WithCancelCause(ctx)
	return &Group{stop: stop}, ctx
}

// SetLimit bounds how many are at work at once; others wait in Go.
func (g *Group) SetLimit(n int) { g.running.SetLimit(n) }

// Go does something beside its caller.
func (g *Group) Go(do func() error) {
	g.running.Go(func() error {
		err := g.first.of(do)
		if err != nil {
			g.end(err)
		}
		return err
	})
}

// Wait waits until all is done and gives the first error. If a part has
// panicked, it panics as All.Wait does.
func (g *Group) Wait() error {
	err := g.running.Wait()
	g.end(err)
	g.first.again()
	return err
}

func (g *Group) end(why error) {
	if g.stop != nil {
		g.stop(why)
	}
}

// first is the first panic of several goroutines.
type first struct{ is atomic.Pointer[fault.Panic] }

// note, deferred, takes a panic.
func (f *first) note() {
	if p := recover(); p != nil {
		f.is.CompareAndSwap(nil, fault.Recovered(p, ""))
	}
}

// of makes an error of a panic as well.
func (f *first) of(do func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			caught := fault.Recovered(p, "")
			f.is.CompareAndSwap(nil, caught)
			err = caught
		}
	}()
	return do()
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
