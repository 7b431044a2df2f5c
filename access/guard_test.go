package access_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/access/accesstest"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

var (
	checkout = access.Attributes{Ref: "component:default/checkout", Kind: "component", Namespace: "default", Owners: []string{"group:default/payments"}}
	refresh  = access.Op{Action: access.RefreshCatalog, Operation: "refresh_entity", Resource: checkout, Input: map[string]string{"ref": checkout.Ref}}
)

func alice(opts ...accesstest.Option) access.Caller {
	return accesstest.As("user:default/alice", append([]accesstest.Option{accesstest.Groups("payments"), accesstest.Agent("claude")}, opts...)...)
}

func done(context.Context) (string, error) { return "done", nil }

func TestDoRecordsWhatWasDone(t *testing.T) {
	g, log := accesstest.Guard(t, nil)
	out, err := access.Do(t.Context(), g, alice(), refresh, done)
	if err != nil || out != "done" {
		t.Fatalf("Do = %q, %v", out, err)
	}
	want := []access.Entry{{
		ID: "00000001", Action: access.RefreshCatalog, Operation: "refresh_entity", Target: checkout.Ref,
		Subject: "user:default/alice", Agent: "claude", Token: "test", Groups: []string{"group:default/payments"},
		Input: `{"ref":"component:default/checkout"}`, Rule: "act-on-own", Status: access.StatusOK,
	}}
	if d := cmp.Diff(want, log.Entries(), cmpopts.IgnoreFields(access.Entry{}, "Time", "Took")); d != "" {
		t.Error(d)
	}
}

func TestDoRefusals(t *testing.T) {
	for _, tt := range []struct {
		name string
		who  access.Caller
		code fault.Code
	}{
		{"a stranger", accesstest.As("bob", accesstest.Groups("search")), fault.Forbidden},
		{"an owner who only reads", alice(accesstest.Roles("reader")), fault.Forbidden},
		{"an anonymous reader", accesstest.Anonymous(), fault.Unauthenticated},
		{"nobody", access.Caller{}, fault.Unauthenticated},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g, log := accesstest.Guard(t, nil)
			_, err := access.Do(t.Context(), g, tt.who, refresh, func(context.Context) (string, error) {
				t.Error("the act ran")
				return "", nil
			})
			f := fault.From(err)
			if f.Code != tt.code || f.Fix == "" || !strings.Contains(f.Message, checkout.Ref) {
				t.Errorf("fault = %+v", f)
			}
			e := log.Entries()
			if len(e) != 1 || e[0].Status != access.StatusRefused || e[0].Code != string(tt.code) || e[0].Message != f.Message {
				t.Errorf("audit = %+v", e)
			}
		})
	}
}

func TestDoOutcomes(t *testing.T) {
	for _, tt := range []struct {
		name string
		act  func(context.Context) (string, error)
		code fault.Code
	}{
		{"a fault", func(context.Context) (string, error) { return "half", fault.New(fault.Conflict, "taken") }, fault.Conflict},
		{"an error", func(context.Context) (string, error) { return "half", errors.New("disk on fire") }, fault.Internal},
		{"a panic", func(context.Context) (string, error) { panic("boom") }, fault.Internal},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g, log := accesstest.Guard(t, nil)
			out, err := access.Do(t.Context(), g, alice(), refresh, tt.act)
			if out != "" || fault.CodeOf(err) != tt.code {
				t.Errorf("Do = %q, %v", out, err)
			}
			e := log.Entries()
			if len(e) != 1 || e[0].Status != access.StatusFailed || e[0].Code != string(tt.code) || strings.Contains(e[0].Message, "fire") {
				t.Errorf("audit = %+v", e)
			}
		})
	}
}

func TestDoRecordsWhenTheCallerHangsUp(t *testing.T) {
	g, log := accesstest.Guard(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	_, err := access.Do(ctx, g, alice(), refresh, func(ctx context.Context) (string, error) {
		cancel()
		<-ctx.Done()
		return "", ctx.Err()
	})
	if fault.CodeOf(err) != fault.Unavailable {
		t.Errorf("err = %v", err)
	}
	if e := log.Entries(); len(e) != 1 || e[0].Status != access.StatusFailed {
		t.Errorf("audit = %+v", e)
	}
	if _, err := access.Do(ctx, g, alice(), refresh, done); fault.CodeOf(err) != fault.Unavailable {
		t.Errorf("an ended context got %v", err)
	}
	if e := log.Entries(); len(e) != 1 {
		t.Errorf("audit = %+v", e)
	}
}

func TestDoRecordsAnActThatEndsItsGoroutine(t *testing.T) {
	g, log := accesstest.Guard(t, nil)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = access.Do(context.Background(), g, alice(), refresh, func(context.Context) (string, error) {
			runtime.Goexit()
			return "", nil
		})
	}()
	<-ended
	if e := log.Entries(); len(e) != 1 || e[0].Status != access.StatusFailed {
		t.Errorf("audit = %+v", e)
	}
}

// broken fails where it is told to.
type broken struct {
	*accesstest.Log
	begin, end, take error
}

func (b *broken) Begin(ctx context.Context, e access.Begun) (string, error) {
	if b.begin != nil {
		return "", b.begin
	}
	return b.Log.Begin(ctx, e)
}

func (b *broken) End(ctx context.Context, id string, o access.Outcome) error {
	if b.end != nil {
		return b.end
	}
	return b.Log.End(ctx, id, o)
}

func (b *broken) Take(context.Context, string, access.Rate) (time.Duration, error) { return 0, b.take }

func TestDoWithoutItsRecord(t *testing.T) {
	full := errors.New("disk full")
	for _, tt := range []struct {
		name string
		b    broken
		runs bool
	}{
		{"begun cannot be written", broken{begin: full}, false},
		{"the quota cannot be asked", broken{take: full}, false},
		{"the outcome cannot be written", broken{end: full}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.b.Log = accesstest.NewLog()
			g, err := access.NewGuard(access.GuardConfig{Log: &tt.b, Quota: &tt.b, Logger: slog.New(slog.DiscardHandler)})
			if err != nil {
				t.Fatal(err)
			}
			ran := false
			_, err = access.Do(t.Context(), g, alice(), refresh, func(context.Context) (int, error) { ran = true; return 1, nil })
			if ran != tt.runs || (err == nil) != tt.runs {
				t.Errorf("ran %v, err %v", ran, err)
			}
			if f := fault.From(err); err != nil && (f.Code != fault.Unavailable || strings.Contains(f.Message, "disk")) {
				t.Errorf("fault = %+v", f)
			}
		})
	}
}

func TestDoTakesQuota(t *testing.T) {
	log := accesstest.NewLog()
	g, err := access.NewGuard(access.GuardConfig{Log: log, Quota: accesstest.NewQuota(), Limits: access.Limits{"catalog.refresh": {Burst: 2, Per: time.Hour}}})
	if err != nil {
		t.Fatal(err)
	}
	var last error
	for range 3 {
		_, last = access.Do(t.Context(), g, alice(), refresh, done)
	}
	f := fault.From(last)
	if f.Code != fault.QuotaExceeded || f.RetryAfter <= 0 || f.RetryAfter > 30*time.Minute || f.Details["retryAfter"] == nil {
		t.Errorf("fault = %+v", f)
	}
	if e := log.Entries(); len(e) != 3 || e[2].Status != access.StatusRefused || e[2].Code != "quota_exceeded" {
		t.Errorf("audit = %+v", e)
	}
	if _, err := access.Do(t.Context(), g, accesstest.As("alice", accesstest.Groups("payments")), refresh, done); err != nil {
		t.Errorf("the person shares the agent's quota: %v", err)
	}
}

func TestRefusalsDoNotFillTheAudit(t *testing.T) {
	log, told := accesstest.NewLog(), &bytes.Buffer{}
	g, err := access.NewGuard(access.GuardConfig{Log: log, Quota: accesstest.NewQuota(), Logger: slog.New(slog.NewTextHandler(told, nil))})
	if err != nil {
		t.Fatal(err)
	}
	for range 350 {
		if _, err := access.Do(t.Context(), g, accesstest.As("bob"), refresh, done); fault.CodeOf(err) != fault.Forbidden {
			t.Fatal(err)
		}
	}
	entries, logged := len(log.Entries()), strings.Count(told.String(), "refused too often")
	if entries < 300 || entries+logged != 350 || logged == 0 {
		t.Errorf("%d in the audit, %d in the log", entries, logged)
	}
}

func TestNothingPassesANilGuard(t *testing.T) {
	if _, err := access.Do(t.Context(), nil, alice(accesstest.Roles("admin")), refresh, done); fault.CodeOf(err) != fault.Internal {
		t.Errorf("err = %v", err)
	}
}
