package access_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/access/accesstest"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// TestListAgents has one agent act before more acts of others than a page of the
// audit holds: it is listed all the same.
func TestListAgents(t *testing.T) {
	log := accesstest.NewLog()
	act := func(person, agent string) {
		t.Helper()
		if _, err := log.Begin(t.Context(), access.Begun{Action: access.RefreshCatalog, Who: accesstest.As(person, accesstest.Agent(agent))}); err != nil {
			t.Fatal(err)
		}
	}
	act("alice", "old")
	act("bob", "older-than-most")
	for range 600 {
		act("alice", "busy")
	}
	s := accesstest.Service(t, nil, log)
	sre, bob := accesstest.As("eve", accesstest.Roles("sre")), accesstest.As("bob")
	pages := func(who access.Caller, in access.ListAgentsInput) (got []string, err error) {
		for {
			page, err := s.ListAgents(t.Context(), who, in)
			if err != nil {
				return got, err
			}
			text := ""
			for _, a := range page.Items {
				text += fmt.Sprintf("%s %d, ", a.Agent, a.Acts)
			}
			if got = append(got, strings.TrimSuffix(text, ", ")); page.NextCursor == "" {
				return got, nil
			}
			in.Cursor = page.NextCursor
		}
	}
	for _, tt := range []struct {
		name string
		who  access.Caller
		in   access.ListAgentsInput
		want []string
		code fault.Code
	}{
		{"sre sees all", sre, access.ListAgentsInput{}, []string{"busy 600, older-than-most 1, old 1"}, ""},
		{"in pages", sre, access.ListAgentsInput{Limit: 2}, []string{"busy 600, older-than-most 1", "old 1"}, ""},
		{"in pages of one", sre, access.ListAgentsInput{Limit: 1}, []string{"busy 600", "older-than-most 1", "old 1"}, ""},
		{"others see what was done for them", bob, access.ListAgentsInput{}, []string{"older-than-most 1"}, ""},
		{"one", sre, access.ListAgentsInput{Agent: "old"}, []string{"old 1"}, ""},
		{"no text", sre, access.ListAgentsInput{Agent: "\xff"}, nil, fault.Invalid},
		{"anonymous", accesstest.Anonymous(), access.ListAgentsInput{}, nil, fault.Unauthenticated},
		{"nobody", access.Caller{}, access.ListAgentsInput{}, nil, fault.Unauthenticated},
		{"too many", sre, access.ListAgentsInput{Limit: 501}, nil, fault.Invalid},
		{"a cursor of the audit", sre, access.ListAgentsInput{Cursor: "audit:1"}, nil, fault.Invalid},
		{"an empty cursor", sre, access.ListAgentsInput{Cursor: "agents:"}, nil, fault.Invalid},
		{"control characters", sre, access.ListAgentsInput{Cursor: "agents:\x00"}, nil, fault.Invalid},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := pages(tt.who, tt.in)
			if fault.CodeOf(err) != tt.code {
				t.Fatalf("got %v", err)
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}
