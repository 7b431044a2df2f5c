package accesstest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// logAgents has agents act, one long before the others, and reads them in pages.
func logAgents(t *testing.T, log RecordedLog) {
	act := func(agent, person string, end *access.Outcome) string {
		return begin(t, log, access.Begun{Time: noon, Action: access.RefreshCatalog, Target: "component:default/x", Who: As(person, Agent(agent)), Outcome: end})
	}
	act("old", "alice", nil)
	for i := range 30 {
		act("busy", fmt.Sprintf("p%02d", i), nil)
	}
	refused := act("claude", "bob", &access.Outcome{Status: access.StatusRefused, Code: fault.Forbidden})
	act("", "alice", nil)
	failed := act("claude", "alice", nil)
	if err := log.End(t.Context(), failed, access.Outcome{Status: access.StatusFailed, Code: fault.Unavailable}); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		q    access.AgentQuery
		want []string
	}{
		{"all", access.AgentQuery{Limit: 9}, []string{"claude 2/1 2: alice bob", "busy 30/0 30: p29 p28 p27", "old 1/0 1: alice"}},
		{"of one person", access.AgentQuery{Limit: 9, Subject: "user:default/bob"}, []string{"claude 1/1 1: bob"}},
		{"one", access.AgentQuery{Limit: 9, Agent: "old"}, []string{"old 1/0 1: alice"}},
		{"one of one person", access.AgentQuery{Limit: 9, Agent: "claude", Subject: "user:default/alice"}, []string{"claude 1/0 1: alice"}},
		{"none", access.AgentQuery{Limit: 9, Agent: "new"}, nil},
		{"of nobody", access.AgentQuery{Limit: 9, Subject: "user:default/carol"}, nil},
		{"a page", access.AgentQuery{Limit: 1}, []string{"claude 2/1 2: alice bob"}},
		{"the next page", access.AgentQuery{Limit: 1, Before: failed}, []string{"busy 30/0 30: p29 p28 p27"}},
		{"the next of one person", access.AgentQuery{Limit: 9, Before: refused, Subject: "user:default/bob"}, nil},
		{"the last page", access.AgentQuery{Limit: 9, Before: refused}, []string{"busy 30/0 30: p29 p28 p27", "old 1/0 1: alice"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.q.Subjects = 3
			found, err := log.Agents(t.Context(), tt.q)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, a := range found {
				people := strings.ReplaceAll(strings.Join(a.Subjects, " "), "user:default/", "")
				got = append(got, fmt.Sprintf("%s %d/%d %d: %s", a.Agent, a.Acts, a.Refused, a.SubjectCount, people))
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Error(d)
			}
		})
	}
	found, err := log.Agents(t.Context(), access.AgentQuery{Limit: 9, Subjects: 1})
	if err != nil {
		t.Fatal(err)
	}
	acts := audit(t, log, access.AuditQuery{})
	for _, a := range found {
		newest := acts[slices.IndexFunc(acts, func(e access.Entry) bool { return e.Agent == a.Agent })]
		if d := cmp.Diff(newest, a.Last); d != "" {
			t.Errorf("the last act of %s: %s", a.Agent, d)
		}
	}
}
