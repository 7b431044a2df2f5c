package secrets_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/secrets"
)

// request asks for a credential for claude.
func (w *world) request(s *secrets.Service, in secrets.RequestInput) secrets.Record {
	w.t.Helper()
	in.Service = "shop"
	if in.Name == "" {
		in.Name = "db"
	}
	l, err := s.Request(w.t.Context(), claude(), in)
	if err != nil {
		w.t.Fatal(err)
	}
	return w.get(l.Lease)
}

// over checks that a lease is over, and that nothing of it is left.
func (w *world) ended(id string, state secrets.State, why string) {
	w.t.Helper()
	if r := w.get(id); r.State != state || !strings.Contains(r.Reason, why) {
		w.t.Errorf("it is %s because %q; want %s because %q", r.State, r.Reason, state, why)
	}
	for _, lease := range w.fake.There() {
		if lease == id {
			w.t.Errorf("the issuer has an account of %s", id)
		}
	}
}

func TestTimeIsUp(t *testing.T) {
	w := onSQLite(t, "")
	s := w.service(nil, secrets.Limits{})
	r := w.request(s, secrets.RequestInput{TTL: "5m"})
	next, err := s.Reap(t.Context())
	if err != nil || !next.Equal(r.WrapEnds) {
		t.Errorf("looks again in %s, %v", next.Sub(w.clock()), err)
	}
	w.pass(2 * time.Minute)
	w.reap(s)
	if now := w.get(r.ID); now.State != secrets.Live || now.Wrapping != secrets.WrappingNone || len(w.fake.There()) > 0 {
		t.Errorf("what nobody can open any more is %+v, and there is %v", now, w.fake.There())
	}
	w.pass(3 * time.Minute)
	w.reap(s)
	w.ended(r.ID, secrets.Expired, "time was up")
	if next, err := s.Reap(t.Context()); err != nil || !next.IsZero() {
		t.Errorf("looks again at %s, %v", next, err)
	}
}

func TestSessions(t *testing.T) {
	w := onSQLite(t, "")
	s := w.service(nil, secrets.Limits{})
	kept, lost := w.request(s, secrets.RequestInput{BoundTo: secrets.Session}), w.request(s, secrets.RequestInput{BoundTo: secrets.Session})
	for range 8 {
		w.pass(30 * time.Second)
		if _, err := s.Beat(t.Context(), alice(), secrets.BeatInput{Lease: kept.ID}); err != nil {
			t.Fatal(err)
		}
		w.reap(s)
	}
	w.ended(lost.ID, secrets.Revoked, "session is over")
	if r := w.get(kept.ID); r.State != secrets.Live {
		t.Errorf("whose holder is heard of is %+v", r)
	}
	// Who has begun to say so has to go on, whatever the lease is bound to.
	used, kept2 := w.request(s, secrets.RequestInput{Task: "T-1"}), w.request(s, secrets.RequestInput{Task: "T-2"})
	if _, err := s.Beat(t.Context(), alice(), secrets.BeatInput{Lease: used.ID}); err != nil {
		t.Fatal(err)
	}
	w.pass(91 * time.Second)
	w.reap(s)
	w.ended(used.ID, secrets.Revoked, "session is over")
	if r := w.get(kept2.ID); r.State != secrets.Live {
		t.Errorf("what is bound to no session is %+v", r)
	}
	_, err := s.Beat(t.Context(), alice(), secrets.BeatInput{Lease: lost.ID})
	wants(t, "a beat of what is over", err, fault.FailedPrecondition, "session is over")
	for _, e := range w.log.Entries() {
		if e.Operation == "beat_credentials" {
			t.Errorf("beats are in the audit: %+v", e)
		}
	}
}

func TestBindings(t *testing.T) {
	w := onSQLite(t, "")
	s := w.service(nil, secrets.Limits{})
	a, b := w.request(s, secrets.RequestInput{BoundTo: "preview:a"}), w.request(s, secrets.RequestInput{BoundTo: "preview:a2"})
	c := w.request(s, secrets.RequestInput{BoundTo: secrets.Session})
	if err := s.Unbind(t.Context()); err != nil || w.get(a.ID).State != secrets.Live {
		t.Fatal(err)
	}
	w.mu.Lock()
	w.over["preview:a"] = true
	w.mu.Unlock()
	if err := s.Unbind(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.reap(s)
	w.ended(a.ID, secrets.Revoked, "preview:a, which is over")
	for _, to := range []string{"", secrets.Session} {
		if err := s.Ended(t.Context(), to); err != nil {
			t.Error(err)
		}
	}
	for _, r := range []secrets.Record{b, c} {
		if r = w.get(r.ID); r.State != secrets.Live {
			t.Errorf("of another it is %+v", r)
		}
	}
	entries := w.log.Entries()
	if e := entries[len(entries)-1]; e.Subject != "system:fairlead/credentials" || e.Target != "preview:a" {
		t.Errorf("the audit has %+v", e)
	}
}

// TestStolen has somebody else open wrappings: that is found, told, and ends the
// lease, by whichever way.
func TestStolen(t *testing.T) {
	for name, find := range map[string]func(*world, *secrets.Service, string) error{
		"by the reaper": func(w *world, s *secrets.Service, _ string) error {
			for range 4 {
				w.pass(5 * time.Second)
				w.reap(s)
			}
			return nil
		},
		"by its holder, who collects it again": func(w *world, s *secrets.Service, id string) error {
			_, err := s.Collect(w.t.Context(), alice(), secrets.CollectInput{Lease: id})
			w.reap(s)
			return err
		},
		"by its holder, whom the issuer refuses": func(w *world, s *secrets.Service, id string) error {
			_, err := s.Report(w.t.Context(), alice(), secrets.ReportInput{Lease: id})
			w.reap(s)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := onSQLite(t, "")
			s := w.service(nil, secrets.Limits{})
			r := w.request(s, secrets.RequestInput{})
			if _, err := s.Collect(t.Context(), alice(), secrets.CollectInput{Lease: r.ID}); err != nil {
				t.Fatal(err)
			}
			w.fake.Steal(r.ID)
			if err := find(w, s, r.ID); err != nil && !strings.Contains(err.Error(), "somebody else") {
				t.Error(err)
			}
			w.ended(r.ID, secrets.Revoked, "somebody else")
			l, err := s.Get(t.Context(), alice(), secrets.GetInput{Lease: r.ID})
			if err != nil || !l.Alarm || w.count(secrets.HappenedAlarm) != 1 {
				t.Errorf("it is %+v, %v, and there were %d alarms", l, err, w.count(secrets.HappenedAlarm))
			}
			told := 0
			for _, e := range refusals(w.log) {
				if e.Subject == "system:fairlead/credentials" && e.Target == r.ID && strings.Contains(e.Message, "somebody else") {
					told++
				}
			}
			if told != 1 {
				t.Errorf("the audit tells of it %d times: %+v", told, w.log.Entries())
			}
		})
	}
}

// TestSlowConfirmation has a holder say late that they opened the wrapping, and a
// wrapping end unopened: neither is an alarm.
func TestSlowConfirmation(t *testing.T) {
	w := onSQLite(t, "")
	s := w.service(nil, secrets.Limits{})
	r, lapsed := w.request(s, secrets.RequestInput{}), w.request(s, secrets.RequestInput{New: true})
	loan, err := s.Collect(t.Context(), alice(), secrets.CollectInput{Lease: r.ID})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Collect(t.Context(), alice(), secrets.CollectInput{Lease: lapsed.ID}); err != nil {
		t.Fatal(err)
	}
	fields := w.unwrap(loan)
	w.pass(5 * time.Second)
	w.reap(s)
	w.pass(9 * time.Second)
	w.reap(s)
	if _, err := s.Confirm(t.Context(), alice(), secrets.ConfirmInput{Lease: r.ID}); err != nil {
		t.Fatal(err)
	}
	for range 40 {
		w.pass(5 * time.Second)
		w.reap(s)
	}
	if now := w.get(r.ID); now.State != secrets.Live || !w.fake.Works(fields) {
		t.Errorf("what was confirmed is %+v", now)
	}
	if now := w.get(lapsed.ID); now.State != secrets.Live || now.Wrapping != secrets.WrappingNone || w.count(secrets.HappenedAlarm) > 0 {
		t.Errorf("what was not opened is %+v, with %d alarms", now, w.count(secrets.HappenedAlarm))
	}
	if _, err := s.Collect(t.Context(), alice(), secrets.CollectInput{Lease: lapsed.ID}); err != nil {
		t.Errorf("it cannot be collected again: %v", err)
	}
}

// TestSealed has the issuer answer nobody for a while: requests are refused,
// revocations are due until they are done.
func TestSealed(t *testing.T) {
	w := onSQLite(t, "")
	s := w.service(nil, secrets.Limits{})
	r, other := w.request(s, secrets.RequestInput{}), w.request(s, secrets.RequestInput{New: true})
	w.fake.Seal(true)
	_, err := s.Request(t.Context(), alice(), secrets.RequestInput{Service: "shop", Name: "db"})
	wants(t, "a request", err, fault.Unavailable, "sealed")
	_, err = s.Collect(t.Context(), alice(), secrets.CollectInput{Lease: other.ID})
	wants(t, "collecting", err, fault.Unavailable, "sealed")
	l, err := s.Revoke(t.Context(), claude(), secrets.RevokeInput{Lease: r.ID})
	if err != nil || l.State != secrets.Revoking || l.Overdue {
		t.Errorf("revoked as %+v, %v", l, err)
	}
	for range 10 {
		w.pass(31 * time.Second)
		w.reap(s)
	}
	if l, err = s.Get(t.Context(), claude(), secrets.GetInput{Lease: r.ID}); err != nil || !l.Overdue || w.get(r.ID).Tries < 5 {
		t.Errorf("it is %+v after %d tries, %v", l, w.get(r.ID).Tries, err)
	}
	if f, err := w.store.LeaseFigures(t.Context(), w.clock()); err != nil || f.Overdue != 1 {
		t.Errorf("figures %+v, %v", f, err)
	}
	w.fake.Seal(false)
	w.pass(31 * time.Second)
	w.reap(s)
	w.ended(r.ID, secrets.Revoked, "revoked")
	if l, err := s.Collect(t.Context(), alice(), secrets.CollectInput{Lease: other.ID}); err != nil || !w.fake.Works(w.unwrap(l)) || w.count(secrets.HappenedAlarm) > 0 {
		t.Errorf("what could not be collected is %+v, %v", l, err)
	}
}

// TestAskingDoesNotPutOff has a holder ask again and again for what cannot be
// taken back: that puts off nothing.
func TestAskingDoesNotPutOff(t *testing.T) {
	w := onSQLite(t, "")
	s := w.service(nil, secrets.Limits{})
	r := w.request(s, secrets.RequestInput{})
	w.fake.Seal(true)
	for range 16 {
		if l, err := s.Revoke(t.Context(), claude(), secrets.RevokeInput{Lease: r.ID}); err != nil || l.State != secrets.Revoking {
			t.Fatalf("%+v, %v", l, err)
		}
		w.pass(500 * time.Millisecond)
	}
	w.fake.Seal(false)
	w.pass(8 * time.Second)
	w.reap(s)
	w.ended(r.ID, secrets.Revoked, "revoked")
}

func TestRevokeAll(t *testing.T) {
	w := onSQLite(t, "")
	s := w.service(nil, secrets.Limits{})
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() { _ = s.Run(ctx) })
	defer wg.Wait()
	defer cancel()
	for range 3 {
		w.request(s, secrets.RequestInput{New: true})
	}
	_, err := s.RevokeAll(t.Context(), alice(), secrets.RevokeAllInput{})
	wants(t, "everything", err, fault.Invalid)
	_, err = s.RevokeAll(t.Context(), alice(), secrets.RevokeAllInput{Agent: "claude"})
	wants(t, "an agent's by a developer", err, fault.Forbidden)
	out, err := s.RevokeAll(t.Context(), alice(), secrets.RevokeAllInput{Person: "alice", Reason: "lost my laptop"})
	if err != nil || out.Leases != 3 || !out.Done || len(w.fake.There()) > 0 {
		t.Errorf("of one's own: %+v, %v, and there is %v", out, err, w.fake.There())
	}
	w.request(s, secrets.RequestInput{New: true})
	if out, err = s.RevokeAll(t.Context(), alice(), secrets.RevokeAllInput{Service: "shop"}); err != nil || out.Leases != 1 || !out.Done {
		t.Errorf("of a service by its owner: %+v, %v", out, err)
	}
}

// TestReconcile holds the ledger against the issuer: strays go, what is lost is
// over, and what is on its way is left alone.
func TestReconcile(t *testing.T) {
	w := onSQLite(t, "")
	s := w.service(nil, secrets.Limits{})
	kept, lost := w.request(s, secrets.RequestInput{TTL: "30m"}), w.request(s, secrets.RequestInput{TTL: "30m", New: true})
	if _, err := w.fake.Open(t.Context(), secrets.Order{Lease: "stray", TTL: time.Hour}); err != nil {
		t.Fatal(err)
	}
	w.pass(3 * time.Minute)
	if _, err := w.fake.Open(t.Context(), secrets.Order{Lease: "young", TTL: time.Hour}); err != nil {
		t.Fatal(err)
	}
	w.fake.Lose(lost.ID)
	if err := s.Reconcile(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.ended(lost.ID, secrets.Expired, "gone at the issuer")
	if there := fmt.Sprint(w.fake.There()); there != fmt.Sprint([]string{kept.ID, "young"}) || w.get(kept.ID).State != secrets.Live || w.count(secrets.HappenedStray) != 1 {
		t.Errorf("there is %v, %d strays", there, w.count(secrets.HappenedStray))
	}
	// A list that breaks off says nothing of what it does not have.
	w.fake.After = func(call, _ string) error {
		if call == "accounts" {
			return fault.New(fault.Unavailable, "the list broke off")
		}
		return nil
	}
	w.pass(3 * time.Minute)
	if err := s.Reconcile(t.Context()); err == nil || w.get(kept.ID).State != secrets.Live {
		t.Errorf("a list that broke off ended %+v, %v", w.get(kept.ID), err)
	}
}
