package access_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/access/accesstest"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

func TestWhoami(t *testing.T) {
	limited := accesstest.Policy(t, `rules:
  - {name: read, effect: allow, who: {subjects: ["*"]}, actions: [catalog.read]}
  - {name: hide, effect: deny, who: {subjects: ["*"]}, actions: [catalog.read], on: {tags: [hidden], kinds: [api]}}
  - {name: own, effect: allow, who: {subjects: ["*"]}, actions: [catalog.refresh], on: {owners: [own]}}
`)
	for _, tt := range []struct {
		name   string
		policy *access.Policy
		who    access.Caller
		want   string
	}{
		{"an owner's agent", nil, alice(), "user:default/alice claude false test [group:default/payments] [] " +
			"catalog.read=everything; catalog.refresh=entities with owners group:default/payments; catalog.register=everything; catalog.unregister=entities with owners group:default/payments; knowledge.external=everything; " +
			"previews.read=everything; previews.create=entities with owners group:default/payments; previews.extend=entities with owners group:default/payments; previews.delete=entities with owners group:default/payments; secrets.read=leases that you hold, and those of entities with owners group:default/payments; secrets.request=entities with owners group:default/payments; secrets.renew=entities with owners group:default/payments; secrets.revoke=leases that you hold, and those of entities with owners group:default/payments; gitops.read=everything; gitops.propose=entities with owners group:default/payments; gitops.fleet=entities with owners group:default/payments; gitops.health=everything; gitops.checks=everything; approvals.read=your own requests, those you may decide on, and those on entities with owners group:default/payments; audit.read=your own acts; self.read=everything; schema.read=everything"},
		{"sre", nil, accesstest.As("eve", accesstest.Roles("sre")), "user:default/eve  false test [] [sre] " +
			"catalog.read=everything; catalog.refresh=everything; catalog.register=everything; catalog.unregister=everything; knowledge.external=everything; " +
			"previews.read=everything; previews.create=everything; previews.extend=everything; previews.delete=everything; previews.force=everything; previews.strays=everything; previews.sweep=everything; secrets.read=everything; secrets.request=everything; secrets.collect=everything; secrets.renew=everything; secrets.revoke=everything; gitops.read=everything; gitops.propose=everything; gitops.fleet=everything; gitops.health=everything; gitops.checks=everything; gitops.link=everything; approvals.read=everything; approvals.decide=requests of others that name you, or a group or role of yours; audit.read=everything; self.read=everything; schema.read=everything"},
		{"an anonymous reader", nil, accesstest.Anonymous(), "  true anonymous [] [] catalog.read=everything; self.read=everything"},
		{"under rules", limited, alice(), "user:default/alice claude false test [group:default/payments] [] " +
			"catalog.read=everything, except entities with kinds api, tags hidden; catalog.refresh=entities with owners group:default/payments; secrets.read=leases that you hold; secrets.revoke=leases that you hold; approvals.read=your own requests, those you may decide on; audit.read=your own acts; self.read=everything"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := accesstest.Service(t, tt.policy, accesstest.NewLog())
			id, err := s.Whoami(t.Context(), tt.who, access.WhoamiInput{})
			if err != nil {
				t.Fatal(err)
			}
			var may []string
			for _, p := range id.Actions {
				may = append(may, string(p.Action)+"="+p.On)
			}
			got := fmt.Sprint(id.Subject, " ", id.Agent, " ", id.Anonymous, " ", id.Token, " ", id.Groups, " ", id.Roles, " ", strings.Join(may, "; "))
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Error(d)
			}
		})
	}
	s := accesstest.Service(t, nil, accesstest.NewLog())
	if _, err := s.Whoami(t.Context(), access.Caller{}, access.WhoamiInput{}); fault.CodeOf(err) != fault.Unauthenticated {
		t.Errorf("nobody is somebody: %v", err)
	}
}

func TestListAudit(t *testing.T) {
	log := accesstest.NewLog()
	now := time.Now()
	for i := range 5 {
		who := accesstest.As([]string{"alice", "bob"}[i%2])
		if _, err := log.Begin(t.Context(), access.Begun{Time: now.Add(time.Duration(i-4) * time.Hour), Action: access.RefreshCatalog, Who: who}); err != nil {
			t.Fatal(err)
		}
	}
	s := accesstest.Service(t, nil, log)
	sre, bob := accesstest.As("eve", accesstest.Roles("sre")), accesstest.As("bob")
	for _, tt := range []struct {
		name string
		who  access.Caller
		in   access.ListAuditInput
		want string
		code fault.Code
	}{
		{"sre sees all", sre, access.ListAuditInput{}, "54321", ""},
		{"others see their own", bob, access.ListAuditInput{}, "42", ""},
		{"also when they say so", bob, access.ListAuditInput{Subject: "BOB"}, "42", ""},
		{"but not of others", bob, access.ListAuditInput{Subject: "alice"}, "", fault.Forbidden},
		{"sre asks for one", sre, access.ListAuditInput{Subject: "user:default/alice"}, "531", ""},
		{"what was refused", sre, access.ListAuditInput{Status: "refused"}, "", ""},
		{"what has not ended", sre, access.ListAuditInput{Status: "unknown", Agent: "*"}, "", ""},
		{"a status that there is not", sre, access.ListAuditInput{Status: "sad"}, "", fault.Invalid},
		{"since an age", sre, access.ListAuditInput{Since: "90m"}, "54", ""},
		{"until an age", sre, access.ListAuditInput{Until: "150m"}, "21", ""},
		{"since a time", sre, access.ListAuditInput{Since: now.Add(-30 * time.Minute).Format(time.RFC3339)}, "5", ""},
		{"by action", sre, access.ListAuditInput{Action: "audit.read"}, "", ""},
		{"anonymous", accesstest.Anonymous(), access.ListAuditInput{}, "", fault.Unauthenticated},
		{"nobody", access.Caller{}, access.ListAuditInput{}, "", fault.Unauthenticated},
		{"a wrong subject", sre, access.ListAuditInput{Subject: "a b"}, "", fault.Invalid},
		{"a wrong time", sre, access.ListAuditInput{Since: "yesterday"}, "", fault.Invalid},
		{"a time beyond all", sre, access.ListAuditInput{Until: "9999-01-01T00:00:00Z"}, "", fault.Invalid},
		{"a negative age", sre, access.ListAuditInput{Since: "-1h"}, "", fault.Invalid},
		{"too many", sre, access.ListAuditInput{Limit: 501}, "", fault.Invalid},
		{"too few", sre, access.ListAuditInput{Limit: -1}, "", fault.Invalid},
		{"a wrong cursor", sre, access.ListAuditInput{Cursor: "x"}, "", fault.Invalid},
		{"an empty cursor", sre, access.ListAuditInput{Cursor: "audit:"}, "", fault.Invalid},
		{"control characters", sre, access.ListAuditInput{Target: "a\x00b"}, "", fault.Invalid},
		{"no text", sre, access.ListAuditInput{Agent: "\xff"}, "", fault.Invalid},
		{"a huge field", sre, access.ListAuditInput{Action: strings.Repeat("x", 600)}, "", fault.Invalid},
	} {
		t.Run(tt.name, func(t *testing.T) {
			page, err := s.ListAudit(t.Context(), tt.who, tt.in)
			if f := fault.From(err); fault.CodeOf(err) != tt.code || f != nil && f.Fix == "" {
				t.Fatalf("err = %+v", f)
			}
			if err == nil && ids(page) != tt.want {
				t.Errorf("got %q, want %q", ids(page), tt.want)
			}
		})
	}
}

// ids are the last digits of a page's ids.
func ids(page *access.AuditPage) (out string) {
	for _, e := range page.Items {
		out += e.ID[len(e.ID)-1:]
	}
	return out
}

func TestListAuditPages(t *testing.T) {
	log := accesstest.NewLog()
	for range 5 {
		if _, err := log.Begin(t.Context(), access.Begun{Who: alice()}); err != nil {
			t.Fatal(err)
		}
	}
	s := accesstest.Service(t, nil, log)
	var got []string
	in := access.ListAuditInput{Limit: 2}
	for {
		page, err := s.ListAudit(t.Context(), alice(), in)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, ids(page))
		if in.Cursor = page.NextCursor; in.Cursor == "" {
			break
		}
	}
	if d := cmp.Diff([]string{"54", "32", "1"}, got); d != "" {
		t.Error(d)
	}
}

type unreadable struct{}

func (unreadable) Audit(context.Context, access.AuditQuery) ([]access.Entry, error) {
	return nil, errors.New("disk on fire")
}

func (unreadable) Agents(context.Context, access.AgentQuery) ([]access.ActingAgent, error) {
	return nil, errors.New("disk on fire")
}

func TestListAuditWithoutItsStore(t *testing.T) {
	s, err := access.NewService(nil, unreadable{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.ListAudit(t.Context(), alice(), access.ListAuditInput{})
	if f := fault.From(err); f.Code != fault.Unavailable || strings.Contains(f.Message, "fire") {
		t.Errorf("fault = %+v", f)
	}
	_, err = s.ListAgents(t.Context(), alice(), access.ListAgentsInput{})
	if f := fault.From(err); f.Code != fault.Unavailable || strings.Contains(f.Message, "fire") {
		t.Errorf("fault = %+v", f)
	}
}
