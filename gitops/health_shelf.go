package gitops

import (
	"context"
	"sync"
	"time"
)

// maxShelf is how many answers are kept at a time.
const maxShelf = 10_000

// shelf keeps answers for a short while, and has those who ask for one at the
// same time wait for one look. A look outlives the caller who began it, so that
// one who hangs up takes nothing from others, and ends with the shelf.
type shelf[V any] struct {
	keep, patience time.Duration
	now            func() time.Time
	// longer is how many times longer an answer is kept than others; 0, or nil,
	// for none.
	longer func(V) int
	life   context.Context
	end    context.CancelFunc

	mu      sync.Mutex
	looks   map[string]*lookUp[V]
	running sync.WaitGroup
}

// lookUp is one look: done is closed once value and at are there.
type lookUp[V any] struct {
	done  chan struct{}
	value V
	at    time.Time
}

func newShelf[V any](keep, patience time.Duration, now func() time.Time) *shelf[V] {
	s := &shelf[V]{keep: keep, patience: patience, now: now, looks: map[string]*lookUp[V]{}}
	s.life, s.end = context.WithCancel(context.Background()) //nolint:gosec // close calls it
	return s
}

// wait gives what a look has found.
func (l *lookUp[V]) wait(ctx context.Context) (value V, err error) {
	select {
	case <-l.done:
		return l.value, nil
	case <-ctx.Done():
		return value, ctx.Err()
	}
}

// book gives the look that is kept under a key, or begins one.
func (s *shelf[V]) book(key string, look func(context.Context) V) *lookUp[V] {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l := s.looks[key]; l != nil && !s.spent(l) {
		return l
	}
	if len(s.looks) >= maxShelf {
		s.clear()
	}
	l := &lookUp[V]{done: make(chan struct{})}
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
		l.value = look(ctx)
		l.at = s.now()
	})
	return l
}

// spent tells that a look is over and too long ago.
func (s *shelf[V]) spent(l *lookUp[V]) bool {
	select {
	case <-l.done:
		keep := s.keep
		if s.longer != nil {
			keep = max(keep, keep*time.Duration(s.longer(l.value)))
		}
		return s.now().Sub(l.at) >= keep
	default:
		return false
	}
}

// clear drops what is spent, and all that is over where that is not enough.
func (s *shelf[V]) clear() {
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
		if len(s.looks) < maxShelf {
			return
		}
	}
}

// close ends looks that are under way and waits for them.
func (s *shelf[V]) close() {
	s.mu.Lock()
	s.end()
	s.mu.Unlock()
	s.running.Wait()
}
