package accesstest

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/fairlead-dev/fairlead/access"
)

// Log is an audit in memory: an access.Log and an access.AuditReader.
type Log struct {
	mu      sync.Mutex
	entries []logged
}

type logged struct {
	entry access.Entry
	at    time.Time
	ended bool
}

// NewLog makes an empty audit.
func NewLog() *Log { return &Log{} }

// Begin records an act that begins, or a refusal.
func (l *Log) Begin(ctx context.Context, b access.Begun) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	id := fmt.Sprintf("%08d", len(l.entries)+1)
	l.entries = append(l.entries, logged{access.NewEntry(id, b), b.Time, b.Outcome != nil})
	return id, nil
}

// End records how an act ended.
func (l *Log) End(ctx context.Context, id string, o access.Outcome) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range l.entries {
		if l.entries[i].entry.ID == id && !l.entries[i].ended {
			l.entries[i].entry.End(o)
			l.entries[i].ended = true
			return nil
		}
	}
	return fmt.Errorf("no open audit entry %q", id)
}

// Audit lists what was recorded, newest first.
func (l *Log) Audit(ctx context.Context, q access.AuditQuery) ([]access.Entry, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []access.Entry
	for i := len(l.entries) - 1; i >= 0 && len(out) < q.Limit; i-- {
		if e := &l.entries[i]; selects(&q, e) {
			out = append(out, e.entry)
		}
	}
	return out, nil
}

// Agents lists those that acted, by their newest acts.
func (l *Log) Agents(ctx context.Context, q access.AgentQuery) ([]access.ActingAgent, error) {
	all, err := l.Audit(ctx, access.AuditQuery{Subject: q.Subject, Agent: cmp.Or(q.Agent, access.AnyAgent), Limit: math.MaxInt})
	var out []access.ActingAgent
	seen := map[string][]string{}
	for _, e := range all {
		i := slices.IndexFunc(out, func(a access.ActingAgent) bool { return a.Agent == e.Agent })
		if i < 0 {
			i, out = len(out), append(out, access.ActingAgent{Agent: e.Agent, Last: e})
		}
		a := &out[i]
		a.Acts++
		if e.Status == access.StatusRefused {
			a.Refused++
		}
		if slices.Contains(seen[e.Agent], e.Subject) {
			continue
		}
		seen[e.Agent] = append(seen[e.Agent], e.Subject)
		if a.SubjectCount++; a.SubjectCount <= q.Subjects {
			a.Subjects = append(a.Subjects, e.Subject)
		}
	}
	out = slices.DeleteFunc(out, func(a access.ActingAgent) bool { return q.Before != "" && a.Last.ID >= q.Before })
	return out[:min(len(out), q.Limit)], err
}

// Entries are all entries, oldest first, for assertions.
func (l *Log) Entries() []access.Entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := make([]access.Entry, len(l.entries))
	for i := range l.entries {
		out[i] = l.entries[i].entry
	}
	return out
}

func selects(q *access.AuditQuery, l *logged) bool {
	is := func(want, have string) bool { return want == "" || want == have }
	e := &l.entry
	return is(q.Subject, e.Subject) && (is(q.Agent, e.Agent) || q.Agent == access.AnyAgent && e.Agent != "") && is(string(q.Status), string(e.Status)) && is(string(q.Action), string(e.Action)) && is(q.Target, e.Target) &&
		(q.Since.IsZero() || !l.at.Before(q.Since)) && (q.Until.IsZero() || l.at.Before(q.Until)) &&
		(q.Before == "" || e.ID < q.Before)
}

// Quota is a quota in memory.
type Quota struct {
	mu   sync.Mutex
	full map[string]time.Time // when all of it will be there again
}

// NewQuota makes a quota of which nothing is used up.
func NewQuota() *Quota { return &Quota{full: map[string]time.Time{}} }

// Take uses up one, or tells how long to wait.
func (q *Quota) Take(ctx context.Context, key string, limit access.Rate) (time.Duration, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	if !limit.Valid() {
		return 0, fmt.Errorf("rate %s cannot be metered", limit)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	now := time.Now()
	full := q.full[key]
	if full.Before(now) {
		full = now
	}
	full = full.Add(limit.Interval())
	if wait := full.Sub(now.Add(limit.Per)); wait > 0 {
		return wait, nil
	}
	q.full[key] = full
	return 0, nil
}
