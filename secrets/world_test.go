package secrets_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/access/accesstest"
	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/catalog/catalogtest"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/store"
	"github.com/fairlead-dev/fairlead/secrets"
	"github.com/fairlead-dev/fairlead/secrets/secretstest"
	"github.com/fairlead-dev/fairlead/secrets/value"
)

const shop = `kind: Component
metadata: {name: shop, annotations: {vault.io/secrets-path: team/shop}}
spec:
  type: service
  lifecycle: production
  owner: payments
  fairlead:
    environments: [{name: staging}, {name: production, protected: true}]
    credentials:
      - {name: db, mount: database, role: shop-ro, maxTTL: 30m, environments: [staging], env: {DB_USER: username}}
      - {name: prod, mount: database, role: shop-prod, environments: [production]}
      - {name: both, mount: team/queue, role: shop, environments: [staging, production]}
      - {name: any, mount: team/queue, role: shop}
      - {name: wrong, mount: database, role: missing, environments: [staging]}
      - {name: slash, mount: database/../sys, role: x}
      - {name: encoded, mount: database, role: "a%2f..%2fb"}
      - {name: line, mount: database, role: "a\nb"}
`

// world is a ledger, an issuer and a clock; services come and go.
type world struct {
	t       testing.TB
	store   *store.Store
	fake    *secretstest.Fake
	catalog *catalog.Service
	guard   *access.Guard
	decide  *access.Service
	policy  *access.Policy
	log     *accesstest.Log

	mu     sync.Mutex
	now    time.Time
	over   map[string]bool // what bindings have ended
	counts map[secrets.Happening]int
}

// newWorld makes a world; rules are of a policy, "" is the default one.
func newWorld(t testing.TB, dsn, rules string) *world {
	t.Helper()
	s, err := store.Open(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if _, err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, store: s, now: time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC), over: map[string]bool{}, counts: map[secrets.Happening]int{}, catalog: catalogtest.New(t, shop)}
	w.fake = &secretstest.Fake{Now: w.clock}
	w.policy = access.DefaultPolicy()
	if rules != "" {
		w.policy = accesstest.Policy(t, rules)
	}
	w.guard, w.decide, w.log = accesstest.Lock(t, w.policy)
	return w
}

func onSQLite(t testing.TB, rules string) *world {
	return newWorld(t, filepath.Join(t.TempDir(), "state"), rules)
}

func (w *world) clock() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

func (w *world) pass(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(d)
}

func (w *world) count(of secrets.Happening) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.counts[of]
}

// May lets leases be bound to what begins with a.
func (w *world) May(_ context.Context, _ access.Caller, kind, id string) error {
	if kind != "preview" || !strings.HasPrefix(id, "a") {
		return fault.New(fault.NotFound, "there is no %s %s", kind, id).WithFix("Name one that there is.")
	}
	return nil
}

// Over tells what has ended.
func (w *world) Over(_ context.Context, kind, id string) (bool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.over[kind+":"+id], nil
}

// ledger is what a service does its writing in.
type ledger interface {
	secrets.Ledger
	secrets.Reads
	secrets.Accounts
}

// service makes one over a ledger, nil for the world's own.
func (w *world) service(in ledger, limits secrets.Limits) *secrets.Service {
	w.t.Helper()
	if in == nil {
		in = w.store
	}
	s, err := secrets.New(secrets.Config{Policy: w.policy, Guard: w.guard, Catalog: w.catalog, Issuer: w.fake, Custodian: w.fake, Ledger: in, Reads: in, Accounts: in, Bindings: w, Limits: limits, Now: w.clock,
		Logger: slog.New(slog.DiscardHandler), Observe: func(h secrets.Happening) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.counts[h]++
		}})
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

func (w *world) get(id string) secrets.Record {
	w.t.Helper()
	r, err := w.store.Lease(w.t.Context(), id)
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

// reap looks after what is due.
func (w *world) reap(s *secrets.Service) {
	w.t.Helper()
	if _, err := s.Reap(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
}

// wrapped is what a loan's JSON says of its wrapping.
func (w *world) wrapped(l *secrets.Loan) secrets.Wrapped {
	w.t.Helper()
	text, err := json.Marshal(l)
	if err != nil {
		w.t.Fatal(err)
	}
	var got struct {
		Wrap struct {
			Token string `json:"token"`
		} `json:"wrap"`
	}
	if err := json.Unmarshal(text, &got); err != nil || got.Wrap.Token == "" {
		w.t.Fatalf("the loan is %s, %v", text, err)
	}
	return secrets.Wrapped{Token: value.New([]byte(got.Wrap.Token))}
}

// unwrap opens what a loan holds, as the command line would at the issuer.
func (w *world) unwrap(l *secrets.Loan) map[string]secrets.Value {
	w.t.Helper()
	fields, err := w.fake.Unwrap(w.t.Context(), w.wrapped(l))
	if err != nil {
		w.t.Fatal(err)
	}
	return fields
}

// Callers of these tests.
func alice(opts ...accesstest.Option) access.Caller {
	return accesstest.As("alice", append([]accesstest.Option{accesstest.Groups("payments")}, opts...)...)
}

func claude() access.Caller { return alice(accesstest.Agent("claude")) }

func refusals(log *accesstest.Log) (out []access.Entry) {
	for _, e := range log.Entries() {
		if e.Status != access.StatusOK {
			out = append(out, e)
		}
	}
	return out
}

func wants(t *testing.T, what string, err error, code fault.Code, words ...string) {
	t.Helper()
	f := fault.From(err)
	if err == nil || f.Code != code || f.Fix == "" {
		t.Errorf("%s: %q, %v (fix %q); want %q", what, fault.CodeOf(err), err, f.Fix, code)
	}
	for _, word := range words {
		if !strings.Contains(f.Message+f.Fix, word) {
			t.Errorf("%s does not speak of %q: %v %s", what, word, err, f.Fix)
		}
	}
}
