package secrets_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/access/accesstest"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/secrets"
)

// TestBorrow has who may collect get the wrapping at once, and nobody else.
func TestBorrow(t *testing.T) {
	w := onSQLite(t, "")
	s := w.service(nil, secrets.Limits{})
	in := secrets.BorrowInput{Service: "shop", Name: "db"}
	agents, err := s.Borrow(t.Context(), claude(), in)
	if err != nil || agents.Wrap != nil || agents.State != secrets.Live {
		t.Errorf("an agent borrows %+v, %v", agents, err)
	}
	l, err := s.Borrow(t.Context(), alice(), in)
	if err != nil || l.Wrap == nil || l.Lease.Lease == agents.Lease.Lease || w.fake.Drawn(l.Lease.Lease) != 1 {
		t.Fatalf("borrowed %+v, %v", l, err)
	}
	if text := fmt.Sprintf("%v %+v %#v %s", l, *l, l.Wrap, l.Wrap.Token); strings.Contains(text, "wrapping-") || !strings.Contains(text, "•••") {
		t.Errorf("it prints as %s", text)
	}
	again, err := s.Borrow(t.Context(), alice(), in)
	if err != nil || again.Lease.Lease != l.Lease.Lease || again.Wrap == nil {
		t.Fatalf("borrowed again %+v, %v", again, err)
	}
	fields := w.unwrap(again)
	if _, err := json.Marshal(again); err == nil {
		t.Error("what opens the wrapping was told twice")
	}
	if _, err := s.Confirm(t.Context(), alice(), secrets.ConfirmInput{Lease: l.Lease.Lease}); err != nil || !w.fake.Works(fields) {
		t.Error(err)
	}
	third, err := s.Borrow(t.Context(), alice(), in)
	if err != nil || third.Wrap != nil || third.Lease.Lease != l.Lease.Lease {
		t.Errorf("once opened it is lent as %+v, %v", third, err)
	}
	// Two sessions never share one, but a call that is repeated does.
	in.BoundTo, in.Key = secrets.Session, "k1"
	a, err := s.Borrow(t.Context(), alice(), in)
	if err != nil {
		t.Fatal(err)
	}
	b, err := s.Borrow(t.Context(), alice(), in)
	if err != nil || a.Lease.Lease != b.Lease.Lease || b.Wrap == nil {
		t.Errorf("a repeated call gave %+v, %v", b, err)
	}
	in.Key = ""
	c, err := s.Borrow(t.Context(), alice(), in)
	if err != nil || c.Lease.Lease == a.Lease.Lease {
		t.Errorf("two sessions share %+v, %v", c, err)
	}
	for _, e := range w.log.Entries() {
		if strings.Contains(fmt.Sprintf("%+v", e), "wrapping-") {
			t.Errorf("the audit has %+v", e)
		}
	}
}

// objecting is a judge that objects to being handed what opens a wrapping.
type objecting struct{}

func (objecting) Judge(_ context.Context, q access.Question) ([]access.Objection, error) {
	if q.Action == access.CollectCredentials && q.Resource.Credential == "db" {
		return []access.Objection{{Message: "not on Fridays", Fix: "Wait."}}, nil
	}
	return nil, nil
}

// TestBorrowAsksAsCollectDoes holds that who may not collect, by whatever says
// so, is not handed the wrapping by borrowing.
func TestBorrowAsksAsCollectDoes(t *testing.T) {
	w := onSQLite(t, `
rules:
  - {name: all, effect: allow, who: {subjects: ["*"]}, actions: ["*"]}
  - {name: ask, effect: approval, who: {subjects: ["*"]}, actions: [secrets.collect], on: {credentials: [any]}, approval: {by: {roles: [sre]}}}
`)
	var err error
	w.guard, err = access.NewGuard(access.GuardConfig{Policy: w.policy, Log: w.log, Quota: accesstest.NewQuota(), Approvals: accesstest.NewApprovals(), Judge: objecting{}})
	if err != nil {
		t.Fatal(err)
	}
	s := w.service(nil, secrets.Limits{})
	for name, code := range map[string]fault.Code{"db": fault.Forbidden, "any": fault.ApprovalRequired} {
		l, err := s.Borrow(t.Context(), alice(), secrets.BorrowInput{Service: "shop", Name: name})
		if err != nil || l.Wrap != nil || l.State != secrets.Live {
			t.Fatalf("%s: borrowed %+v, %v", name, l, err)
		}
		_, err = s.Collect(t.Context(), alice(), secrets.CollectInput{Lease: l.Lease.Lease})
		wants(t, name, err, code)
	}
	l, err := s.Borrow(t.Context(), alice(), secrets.BorrowInput{Service: "shop", Name: "both", Environment: "staging"})
	if err != nil || l.Wrap == nil {
		t.Errorf("what nobody objects to is %+v, %v", l, err)
	}
}
