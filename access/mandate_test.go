package access_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/access/accesstest"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// issued takes every token for one that somebody else issued to alice.
type issued struct{}

func (issued) Verify(context.Context, string) (*access.Principal, error) {
	return &access.Principal{Subject: "alice", Agent: "claude", Groups: []string{"payments"}, Credential: "idp"}, nil
}

// TestMandate has work go on for somebody for as long as their token holds, by
// what it gives them then.
func TestMandate(t *testing.T) {
	now := time.Now()
	make := func(groups ...string) *access.Authenticator {
		t.Helper()
		a, err := access.NewAuthenticator(access.AuthConfig{Tokens: []access.TokenConfig{{Name: "alice", Subject: "user:default/alice", Agent: "claude", Groups: groups, TokenEnv: "T"}}},
			access.AuthOptions{Verifier: issued{}, LookupEnv: func(string) (string, bool) { return "a-token-for-tests-alone", true }})
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	a := make("group:default/payments")
	who, err := a.Authenticate(t.Context(), access.Credential{Bearer: "a-token-for-tests-alone"})
	if err != nil {
		t.Fatal(err)
	}
	m := who.Mandate(now)
	if again, err := make("group:default/orders").Resume(m, now.Add(1000*time.Hour)); err != nil || again.Name() != "claude for user:default/alice" || !again.In("group:default/orders") || again.In("group:default/payments") {
		t.Errorf("not as the token is now: %+v %v", again, err)
	}
	for what, change := range map[string]func(*access.Mandate){
		"another's token": func(m *access.Mandate) { m.Subject = "user:default/bob" },
		"another agent":   func(m *access.Mandate) { m.Agent = "codex" },
		"no such token":   func(m *access.Mandate) { m.Token = "bob" },
		"nobody":          func(m *access.Mandate) { *m = access.Mandate{} },
	} {
		other := m
		change(&other)
		if got, err := a.Resume(other, now); fault.CodeOf(err) != fault.Unauthenticated || !got.IsZero() {
			t.Errorf("%s: %+v %v", what, got, err)
		}
	}
	theirs, err := a.Authenticate(t.Context(), access.Credential{Bearer: "a.signed.token"})
	if err != nil {
		t.Fatal(err)
	}
	m = theirs.Mandate(now)
	if got, err := a.Resume(m, now.Add(access.MandateTTL-time.Second)); err != nil || !got.In("group:default/payments") || got.Agent() != "claude" {
		t.Errorf("in time: %+v %v", got, err)
	}
	if got, err := a.Resume(m, now.Add(access.MandateTTL)); fault.CodeOf(err) != fault.Unauthenticated || !got.IsZero() {
		t.Errorf("too late: %+v %v", got, err)
	}
}

// TestPartOfAnAct has the approval of a whole count where the same rule asks for
// one of a part, and no quota be taken for parts.
func TestPartOfAnAct(t *testing.T) {
	policy := accesstest.Policy(t, `rules:
  - {name: open, effect: allow, who: {subjects: ["*"]}, actions: ["*"]}
  - {name: guarded, effect: approval, who: {subjects: ["*"]}, actions: ["*"], on: {protected: true}, approval: {by: {roles: [sre]}}}
  - {name: besides, effect: approval, who: {subjects: ["*"]}, actions: ["*"], on: {refs: [component:default/odd]}, approval: {by: {roles: [sre]}}}
`)
	log := accesstest.NewLog()
	guard, err := access.NewGuard(access.GuardConfig{Policy: policy, Log: log, Quota: accesstest.NewQuota(), Approvals: accesstest.NewApprovals(), Limits: access.Limits{"gitops.propose": {Burst: 1, Per: time.Hour}}})
	if err != nil {
		t.Fatal(err)
	}
	who := accesstest.As("alice")
	do := func(on access.Attributes, part *access.Part) error {
		_, err := access.Do(t.Context(), guard, who, access.Op{Action: access.ProposeChange, Operation: "propose_change", Resource: on, Part: part}, func(ctx context.Context) (int, error) {
			if part != nil && on.Protected && access.GrantOf(ctx) != part.Whole {
				return 0, errors.New("it is not known what agreed to it")
			}
			return 0, nil
		})
		return err
	}
	whole := &access.Part{Whole: access.Grant{ID: "7", Rule: "guarded"}}
	for range 3 {
		if err := do(access.Attributes{Ref: "component:default/a", Protected: true}, whole); err != nil {
			t.Fatal(err)
		}
	}
	if e := log.Entries()[0]; e.Approval != "7" || e.Status != access.StatusOK {
		t.Errorf("%+v", e)
	}
	for what, err := range map[string]error{
		"another rule asks":          do(access.Attributes{Ref: "component:default/odd"}, whole),
		"the whole was not approved": do(access.Attributes{Ref: "component:default/a", Protected: true}, &access.Part{}),
		"an approval without its id": do(access.Attributes{Ref: "component:default/a", Protected: true}, &access.Part{Whole: access.Grant{Rule: "guarded"}}),
	} {
		if fault.CodeOf(err) != fault.ApprovalRequired {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := errors.Join(do(access.Attributes{Ref: "component:default/a"}, nil)); err != nil {
		t.Error(err)
	}
	if err := do(access.Attributes{Ref: "component:default/a"}, nil); fault.CodeOf(err) != fault.QuotaExceeded {
		t.Errorf("acts of their own are not counted: %v", err)
	}
}
