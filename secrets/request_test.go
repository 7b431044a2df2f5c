package secrets_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/access/accesstest"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/secrets"
)

func TestLoan(t *testing.T) {
	w := onSQLite(t, "")
	s := w.service(nil, secrets.Limits{})
	l, err := s.Request(t.Context(), claude(), secrets.RequestInput{Service: "shop", Name: "db", TTL: "10m", Purpose: "test", Task: "T-1"})
	if err != nil {
		t.Fatal(err)
	}
	if l.State != secrets.Live || l.Environment != "staging" || l.Person != "user:default/alice" || l.Agent != "claude" || l.ExpiresAt != "2026-01-31T12:10:00Z" || l.Owner != "group:default/payments" || l.Wrapping != secrets.WrappingUnopened {
		t.Errorf("lent as %+v", l)
	}
	again, err := s.Request(t.Context(), claude(), secrets.RequestInput{Service: "component:default/shop", Name: "db", Environment: "staging", Purpose: "test", Task: "T-1"})
	if err != nil || again.Lease != l.Lease {
		t.Errorf("asking again gave %+v, %v", again, err)
	}
	another, err := s.Request(t.Context(), claude(), secrets.RequestInput{Service: "shop", Name: "db", Purpose: "test", Task: "T-1", New: true})
	if err != nil || another.Lease == l.Lease {
		t.Errorf("asking for a new one gave %+v, %v", another, err)
	}
	_, err = s.Collect(t.Context(), claude(), secrets.CollectInput{Lease: l.Lease})
	wants(t, "an agent collects", err, fault.Forbidden, "agents-hold-no-secrets")
	first, err := s.Collect(t.Context(), alice(), secrets.CollectInput{Lease: l.Lease})
	if err != nil || first.Wrap == nil || first.ExpiresAt != l.ExpiresAt || first.Engine != secrets.EngineDatabase || first.Env["DB_USER"] != "username" || first.Env["PGPASSWORD"] != "password" {
		t.Fatalf("collected %+v, %v", first, err)
	}
	second, err := s.Collect(t.Context(), alice(), secrets.CollectInput{Lease: l.Lease})
	if err != nil {
		t.Fatal(err)
	}
	if there := w.fake.There(); len(there) != 2 {
		t.Errorf("accounts of %v are there", there)
	}
	if _, err := w.fake.Unwrap(t.Context(), w.wrapped(first)); err == nil {
		t.Error("what was handed out before opens beside what was handed out later")
	}
	fields := w.unwrap(second)
	opened, err := s.Confirm(t.Context(), alice(), secrets.ConfirmInput{Lease: l.Lease})
	if err != nil || opened.Wrapping != secrets.WrappingOpened || !w.fake.Works(fields) {
		t.Errorf("opened as %+v, %v", opened, err)
	}
	_, err = s.Collect(t.Context(), alice(), secrets.CollectInput{Lease: l.Lease})
	wants(t, "collecting what was opened", err, fault.FailedPrecondition, "new: true")
	gone, err := s.Revoke(t.Context(), claude(), secrets.RevokeInput{Lease: l.Lease})
	if err != nil || gone.State != secrets.Revoked || gone.EndedBy != "claude for user:default/alice" || w.fake.Works(fields) {
		t.Errorf("revoked as %+v, %v", gone, err)
	}
	page, err := s.List(t.Context(), claude(), secrets.ListInput{})
	if err != nil || len(page.Items) != 1 || page.Items[0].Lease != another.Lease {
		t.Errorf("listed %+v, %v", page, err)
	}
}

func TestTTL(t *testing.T) {
	const rules = `
rules:
  - {name: all, effect: allow, who: {subjects: ["*"]}, actions: ["*"]}
  - {name: short, effect: limit, who: {agents: ["*"]}, actions: [secrets.*], on: {credentials: [db, wrong]}, limit: {ttl: 5m}}
  - {name: shorter, effect: limit, who: {subjects: ["*"]}, actions: [secrets.request], on: {purposes: [look]}, limit: {ttl: 1m}}
`
	w := onSQLite(t, rules)
	s := w.service(nil, secrets.Limits{PerAgent: 100, PerPerson: 100})
	for _, tt := range []struct {
		name    string
		who     access.Caller
		in      secrets.RequestInput
		longest time.Duration
		want    time.Duration
	}{
		{"the default", alice(), secrets.RequestInput{Name: "db"}, 0, 15 * time.Minute},
		{"what is asked", alice(), secrets.RequestInput{Name: "db", TTL: "45s"}, 0, 45 * time.Second},
		{"what is declared", alice(), secrets.RequestInput{Name: "db", TTL: "55m"}, 0, 30 * time.Minute},
		{"the configuration", alice(), secrets.RequestInput{Name: "any", TTL: "9h"}, 0, time.Hour},
		{"policy, for agents", claude(), secrets.RequestInput{Name: "db", TTL: "20m"}, 0, 5 * time.Minute},
		{"policy, for a purpose", claude(), secrets.RequestInput{Name: "db", TTL: "20m", Purpose: "look"}, 0, time.Minute},
		{"the issuer", alice(), secrets.RequestInput{Name: "db", TTL: "20m"}, 7 * time.Minute, 7 * time.Minute},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w.fake.Longest = tt.longest
			tt.in.Service, tt.in.New = "shop", true
			l, err := s.Request(t.Context(), tt.who, tt.in)
			if err != nil {
				t.Fatal(err)
			}
			if got := w.get(l.Lease).ExpiresAt.Sub(w.clock()); got != tt.want {
				t.Errorf("lent for %s, not %s", got, tt.want)
			}
		})
	}
}

func TestRenew(t *testing.T) {
	w := onSQLite(t, "")
	s := w.service(nil, secrets.Limits{})
	l, err := s.Request(t.Context(), alice(), secrets.RequestInput{Service: "shop", Name: "db", TTL: "5m"})
	if err != nil {
		t.Fatal(err)
	}
	w.pass(4 * time.Minute)
	renew := func(ttl string) (*secrets.Lease, error) {
		return s.Renew(t.Context(), alice(), secrets.RenewInput{Lease: l.Lease, TTL: ttl})
	}
	if r, err := renew("10m"); err != nil || r.ExpiresAt != "2026-01-31T12:14:00Z" {
		t.Errorf("renewed as %+v, %v", r, err)
	}
	if r, err := renew("50m"); err != nil || r.ExpiresAt != "2026-01-31T12:30:00Z" {
		t.Errorf("renewed beyond what is declared: %+v, %v", r, err)
	}
	_, err = renew("50m")
	wants(t, "renewed further", err, fault.FailedPrecondition, "no longer")
	_, err = renew("1s")
	wants(t, "renewed for nothing", err, fault.Invalid)
	w.pass(26 * time.Minute)
	_, err = renew("1m")
	wants(t, "renewed when it is over", err, fault.FailedPrecondition)
	w.reap(s)
	if r := w.get(l.Lease); r.State != secrets.Expired || len(w.fake.There()) > 0 {
		t.Errorf("it is %+v", r)
	}
	// An account that ended before its time ends the lease.
	if l, err = s.Request(t.Context(), alice(), secrets.RequestInput{Service: "shop", Name: "db", TTL: "5m"}); err != nil {
		t.Fatal(err)
	}
	w.fake.Lose(l.Lease)
	_, err = renew("10m")
	wants(t, "renewed though its account is gone", err, fault.FailedPrecondition, "gone at the issuer")
}

// TestRefused holds that what must not be lent is refused, and recorded.
func TestRefused(t *testing.T) {
	stranger, reader := accesstest.As("bob", accesstest.Groups("search")), alice(accesstest.Roles("reader"))
	for _, tt := range []struct {
		name  string
		who   access.Caller
		in    secrets.RequestInput
		code  fault.Code
		words string
	}{
		{"a stranger", stranger, secrets.RequestInput{Name: "db"}, fault.Forbidden, ""},
		{"a reader", reader, secrets.RequestInput{Name: "db"}, fault.Forbidden, ""},
		{"anonymous", accesstest.Anonymous(), secrets.RequestInput{Name: "db"}, fault.Unauthenticated, ""},
		{"nobody", access.Caller{}, secrets.RequestInput{Name: "db"}, "", ""},
		{"a role that there is not", alice(), secrets.RequestInput{Name: "wrong"}, fault.FailedPrecondition, "missing"},
		{"a name that there is not", alice(), secrets.RequestInput{Name: "root"}, fault.Invalid, "db"},
		{"a path as a name", alice(), secrets.RequestInput{Name: "../db"}, fault.Invalid, "../db"},
		{"an encoded slash in a name", alice(), secrets.RequestInput{Name: "a%2fb"}, fault.Invalid, ""},
		{"a line in a name", alice(), secrets.RequestInput{Name: "db\nsys"}, fault.Invalid, ""},
		{"a mount that leads elsewhere", alice(), secrets.RequestInput{Name: "slash"}, fault.FailedPrecondition, "catalog-info.yaml:16"},
		{"an encoded slash in a role", alice(), secrets.RequestInput{Name: "encoded"}, fault.FailedPrecondition, "catalog-info.yaml:17"},
		{"a line in a role", alice(), secrets.RequestInput{Name: "line"}, fault.FailedPrecondition, "catalog-info.yaml:18"},
		{"another environment", alice(), secrets.RequestInput{Name: "db", Environment: "production"}, fault.Invalid, "staging"},
		{"an environment as a path", alice(), secrets.RequestInput{Name: "db", Environment: "../staging"}, fault.Invalid, ""},
		{"no environment of several", alice(), secrets.RequestInput{Name: "both"}, fault.Invalid, "production"},
		{"a protected environment", alice(), secrets.RequestInput{Name: "prod"}, fault.ApprovalRequired, ""},
		{"the same credential under another environment's name", alice(), secrets.RequestInput{Name: "both", Environment: "staging"}, fault.ApprovalRequired, ""},
		{"the same credential under none", alice(), secrets.RequestInput{Name: "any"}, fault.ApprovalRequired, ""},
		{"too short a time", alice(), secrets.RequestInput{Name: "db", TTL: "1s"}, fault.Invalid, "30s"},
		{"no time", alice(), secrets.RequestInput{Name: "db", TTL: "soon"}, fault.Invalid, ""},
		{"a binding that there is not", alice(), secrets.RequestInput{Name: "db", BoundTo: "preview:b"}, fault.NotFound, ""},
		{"a binding of another kind", alice(), secrets.RequestInput{Name: "db", BoundTo: "moon:../a"}, fault.Invalid, "session"},
		{"a purpose of two lines", alice(), secrets.RequestInput{Name: "db", Purpose: "a\nb"}, fault.Invalid, ""},
		{"a huge task", alice(), secrets.RequestInput{Name: "db", Task: strings.Repeat("x", 1<<20)}, fault.Invalid, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := onSQLite(t, "")
			s := w.service(nil, secrets.Limits{})
			tt.in.Service = "shop"
			l, err := s.Request(t.Context(), tt.who, tt.in)
			switch {
			case err == nil:
				t.Fatalf("lent as %+v", l)
			case tt.code != "":
				wants(t, "it", err, tt.code, tt.words)
			}
			if there := w.fake.There(); len(there) > 0 {
				t.Errorf("there is %v", there)
			}
			if got := refusals(w.log); len(got) != 1 && !tt.who.IsZero() || tt.code != "" && got[0].Code != string(tt.code) {
				t.Errorf("the audit has %+v", got)
			}
			if all, err := w.store.Leases(t.Context(), secrets.Query{Open: true, Limit: 10}); err != nil || len(all) > 0 {
				t.Errorf("the ledger has %+v, %v", all, err)
			}
		})
	}
}

// TestForged holds that nobody gets at what another holds.
func TestForged(t *testing.T) {
	w := onSQLite(t, "")
	s := w.service(nil, secrets.Limits{})
	l, err := s.Request(t.Context(), claude(), secrets.RequestInput{Service: "shop", Name: "db", BoundTo: secrets.Session})
	if err != nil {
		t.Fatal(err)
	}
	in := secrets.LeaseInput{Lease: l.Lease}
	peer := accesstest.As("bob", accesstest.Groups("payments")) // who owns the service, too
	sre := accesstest.As("eve", accesstest.Roles("sre"))
	other := alice(accesstest.Agent("gpt"))
	stranger := accesstest.As("mallory", accesstest.Groups("search"))
	for name, who := range map[string]access.Caller{"a peer": peer, "an sre": sre, "another agent": other} {
		for call, do := range map[string]func() error{
			"collect": func() error { _, err := s.Collect(t.Context(), who, in); return err }, "confirm": func() error { _, err := s.Confirm(t.Context(), who, in); return err },
			"report": func() error { _, err := s.Report(t.Context(), who, in); return err }, "beat": func() error { _, err := s.Beat(t.Context(), who, in); return err },
			"reveal": func() error { _, err := s.Reveal(t.Context(), who, in); return err },
		} {
			before := len(refusals(w.log))
			wants(t, name+" calls "+call, do(), fault.Forbidden)
			if now := len(refusals(w.log)); now != before+1 && call != "beat" {
				t.Errorf("%s by %s is not recorded", call, name)
			}
		}
	}
	for call, do := range map[string]func() error{
		"get": func() error { _, err := s.Get(t.Context(), stranger, in); return err }, "collect": func() error { _, err := s.Collect(t.Context(), stranger, in); return err },
		"revoke": func() error { _, err := s.Revoke(t.Context(), stranger, in); return err }, "beat": func() error { _, err := s.Beat(t.Context(), stranger, in); return err },
	} {
		wants(t, "a stranger calls "+call, do(), fault.NotFound)
	}
	if p, err := s.List(t.Context(), stranger, secrets.ListInput{}); err != nil || len(p.Items) > 0 {
		t.Errorf("a stranger sees %+v, %v", p, err)
	}
	if p, err := s.List(t.Context(), sre, secrets.ListInput{Agent: "claude"}); err != nil || len(p.Items) != 1 {
		t.Errorf("an sre sees %+v, %v", p, err)
	}
	_, err = s.Reveal(t.Context(), alice(), in)
	wants(t, "values are told", err, fault.Forbidden, "no-plain")
	for _, id := range []string{"", "../" + l.Lease, l.Lease + "\n", strings.Repeat("x", 100), "none"} {
		_, err := s.Collect(t.Context(), alice(), secrets.CollectInput{Lease: id})
		wants(t, "collecting "+id, err, fault.NotFound)
	}
	if r := w.get(l.Lease); r.State != secrets.Live || w.fake.Drawn(l.Lease) != 1 {
		t.Errorf("the lease is %+v", r)
	}
}

// TestApproval has a person agree to a loan for a protected environment.
func TestApproval(t *testing.T) {
	w := onSQLite(t, "")
	s := w.service(nil, secrets.Limits{})
	in := secrets.RequestInput{Service: "shop", Name: "prod", TTL: "10m", Task: "T-1"}
	_, err := s.Request(t.Context(), claude(), in)
	wants(t, "asking", err, fault.ApprovalRequired)
	id, _ := fault.From(err).Details["approval"].(string)
	if _, err := w.decide.GrantApproval(t.Context(), accesstest.As("eve", accesstest.Roles("sre")), access.GrantApprovalInput{ID: id}); err != nil {
		t.Fatal(err)
	}
	l, err := s.Request(t.Context(), claude(), in)
	if err != nil || l.Environment != "production" {
		t.Fatal(l, err)
	}
	if _, err := s.Collect(t.Context(), alice(), secrets.CollectInput{Lease: l.Lease}); err != nil {
		t.Errorf("what was approved cannot be collected: %v", err)
	}
	_, err = s.Renew(t.Context(), claude(), secrets.RenewInput{Lease: l.Lease, TTL: "30m"})
	wants(t, "renewing", err, fault.ApprovalRequired)
	if r, err := s.Revoke(t.Context(), claude(), secrets.RevokeInput{Lease: l.Lease}); err != nil || r.State != secrets.Revoked {
		t.Errorf("giving back needs leave: %+v, %v", r, err)
	}
}

// TestPlain has values told where policy lets that happen.
func TestPlain(t *testing.T) {
	w := onSQLite(t, `rules: [{name: all, effect: allow, who: {subjects: ["*"]}, actions: ["*"]}]`)
	s := w.service(nil, secrets.Limits{})
	l, err := s.Request(t.Context(), claude(), secrets.RequestInput{Service: "shop", Name: "db"})
	if err != nil {
		t.Fatal(err)
	}
	p, err := s.Reveal(t.Context(), alice(), secrets.RevealInput{Lease: l.Lease})
	if err != nil {
		t.Fatal(err)
	}
	if text := fmt.Sprintf("%+v", *p); strings.Contains(text, "password-") {
		t.Errorf("it prints as %s", text)
	}
	text, err := json.Marshal(p)
	if err != nil || !strings.Contains(string(text), `"password":"password-`) {
		t.Errorf("told %s, %v", text, err)
	}
	if r := w.get(l.Lease); r.Wrapping != secrets.WrappingOpened {
		t.Errorf("the lease is %+v", r)
	}
	entries := w.log.Entries()
	if e := entries[len(entries)-1]; e.Action != access.RevealCredentials || e.Operation != "reveal_credentials" || e.Target != l.Lease || e.Status != access.StatusOK {
		t.Errorf("the audit has %+v", e)
	}
}

// TestManyAtOnce has a hundred requests at once, of which no more are let in than
// there may be, and none is lost.
func TestManyAtOnce(t *testing.T) {
	w := onSQLite(t, "")
	replicas := []*secrets.Service{w.service(nil, secrets.Limits{PerPerson: 7, PerService: 25}), w.service(nil, secrets.Limits{PerPerson: 7, PerService: 25})}
	var mu sync.Mutex
	var wg sync.WaitGroup
	lent, codes := map[string]string{}, map[fault.Code]int{}
	for i := range 100 {
		wg.Go(func() {
			who := accesstest.As(fmt.Sprint("p", i%5), accesstest.Groups("payments"))
			l, err := replicas[i%2].Request(t.Context(), who, secrets.RequestInput{Service: "shop", Name: "db", New: true})
			mu.Lock()
			defer mu.Unlock()
			codes[fault.CodeOf(err)]++
			if err == nil {
				lent[l.Lease] = l.Person
			}
		})
	}
	wg.Wait()
	of := map[string]int{}
	for _, person := range lent {
		of[person]++
	}
	for person, n := range of {
		if n > 7 {
			t.Errorf("%s has %d", person, n)
		}
	}
	if len(lent) != 25 || codes[fault.QuotaExceeded] != 75 {
		t.Errorf("%d were lent: %v", len(lent), codes)
	}
	if there := w.fake.There(); len(there) != len(lent) || len(slices.Compact(there)) != len(lent) {
		t.Errorf("%d are lent, and the issuer has %v", len(lent), there)
	}
	for id := range lent {
		if r := w.get(id); r.State != secrets.Live || w.fake.Drawn(id) != 1 {
			t.Errorf("%s is %s and was issued %d times", id, r.State, w.fake.Drawn(id))
		}
	}
}
