package catalog

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/internal/feed"
)

// maxIngestion is how many sources are named at a time.
const maxIngestion = 100

// IngestionChange names sources of which the state or the problems have changed.
type IngestionChange struct {
	// Sources are their names, sorted.
	Sources []string
	// Many tells that there were too many to name: the list is then empty.
	Many bool
}

// sourceNow is a source as it is watched.
type sourceNow struct {
	SourceStatus
	unshown int // entities of it that are not shown
}

// WatchIngestion tells a caller when the state or the problems of sources that
// they may know of change, until ctx ends; what happens within a second is told
// as one. source is that of one alone, "" of all. The channel is closed then,
// and at once for who may read nothing.
func (s *Service) WatchIngestion(ctx context.Context, who access.Caller, source string) <-chan IngestionChange {
	r := s.reading(who)
	if r.scope.None() {
		return feed.None[IngestionChange]()
	}
	before := r.knows()
	return feed.Watch(ctx, s.ingestions, func(changed []sourceNow, tell func(IngestionChange) bool) {
		knows := s.reading(who).knows()
		out := IngestionChange{Sources: []string{}}
		for _, st := range changed {
			// Of one that is gone it is told who knew of it.
			if (source == "" || st.Name == source) && (knows(st.Name) || before(st.Name)) {
				out.Sources = append(out.Sources, st.Name)
			}
		}
		before = knows
		if out.Many = len(out.Sources) > maxIngestion; out.Many {
			out.Sources = []string{}
		}
		slices.Sort(out.Sources)
		if out.Many || len(out.Sources) > 0 {
			tell(out)
		}
	})
}

// watchedSources are all sources.
func (s *Service) watchedSources() *feed.Feed[sourceNow] {
	read := func(context.Context, time.Time) ([]sourceNow, error) {
		ing, err := s.ingest()
		if err != nil {
			return nil, err
		}
		unshown := map[string]int{}
		for rec, why := range s.Snapshot().Unshown() {
			if why != nil {
				unshown[rec.Entity.From.Source]++
			}
		}
		all := ing.Sources()
		out := make([]sourceNow, len(all))
		for i, st := range all {
			out[i] = sourceNow{SourceStatus: st, unshown: unshown[st.Name]}
		}
		return out, nil
	}
	f := feed.New(read, func(st *sourceNow) string { return st.Name }, func(st *sourceNow) string {
		return fmt.Sprint(st.State, st.Commit, st.Error, st.Fix, st.URL, st.Changed, st.Files, st.Entities, st.Problems, st.Print, st.unshown)
	})
	f.Gone = func(st sourceNow) sourceNow { return sourceNow{SourceStatus: SourceStatus{Name: st.Name}} }
	return f
}
