package secrets_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/access/accesstest"
	"github.com/fairlead-dev/fairlead/secrets"
)

// TestWatchLeases tells of leases, to who holds or may see them, and to nobody
// else.
func TestWatchLeases(t *testing.T) {
	w := newWorld(t, filepath.Join(t.TempDir(), "state"), "")
	s := w.service(nil, secrets.Limits{})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	sre, holder := accesstest.As("user:default/eve", accesstest.Roles("sre")), alice()
	all, own := s.Watch(ctx, sre, secrets.WatchInput{Service: "shop"}), s.Watch(ctx, holder, secrets.WatchInput{})
	stranger, other := s.Watch(ctx, accesstest.As("user:default/sam"), secrets.WatchInput{}), s.Watch(ctx, sre, secrets.WatchInput{Agent: "nobody"})
	lease, err := s.Request(ctx, holder, secrets.RequestInput{Service: "shop", Name: "db", TTL: "5m", Environment: "staging"})
	if err != nil {
		t.Fatal(err)
	}
	await := func(told <-chan secrets.Lease, what string, holds func(secrets.Lease) bool) {
		t.Helper()
		for l := range told {
			if l.Lease != lease.Lease {
				t.Errorf("told of %+v", l)
			}
			if holds(l) {
				return
			}
		}
		t.Errorf("it is not told that it is %s", what)
	}
	for _, told := range []<-chan secrets.Lease{all, own} {
		await(told, "live", func(l secrets.Lease) bool { return l.State == secrets.Live && l.Owner == "group:default/payments" })
	}
	w.pass(time.Minute)
	if _, err := s.Renew(ctx, holder, secrets.RenewInput{Lease: lease.Lease, TTL: "20m"}); err != nil {
		t.Fatal(err)
	}
	await(own, "renewed", func(l secrets.Lease) bool { return l.ExpiresAt > lease.ExpiresAt })
	if _, err := s.RevokeAll(ctx, sre, secrets.RevokeAllInput{Service: "shop", Reason: "over"}); err != nil {
		t.Fatal(err)
	}
	for _, told := range []<-chan secrets.Lease{all, own} {
		await(told, "over", func(l secrets.Lease) bool { return l.EndedBy == "user:default/eve" })
	}
	cancel()
	for l := range stranger {
		t.Errorf("a stranger is told of %+v", l)
	}
	for l := range other {
		t.Errorf("who asked for others is told of %+v", l)
	}
	for _, none := range []<-chan secrets.Lease{(*secrets.Service)(nil).Watch(t.Context(), sre, secrets.WatchInput{}), s.Watch(t.Context(), access.Caller{}, secrets.WatchInput{}), s.Watch(t.Context(), accesstest.Anonymous(), secrets.WatchInput{})} {
		for l := range none {
			t.Errorf("nobody is told of %+v", l)
		}
	}
}
