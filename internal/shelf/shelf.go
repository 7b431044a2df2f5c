// Package shelf keeps answers of others for a short while, so that many who ask
// for the same at a time cost one look.
package shelf

import (
	"context"
	"sync"
	"time"

	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/fault/beside"
)

// usual is how many answers are kept at a time where nothing is said.
const usual = 10_000

// Shelf keeps answers for a short while, and has those who ask for one at the
// same time wait for one look. A look outlives the caller who began it, so that
// one who hangs up takes nothing from others, and ends with the shelf.
type Shelf[V any] struct {
	// Longer is how many times longer an answer is kept than others; 0, or nil,
	// for none. Set it before the first look.
	Longer func(V) int
	// Most is how many answers are kept at a time, 10,000 by default; spent ones
	// go first.
	Most int

	keep, patience time.Duration
	now            func() time.Time
	life           context.Context
	end            context.CancelFunc

	mu      sync.Mutex
	looks   map[string]*Look[V]
	running beside.All
}

// Look is one look: done is closed once value and at are there, or err where it
// panicked.
type Look[V any] struct {
	done  chan struct{}
	value V
	at    time.Time
	err   error
}

// New makes a shelf that keeps an answer for some time, and ends a look that
// takes longer than patience; now is the clock, nil for time.Now.
func New[V any](keep, patience time.Duration, now func() time.Time) *Shelf[V] {
	if now == nil {
		now = time.Now
	}
	s := &Shelf[V]{Most: usual, keep: keep, patience: patience, now: now, looks: map[string]*Look[V]{}}
	s.life, s.end = context.WithCancel(context.Background()) //nolint:gosec // Close calls it
	return s
}

// Wait gives what a look has found; an error is that ctx ended first, or that
// the look panicked.
func (l *Look[V]) Wait(ctx context.Context) (value V, err error) {
	select {
	case <-l.done:
		return l.value, l.err
	case <-ctx.Done():
		return value, ctx.Err()
	}
}

// Book gives the look that is kept under a key, or begins one.
func (s *Shelf[V]) Book(key string, look func(context.Context) V) *Look[V] {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l := s.looks[key]; l != nil && !s.spent(l) {
		return l
	}
	if len(s.looks) >= s.Most {
		s.clear()
	}
	l := &Look[V]{done: make(chan struct{})}
	s.looks[key] = l
	if s.life.Err() != nil { // nothing is looked for any more
		l.value = look(s.life)
		close(l.done)
		return l
	}
	s.running.Go(func() {
		defer close(l.done)
		ctx, cancel := context.WithTimeout(s.life, s.patience)
		defer cancel()
		defer fault.Catch(&l.err, "looking at what others have")
		l.value = look(ctx)
		l.at = s.now()
	})
	return l
}

// spent tells that a look is over and too long ago.
func (s *Shelf[V]) spent(l *Look[V]) bool {
	select {
	case <-l.done:
		if l.err != nil {
			return true
		}
		keep := s.keep
		if s.Longer != nil {
			keep = max(keep, keep*time.Duration(s.Longer(l.value)))
		}
		return s.now().Sub(l.at) >= keep
	default:
		return false
	}
}

// clear drops what is spent, and all that is over where that is not enough.
func (s *Shelf[V]) clear() {
	for _, all := range []bool{false, true} {
		for key, l := range s.looks {
			over := false
			select {
			case <-l.done:
				over = true
			default:
			}
			if over && (all || s.spent(l)) {
				delete(s.looks, key)
			}
		}
		if len(s.looks) < s.Most {
			return
		}
	}
}

// Close ends looks that are under way and waits for them.
func (s *Shelf[V]) Close() {
	s.mu.Lock()
	s.end()
	s.mu.Unlock()
	s.running.Wait()
}
