package store_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/access/accesstest"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/realtest"
)

// TestAgentsOfAnOlderAudit brings an audit up to date that was written before
// agents were counted.
func TestAgentsOfAnOlderAudit(t *testing.T) {
	engines(t, func(t *testing.T, dsn func(testing.TB) string) {
		at := dsn(t)
		s := open(t, at)
		for i := range 20 {
			var end *access.Outcome
			if i%4 == 0 {
				end = &access.Outcome{Status: access.StatusRefused, Code: fault.Forbidden}
			}
			who := accesstest.As([]string{"alice", "bob"}[i%2], accesstest.Agent([]string{"", "claude", "codex"}[i%3]))
			if _, err := s.Begin(t.Context(), access.Begun{Time: time.Now(), Action: access.RefreshCatalog, Who: who, Outcome: end}); err != nil {
				t.Fatal(err)
			}
		}
		agents := func() []access.ActingAgent {
			t.Helper()
			out, err := s.Agents(t.Context(), access.AgentQuery{Limit: 9, Subjects: 9})
			if err != nil {
				t.Fatal(err)
			}
			return out
		}
		want := agents()
		if len(want) != 2 || want[0].Acts+want[1].Acts != 13 || want[0].Refused+want[1].Refused == 0 {
			t.Fatalf("got %+v", want)
		}
		older(t, at, 19)
		if _, err := s.Migrate(t.Context()); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, agents()); d != "" {
			t.Error(d)
		}
	})
}

// BenchmarkAgents lists agents of an audit of a million acts.
func BenchmarkAgents(b *testing.B) {
	for _, pairs := range []int{5_000, 100_000} {
		for engine, dsn := range map[string]func(testing.TB) string{
			"sqlite":   func(t testing.TB) string { return filepath.Join(t.TempDir(), "state") },
			"postgres": realtest.Postgres,
		} {
			b.Run(fmt.Sprintf("%s/pairs=%d", engine, pairs), func(b *testing.B) { benchmarkAgents(b, dsn(b), pairs) })
		}
	}
}

func benchmarkAgents(b *testing.B, dsn string, pairs int) {
	s := open(b, dsn)
	numbers, id := "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 999999) ", "printf('%036d', i)"
	if strings.HasPrefix(dsn, "postgres://") {
		numbers, id = "WITH n AS (SELECT generate_series(0, 999999) AS i) ", "lpad(CAST(i AS TEXT), 36, '0')"
	}
	agent, subject := fmt.Sprintf("'agent-' || (i %% %d %% 1000)", pairs), fmt.Sprintf("'user:default/p' || (i %% %d)", pairs)
	_, err := raw(b, dsn).ExecContext(b.Context(),
		numbers+"INSERT INTO audit SELECT "+id+", i, 'catalog.refresh', 'refresh_entity', 'component:default/x', "+subject+", "+agent+
			", 'laptop', '[]', '{\"ref\":\"x\"}', 'act-on-own', 'ok', '', '', 1, '' FROM n")
	if err != nil {
		b.Fatal(err)
	}
	older(b, dsn, 19)
	began := time.Now()
	if _, err := s.Migrate(b.Context()); err != nil {
		b.Fatal(err)
	}
	b.Logf("counted in %s", time.Since(began).Round(time.Millisecond))
	for name, q := range map[string]access.AgentQuery{
		"first page": {Limit: 51, Subjects: 20}, "all": {Limit: 1001, Subjects: 20}, "of one person": {Limit: 51, Subjects: 20, Subject: "user:default/p7"},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if found, err := s.Agents(b.Context(), q); err != nil || len(found) == 0 {
					b.Fatal(len(found), err)
				}
			}
		})
	}
	b.Run("recording an act", func(b *testing.B) {
		who := accesstest.As("p7", accesstest.Agent("agent-7"))
		for b.Loop() {
			if _, err := s.Begin(b.Context(), access.Begun{Time: time.Now(), Action: access.RefreshCatalog, Who: who}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("recording an act of a person", func(b *testing.B) {
		for b.Loop() {
			if _, err := s.Begin(b.Context(), access.Begun{Time: time.Now(), Action: access.RefreshCatalog, Who: accesstest.As("p7")}); err != nil {
				b.Fatal(err)
			}
		}
	})
}
