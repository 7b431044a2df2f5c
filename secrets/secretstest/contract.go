package secretstest

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/secrets"
)

// Subject is an issuer under test.
type Subject struct {
	Issuer    secrets.Issuer
	Custodian secrets.Custodian
	// Order is one that works. TTL is at least 20s and at most half of MaxTTL;
	// Lease is made anew for each use.
	Order secrets.Order
	// Missing is an offer whose role or path the issuer does not have.
	Missing secrets.Offer
	// Works tells whether a credential is good still; nil leaves that out, as
	// for what cannot be taken back.
	Works func(t *testing.T, fields map[string]secrets.Value) bool
	// Restarted gives the issuer as another process has it; nil leaves that
	// part out.
	Restarted func(t *testing.T) (secrets.Issuer, secrets.Custodian)
	// Another is the issuer as another Fairlead has it; nil leaves that part
	// out.
	Another func(t *testing.T) (secrets.Issuer, secrets.Custodian)
	// Seal has it answer nobody, or again; nil leaves that part out.
	Seal func(t *testing.T, sealed bool)
	// Within bounds each wait, 10s if 0; Skew is how far times may be from
	// those asked for, 3s if 0.
	Within, Skew time.Duration

	n int
}

// Contract holds an issuer to what every issuer does. make gives a subject of
// which nothing is there; it is called for each part.
func Contract(t *testing.T, make func(t *testing.T) Subject) {
	for _, part := range []struct {
		name string
		test func(t *testing.T, s *Subject)
	}{
		{"a credential is issued and opened once", issuedAndOpenedOnce}, {"it ends with its account", endsWithAccount}, {"what is not opened ends, too", unopenedEnds},
		{"accounts are found", accountsAreFound}, {"an account is renewed", renewed}, {"what there is not is refused", missing}, {"names lead nowhere else", hostileNames},
		{"many at once", manyAtOnce}, {"an ended context ends a call", endedContext}, {"another process goes on", anotherProcess}, {"another Fairlead is left alone", anotherFairlead},
		{"one that does not answer is unavailable", sealed},
	} {
		t.Run(part.name, func(t *testing.T) {
			s := make(t)
			if s.Within == 0 {
				s.Within = 10 * time.Second
			}
			if s.Skew == 0 {
				s.Skew = 3 * time.Second
			}
			part.test(t, &s)
		})
	}
}

// order is the order for another lease.
func (s *Subject) order() secrets.Order {
	s.n++
	o := s.Order
	o.Lease = fmt.Sprintf("%s-%d", s.Order.Lease, s.n)
	return o
}

// issue issues a credential; what is left of it ends with the test.
func (s *Subject) issue(t *testing.T, o secrets.Order) (secrets.Account, secrets.Wrapped) {
	t.Helper()
	a := s.open(t, o)
	w, err := s.Issuer.Draw(t.Context(), o, a)
	if err != nil {
		t.Fatalf("drawing: %v", err)
	}
	return a, w
}

func (s *Subject) open(t *testing.T, o secrets.Order) secrets.Account {
	t.Helper()
	a, err := s.Issuer.Open(t.Context(), o)
	if err != nil {
		t.Fatalf("opening an account: %v", err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), s.Within)
		defer cancel()
		if err := s.Issuer.Revoke(ctx, a.Handle); err != nil {
			t.Errorf("clearing up: %v", err)
		}
	})
	return a
}

func (s *Subject) unwrap(t *testing.T, w secrets.Wrapped) map[string]secrets.Value {
	t.Helper()
	fields, err := s.Custodian.Unwrap(t.Context(), w)
	if err != nil {
		t.Fatalf("unwrapping: %v", err)
	}
	return fields
}

func (s *Subject) there(t *testing.T, w secrets.Wrapped, want bool) {
	t.Helper()
	if there, err := s.Custodian.Unopened(t.Context(), w.Accessor); err != nil || there != want {
		t.Errorf("the wrapping is there: %v, %v; want %v", there, err, want)
	}
}

// until waits until something holds.
func (s *Subject) until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(s.Within); !holds(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("in vain waited until %s", what)
		}
	}
}

// accounts are those of leases of this test, by handle.
func (s *Subject) accounts(t *testing.T, c secrets.Custodian) map[string]secrets.Held {
	t.Helper()
	out := map[string]secrets.Held{}
	if err := c.Accounts(t.Context(), func(h secrets.Held) bool { out[h.Handle] = h; return true }); err != nil {
		t.Fatalf("listing accounts: %v", err)
	}
	return out
}

func issuedAndOpenedOnce(t *testing.T, s *Subject) {
	o, began := s.order(), time.Now()
	a := s.open(t, o)
	if a.Handle == "" || a.Key.IsZero() || a.ExpiresAt.Before(began) || a.ExpiresAt.After(time.Now().Add(o.TTL+s.Skew)) {
		t.Errorf("the account is %q until %s, and was to last %s", a.Handle, a.ExpiresAt.Sub(began), o.TTL)
	}
	w, err := s.Issuer.Draw(t.Context(), o, a)
	if err != nil {
		t.Fatal(err)
	}
	if !a.Key.IsZero() {
		t.Error("the account's key is there still")
	}
	if w.Token.IsZero() || w.Accessor == "" || w.URL == "" || w.ExpiresAt.After(time.Now().Add(o.WrapTTL+s.Skew)) || w.ExpiresAt.Before(began) {
		t.Errorf("wrapped as %q at %q until %s, and was to wait %s", w.Accessor, w.URL, w.ExpiresAt.Sub(began), o.WrapTTL)
	}
	if w.CredentialExpiresAt.After(a.ExpiresAt.Add(s.Skew)) || !w.CredentialExpiresAt.IsZero() && w.CredentialExpiresAt.Before(began) {
		t.Errorf("it ends at %s, and its account at %s", w.CredentialExpiresAt, a.ExpiresAt)
	}
	s.there(t, w, true)
	fields := s.unwrap(t, w)
	if len(fields) == 0 {
		t.Error("nothing is in it")
	}
	for field, v := range fields {
		if v.IsZero() {
			t.Errorf("%s is empty", field)
		}
	}
	s.there(t, w, false)
	if s.Works != nil && !s.Works(t, fields) {
		t.Error("it does not work")
	}
	if _, err := s.Custodian.Unwrap(t.Context(), w); err == nil {
		t.Error("a wrapping was opened twice")
	}
}

func endsWithAccount(t *testing.T, s *Subject) {
	a, w := s.issue(t, s.order())
	_, other := s.issue(t, s.order())
	fields, others := s.unwrap(t, w), s.unwrap(t, other)
	for range 2 { // twice is once
		if err := s.Issuer.Revoke(t.Context(), a.Handle); err != nil {
			t.Fatal(err)
		}
	}
	if s.Works != nil && s.Works(t, fields) {
		t.Error("it works though its account was revoked")
	}
	if s.Works != nil && !s.Works(t, others) {
		t.Error("another ended with it")
	}
}

func unopenedEnds(t *testing.T, s *Subject) {
	a, w := s.issue(t, s.order())
	if err := s.Issuer.Revoke(t.Context(), a.Handle); err != nil {
		t.Fatal(err)
	}
	// The wrapping itself may go with the account, or not.
	if fields, err := s.Custodian.Unwrap(t.Context(), w); err == nil && s.Works != nil && s.Works(t, fields) {
		t.Error("what was opened after its account had ended works")
	}
	_, w = s.issue(t, s.order())
	for range 2 {
		if err := s.Issuer.Revoke(t.Context(), w.Accessor); err != nil {
			t.Fatal(err)
		}
	}
	s.there(t, w, false)
	if _, err := s.Custodian.Unwrap(t.Context(), w); err == nil {
		t.Error("a wrapping that was ended is opened")
	}
}

func accountsAreFound(t *testing.T, s *Subject) {
	o := s.order()
	a, w := s.issue(t, o)
	b := s.open(t, s.order())
	all := s.accounts(t, s.Custodian)
	h, ok := all[a.Handle]
	if age := time.Since(h.CreatedAt); !ok || h.Lease != o.Lease || age < -s.Skew || age > time.Minute || h.ExpiresAt.Sub(a.ExpiresAt).Abs() > s.Skew {
		t.Errorf("found as %+v, %v; it is %+v", h, ok, a)
	}
	if _, ok := all[b.Handle]; !ok {
		t.Error("an account on which nothing hangs is not found")
	}
	n := 0
	if err := s.Custodian.Accounts(t.Context(), func(secrets.Held) bool { n++; return false }); err != nil || n != 1 {
		t.Errorf("told %d times after it was enough, %v", n, err)
	}
	s.unwrap(t, w)
	if err := s.Issuer.Revoke(t.Context(), a.Handle); err != nil {
		t.Fatal(err)
	}
	s.until(t, "a revoked account is found no more", func() bool { _, ok := s.accounts(t, s.Custodian)[a.Handle]; return !ok })
}

func renewed(t *testing.T, s *Subject) {
	o := s.order()
	a, w := s.issue(t, o)
	fields := s.unwrap(t, w)
	now := time.Now()
	until, err := s.Issuer.Renew(t.Context(), a.Handle, o.TTL+10*time.Second)
	if err != nil || until.After(now.Add(o.TTL+10*time.Second+s.Skew)) || !until.After(a.ExpiresAt) {
		t.Errorf("renewed until %s from now, %v", until.Sub(now), err)
	}
	until, err = s.Issuer.Renew(t.Context(), a.Handle, 2*o.MaxTTL)
	if err != nil || until.After(now.Add(o.MaxTTL+s.Skew)) {
		t.Errorf("renewed until %s from now, though it may last %s, %v", until.Sub(now), o.MaxTTL, err)
	}
	if s.Works != nil && !s.Works(t, fields) {
		t.Error("it does not work any more")
	}
	if err := s.Issuer.Revoke(t.Context(), a.Handle); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Issuer.Renew(t.Context(), a.Handle, o.TTL); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("renewed what is gone: %v", err)
	}
}

// refused asks for an offer and gives the code of the refusal.
func (s *Subject) refused(t *testing.T, offer secrets.Offer) fault.Code {
	t.Helper()
	o := s.order()
	o.Offer = offer
	a, err := s.Issuer.Open(t.Context(), o)
	if err != nil {
		return fault.CodeOf(err)
	}
	_, err = s.Issuer.Draw(t.Context(), o, a)
	if e := s.Issuer.Revoke(t.Context(), a.Handle); e != nil {
		t.Errorf("revoking after a refusal: %v", e)
	}
	if !a.Key.IsZero() {
		t.Error("the account's key is there after a refusal")
	}
	return fault.CodeOf(err)
}

func missing(t *testing.T, s *Subject) {
	if code := s.refused(t, s.Missing); code != fault.FailedPrecondition {
		t.Errorf("an offer that there is not is %q", code)
	}
}

func hostileNames(t *testing.T, s *Subject) {
	for _, name := range []string{"../sys", "..", ".", "", "a/../../sys/mounts", "a//b", "a%2f..%2fsys", "%2e%2e", "a\nb", "a\x00b", "a b", "a?list=true", "a#b", "/sys", `a\b`, "é"} {
		for field, set := range map[string]func(*secrets.Offer){
			"mount": func(o *secrets.Offer) { o.Mount = name }, "role": func(o *secrets.Offer) { o.Role = name }, "path": func(o *secrets.Offer) { o.Path = name },
		} {
			offer := s.Order.Offer
			if kv := offer.Engine == secrets.EngineKV; field == "role" && kv || field == "path" && !kv {
				continue
			}
			set(&offer)
			if code := s.refused(t, offer); code != fault.Invalid && code != fault.FailedPrecondition {
				t.Errorf("%s %q is %q", field, name, code)
			}
		}
	}
}

func manyAtOnce(t *testing.T, s *Subject) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	seen := map[string]bool{}
	for range 8 {
		o := s.order()
		wg.Go(func() {
			a, err := s.Issuer.Open(t.Context(), o)
			if err != nil {
				t.Error(err)
				return
			}
			w, err := s.Issuer.Draw(t.Context(), o, a)
			if err != nil {
				t.Error(err)
			}
			if err := s.Issuer.Revoke(t.Context(), a.Handle); err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			seen[a.Handle], seen[w.Accessor] = true, true
		})
	}
	wg.Wait()
	if len(seen) != 16 {
		t.Errorf("8 accounts and wrappings have %d names", len(seen))
	}
}

func endedContext(t *testing.T, s *Subject) {
	o := s.order()
	a, w := s.issue(t, o)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, opening := s.Issuer.Open(ctx, o)
	_, renewing := s.Issuer.Renew(ctx, a.Handle, o.TTL)
	_, looking := s.Custodian.Unopened(ctx, w.Accessor)
	for call, err := range map[string]error{"open": opening, "renew": renewing, "revoke": s.Issuer.Revoke(ctx, a.Handle), "unopened": looking,
		"accounts": s.Custodian.Accounts(ctx, func(secrets.Held) bool { return true })} {
		if err == nil {
			t.Errorf("%s works for who has hung up", call)
		}
	}
	s.there(t, w, true)
}
