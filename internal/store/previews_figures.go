package store

import (
	"context"
	"errors"
	"time"

	"github.com/fairlead-dev/fairlead/previews"
)

// PreviewCounts are how many previews there are in each phase that is not
// gone.
func (s *Store) PreviewCounts(ctx context.Context) (out map[previews.Phase]int, err error) {
	rows, err := s.read.QueryContext(ctx, "SELECT phase, COUNT(*) FROM previews WHERE phase <> 'gone' GROUP BY phase")
	if err != nil {
		return nil, s.previewsDown("counted", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	out = map[previews.Phase]int{}
	for rows.Next() {
		var phase previews.Phase
		var n int
		if err := rows.Scan(&phase, &n); err != nil {
			return nil, s.previewsDown("counted", err)
		}
		out[phase] = n
	}
	return out, rows.Err()
}

// PreviewFigures are what those who run a server want to be woken by.
type PreviewFigures struct {
	// Overdue is how long ago the time of a preview that is still there was up,
	// the longest.
	Overdue time.Duration
	// Stuck are the removals that take longer than they should, Removal how
	// long the longest takes so far.
	Stuck   int
	Removal time.Duration
	// Queue is how many wait for room, and Wait how long the first of them has
	// waited.
	Queue int
	Wait  time.Duration
	// Lag is how long ago a preview should have been looked after that nobody
	// has taken, the longest.
	Lag time.Duration
}

// PreviewFigures tells them as they are at a time.
func (s *Store) PreviewFigures(ctx context.Context, now time.Time) (f PreviewFigures, err error) {
	const waits = "phase = 'pending' AND admitted_at = 0 AND ended_at = 0"
	var overdue, removal, wait, lag int64
	err = s.read.QueryRowContext(ctx, s.query(`SELECT
		COALESCE(MAX(CAST(?1 AS BIGINT) - expires_at), 0),
		COALESCE(SUM(CASE WHEN phase = 'deleting' AND reason LIKE 'stuck:%' THEN 1 ELSE 0 END), 0),
		COALESCE(MAX(CASE WHEN phase = 'deleting' THEN CAST(?1 AS BIGINT) - since END), 0),
		COALESCE(SUM(CASE WHEN `+waits+` THEN 1 ELSE 0 END), 0),
		COALESCE(MAX(CASE WHEN `+waits+` THEN CAST(?1 AS BIGINT) - created_at END), 0),
		COALESCE(MAX(CASE WHEN held_until <= ?1 THEN CAST(?1 AS BIGINT) - overdue_at END), 0)
		FROM previews WHERE phase <> 'gone'`), micros(now)).Scan(&overdue, &f.Stuck, &removal, &f.Queue, &wait, &lag)
	if err != nil {
		return f, s.previewsDown("counted", err)
	}
	for _, it := range []struct {
		to     *time.Duration
		micros int64
	}{{&f.Overdue, overdue}, {&f.Removal, removal}, {&f.Wait, wait}, {&f.Lag, lag}} {
		*it.to = time.Duration(max(0, it.micros)) * time.Microsecond
	}
	return f, nil
}
