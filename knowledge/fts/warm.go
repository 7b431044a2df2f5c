package fts

import (
	"context"
	"fmt"
	"time"
)

// The bounds of what is read before anybody asks.
const (
	// common is how many documents have a word that is: to read which ones those
	// are takes about a quarter of a microsecond for each.
	common = 2000
	// maxWarm is how much of what is kept may come of this, in bytes.
	maxWarm = maxKept * 3 / 4
	// quiet is how long documents do not change before it is worth while, and
	// noticeable how many must have come since, or one in so many.
	quiet      = 2 * time.Second
	noticeable = 1000
	oneIn      = 10
)

// Warm reads which documents have the words that very many have, so that no
// question has to wait for it, and keeps that for the next start. It tells how
// many words these are, and how much memory all words that are kept take, in
// bytes.
func (x *Index) Warm(ctx context.Context) (words, bytes int, err error) {
	terms, err := x.vocabulary(ctx, "SELECT term FROM vocabulary WHERE doc >= ?1 ORDER BY doc DESC", common)
	if err != nil {
		return 0, 0, fmt.Errorf("reading common words: %w", err)
	}
	written, err := x.terms.written(ctx, terms)
	if err != nil {
		return 0, 0, err
	}
	var all []*kept
	for i, term := range terms {
		if written[i] == "" || bytes > maxWarm {
			continue
		}
		if _, err := x.postings(ctx, term, quote(written[i])); err != nil {
			return 0, 0, fmt.Errorf("reading common words: %w", err)
		}
		if k, _ := x.memory.get(term); k != nil {
			all = append(all, k)
		}
		bytes = x.memory.held()
	}
	return len(all), bytes, x.save(ctx, all)
}

// KeepWarm calls Warm whenever many documents have come since it was, until ctx
// ends.
func (x *Index) KeepWarm(ctx context.Context) error {
	warmed := x.saved.Load()
	for {
		if now := x.memory.documents(); int64(now.next)-int64(warmed) > max(noticeable, int64(now.live.GetCardinality())/oneIn) { //nolint:gosec // fewer than ids
			if _, _, err := x.Warm(ctx); err != nil && ctx.Err() == nil {
				return err
			}
			warmed = now.next
		}
		if !x.calm(ctx) {
			return nil
		}
	}
}

// calm waits for a change and then until none comes for a while; it tells
// whether there is one before ctx ends.
func (x *Index) calm(ctx context.Context) bool {
	select {
	case <-x.stirred:
	case <-ctx.Done():
		return false
	}
	for {
		select {
		case <-x.stirred:
		case <-time.After(quiet):
			return true
		case <-ctx.Done():
			return false
		}
	}
}
