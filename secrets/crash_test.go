package secrets_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/internal/realtest"
	"github.com/fairlead-dev/fairlead/internal/store"
	"github.com/fairlead-dev/fairlead/secrets"
)

var errKilled = errors.New("killed")

// dying is the store of a process that dies at a step: what it does then does
// not happen, or happens and is not told of.
type dying struct {
	*store.Store
	step func() error
}

func (d dying) AddLease(ctx context.Context, r secrets.Record, l secrets.Limits, share bool) (out secrets.Record, err error) {
	if err := d.step(); err != nil {
		return out, err
	}
	if out, err = d.Store.AddLease(ctx, r, l, share); err == nil {
		err = d.step()
	}
	return out, err
}

func (d dying) SaveLease(ctx context.Context, r secrets.Record) (out secrets.Record, err error) {
	if err := d.step(); err != nil {
		return out, err
	}
	if out, err = d.Store.SaveLease(ctx, r); err == nil {
		err = d.step()
	}
	return out, err
}

func (d dying) ClaimLeases(ctx context.Context, now, until time.Time, most int) (due []secrets.Record, next time.Time, err error) {
	if err := d.step(); err != nil {
		return nil, next, err
	}
	if due, next, err = d.Store.ClaimLeases(ctx, now, until, most); err == nil {
		err = d.step()
	}
	return due, next, err
}

// TestKilledBetweenSteps kills a process before and after every call that it
// makes of the ledger and of the issuer, in all of a lease's life, and has
// another go on: in the end nothing is left at the issuer, whatever was handed
// out works no more, and the ledger says so.
func TestKilledBetweenSteps(t *testing.T) {
	w := onSQLite(t, "")
	for at := 0; ; at++ {
		died := false
		t.Run(fmt.Sprint(at), func(t *testing.T) {
			defer func(outer testing.TB) { w.t = outer }(w.t)
			w.t = t
			var mu sync.Mutex
			left := at
			step := func() error {
				mu.Lock()
				defer mu.Unlock()
				if left--; left < 0 {
					died = true
					return errKilled
				}
				return nil
			}
			hook := func(string, string) error { return step() }
			w.fake.Before, w.fake.After = hook, hook
			doomed := w.service(dying{w.store, step}, secrets.Limits{})
			fields := life(w, doomed)
			w.fake.Before, w.fake.After = nil, nil
			w.pass(time.Minute)
			next := w.service(nil, secrets.Limits{})
			for range 12 {
				w.reap(next)
				w.pass(30 * time.Second)
			}
			if err := next.Reconcile(t.Context()); err != nil {
				t.Error(err)
			}
			w.pass(30 * time.Minute)
			w.reap(next)
			if there := w.fake.There(); len(there) > 0 || fields != nil && w.fake.Works(fields) {
				t.Errorf("there is %v", there)
			}
			if open, err := w.store.Leases(t.Context(), secrets.Query{Open: true, Limit: 10}); err != nil || len(open) > 0 {
				t.Errorf("the ledger has %+v, %v", open, err)
			}
		})
		if !died {
			if at < 25 {
				t.Errorf("a life has only %d steps", at)
			}
			return
		}
	}
}

// life is all that happens to a lease, as far as it gets.
func life(w *world, s *secrets.Service) (fields map[string]secrets.Value) {
	ctx := w.t.Context()
	l, err := s.Request(ctx, claude(), secrets.RequestInput{Service: "shop", Name: "db", TTL: "20m", BoundTo: secrets.Session})
	if err != nil {
		return nil
	}
	loan, err := s.Collect(ctx, alice(), secrets.CollectInput{Lease: l.Lease})
	if err != nil {
		return nil
	}
	if got, err := w.fake.Unwrap(ctx, w.wrapped(loan)); err == nil {
		fields = got
	}
	_, _ = s.Confirm(ctx, alice(), secrets.ConfirmInput{Lease: l.Lease})
	_, _ = s.Renew(ctx, alice(), secrets.RenewInput{Lease: l.Lease, TTL: "25m"})
	_, _ = s.Revoke(ctx, alice(), secrets.RevokeInput{Lease: l.Lease})
	_, _ = s.Reap(ctx)
	return fields
}

// TestReplicas has two services on one ledger, each with its reaper: nothing is
// issued twice, and all is taken back.
func TestReplicas(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) { replicas(t, onSQLite(t, "")) })
	t.Run("postgres", func(t *testing.T) { replicas(t, newWorld(t, realtest.Postgres(t), "")) })
}

func replicas(t *testing.T, w *world) {
	name := filepath.Base(t.Name())
	limits := secrets.Limits{PerAgent: 100, PerPerson: 100, PerService: 100}
	ss := []*secrets.Service{w.service(nil, limits), w.service(nil, limits)}
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			in := secrets.RequestInput{Service: "shop", Name: "db", Task: fmt.Sprint(name, i/2)}
			if _, err := ss[i%2].Request(t.Context(), claude(), in); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	all, err := w.store.Leases(t.Context(), secrets.Query{Open: true, Limit: 100})
	if err != nil || len(all) != 10 || len(w.fake.There()) != 10 {
		t.Fatalf("%d leases, and there is %v, %v", len(all), w.fake.There(), err)
	}
	for _, r := range all {
		if w.fake.Drawn(r.ID) != 1 {
			t.Errorf("%s was issued %d times", r.ID, w.fake.Drawn(r.ID))
		}
	}
	w.pass(time.Hour)
	for _, s := range ss {
		wg.Go(func() {
			if _, err := s.Reap(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for _, r := range all {
		w.ended(r.ID, secrets.Expired, "time was up")
	}
	if n := w.count(secrets.HappenedRevoked); n != 10 {
		t.Errorf("%d were taken back", n)
	}
}
