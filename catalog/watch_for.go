package catalog

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/catalog/entity"
	"github.com/fairlead-dev/fairlead/internal/fault/beside"
)

// Changes are changes of the catalog as one caller may see them.
type Changes struct {
	// Changed are the refs of entities added or changed, Removed of those that
	// are there no more, both sorted.
	Changed, Removed []string
	// Added are those of Changed that were not there before.
	Added []string
	// Many tells that there were too many to name: both lists are then empty
	// and everything may have changed.
	Many bool
}

// Names tells whether an entity is one of those that changed, by its ref in
// lower case.
func (c Changes) Names(ref string) bool {
	return slices.Contains(c.Changed, ref) || slices.Contains(c.Removed, ref)
}

// WatchInput says of which changes to tell.
type WatchInput struct {
	// Kinds are those of the entities; none for all of them.
	Kinds []string
	// Recent is a time before the watching begins, of which is told as well, at
	// once and in one. Where that is not remembered, many have changed.
	Recent time.Duration
}

// WatchFor tells a caller of changes to entities that they may see or could see
// before, until ctx ends; then the channel is closed. What they may see is asked
// anew at each change.
func (s *Service) WatchFor(ctx context.Context, who access.Caller, which WatchInput) <-chan Changes {
	in := s.watch(ctx, which.Recent)
	out := make(chan Changes)
	beside.Go(ctx, slog.Default(), "telling a caller of changes of the catalog", func() {
		defer close(out)
		for c := range in {
			told := s.seen(who, which.Kinds, c)
			if len(told.Changed)+len(told.Removed) == 0 && !told.Many {
				continue
			}
			select {
			case out <- told:
			case <-ctx.Done():
			}
		}
	})
	return out
}

func (s *Service) seen(who access.Caller, kinds []string, c touched) Changes {
	scope := s.policy.Scope(who, access.ReadCatalog)
	if c.many {
		return Changes{Many: !scope.None()}
	}
	out := Changes{Changed: []string{}, Removed: []string{}}
	for _, ref := range c.refs {
		kind, _, _ := strings.Cut(ref, ":")
		if len(kinds) > 0 && !slices.ContainsFunc(kinds, func(k string) bool { return entity.Lower(k) == kind }) {
			continue
		}
		there, once := c.before.Get(scope, ref) != nil, c.was.seen(scope, ref)
		_, early := c.was[ref]
		switch {
		case c.at.Get(scope, ref) != nil:
			out.Changed = append(out.Changed, ref)
			if !once && (early || !there) {
				out.Added = append(out.Added, ref)
			}
		case there || once:
			out.Removed = append(out.Removed, ref)
		}
	}
	return out
}
