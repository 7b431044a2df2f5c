package secrets

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

// WatchInput selects the leases to be told of; a field left out selects all.
type WatchInput struct {
	// Lease is the id of one, Service the entity that lends them: a full
	// reference or the bare name of a component.
	Lease, Service string
	// Person holds them, an entity reference, and Agent asked for them.
	Person, Agent string
}

// Watch gives leases that the caller holds or may see as they are issued,
// renewed and ended, until ctx ends; several changes within a second are told
// as one. The channel is closed then, and at once for who may see none.
func (s *Service) Watch(ctx context.Context, who access.Caller, in WatchInput) <-chan Lease {
	if s == nil || who.IsZero() || who.Anonymous() && s.cfg.Policy.Scope(who, access.ReadCredentials).None() {
		return feed.None[Lease]()
	}
	in.Service, in.Person = entity.CompleteRef(in.Service, "component"), entity.CompleteRef(in.Person, "user")
	return feed.Watch(ctx, s.feed, func(changed []Record, tell func(Lease) bool) {
		scope := s.cfg.Policy.Scope(who, access.ReadCredentials)
		for i := range changed {
			r := &changed[i]
			if !in.selects(r) || !holds(who, r) && !scope.Allows(s.about(r)) {
				continue
			}
			if !tell(*r.View(s.cfg.Now())) {
				return
			}
		}
	})
}

// selects tells whether a lease is meant.
func (in *WatchInput) selects(r *Record) bool {
	for _, f := range [][2]string{{in.Lease, r.ID}, {in.Service, r.Service}, {in.Person, r.Person}, {in.Agent, r.Agent}} {
		if f[0] != "" && f[0] != f[1] {
			return false
		}
	}
	return true
}

// watched are the leases that have changed of late.
func watched(reads Reads) *feed.Feed[Record] {
	read := func(ctx context.Context, since time.Time) ([]Record, error) {
		return record.Collect(each(ctx, reads, Query{ChangedSince: since}))
	}
	return feed.New(read, func(r *Record) string { return r.ID }, fingerprint)
}

// fingerprint is of what callers are told.
func fingerprint(r *Record) string {
	return strings.Join([]string{string(r.State), stamp(r.ExpiresAt), string(r.Wrapping), stamp(r.EndedAt), r.EndedBy, r.Reason, strconv.FormatBool(r.Alarm)}, "\x00")
}
