package store

import (
	"context"
	"fmt"
	"time"

	"github.com/fairlead-dev/fairlead/access"
)

// Take uses up one of what a limit grants under a key, or tells how long to
// wait. What is kept is one number, the time at which all of the quota is
// there again; one statement decides and updates, so that replicas cannot
// both take the last. What was taken is on disk with the record of the act. See
// access.Quota.
func (s *Store) Take(ctx context.Context, key string, limit access.Rate) (time.Duration, error) {
	if !limit.Valid() {
		return 0, fmt.Errorf("rate %s cannot be metered", limit)
	}
	now, each := time.Now().UnixNano(), int64(limit.Interval())
	latest := now + int64(limit.Per) - each // full again later than this: nothing is left
	taken, err := s.execLazily(ctx, `INSERT INTO quota (name, full_at) VALUES (?1, ?2)
		ON CONFLICT (name) DO UPDATE
		SET full_at = CASE WHEN quota.full_at > ?3 THEN quota.full_at ELSE ?3 END + ?4
		WHERE quota.full_at <= ?5`, key, now+each, now, each, latest)
	if err != nil {
		return 0, fmt.Errorf("taking quota: %w", err)
	}
	if taken == 1 {
		return 0, nil
	}
	var full int64
	if err := s.read.QueryRowContext(ctx, s.query("SELECT full_at FROM quota WHERE name = ?1"), key).Scan(&full); err != nil {
		return 0, fmt.Errorf("reading quota: %w", err)
	}
	return max(time.Duration(full-latest), time.Millisecond), nil
}
