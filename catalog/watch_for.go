package catalog

import (
	"context"
	"slices"
	"strings"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/catalog/entity"
	"github.com/fairlead-dev/fairlead/catalog/index"
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

// WatchFor tells a caller of changes to entities of some kinds, or of all,
// that they may see or could see before, until ctx ends; then the channel is
// closed. What they may see is asked anew at each change.
func (s *Service) WatchFor(ctx context.Context, who access.Caller, kinds []string) <-chan Changes {
	before := s.Snapshot()
	in := s.watch(ctx)
	out := make(chan Changes)
	go func() {
		defer close(out)
		for c := range in {
			told := s.seen(who, kinds, c, before)
			before = c.at
			if len(told.Changed)+len(told.Removed) == 0 && !told.Many {
				continue
			}
			select {
			case out <- told:
			case <-ctx.Done():
			}
		}
	}()
	return out
}

func (s *Service) seen(who access.Caller, kinds []string, c touched, before *index.Snapshot) Changes {
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
		switch {
		case c.at.Get(scope, ref) != nil:
			out.Changed = append(out.Changed, ref)
			if before.Get(scope, ref) == nil {
				out.Added = append(out.Added, ref)
			}
		case before.Get(scope, ref) != nil:
			out.Removed = append(out.Removed, ref)
		}
	}
	return out
}
