package access_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/access/accesstest"
)

// heard gathers what is told until it has so many entries, or many.
func heard(t *testing.T, told <-chan access.Appended, n int) (out []string, many bool) {
	t.Helper()
	for late := time.After(time.Minute); len(out) < n; {
		select {
		case a, ok := <-told:
			if !ok || a.Many {
				return out, a.Many
			}
			for _, e := range a.Entries {
				out = append(out, fmt.Sprintf("%s %s %s", e.Subject, e.Target, e.Status))
			}
		case <-late:
			t.Fatalf("only %v was told", out)
		}
	}
	return out, false
}

// TestWatchAudit tells of acts as they begin and end: of all to who may read
// the audit, else of their own.
func TestWatchAudit(t *testing.T) {
	log := accesstest.NewLog()
	s := accesstest.Service(t, nil, log)
	begin := func(who access.Caller, target string) string {
		id, err := log.Begin(t.Context(), access.Begun{Time: time.Now(), Action: access.RefreshCatalog, Target: target, Who: who})
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	begin(alice(), "before")
	eve := accesstest.As("eve", accesstest.Roles("sre"))
	ctx, cancel := context.WithCancel(t.Context())
	all, own := s.WatchAudit(ctx, eve, access.WatchAuditInput{}), s.WatchAudit(ctx, alice(), access.WatchAuditInput{})
	agents := s.WatchAudit(ctx, eve, access.WatchAuditInput{Agent: "claude", Subject: "alice"})
	id := begin(alice(), "one")
	begin(bob(), "two")
	if got, _ := heard(t, all, 2); strings.Join(got, ", ") != "user:default/alice one unknown, user:default/bob two unknown" {
		t.Errorf("who may read all is told %v", got)
	}
	if err := log.End(t.Context(), id, access.Outcome{Status: access.StatusOK}); err != nil {
		t.Fatal(err)
	}
	for name, told := range map[string]<-chan access.Appended{"alice": own, "who asks for her agent": agents} {
		if got, _ := heard(t, told, 1); got[0] != "user:default/alice one ok" { // its beginning was not waited for
			if got, _ = heard(t, told, 1); got[0] != "user:default/alice one ok" {
				t.Errorf("%s is told %v", name, got)
			}
		}
	}
	for range 400 { // more than are named at a time, in however many rounds they come
		begin(bob(), "many")
	}
	many := false
	for !many {
		_, many = heard(t, all, 1)
	}
	cancel()
	for a := range own {
		if len(a.Entries) > 0 && a.Entries[0].Subject != "user:default/alice" {
			t.Errorf("alice is told %v", a)
		}
	}
	for name, told := range map[string]<-chan access.Appended{
		"nobody":    s.WatchAudit(t.Context(), access.Caller{}, access.WatchAuditInput{}),
		"anonymous": s.WatchAudit(t.Context(), accesstest.Anonymous(), access.WatchAuditInput{}),
		"of others": s.WatchAudit(t.Context(), alice(), access.WatchAuditInput{Subject: "user:default/bob"}),
		"no ref":    s.WatchAudit(t.Context(), eve, access.WatchAuditInput{Subject: ":::"}),
	} {
		for a := range told {
			t.Errorf("%s is told %v", name, a)
		}
	}
}
