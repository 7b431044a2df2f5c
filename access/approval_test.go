package access_test

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/access/accesstest"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

const fourEyes = `rules:
  - {name: all, effect: allow, who: {subjects: ["*"]}, actions: ["catalog.*"]}
  - {name: four-eyes, effect: approval, who: {subjects: ["*"]}, actions: [catalog.refresh], on: {kinds: [component]},
     approval: {by: {owners: true, roles: [sre]}, expires: 1h}}
  - {name: not-carl, effect: deny, who: {subjects: [carl]}, actions: [approvals.decide]}
`

type plan struct {
	Change string `json:"change"`
	Token  string `json:"token"`
}

// attempt does what needs approval and gives the fault, nil if it was done.
func attempt(t *testing.T, g *access.Guard, who access.Caller, p any) *fault.Error {
	t.Helper()
	op := refresh
	op.Plan = p
	ran := false
	_, err := access.Do(t.Context(), g, who, op, func(context.Context) (string, error) { ran = true; return "", nil })
	if ran != (err == nil) {
		t.Fatalf("ran: %v, err: %v", ran, err)
	}
	return fault.From(err)
}

func bob(opts ...accesstest.Option) access.Caller {
	return accesstest.As("bob", append([]accesstest.Option{accesstest.Groups("payments")}, opts...)...)
}

func TestApprovalFromAskingToUse(t *testing.T) {
	g, s, log := accesstest.Lock(t, accesstest.Policy(t, fourEyes))
	p := plan{"scale to 3", "hunter2-canary"}
	f := attempt(t, g, alice(), p)
	if f == nil || f.Code != fault.ApprovalRequired || f.Details["state"] != "pending" || !strings.Contains(f.Fix, "group:default/payments, role:sre") {
		t.Fatalf("fault = %+v", f)
	}
	id := f.Details["approval"].(string)
	if again := attempt(t, g, alice(), p); again.Details["approval"] != id {
		t.Errorf("again: %+v", again)
	}
	a, err := s.GetApproval(t.Context(), bob(), access.GetApprovalInput{ID: id})
	if err != nil || !a.MayDecide || string(a.Plan) != `{"change":"scale to 3","token":"[secret]"}` || a.PlanHash != f.Details["planHash"] || a.Subject != "user:default/alice" || a.Agent != "claude" {
		t.Fatalf("request = %+v, %v", a, err)
	}
	if _, err := s.GrantApproval(t.Context(), bob(), access.GrantApprovalInput{ID: id, Reason: "fine"}); err != nil {
		t.Fatal(err)
	}
	if f := attempt(t, g, alice(), plan{"scale to 4", p.Token}); f == nil || f.Details["approval"] == id {
		t.Errorf("another plan: %+v", f)
	}
	if f := attempt(t, g, alice(accesstest.Agent("codex")), p); f == nil || f.Details["approval"] == id {
		t.Errorf("another agent: %+v", f)
	}
	if f := attempt(t, g, alice(), p); f != nil {
		t.Fatalf("not done: %+v", f)
	}
	if f := attempt(t, g, alice(), p); f == nil || f.Details["approval"] == id {
		t.Errorf("done twice: %+v", f)
	}
	var got []string
	for _, e := range log.Entries() {
		if e.Approval == id {
			got = append(got, e.Operation+" "+string(e.Status)+" "+e.Subject+" "+e.Agent+" "+e.Code)
		}
	}
	want := "refresh_entity refused user:default/alice claude approval_required, grant_approval ok user:default/bob  , refresh_entity ok user:default/alice claude "
	if strings.Join(got, ", ") != want {
		t.Errorf("audit: %q", got)
	}
}

func TestWhoMayDecide(t *testing.T) {
	for name, tt := range map[string]struct {
		who  access.Caller
		code fault.Code
		says string
	}{
		"an owner":               {bob(), "", ""},
		"an sre":                 {accesstest.As("sam", accesstest.Roles("sre")), "", ""},
		"an owner's agent":       {bob(accesstest.Agent("claude")), fault.Forbidden, "only persons approve"},
		"who asked":              {alice(accesstest.Agent(""), accesstest.Token("laptop"), accesstest.Roles("sre")), fault.Forbidden, "nobody approves their own"},
		"who asked, as an agent": {alice(accesstest.Agent("codex")), fault.Forbidden, "only persons"},
		"a machine":              {accesstest.As("component:default/bot", accesstest.Roles("sre")), fault.Forbidden, "only persons"},
		"whom a rule denies it":  {accesstest.As("carl", accesstest.Roles("sre")), fault.Forbidden, "not-carl"},
		"a stranger":             {accesstest.As("stan"), fault.NotFound, "no request"},
		"an anonymous caller":    {accesstest.Anonymous(), fault.Unauthenticated, ""},
		"nobody":                 {access.Caller{}, fault.Unauthenticated, ""},
	} {
		t.Run(name, func(t *testing.T) {
			g, s, log := accesstest.Lock(t, accesstest.Policy(t, fourEyes))
			id := attempt(t, g, alice(), nil).Details["approval"].(string)
			_, err := s.GrantApproval(t.Context(), tt.who, access.GrantApprovalInput{ID: id})
			if fault.CodeOf(err) != tt.code || err != nil && (!strings.Contains(err.Error(), tt.says) || fault.From(err).Fix == "") {
				t.Errorf("granting: %+v", fault.From(err))
			}
			if done := attempt(t, g, alice(), nil) == nil; done != (tt.code == "") {
				t.Errorf("done: %v", done)
			}
			if e := log.Entries(); tt.code == fault.Forbidden && (e[1].Status != access.StatusRefused || e[1].Operation != "grant_approval" || e[1].Approval != id) {
				t.Errorf("audit: %+v", e[1])
			}
		})
	}
}

func TestDeniedApproval(t *testing.T) {
	g, s, _ := accesstest.Lock(t, accesstest.Policy(t, fourEyes))
	id := attempt(t, g, alice(), nil).Details["approval"].(string)
	for reason, code := range map[string]fault.Code{" ": fault.Invalid, strings.Repeat("x", 600): fault.Invalid} {
		if _, err := s.DenyApproval(t.Context(), bob(), access.DenyApprovalInput{ID: id, Reason: reason}); fault.CodeOf(err) != code {
			t.Errorf("%q: %v", reason, err)
		}
	}
	if _, err := s.DenyApproval(t.Context(), bob(), access.DenyApprovalInput{ID: id, Reason: "not on a\x1b[31m Friday"}); err != nil {
		t.Fatal(err)
	}
	if f := attempt(t, g, alice(), nil); f == nil || f.Code != fault.Forbidden || f.Details["state"] != "denied" || !strings.Contains(f.Message, "not on a [31m Friday") {
		t.Errorf("fault = %+v", f)
	}
	if _, err := s.GrantApproval(t.Context(), bob(), access.GrantApprovalInput{ID: id}); fault.CodeOf(err) != fault.Conflict {
		t.Errorf("granted after it was denied: %v", err)
	}
}

func TestApprovalRace(t *testing.T) {
	g, s, _ := accesstest.Lock(t, accesstest.Policy(t, fourEyes))
	id := attempt(t, g, alice(), nil).Details["approval"].(string)
	if _, err := s.GrantApproval(t.Context(), bob(), access.GrantApprovalInput{ID: id}); err != nil {
		t.Fatal(err)
	}
	var ran atomic.Int64
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			_, _ = access.Do(t.Context(), g, alice(), refresh, func(context.Context) (string, error) { ran.Add(1); return "", nil })
		})
	}
	wg.Wait()
	if ran.Load() != 1 {
		t.Errorf("done %d times by one approval", ran.Load())
	}
}

func TestWhoSeesApprovals(t *testing.T) {
	g, s, _ := accesstest.Lock(t, accesstest.Policy(t, fourEyes+"  - {name: auditors, effect: allow, who: {roles: [auditor]}, actions: [approvals.read]}\n"))
	for i := range 7 {
		attempt(t, g, alice(), i)
	}
	count := func(who access.Caller, in access.ListApprovalsInput) (n int) {
		for {
			page, err := s.ListApprovals(t.Context(), who, in)
			if err != nil {
				t.Fatal(err)
			}
			n += len(page.Items)
			if in.Cursor = page.NextCursor; in.Cursor == "" {
				return n
			}
		}
	}
	pending := access.ListApprovalsInput{State: "pending", Limit: 3}
	for name, tt := range map[string]struct {
		who     access.Caller
		in      access.ListApprovalsInput
		visible int
	}{
		"who asked":            {alice(), pending, 7},
		"an approver":          {bob(), pending, 7},
		"an auditor":           {accesstest.As("ann", accesstest.Roles("auditor")), pending, 7},
		"a stranger":           {accesstest.As("stan"), pending, 0},
		"what one may decide":  {bob(), access.ListApprovalsInput{Mine: true}, 7},
		"what oneself may not": {alice(), access.ListApprovalsInput{Mine: true}, 0},
		"nor an auditor":       {accesstest.As("ann", accesstest.Roles("auditor")), access.ListApprovalsInput{Mine: true}, 0},
		"another state":        {bob(), access.ListApprovalsInput{State: "used"}, 0},
		"of somebody":          {bob(), access.ListApprovalsInput{Subject: "alice", Agent: "claude", Action: "catalog.refresh", Target: checkout.Ref}, 7},
	} {
		if got := count(tt.who, tt.in); got != tt.visible {
			t.Errorf("%s: %d visible, want %d", name, got, tt.visible)
		}
	}
	for _, in := range []access.ListApprovalsInput{{State: "open"}, {Limit: -1}, {Limit: 501}, {Cursor: "audit:1"}, {Cursor: "approval:\x00"}, {Subject: "a b"}, {Target: "\x1b"}} {
		if _, err := s.ListApprovals(t.Context(), bob(), in); fault.CodeOf(err) != fault.Invalid || fault.From(err).Fix == "" {
			t.Errorf("%+v: %v", in, err)
		}
	}
	for _, id := range []string{"", "none", "\x00", strings.Repeat("9", 1<<20)} {
		if _, err := s.GetApproval(t.Context(), bob(), access.GetApprovalInput{ID: id}); fault.CodeOf(err) != fault.NotFound || len(err.Error()) > 300 {
			t.Errorf("%.20q: %v", id, err)
		}
	}
}

func TestWhatCannotBeApproved(t *testing.T) {
	policy := accesstest.Policy(t, fourEyes)
	g, _, _ := accesstest.Lock(t, policy)
	if f := attempt(t, g, alice(), strings.Repeat("long ", 20_000)); f == nil || f.Code != fault.FailedPrecondition || f.Fix == "" {
		t.Errorf("a plan too long to show: %+v", f)
	}
	if f := attempt(t, g, alice(), func() {}); f == nil || f.Code != fault.Internal {
		t.Errorf("a plan that is no JSON: %+v", f)
	}
	bare, err := access.NewGuard(access.GuardConfig{Policy: policy, Log: accesstest.NewLog(), Quota: accesstest.NewQuota()})
	if err != nil {
		t.Fatal(err)
	}
	if f := attempt(t, bare, alice(), nil); f == nil {
		t.Error("done where nothing keeps approvals")
	}
	if f := attempt(t, bare, access.Caller{}, nil); f == nil || f.Code != fault.Unauthenticated {
		t.Errorf("nobody: %+v", f)
	}
}

func TestDefaultPolicyAsksOnProtectedEnvironments(t *testing.T) {
	g, s, _ := accesstest.Lock(t, nil)
	op := access.Op{Action: access.RefreshCatalog, Operation: "refresh_entity", Resource: checkout}
	op.Resource.Environment = "production"
	act := func(who access.Caller, protected bool) *fault.Error {
		op.Resource.Protected = protected
		_, err := access.Do(t.Context(), g, who, op, done)
		return fault.From(err)
	}
	sre := accesstest.As("sam", accesstest.Roles("sre"))
	if f := act(alice(), false); f != nil {
		t.Errorf("an environment that is not protected: %+v", f)
	}
	f := act(sre, true)
	if f == nil || f.Code != fault.ApprovalRequired {
		t.Fatalf("an sre alone: %+v", f)
	}
	if _, err := s.GrantApproval(t.Context(), bob(), access.GrantApprovalInput{ID: f.Details["approval"].(string)}); err != nil {
		t.Error(err)
	}
	if f := act(sre, true); f != nil {
		t.Errorf("with an owner's approval: %+v", f)
	}
}

func TestHashPlan(t *testing.T) {
	one, err := access.HashPlan(map[string]any{"b": 1, "a": []string{"x"}})
	if err != nil || !strings.HasPrefix(one, "sha256:") || len(one) != 71 {
		t.Fatal(one, err)
	}
	for name, tt := range map[string]struct {
		plan any
		same bool
	}{
		"as a struct":     {struct{ B, A any }{1, 2}, false},
		"in other order":  {map[string]any{"a": []any{"x"}, "b": 1}, true},
		"another number":  {map[string]any{"a": []any{"x"}, "b": 2}, false},
		"a great number":  {map[string]any{"a": []any{"x"}, "b": int64(1) << 60}, false},
		"another order":   {map[string]any{"a": []any{"x", "x"}, "b": 1}, false},
		"nothing":         {nil, false},
		"another's text":  {map[string]any{"a": []any{"X"}, "b": 1}, false},
		"with one more":   {map[string]any{"a": []any{"x"}, "b": 1, "c": nil}, false},
		"a text of digit": {map[string]any{"a": []any{"x"}, "b": "1"}, false},
	} {
		if got, err := access.HashPlan(tt.plan); err != nil || (got == one) != tt.same {
			t.Errorf("%s: %s, %v", name, got, err)
		}
	}
	a, _ := access.HashPlan(int64(1)<<60 + 1)
	b, _ := access.HashPlan(int64(1) << 60)
	if a == b {
		t.Error("numbers beyond 53 bits are mixed up")
	}
}

func TestWatchApprovals(t *testing.T) {
	g, s, _ := accesstest.Lock(t, accesstest.Policy(t, fourEyes))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	told := s.WatchApprovals(ctx, bob(), true)
	id := attempt(t, g, alice(), nil).Details["approval"]
	next := attempt(t, g, alice(), 2).Details["approval"]
	for _, want := range []any{id, next} { // each once, in the order of their changes
		if a := <-told; a.ID != want || !a.MayDecide || a.State != access.ApprovalPending {
			t.Errorf("told %+v, not %s", a, want)
		}
	}
	cancel()
	for range told {
	}
	for range s.WatchApprovals(t.Context(), access.Caller{}, true) {
		t.Error("nobody is told something")
	}
}

func TestApprovalRulesAreChecked(t *testing.T) {
	for rule, says := range map[string]string{
		`effect: approval, actions: [catalog.refresh]`:                                                         "does not say who approves",
		`effect: allow, actions: [catalog.refresh], approval: {by: {roles: [sre]}}`:                            "only a rule with the effect approval",
		`effect: approval, actions: [catalog.refresh], approval: {by: {}}`:                                     "it does not say who approves",
		`effect: approval, actions: [catalog.read, audit.read], approval: {by: {roles: [sre]}}`:                "nothing of this needs approval",
		`effect: approval, actions: [approvals.decide], approval: {by: {roles: [sre]}}`:                        "nothing of this needs approval",
		`effect: approval, actions: [catalog.refresh], approval: {by: {roles: ["s*"]}}`:                        "whole values",
		`effect: approval, actions: [catalog.refresh], approval: {by: {groups: ["a b"]}}`:                      "is not an entity reference",
		`effect: approval, actions: [catalog.refresh], approval: {by: {roles: [sre]}, expires: 1000h}`:         "1000h0m0s is not between",
		`effect: approval, actions: [catalog.refresh], approval: {by: {roles: [sre]}, expires: soon}`:          "a duration such as 24h",
		`effect: approval, actions: [catalog.refresh], approval: {by: {role: [sre]}}`:                          `unknown key "role" (Known here: owners, groups, roles, subjects.)`,
		`effect: approval, actions: [catalog.refresh], approval: {from: x}`:                                    `unknown key "from" (Known here: by, expires.)`,
		`effect: approval, actions: [catalog.refresh], on: {environments: ["*"]}, approval: {by: {owners: 1}}`: "true or false",
	} {
		_, err := access.LoadPolicy([]byte(`rules: [{name: a, who: {subjects: ["*"]}, `+rule+`}]`), "rules.yaml")
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", rule, err)
		}
	}
}
