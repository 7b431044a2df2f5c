package git

import (
	"context"
	"sync"

	"github.com/fairlead-dev/fairlead/internal/git/objects"
)

// flights brings what several callers ask for at a time together: one fetch
// runs, and all that is asked for meanwhile goes with the next.
type flights struct {
	turn chan struct{} // who has put something in may fetch

	mu   sync.Mutex
	next *flight
}

// flight is one fetch, to come or under way.
type flight struct {
	ids  []objects.ID
	done chan struct{}
	// err is how it ended; left tells that it was the caller who fetched that
	// went away, and that others may try.
	err  error
	left bool
}

func newFlights() *flights { return &flights{turn: make(chan struct{}, 1)} }

// ask has objects fetched, by this caller or by another.
func (f *flights) ask(ctx context.Context, ids []objects.ID, fetch func(context.Context, []objects.ID) error) error {
	for {
		mine := f.book(ids)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-mine.done:
		case f.turn <- struct{}{}:
			f.fly(ctx, fetch)
		}
		// Whoever has had the turn finds the own flight done.
		<-mine.done
		if !mine.left || ctx.Err() != nil {
			return mine.err
		}
	}
}

// book puts objects on the next flight.
func (f *flights) book(ids []objects.ID) *flight {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.next == nil {
		f.next = &flight{done: make(chan struct{})}
	}
	f.next.ids = append(f.next.ids, ids...)
	return f.next
}

// fly fetches what has been asked for. The caller has the turn and gives it
// back.
func (f *flights) fly(ctx context.Context, fetch func(context.Context, []objects.ID) error) {
	defer func() { <-f.turn }()
	f.mu.Lock()
	fl := f.next
	f.next = nil
	f.mu.Unlock()
	if fl == nil {
		return
	}
	defer close(fl.done)
	fl.left = true // a panic leaves it so
	fl.err = fetch(ctx, fl.ids)
	fl.left = fl.err != nil && ctx.Err() != nil
}
