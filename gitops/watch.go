package gitops

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/catalog/entity"
)

// WatchInput selects the proposals to be told of; a field left out selects all.
type WatchInput struct {
	// ID is of one proposal, Service the entity that they are about: a full
	// reference or the bare name of a component.
	ID, Service string
}

// rounds is how often it is looked whether proposals have changed.
const rounds = time.Second

// Watch gives proposals that the caller may see as they are made and come
// along, without their diffs, until ctx ends; several changes within a second
// are told as one. The channel is closed then, and at once for who may see none.
func (s *Service) Watch(ctx context.Context, who access.Caller, in WatchInput) <-chan Proposal {
	out := make(chan Proposal)
	if s == nil || s.cfg.Policy.Scope(who, access.ReadProposals).None() {
		close(out)
		return out
	}
	in.Service = entity.CompleteRef(in.Service, "component")
	seen, err := s.feed.since(ctx, s.cfg.Reads, -1, nil)
	go func() {
		defer close(out)
		tick := time.NewTicker(rounds)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			if err != nil { // what happened before it is known is not told
				seen, err = s.feed.since(ctx, s.cfg.Reads, -1, nil)
				continue
			}
			var changed []Record
			if next, err := s.feed.since(ctx, s.cfg.Reads, seen, &changed); err == nil {
				seen = next
			}
			if !s.tell(ctx, who, in, changed, out) {
				return
			}
		}
	}()
	return out
}

// tell sends what the caller has asked for and may see; false is that nobody
// listens any more.
func (s *Service) tell(ctx context.Context, who access.Caller, in WatchInput, changed []Record, out chan<- Proposal) bool {
	scope := s.cfg.Policy.Scope(who, access.ReadProposals)
	for i := range changed {
		r := &changed[i]
		if in.ID != "" && r.ID != in.ID || in.Service != "" && r.Service != in.Service || !scope.Allows(s.about(r)) {
			continue
		}
		select {
		case out <- r.listed():
		case <-ctx.Done():
			return false
		}
	}
	return true
}

// feed knows which proposals have changed of late. All that watch share its
// looks, and nobody looks while none does.
type feed struct {
	mu     sync.Mutex
	looked time.Time
	number int64 // of the last change
	all    map[string]noted
}

// noted is a proposal at its last change.
type noted struct {
	number int64
	record Record
}

// clocksApart is how far the clocks of replicas may be apart.
const clocksApart = time.Minute

// since adds what has changed after a change, in order, and gives the number of
// the last one.
func (f *feed) since(ctx context.Context, reads Reads, number int64, changed *[]Record) (int64, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.look(ctx, reads); err != nil {
		return number, err
	}
	if number < 0 || f.number == number {
		return f.number, nil
	}
	var found []noted
	for _, n := range f.all {
		if n.number > number {
			found = append(found, n)
		}
	}
	slices.SortFunc(found, func(a, b noted) int { return cmp.Compare(a.number, b.number) })
	for i := range found {
		*changed = append(*changed, found[i].record)
	}
	return f.number, nil
}

// look reads the proposals that have changed of late, unless that was done just
// now.
func (f *feed) look(ctx context.Context, reads Reads) error {
	if time.Since(f.looked) < rounds/2 {
		return nil
	}
	now := time.Now()
	q := Query{ChangedSince: now.Add(-clocksApart), Limit: maxPage}
	if !f.looked.IsZero() && f.looked.Add(-clocksApart).Before(q.ChangedSince) {
		q.ChangedSince = f.looked.Add(-clocksApart)
	}
	all := make(map[string]noted, len(f.all))
	for {
		found, err := reads.Proposals(ctx, q)
		if err != nil {
			return err
		}
		for i := range found {
			r := &found[i]
			n, known := f.all[r.ID]
			if !known || !n.record.ChangedAt.Equal(r.ChangedAt) {
				f.number++
				n = noted{f.number, *r}
			}
			all[r.ID] = n
			q.Before, q.BeforeID = r.CreatedAt, r.ID
		}
		if len(found) < q.Limit {
			f.all, f.looked = all, now
			return nil
		}
	}
}
