// Package feed tells those who watch of records as they change. All who watch
// share one look at the records, and nobody looks while none does; so it works
// the same for one replica and for many beside each other.
package feed

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/fairlead-dev/fairlead/internal/fault/beside"
)

const (
	// usualEvery is how often it is looked whether records have changed.
	usualEvery = time.Second
	// patience is how long a look may take.
	patience = 10 * time.Second
	// goneFor is for how long it is known that a record is gone.
	goneFor = time.Minute
	// clocksApart is how far the clocks of replicas may be apart.
	clocksApart = time.Minute
)

// Feed knows which records have changed of late.
type Feed[R any] struct {
	// Gone makes of a record that is not read any more what is told of it; nil
	// tells nothing. Set it before anybody watches.
	Gone func(R) R
	// Every is how often it is looked, 1 s by default; several changes within
	// that time are told as one. Set it before anybody watches.
	Every time.Duration

	read  func(ctx context.Context, since time.Time) ([]R, error)
	key   func(*R) string
	print func(*R) string

	turn   chan struct{} // who has put something in may look, and at what follows
	looked time.Time
	number int64 // of the last change
	all    map[string]noted[R]
}

// noted is a record at its last change.
type noted[R any] struct {
	number int64
	print  string
	record R
	gone   time.Time // zero for what is there
}

// New makes a feed. read gives the records that may have changed since a time, at
// least all that have: since the look before, or for the first look since now,
// less what the clocks of replicas may be apart. key is what a record is known by,
// and print is of what is told of it: another print is a change.
func New[R any](read func(ctx context.Context, since time.Time) ([]R, error), key, print func(*R) string) *Feed[R] {
	return &Feed[R]{Every: usualEvery, read: read, key: key, print: print, turn: make(chan struct{}, 1)}
}

// None is told of nothing: the channel is closed.
func None[T any]() <-chan T {
	out := make(chan T)
	close(out)
	return out
}

// Watch has view be given the records that have changed, in the order in which
// they did, once in each round in which any have, until ctx ends; what it tells
// arrives by the channel, which is closed then. Who does not listen misses no
// record, but is told of its last change alone; tell is false once ctx has ended.
func Watch[R, T any](ctx context.Context, f *Feed[R], view func(changed []R, tell func(T) bool)) <-chan T {
	return Follow(ctx, f.Every, f.now, f.since, view)
}

// Follow is Watch of records that number their changes themselves: now is the
// number of the last change, and since gives what has changed after one, in
// order, and the number to go on from; what cannot be read leaves that as it is.
func Follow[R, T any](ctx context.Context, every time.Duration, now func(context.Context) (int64, error), since func(context.Context, int64) ([]R, int64), view func(changed []R, tell func(T) bool)) <-chan T {
	out := make(chan T)
	tell := func(v T) bool {
		select {
		case out <- v:
			return true
		case <-ctx.Done():
			return false
		}
	}
	seen, err := now(ctx)
	beside.Go(ctx, slog.Default(), "telling of changed records", func() {
		defer close(out)
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			if err != nil { // what happened before it is known is not told
				seen, err = now(ctx)
				continue
			}
			var changed []R
			if changed, seen = since(ctx, seen); len(changed) > 0 {
				view(changed, tell)
			}
		}
	})
	return out
}

// now is the number of the last change.
func (f *Feed[R]) now(ctx context.Context) (number int64, err error) {
	err = f.look(ctx, func() { number = f.number })
	return number, err
}

// since gives what has changed after a change, in order, and the number of the
// last one. What cannot be read now is read in the next round.
func (f *Feed[R]) since(ctx context.Context, number int64) ([]R, int64) {
	var found []noted[R]
	last := number
	err := f.look(ctx, func() {
		if last = f.number; last == number {
			return
		}
		for _, n := range f.all {
			if n.number > number {
				found = append(found, n)
			}
		}
	})
	if err != nil {
		return nil, number
	}
	slices.SortFunc(found, func(a, b noted[R]) int { return cmp.Compare(a.number, b.number) })
	out := make([]R, len(found))
	for i := range found {
		out[i] = found[i].record
	}
	return out, last
}

// look reads the records, unless that was done just now, and has what is known
// be used while it stands still.
func (f *Feed[R]) look(ctx context.Context, use func()) error {
	select {
	case f.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-f.turn }()
	now := time.Now()
	if f.looked.IsZero() || now.Sub(f.looked) >= f.Every/2 {
		since := f.looked
		if since.IsZero() {
			since = now
		}
		bounded, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		found, err := f.read(bounded, since.Add(-clocksApart))
		if err != nil {
			return err
		}
		f.note(found, now)
		f.looked = now
	}
	use()
	return nil
}

// note compares what was read with what was known.
func (f *Feed[R]) note(found []R, now time.Time) {
	all := make(map[string]noted[R], len(found))
	for i := range found {
		r := &found[i]
		key := f.key(r)
		n, known := f.all[key]
		if print := f.print(r); !known || n.print != print || !n.gone.IsZero() {
			f.number++
			n = noted[R]{number: f.number, print: print}
		}
		n.record = *r
		all[key] = n
	}
	for key, n := range f.all {
		if _, there := all[key]; there || f.Gone == nil || !n.gone.IsZero() && now.Sub(n.gone) > goneFor {
			continue
		}
		if n.gone.IsZero() {
			f.number++
			n.number, n.record, n.gone = f.number, f.Gone(n.record), now
		}
		all[key] = n
	}
	f.all = all
}
