package graphql_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// asks has the admin's agent do what needs approval.
func (s *server) asks(n int) error {
	op := access.Op{Action: access.UnregisterCatalog, Operation: "unregister_location", Resource: access.Attributes{Ref: "component:default/guarded"}, Plan: map[string]int{"n": n}}
	_, err := access.Do(s.t.Context(), s.guard, callers()["admin"], op, func(context.Context) (*int, error) { return &n, nil })
	return err
}

func TestApprovals(t *testing.T) {
	s := serveRules(t, ingestion{})
	if err := s.asks(1); fault.CodeOf(err) != fault.ApprovalRequired {
		t.Fatal(err)
	}
	same(t, s.data("boss", `{approvals(state: "pending") {items {id state action operation target summary plan subject agent rule approvers mayDecide decidedAt} nextCursor}}`, nil),
		`{"approvals": {"items": [{"id": "00000001", "state": "pending", "action": "catalog.unregister", "operation": "unregister_location", "target": "component:default/guarded",
			"summary": "unregister_location on component:default/guarded", "plan": {"n": 1}, "subject": "user:default/ada", "agent": "claude", "rule": "four-eyes", "approvers": ["role:admin"],
			"mayDecide": true, "decidedAt": null}], "nextCursor": null}}`)
	for token, code := range map[string]string{"admin": "forbidden", "stranger": "not_found"} {
		if a := s.post(token, `mutation {grantApproval(id: "00000001") {id}}`, nil); len(a.Errors) != 1 || a.Errors[0].Extensions.Code != code {
			t.Errorf("%s: %s", token, a.raw)
		}
	}
	same(t, s.data("boss", `mutation {grantApproval(id: "00000001", reason: "fine") {state decidedBy reason mayDecide}}`, nil),
		`{"grantApproval": {"state": "granted", "decidedBy": "user:default/bea", "reason": "fine", "mayDecide": false}}`)
	if err := s.asks(1); err != nil {
		t.Error(err)
	}
	same(t, s.data("admin", `{approval(id: "00000001") {state} audit(first: 1) {items {operation status approval}}}`, nil),
		`{"approval": {"state": "used"}, "audit": {"items": [{"operation": "unregister_location", "status": "ok", "approval": "00000001"}]}}`)
}

func TestApprovalSubscription(t *testing.T) {
	s := serveRules(t, ingestion{})
	_ = s.asks(0) // what was before is not told
	boss, stranger := s.open("boss"), s.open("stranger")
	for _, c := range []*client{boss, stranger} {
		c.send(`{"id":"1","type":"subscribe","payload":{"query":"subscription { approvalChanged { id state summary subject agent mayDecide } }"}}`)
		c.send(`{"id":"2","type":"subscribe","payload":{"query":"{ __typename }"}}`)
		c.read()
		c.read()
	}
	_ = s.asks(1)
	tells := func(state string, may bool) {
		t.Helper()
		want := fmt.Sprintf(`{"data":{"approvalChanged":{"id":"00000002","state":%q,"summary":"unregister_location on component:default/guarded","subject":"user:default/ada","agent":"claude","mayDecide":%v}}}`, state, may)
		if f := boss.read(); f.Type != "next" || string(f.Payload) != want {
			t.Errorf("%s %s", f.Type, f.Payload)
		}
	}
	tells("pending", true)
	s.data("boss", `mutation {denyApproval(id: "00000002", reason: "not now") {id}}`, nil)
	tells("denied", false)
	stranger.send(`{"type":"ping"}`)
	if f := stranger.read(); f.Type != "pong" {
		t.Errorf("a stranger is told: %s", f.Payload)
	}
	if err := s.asks(1); fault.CodeOf(err) != fault.Forbidden || !strings.Contains(err.Error(), "not now") {
		t.Error(err)
	}
}
