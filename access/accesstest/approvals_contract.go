package accesstest

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// ApprovalsContract is what every place for requests must pass; open makes an
// empty one.
func ApprovalsContract(t *testing.T, open func(testing.TB) access.Approvals) {
	t.Run("keeps one request until it is used, once", func(t *testing.T) { approvalsOnce(t, open(t)) })
	t.Run("never lets two claims use one", func(t *testing.T) { approvalsRace(t, open(t)) })
	t.Run("answers a denied one until it expires", func(t *testing.T) { approvalsDenied(t, open(t)) })
	t.Run("lets what is late expire", func(t *testing.T) { approvalsExpire(t, open(t)) })
	t.Run("bounds what one requester has pending", func(t *testing.T) { approvalsBound(t, open(t)) })
	t.Run("decides once", func(t *testing.T) { approvalsDecided(t, open(t)) })
	t.Run("selects, pages and tells changes", func(t *testing.T) { approvalsSelect(t, open(t)) })
	t.Run("obeys its context", func(t *testing.T) { approvalsContext(t, open(t)) })
}

// wish is a request made at noon for an hour.
func wish(binding, subject string) access.ApprovalRequest {
	return access.ApprovalRequest{
		Binding: binding, Resource: access.Attributes{Ref: "component:default/checkout", Kind: "component", Owners: []string{"group:default/payments"}, Environment: "production", Protected: true},
		By: access.Approvers{Groups: []string{"group:default/payments"}, Roles: []string{"sre"}, Subjects: []string{"user:default/bob"}},
		Approval: access.Approval{State: access.ApprovalPending, Action: access.RefreshCatalog, Operation: "refresh_entity", Target: "component:default/checkout",
			Summary: `'); DROP -- ? ?1 $1 "\` + "\u202e🦊é", Plan: []byte(`{"a":"é?1"}`), PlanHash: "sha256:00", Subject: subject, Agent: "claude", Rule: "four-eyes",
			Approvers: []string{"group:default/payments", "user:default/bob", "role:sre"}, RequestedAt: noon, ExpiresAt: noon.Add(time.Hour)},
	}
}

func claim(t *testing.T, a access.Approvals, r access.ApprovalRequest, after time.Duration) access.Claim {
	t.Helper()
	r.RequestedAt, r.ExpiresAt = r.RequestedAt.Add(after), r.ExpiresAt.Add(after)
	c, err := a.Claim(t.Context(), r, 3)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func decide(t *testing.T, a access.Approvals, id string, state access.ApprovalState) access.ApprovalRequest {
	t.Helper()
	r, err := a.DecideApproval(t.Context(), access.ApprovalDecision{ID: id, State: state, By: "user:default/bob", Reason: "so be it", At: noon.Add(time.Minute)})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func approvalsOnce(t *testing.T, a access.Approvals) {
	r := wish("one", "user:default/alice")
	asked := claim(t, a, r, 0)
	if !asked.New || asked.Used || asked.Request.ID == "" {
		t.Fatalf("first: %+v", asked)
	}
	again := claim(t, a, r, time.Minute)
	if again.New || again.Used || again.Request.ID != asked.Request.ID || !again.Request.ExpiresAt.Equal(noon.Add(time.Hour)) {
		t.Fatalf("again: %+v", again)
	}
	if other := claim(t, a, wish("two", "user:default/alice"), 0); !other.New || other.Request.ID == asked.Request.ID {
		t.Fatalf("another: %+v", other)
	}
	decide(t, a, asked.Request.ID, access.ApprovalGranted)
	used := claim(t, a, r, 2*time.Minute)
	want := asked.Request
	want.State, want.DecidedBy, want.DecidedAt, want.Reason, want.UsedAt = access.ApprovalUsed, "user:default/bob", noon.Add(time.Minute), "so be it", noon.Add(2*time.Minute)
	want.Changed = used.Request.Changed
	if d := cmp.Diff(access.Claim{Request: want, Used: true}, used); d != "" {
		t.Error(d)
	}
	if next := claim(t, a, r, 3*time.Minute); !next.New || next.Request.ID <= asked.Request.ID {
		t.Errorf("it was used twice: %+v", next)
	}
}

func approvalsRace(t *testing.T, a access.Approvals) {
	r := wish("one", "user:default/alice")
	var wg sync.WaitGroup
	var made, used atomic.Int64
	race := func() {
		for range 8 {
			wg.Go(func() {
				c, err := a.Claim(t.Context(), r, 3)
				if err != nil {
					t.Error(err)
				}
				if c.New {
					made.Add(1)
				}
				if c.Used {
					used.Add(1)
				}
			})
		}
		wg.Wait()
	}
	race()
	if made.Load() != 1 || used.Load() != 0 {
		t.Fatalf("%d made, %d used", made.Load(), used.Load())
	}
	decide(t, a, claim(t, a, r, 0).Request.ID, access.ApprovalGranted)
	race()
	if made.Load() != 2 || used.Load() != 1 { // those that lost ask anew, as one
		t.Errorf("%d made, %d used", made.Load(), used.Load())
	}
}

func approvalsDenied(t *testing.T, a access.Approvals) {
	r := wish("one", "user:default/alice")
	asked := claim(t, a, r, 0)
	decide(t, a, asked.Request.ID, access.ApprovalDenied)
	if c := claim(t, a, r, time.Hour-1); c.New || c.Used || c.Request.State != access.ApprovalDenied || c.Request.Reason != "so be it" {
		t.Errorf("claim = %+v", c)
	}
	if c := claim(t, a, r, time.Hour); !c.New {
		t.Errorf("claim = %+v", c)
	}
}

func approvalsExpire(t *testing.T, a access.Approvals) {
	r := wish("one", "user:default/alice")
	first := claim(t, a, r, 0)
	second := claim(t, a, r, time.Hour)
	if !second.New || second.Request.ID == first.Request.ID {
		t.Fatalf("claim = %+v", second)
	}
	_, err := a.DecideApproval(t.Context(), access.ApprovalDecision{ID: second.Request.ID, State: access.ApprovalGranted, At: noon.Add(2 * time.Hour)})
	if fault.CodeOf(err) != fault.Conflict {
		t.Errorf("a late decision: %v", err)
	}
	if _, err = a.DecideApproval(t.Context(), access.ApprovalDecision{ID: second.Request.ID, State: access.ApprovalGranted, By: "user:default/bob", At: noon.Add(90 * time.Minute)}); err != nil {
		t.Fatal(err)
	}
	if c := claim(t, a, r, 2*time.Hour); c.Used || !c.New {
		t.Errorf("an approval was used after it expired: %+v", c)
	}
	got, err := a.ListApprovals(t.Context(), access.ApprovalQuery{State: access.ApprovalExpired, Now: noon.Add(2 * time.Hour), Limit: 9})
	if err != nil || len(got) != 2 || got[0].State != access.ApprovalExpired || got[1].ID != first.Request.ID {
		t.Errorf("expired: %+v, %v", got, err)
	}
}

func approvalsBound(t *testing.T, a access.Approvals) {
	for i := range 3 {
		claim(t, a, wish(fmt.Sprint(i), "user:default/alice"), 0)
	}
	_, err := a.Claim(t.Context(), wish("3", "user:default/alice"), 3)
	if fault.CodeOf(err) != fault.QuotaExceeded {
		t.Errorf("one too many: %v", err)
	}
	if c := claim(t, a, wish("3", "user:default/carol"), 0); !c.New {
		t.Errorf("another requester: %+v", c)
	}
	if c := claim(t, a, wish("3", "user:default/alice"), time.Hour); !c.New {
		t.Errorf("once the others expired: %+v", c)
	}
}

func approvalsDecided(t *testing.T, a access.Approvals) {
	c := claim(t, a, wish("one", "user:default/alice"), 0)
	decide(t, a, c.Request.ID, access.ApprovalGranted)
	for id, code := range map[string]fault.Code{c.Request.ID: fault.Conflict, "none": fault.NotFound} {
		_, err := a.DecideApproval(t.Context(), access.ApprovalDecision{ID: id, State: access.ApprovalDenied, At: noon})
		if fault.CodeOf(err) != code {
			t.Errorf("%s: %v", id, err)
		}
	}
}

func approvalsSelect(t *testing.T, a access.Approvals) {
	var ids []string
	for i, subject := range []string{"user:default/alice", "user:default/bob", "user:default/alice"} {
		ids = append(ids, claim(t, a, wish(fmt.Sprint(i), subject), 0).Request.ID)
	}
	before, err := a.ApprovalsRevision(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	decide(t, a, ids[1], access.ApprovalGranted)
	decide(t, a, ids[0], access.ApprovalDenied)
	if now, err := a.ApprovalsRevision(t.Context()); err != nil || now <= before {
		t.Errorf("revision %d after %d, %v", now, before, err)
	}
	for want, q := range map[string]access.ApprovalQuery{
		"210": {}, "20": {Subject: "user:default/alice"}, "2": {State: access.ApprovalPending}, "1": {State: access.ApprovalGranted}, "0": {ID: ids[0]},
		"": {Agent: "codex"}, "21": {Limit: 2}, "10": {Before: ids[2]}, "210 by change": {ByChange: true}, "10 by change": {ByChange: true, After: before},
	} {
		want = strings.TrimSuffix(want, " by change")
		if q.Limit == 0 {
			q.Limit = 9
		}
		q.Now = noon
		list, err := a.ListApprovals(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, r := range list {
			for i, id := range ids {
				if r.ID == id {
					got += fmt.Sprint(i)
				}
			}
		}
		if got != want {
			t.Errorf("%+v: got %q, want %q", q, got, want)
		}
	}
}

func approvalsContext(t *testing.T, a access.Approvals) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := a.Claim(ctx, wish("one", "user:default/alice"), 3); err == nil {
		t.Error("Claim went on after the end of its context")
	}
	if list, err := a.ListApprovals(t.Context(), access.ApprovalQuery{Now: noon, Limit: 9}); err != nil || len(list) != 0 {
		t.Errorf("%+v, %v", list, err)
	}
}
