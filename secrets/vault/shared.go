package vault

import (
	"context"
	"time"

	"github.com/fairlead-dev/fairlead/internal/fault/beside"
)

// shared is what is looked up for many who want the same at once: one looks, and
// those who came before that began use what it found.
type shared[T any] struct {
	turn  chan struct{}       // holds one
	found map[string]found[T] // of who has the turn
}

type found[T any] struct {
	at   time.Time // when the looking began
	what T
}

func newShared[T any]() *shared[T] {
	s := &shared[T]{turn: make(chan struct{}, 1), found: map[string]found[T]{}}
	s.turn <- struct{}{}
	return s
}

// get gives what was found by a key since a time.
func (s *shared[T]) get(ctx context.Context, key string, since time.Time, look func() (T, error)) (what T, err error) {
	select {
	case <-ctx.Done():
		return what, ctx.Err()
	case <-s.turn:
	}
	defer func() { s.turn <- struct{}{} }()
	if f, there := s.found[key]; there && !f.at.Before(since) {
		return f.what, nil
	}
	f := found[T]{at: time.Now()}
	if f.what, err = look(); err != nil {
		return what, err
	}
	if len(s.found) >= mostPaths {
		clear(s.found)
	}
	s.found[key] = f
	return f.what, nil
}

// atOnce does a few at a time of many.
func atOnce[In, Out any](all []In, do func(In) (Out, error)) ([]Out, error) {
	out, errs := make([]Out, len(all)), make([]error, len(all))
	turns := make(chan struct{}, looksAtOnce)
	var wg beside.All
	for i, in := range all {
		turns <- struct{}{}
		wg.Go(func() {
			defer func() { <-turns }()
			out[i], errs[i] = do(in)
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}
