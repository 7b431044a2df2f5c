package previews

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/catalog/entity"
)

// WatchInput selects the previews to be told of; a field left out selects all.
type WatchInput struct {
	// ID is of one preview, Service the component that they are of: a full
	// reference or a bare name.
	ID, Service string
}

// rounds is how often it is looked whether previews have changed.
const rounds = time.Second

// Watch gives previews that the caller may see as they are created and change,
// until ctx ends; several changes within a second are told as one. The channel
// is closed then, and at once for who may see none.
func (s *Service) Watch(ctx context.Context, who access.Caller, in WatchInput) <-chan Preview {
	out := make(chan Preview)
	if s == nil || s.cfg.Policy.Scope(who, access.ReadPreviews).None() {
		close(out)
		return out
	}
	in.Service = entity.CompleteRef(in.Service, "component")
	scope := s.cfg.Policy.Scope(who, access.ReadPreviews)
	seen, err := s.feed.now(ctx, s.cfg.Reads)
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
				seen, err = s.feed.now(ctx, s.cfg.Reads)
				continue
			}
			var changed []Record
			changed, seen = s.feed.since(ctx, s.cfg.Reads, seen)
			for i := range changed {
				r := &changed[i]
				if in.ID != "" && r.ID != in.ID || in.Service != "" && r.Service != in.Service || !scope.Allows(s.about(r)) {
					continue
				}
				p, err := s.view(ctx, r)
				if err != nil {
					p = r.View(0)
				}
				select {
				case out <- *p:
				case <-ctx.Done():
					return
				}
			}
		}
	}()
	return out
}

// feed knows which previews have changed when. All that watch share its looks,
// and nobody looks while none does.
type feed struct {
	mu     sync.Mutex
	looked time.Time
	number int64 // of the last change
	all    map[string]noted
}

// noted is a preview at its last change.
type noted struct {
	number int64
	print  string
	record Record
}

// now is the number of the last change.
func (f *feed) now(ctx context.Context, reads Reads) (int64, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	err := f.look(ctx, reads)
	return f.number, err
}

// since gives what has changed after a change, in order, and the number of the
// last one. What cannot be read now is read in the next round.
func (f *feed) since(ctx context.Context, reads Reads, number int64) ([]Record, int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.look(ctx, reads) != nil || f.number == number {
		return nil, number
	}
	var changed []noted
	for _, t := range f.all {
		if t.number > number {
			changed = append(changed, t)
		}
	}
	slices.SortFunc(changed, func(a, b noted) int { return cmp.Compare(a.number, b.number) })
	out := make([]Record, len(changed))
	for i, t := range changed {
		out[i] = t.record
	}
	return out, f.number
}

// goneFor is for how long what is gone is still looked at.
const goneFor = time.Minute

// look reads the previews, unless that was done just now.
func (f *feed) look(ctx context.Context, reads Reads) error {
	if time.Since(f.looked) < rounds/2 {
		return nil
	}
	q := Query{Gone: true, GoneSince: time.Now().Add(-goneFor), Limit: batch}
	all := make(map[string]noted, len(f.all))
	for {
		found, err := reads.Previews(ctx, q)
		if err != nil {
			return err
		}
		for _, r := range found {
			t := noted{f.all[r.ID].number, fingerprint(&r), r}
			if t.print != f.all[r.ID].print {
				f.number++
				t.number = f.number
			}
			all[r.ID] = t
			q.Before, q.BeforeID = r.CreatedAt, r.ID
		}
		if len(found) < q.Limit {
			f.all, f.looked = all, time.Now()
			return nil
		}
	}
}

// fingerprint is of what callers are told.
func fingerprint(r *Record) string {
	return strings.Join([]string{string(r.Phase), r.Commit, r.Reason, r.URL, stamp(r.ExpiresAt), stamp(r.Since), stamp(r.EndedAt), strconv.FormatBool(r.warned()), strings.Join(r.Remains, "\x00")}, "\x01")
}
