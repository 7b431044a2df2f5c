package secrets_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/store"
	"github.com/fairlead-dev/fairlead/secrets"
)

// TestRun has the reaper run as it does in a server, in real time: what is over
// is taken back within two seconds, by whichever of two replicas, and Run ends
// with its context. Now and then a busy machine takes longer.
func TestRun(t *testing.T) {
	w := onSQLite(t, "")
	real := time.Now()
	w.pass(real.Sub(w.clock()))
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	limits := secrets.Limits{PerAgent: 100, PerPerson: 100}
	ss := []*secrets.Service{w.service(nil, limits), w.service(nil, limits)}
	for _, s := range ss {
		wg.Go(func() {
			if err := s.Run(ctx); err != nil {
				t.Error(err)
			}
		})
	}
	var ids []string
	for i := range 10 {
		ids = append(ids, w.request(ss[i%2], secrets.RequestInput{BoundTo: fmt.Sprint("preview:a", i)}).ID)
	}
	quickest := time.Minute
	for i, id := range ids {
		w.mu.Lock()
		w.over[fmt.Sprint("preview:a", i)] = true
		w.mu.Unlock()
		began := time.Now()
		for w.get(id).State != secrets.Revoked {
			if time.Since(began) > time.Minute {
				t.Fatalf("it is %+v", w.get(id))
			}
			time.Sleep(5 * time.Millisecond)
		}
		quickest = min(quickest, time.Since(began))
	}
	if quickest > 2*time.Second {
		t.Errorf("it took %s at least until one was taken back", quickest)
	}
	// An end that is said takes no looking, which is done every 15s.
	r := w.request(ss[0], secrets.RequestInput{BoundTo: "preview:a99"})
	if err := ss[1].Ended(t.Context(), "preview:a99"); err != nil {
		t.Fatal(err)
	}
	for began := time.Now(); w.get(r.ID).State != secrets.Revoked; time.Sleep(time.Millisecond) {
		if time.Since(began) > 10*time.Second {
			t.Fatalf("it is %+v", w.get(r.ID))
		}
	}
	cancel()
	wg.Wait()
	if len(w.fake.There()) > 0 {
		t.Errorf("there is %v", w.fake.There())
	}
}

// TestNone holds that the service that is none refuses everything and runs.
func TestNone(t *testing.T) {
	var s *secrets.Service
	_, err := s.Request(t.Context(), alice(), secrets.RequestInput{Service: "shop", Name: "db"})
	wants(t, "a request", err, fault.FailedPrecondition, "no vault")
	_, err = s.List(t.Context(), alice(), secrets.ListInput{})
	wants(t, "a list", err, fault.FailedPrecondition, "no vault")
	_, err = s.Revoke(t.Context(), alice(), secrets.RevokeInput{Lease: "a"})
	wants(t, "a revocation", err, fault.FailedPrecondition, "no vault")
	_, err = s.RevokeAll(t.Context(), alice(), secrets.RevokeAllInput{Agent: "claude"})
	wants(t, "all revocations", err, fault.FailedPrecondition, "no vault")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Run(ctx); err != nil {
		t.Error(err)
	}
}

// TestCancelled has callers hang up at each call of the issuer: nothing is left
// there, and no quota is used up.
func TestCancelled(t *testing.T) {
	for _, at := range []string{"open", "draw"} {
		t.Run(at, func(t *testing.T) {
			w := onSQLite(t, "")
			s := w.service(nil, secrets.Limits{PerAgent: 1})
			ctx, cancel := context.WithCancel(t.Context())
			w.fake.After = func(call, _ string) error {
				if call == at {
					cancel()
				}
				return nil
			}
			if l, err := s.Request(ctx, claude(), secrets.RequestInput{Service: "shop", Name: "db"}); err == nil {
				t.Errorf("lent to who has hung up: %+v", l)
			}
			w.fake.After = nil
			w.reap(s)
			if there := w.fake.There(); len(there) > 0 {
				t.Errorf("there is %v", there)
			}
			w.request(s, secrets.RequestInput{})
		})
	}
}

// TestExpiredParent has the account end before its credential is drawn, as it
// does when what it was made with ends: refused, recorded, and nothing is left.
func TestExpiredParent(t *testing.T) {
	w := onSQLite(t, "")
	s := w.service(nil, secrets.Limits{PerAgent: 1})
	w.fake.Longest = time.Second
	w.fake.Before = func(call, _ string) error {
		if call == "draw" {
			w.pass(2 * time.Second)
		}
		return nil
	}
	_, err := s.Request(t.Context(), claude(), secrets.RequestInput{Service: "shop", Name: "db"})
	wants(t, "a request", err, fault.FailedPrecondition, "ended")
	w.fake.Longest, w.fake.Before = 0, nil
	lease, _ := fault.From(err).Details["lease"].(string)
	w.ended(lease, secrets.Failed, "was not issued")
	if got := refusals(w.log); len(got) != 1 || got[0].Status != access.StatusFailed || got[0].Code != string(fault.FailedPrecondition) || len(w.fake.There()) > 0 {
		t.Errorf("the audit has %+v, and there is %v", got, w.fake.There())
	}
	w.request(s, secrets.RequestInput{})
}

// TestCollectAtOnce has a holder collect a lease many times at once: what the
// last one was given opens the one credential that there is.
func TestCollectAtOnce(t *testing.T) {
	w := onSQLite(t, "")
	s := w.service(nil, secrets.Limits{})
	r := w.request(s, secrets.RequestInput{})
	var mu sync.Mutex
	var wg sync.WaitGroup
	var loans []*secrets.Loan
	for range 12 {
		wg.Go(func() {
			l, err := s.Collect(t.Context(), alice(), secrets.CollectInput{Lease: r.ID})
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				loans = append(loans, l)
			case fault.CodeOf(err) != fault.Conflict:
				t.Error(err)
			}
		})
	}
	wg.Wait()
	works := 0
	for _, l := range loans {
		if fields, err := w.fake.Unwrap(t.Context(), w.wrapped(l)); err == nil && w.fake.Works(fields) {
			works++
		}
	}
	if there := w.fake.There(); len(there) != 1 || works != 1 || w.get(r.ID).State != secrets.Live || w.count(secrets.HappenedAlarm) > 0 {
		t.Errorf("%d were given out, %d work, and there is %v", len(loans), works, there)
	}
}

// deaf is a ledger that does what it is asked, and of one writing does not say
// so.
type deaf struct {
	*store.Store
	left int
}

func (d *deaf) SaveLease(ctx context.Context, r secrets.Record) (secrets.Record, error) {
	out, err := d.Store.SaveLease(ctx, r)
	if d.left--; d.left == 0 && err == nil {
		return r, fault.New(fault.Unavailable, "no answer").WithFix("Try again.")
	}
	return out, err
}

// TestAnswerLost has the answers of the ledger get lost: what was written down
// all the same ends, and nobody takes that for a theft.
func TestAnswerLost(t *testing.T) {
	for at := 1; at <= 2; at++ {
		w := onSQLite(t, "")
		s := w.service(&deaf{w.store, at}, secrets.Limits{})
		_, err := s.Borrow(t.Context(), alice(), secrets.BorrowInput{Service: "shop", Name: "db"})
		wants(t, "a loan", err, fault.Unavailable)
		for range 5 {
			w.reap(s)
			w.pass(5 * time.Second)
		}
		open, err := w.store.Leases(t.Context(), secrets.Query{Open: true, Limit: 10})
		if err != nil || len(open) > 0 || len(w.fake.There()) > 0 || w.count(secrets.HappenedAlarm) > 0 {
			t.Errorf("after answer %d there is %+v and %v, %d alarms, %v", at, open, w.fake.There(), w.count(secrets.HappenedAlarm), err)
		}
	}
}
