package previews

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/catalog/entity"
	"github.com/fairlead-dev/fairlead/internal/feed"
	"github.com/fairlead-dev/fairlead/internal/record"
)

// WatchInput selects the previews to be told of; a field left out selects all.
type WatchInput struct {
	// ID is of one preview, Service the component that they are of: a full
	// reference or a bare name.
	ID, Service string
}

// Watch gives previews that the caller may see as they are created and change,
// until ctx ends; several changes within half a second are told as one. The
// channel is closed then, and at once for who may see none.
func (s *Service) Watch(ctx context.Context, who access.Caller, in WatchInput) <-chan Preview {
	if s == nil || s.cfg.Policy.Scope(who, access.ReadPreviews).None() {
		return feed.None[Preview]()
	}
	in.Service = entity.CompleteRef(in.Service, "component")
	scope := s.cfg.Policy.Scope(who, access.ReadPreviews)
	return feed.Watch(ctx, s.feed, func(changed []Record, tell func(Preview) bool) {
		for i := range changed {
			r := &changed[i]
			if in.ID != "" && r.ID != in.ID || in.Service != "" && r.Service != in.Service || !scope.Allows(s.about(r)) {
				continue
			}
			p, err := s.view(ctx, r)
			if err != nil {
				p = r.View(0)
			}
			if !tell(*p) {
				return
			}
		}
	})
}

// rounds is how often it is looked: what an agent has made is to be in an open
// page within a second.
const rounds = 500 * time.Millisecond

// goneFor is for how long what is gone is still looked at.
const goneFor = time.Minute

// watched are the previews that may have changed of late: those that are there,
// and those that are gone since a moment ago.
func watched(reads Reads) *feed.Feed[Record] {
	read := func(ctx context.Context, _ time.Time) ([]Record, error) {
		return record.Collect(all(ctx, reads, Query{Gone: true, GoneSince: time.Now().Add(-goneFor)}))
	}
	f := feed.New(read, func(r *Record) string { return r.ID }, fingerprint)
	f.Every = rounds
	return f
}

// fingerprint is of what callers are told.
func fingerprint(r *Record) string {
	return strings.Join([]string{string(r.Phase), r.Commit, r.Reason, r.URL, stamp(r.ExpiresAt), stamp(r.Since), stamp(r.EndedAt), strconv.FormatBool(r.warned()), strings.Join(r.Remains, "\x00")}, "\x01")
}
