package beside_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/fault/beside"
)

// trip panics; the log is to name it.
func trip() { panic("boom") }

// wants holds the fault of a panic to telling the log all, and callers nothing.
func wants(t *testing.T, err error, told ...string) {
	t.Helper()
	f := fault.From(err)
	if f == nil || f.Code != fault.Internal || strings.Contains(f.Message+f.Fix, "boom") {
		t.Fatalf("callers are told %+v", f)
	}
	for _, text := range append(told, "boom", "beside_test.trip") {
		if !strings.Contains(f.Error(), text) {
			t.Errorf("the log does not say %q: %s", text, f.Error())
		}
	}
}

func TestAPanicReachesWhoWaits(t *testing.T) {
	for name, work := range map[string]func(others func()){
		"all": func(others func()) {
			var a beside.All
			a.Go(trip)
			a.Go(others)
			a.Wait()
		},
		"group": func(others func()) {
			var g beside.Group
			g.Go(func() error { trip(); return nil })
			g.Go(func() error { others(); return nil })
			_ = g.Wait()
		},
		"one in another": func(others func()) {
			var outer, inner beside.All
			outer.Go(func() {
				inner.Go(trip)
				inner.Wait()
			})
			outer.Go(others)
			outer.Wait()
		},
	} {
		t.Run(name, func(t *testing.T) {
			var done atomic.Bool
			var err error
			func() {
				defer fault.Catch(&err, "reading source %s", "x")
				work(func() { done.Store(true) })
			}()
			wants(t, err, "reading source x")
			if !done.Load() {
				t.Error("the others were not waited for")
			}
		})
	}
}

func TestAGroupEndsItsContext(t *testing.T) {
	for name, fail := range map[string]func() error{
		"on an error": func() error { return errors.New("failed") },
		"on a panic":  func() error { trip(); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			g, ctx := beside.WithContext(t.Context())
			g.Go(func() error { <-ctx.Done(); return nil })
			g.Go(fail)
			var err error
			func() {
				defer fault.Catch(&err, "waiting")
				err = g.Wait()
			}()
			if err == nil {
				t.Error("it went unnoticed")
			}
		})
	}
}

func TestALoopGoesOnAfterAPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		ctx, cancel := context.WithCancel(t.Context())
		began := time.Now()
		var at []time.Duration
		beside.Always(ctx, slog.New(slog.NewTextHandler(&out, nil)), "polling source x", func() {
			if at = append(at, time.Since(began)); len(at) < 3 {
				trip()
			}
		})
		if len(at) != 3 || at[1] != time.Second || at[2] != 3*time.Second {
			t.Errorf("begun at %v", at)
		}
		if n := strings.Count(out.String(), "polling source x"); n < 2 || !strings.Contains(out.String(), "beside_test.trip") {
			t.Errorf("the log says %s", out.String())
		}
		cancel()
		beside.Always(ctx, slog.New(slog.DiscardHandler), "polling source x", trip) // it ends with ctx
	})
}

func TestNobodyWaits(t *testing.T) {
	ended := make(chan struct{})
	beside.Go(t.Context(), slog.New(slog.DiscardHandler), "pumping", func() {
		defer close(ended)
		trip()
	})
	<-ended
}
