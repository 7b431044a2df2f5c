package access

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"github.com/fairlead-dev/fairlead/internal/feed"
)

const (
	// maxTold is how many entries are told at a time.
	maxTold = 100
	// maxWatched is how many entries one look reads.
	maxWatched = 2_000
	// openFor is for how long the end of an act is looked for.
	openFor = 15 * time.Minute
)

// WatchAuditInput selects the entries to be told of; a field left out selects
// all.
type WatchAuditInput struct {
	// Subject is who asked, an entity reference; Agent acted for them.
	Subject, Agent string
}

// Appended are entries that are new in the audit, or whose outcome is.
type Appended struct {
	// Entries are in the order in which they came.
	Entries []Entry
	// Many tells that there were too many to name: the list is then empty.
	Many bool
}

// WatchAudit gives the entries of the audit that the caller may read as acts
// begin, and again as they end, until ctx ends; what happens within a second is
// told as one. The channel is closed then, and at once for who may read none of
// what is meant.
func (s *Service) WatchAudit(ctx context.Context, who Caller, in WatchAuditInput) <-chan Appended {
	if who.IsZero() || who.Anonymous() {
		return feed.None[Appended]()
	}
	if in.Subject != "" {
		ref, err := fullRef(in.Subject, "user")
		if err != nil {
			return feed.None[Appended]()
		}
		in.Subject = ref
	}
	if !s.readsAudit(who) {
		if in.Subject != "" && in.Subject != who.Subject() {
			return feed.None[Appended]()
		}
		in.Subject = who.Subject()
	}
	return feed.Watch(ctx, s.appended.feed, func(changed []Entry, tell func(Appended) bool) {
		out := Appended{Entries: slices.DeleteFunc(changed, func(e Entry) bool {
			return in.Subject != "" && e.Subject != in.Subject || in.Agent != "" && e.Agent != in.Agent
		})}
		if out.Many = s.appended.cut.Load() || len(out.Entries) > maxTold; out.Many {
			out.Entries = nil
		}
		if out.Many || len(out.Entries) > 0 {
			tell(out)
		}
	})
}

// appended is what the audit is watched by.
type appended struct {
	feed *feed.Feed[Entry]
	// cut tells that the last look has not read all that may have changed.
	cut atomic.Bool
}

// watched looks at the entries of the last minute, and further back while acts
// are under way that began before.
func watched(audit AuditReader) *appended {
	out := &appended{}
	var open time.Time // when the oldest act began that has not ended
	read := func(ctx context.Context, since time.Time) ([]Entry, error) {
		if oldest := time.Now().Add(-openFor); !open.IsZero() && open.Before(since) {
			since = later(open, oldest)
		}
		found, err := audit.Audit(ctx, AuditQuery{Since: since, Limit: maxWatched})
		if err != nil {
			return nil, err
		}
		slices.Reverse(found)
		open = time.Time{}
		for _, e := range found {
			if e.Status == StatusUnknown && open.IsZero() {
				open, _ = time.Parse(time.RFC3339Nano, e.Time) // it was written so
			}
		}
		out.cut.Store(len(found) == maxWatched)
		return found, nil
	}
	out.feed = feed.New(read, func(e *Entry) string { return e.ID }, func(e *Entry) string { return string(e.Status) })
	return out
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
