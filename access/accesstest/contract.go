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

// RecordedLog is a log that can be read again.
type RecordedLog interface {
	access.Log
	access.AuditReader
}

// LogContract is what every log must pass; open makes an empty one.
func LogContract(t *testing.T, open func(testing.TB) RecordedLog) {
	t.Run("gives back what was recorded", func(t *testing.T) { logRoundTrip(t, open(t)) })
	t.Run("selects and pages", func(t *testing.T) { logSelects(t, open(t)) })
	t.Run("lists the agents", func(t *testing.T) { logAgents(t, open(t)) })
	t.Run("refuses a second end", func(t *testing.T) { logEndsOnce(t, open(t)) })
	t.Run("keeps order under load", func(t *testing.T) { logConcurrent(t, open(t)) })
	t.Run("keeps strange text", func(t *testing.T) { logStrange(t, open(t)) })
	t.Run("obeys its context", func(t *testing.T) { logContext(t, open(t)) })
}

var noon = time.Date(2026, 1, 2, 12, 0, 0, 123456000, time.UTC)

func begin(t *testing.T, log access.Log, b access.Begun) string {
	t.Helper()
	id, err := log.Begin(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func audit(t *testing.T, log access.AuditReader, q access.AuditQuery) []access.Entry {
	t.Helper()
	if q.Limit == 0 {
		q.Limit = 1000
	}
	entries, err := log.Audit(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	return entries
}

func logRoundTrip(t *testing.T, log RecordedLog) {
	who := As("alice", Agent("claude"), Groups("payments", "search"), Token("laptop"))
	b := access.Begun{
		Time: noon, Action: access.RefreshCatalog, Operation: "refresh_entity", Target: "component:default/checkout",
		Who: who, Input: `{"ref":"checkout"}`, Rule: "act-on-own", Approval: "0198",
	}
	open := begin(t, log, b)
	ok := begin(t, log, b)
	failed := begin(t, log, b)
	b.Outcome = &access.Outcome{Status: access.StatusRefused, Code: fault.Forbidden, Message: "no rule allows it"}
	refused := begin(t, log, b)
	success := access.Outcome{Status: access.StatusOK, Took: 1500 * time.Millisecond}
	failure := access.Outcome{Status: access.StatusFailed, Code: fault.Unavailable, Message: "the source is down", Took: time.Nanosecond}
	for id, o := range map[string]access.Outcome{ok: success, failed: failure} {
		if err := log.End(t.Context(), id, o); err != nil {
			t.Fatal(err)
		}
	}
	entry := func(id string, o *access.Outcome) access.Entry {
		b.Outcome = o
		return access.NewEntry(id, b)
	}
	want := []access.Entry{entry(refused, b.Outcome), entry(failed, &failure), entry(ok, &success), entry(open, nil)}
	if d := cmp.Diff(want, audit(t, log, access.AuditQuery{})); d != "" {
		t.Error(d)
	}
	if want[3].Status != access.StatusUnknown || want[3].Took != "" {
		t.Errorf("an act without an end is %+v", want[3])
	}
}

func logSelects(t *testing.T, log RecordedLog) {
	var ids []string
	for i := range 6 {
		who := As([]string{"alice", "bob"}[i%2], Agent([]string{"", "claude", "codex"}[i%3]))
		var end *access.Outcome
		if i%3 == 2 {
			end = &access.Outcome{Status: access.StatusRefused, Code: fault.Forbidden}
		}
		ids = append(ids, begin(t, log, access.Begun{
			Outcome: end, Time: noon.Add(time.Duration(i) * time.Hour), Action: []access.Action{access.RefreshCatalog, access.ReadAudit}[i/3],
			Target: fmt.Sprintf("component:default/c%d", i%2), Who: who,
		}))
	}
	for _, tt := range []struct {
		name string
		q    access.AuditQuery
		want string
	}{
		{"all, newest first", access.AuditQuery{}, "543210"},
		{"by subject", access.AuditQuery{Subject: "user:default/alice"}, "420"},
		{"by agent", access.AuditQuery{Agent: "claude"}, "41"},
		{"by any agent", access.AuditQuery{Agent: access.AnyAgent}, "5421"},
		{"by status", access.AuditQuery{Status: access.StatusRefused}, "52"},
		{"by both", access.AuditQuery{Agent: access.AnyAgent, Status: access.StatusUnknown}, "41"},
		{"by action", access.AuditQuery{Action: access.ReadAudit}, "543"},
		{"by target", access.AuditQuery{Target: "component:default/c1"}, "531"},
		{"since is at or after", access.AuditQuery{Since: noon.Add(4 * time.Hour)}, "54"},
		{"until is before", access.AuditQuery{Until: noon.Add(2 * time.Hour)}, "10"},
		{"since to the nanosecond", access.AuditQuery{Since: noon.Add(4*time.Hour + 1)}, "5"},
		{"in another zone", access.AuditQuery{Since: noon.Add(5 * time.Hour).In(time.FixedZone("", 3600))}, "5"},
		{"several at once", access.AuditQuery{Subject: "user:default/bob", Since: noon.Add(2 * time.Hour), Target: "component:default/c1"}, "53"},
		{"nobody", access.AuditQuery{Subject: "user:default/carol"}, ""},
		{"a limit", access.AuditQuery{Limit: 2}, "54"},
		{"the next page", access.AuditQuery{Limit: 2, Before: ids[4]}, "32"},
		{"the last page", access.AuditQuery{Limit: 9, Before: ids[1]}, "0"},
		{"a cursor of nobody's", access.AuditQuery{Before: "!"}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got strings.Builder
			for _, e := range audit(t, log, tt.q) {
				for i, id := range ids {
					if id == e.ID {
						fmt.Fprint(&got, i)
					}
				}
			}
			if got.String() != tt.want {
				t.Errorf("got %q, want %q", got.String(), tt.want)
			}
		})
	}
}

func logEndsOnce(t *testing.T, log RecordedLog) {
	id := begin(t, log, access.Begun{Time: noon, Who: As("alice")})
	refused := begin(t, log, access.Begun{Time: noon, Who: As("alice"), Outcome: &access.Outcome{Status: access.StatusRefused}})
	o := access.Outcome{Status: access.StatusOK}
	if err := log.End(t.Context(), id, o); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{id, refused, "none"} {
		if err := log.End(t.Context(), id, access.Outcome{Status: access.StatusFailed}); err == nil {
			t.Errorf("act %s was ended again", id)
		}
	}
	if e := audit(t, log, access.AuditQuery{}); e[1].Status != access.StatusOK || e[0].Status != access.StatusRefused {
		t.Errorf("the record changed: %+v", e)
	}
}

func logConcurrent(t *testing.T, log RecordedLog) {
	var wg sync.WaitGroup
	who := As("alice")
	for range 8 {
		wg.Go(func() {
			last := ""
			for range 5 {
				id, err := log.Begin(t.Context(), access.Begun{Time: noon, Who: who})
				if err != nil || id <= last {
					t.Errorf("Begin = %q after %q, %v", id, last, err)
					return
				}
				last = id
				if err := log.End(t.Context(), id, access.Outcome{Status: access.StatusOK}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	entries := audit(t, log, access.AuditQuery{})
	if len(entries) != 40 {
		t.Errorf("%d entries, want 40", len(entries))
	}
	for i, e := range entries {
		if e.Status != access.StatusOK || i > 0 && e.ID >= entries[i-1].ID {
			t.Errorf("entry %d = %+v", i, e)
		}
	}
}

func logStrange(t *testing.T, log RecordedLog) {
	text := `'); DROP TABLE audit; -- ? ?1 $1 "\` + "\t\n\u202e🦊é"
	begin(t, log, access.Begun{Time: noon, Who: As("alice"), Target: text, Input: text, Operation: text, Rule: text})
	e := audit(t, log, access.AuditQuery{Target: text})
	if len(e) != 1 || e[0].Target != text || e[0].Input != text || e[0].Operation != text || e[0].Rule != text {
		t.Errorf("got %+v", e)
	}
}

func logContext(t *testing.T, log RecordedLog) {
	id := begin(t, log, access.Begun{Time: noon, Who: As("alice")})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := log.Begin(ctx, access.Begun{Time: noon, Who: As("alice")}); err == nil {
		t.Error("Begin went on after the end of its context")
	}
	if err := log.End(ctx, id, access.Outcome{Status: access.StatusOK}); err == nil {
		t.Error("End went on after the end of its context")
	}
	if e := audit(t, log, access.AuditQuery{}); len(e) != 1 || e[0].Status != access.StatusUnknown {
		t.Errorf("the record is %+v", e)
	}
}

// QuotaContract is what every quota must pass; open makes one of which nothing
// is used up.
func QuotaContract(t *testing.T, open func(testing.TB) access.Quota) {
	t.Run("grants its burst and no more", func(t *testing.T) { quotaBurst(t, open(t)) })
	t.Run("fills up again", func(t *testing.T) { quotaRefills(t, open(t)) })
	t.Run("never grants the last one twice", func(t *testing.T) { quotaConcurrent(t, open(t)) })
	t.Run("refuses a rate that is none", func(t *testing.T) { quotaInvalid(t, open(t)) })
}

func take(t *testing.T, q access.Quota, key string, limit access.Rate) time.Duration {
	t.Helper()
	wait, err := q.Take(t.Context(), key, limit)
	if err != nil {
		t.Fatal(err)
	}
	return wait
}

func quotaBurst(t *testing.T, q access.Quota) {
	limit := access.Rate{Burst: 3, Per: 300 * time.Hour}
	for i := range 3 {
		if wait := take(t, q, "a", limit); wait != 0 {
			t.Fatalf("take %d has to wait %s", i, wait)
		}
	}
	for range 2 { // being refused costs nothing
		if wait := take(t, q, "a", limit); wait < 99*time.Hour || wait > 100*time.Hour {
			t.Errorf("wait = %s, want just under 100h", wait)
		}
	}
	if wait := take(t, q, "b", limit); wait != 0 {
		t.Errorf("another key has to wait %s", wait)
	}
}

func quotaRefills(t *testing.T, q access.Quota) {
	limit := access.Rate{Burst: 1, Per: 200 * time.Millisecond}
	for range 2 {
		for wait := take(t, q, "a", limit); wait != 0; wait = take(t, q, "a", limit) {
			if wait < 0 || wait > limit.Per {
				t.Fatalf("wait = %s", wait)
			}
			select {
			case <-t.Context().Done():
				t.Fatal(t.Context().Err())
			case <-time.After(wait):
			}
		}
	}
}

func quotaConcurrent(t *testing.T, q access.Quota) {
	var wg sync.WaitGroup
	var granted atomic.Int64
	for range 8 {
		wg.Go(func() {
			for range 5 {
				wait, err := q.Take(t.Context(), "a", access.Rate{Burst: 13, Per: 1000 * time.Hour})
				if err != nil {
					t.Error(err)
				}
				if wait == 0 {
					granted.Add(1)
				}
			}
		})
	}
	wg.Wait()
	if granted.Load() != 13 {
		t.Errorf("granted %d of 13", granted.Load())
	}
}

func quotaInvalid(t *testing.T, q access.Quota) {
	for _, limit := range []access.Rate{{}, {Burst: -1, Per: time.Hour}, {Burst: 1}, {Burst: 10, Per: 5}} {
		if _, err := q.Take(t.Context(), "a", limit); err == nil {
			t.Errorf("%s was metered", limit)
		}
	}
}
