package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/previews"
)

var (
	_ previews.PullNotes  = (*Store)(nil)
	_ previews.PullClaims = (*Store)(nil)
)

// TellPull notes that there is news of a pull request. See previews.PullNotes.
func (s *Store) TellPull(ctx context.Context, at previews.PullRef, now time.Time) error {
	return s.changePreviews(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, s.query(`INSERT INTO preview_pulls (id, forge, repository, number, told, state, over, changed_at, due_at, holder, held_until)
			VALUES (?1, ?2, ?3, ?4, 1, '{}', 0, ?5, ?5, '', 0)
			ON CONFLICT (id) DO UPDATE SET told = preview_pulls.told + 1, over = 0, changed_at = ?5, due_at = ?5`),
			at.String(), at.Forge, at.Repository, at.Number, micros(now))
		return err
	})
}

// PullHeads are those of a repository that are not done with. See
// previews.PullNotes.
func (s *Store) PullHeads(ctx context.Context, at previews.PullRef) (map[int64]string, error) {
	all, err := gather(ctx, s.read, scanPull, s.query("SELECT forge, repository, number, told, state FROM preview_pulls WHERE over = 0 AND forge = ?1 AND repository = ?2"), at.Forge, at.Repository)
	out := make(map[int64]string, len(all))
	for i := range all {
		out[all[i].Number] = all[i].State.Head
	}
	return out, s.pullsDown("read", err)
}

// mostPulls is how many pull requests are given out at once.
const mostPulls = 100

// DuePulls are those to look after now. See previews.PullNotes.
func (s *Store) DuePulls(ctx context.Context, now time.Time) ([]previews.PullRef, error) {
	due, err := gather(ctx, s.read, scanPullRef, s.query(`SELECT forge, repository, number FROM preview_pulls
		WHERE over = 0 AND due_at <= ?1 AND held_until <= ?1 ORDER BY due_at, id LIMIT ?2`), micros(now), mostPulls)
	if err != nil || len(due) == 0 {
		return nil, s.pullsDown("read", err)
	}
	err = s.changePreviews(ctx, func(tx *sql.Tx) error {
		for _, at := range due {
			if _, err := tx.ExecContext(ctx, s.query("UPDATE preview_pulls SET due_at = ?2 WHERE id = ?1 AND due_at <= ?3"), at.String(), micros(now.Add(jobGrace)), micros(now)); err != nil {
				return err
			}
		}
		return nil
	})
	return due, err
}

func (s *Store) pullsDown(what string, err error) error {
	if err == nil {
		return nil
	}
	return s.previewsDown(what, err)
}

func scanPullRef(scan func(...any) error) (at previews.PullRef, err error) {
	return at, scan(&at.Forge, &at.Repository, &at.Number)
}

func scanPull(scan func(...any) error) (r previews.PullRecord, err error) {
	var state string
	if err = scan(&r.Forge, &r.Repository, &r.Number, &r.Told, &state); err != nil {
		return r, err
	}
	if err = json.Unmarshal([]byte(state), &r.State); err != nil {
		err = fmt.Errorf("reading pull request %s: %w", r.PullRef, err)
	}
	return r, err
}

// ClaimPull takes a pull request. See previews.PullClaims.
func (s *Store) ClaimPull(ctx context.Context, at previews.PullRef, holder string, now, until time.Time) (r previews.PullRecord, ok bool, err error) {
	err = s.changePreviews(ctx, func(tx *sql.Tx) error {
		all, err := gather(ctx, tx, scanPull, s.query(`UPDATE preview_pulls SET holder = ?2, held_until = ?4, due_at = ?4
			WHERE id = ?1 AND over = 0 AND (held_until <= ?3 OR holder = ?2) RETURNING forge, repository, number, told, state`), at.String(), holder, micros(now), micros(until))
		if ok = len(all) > 0; ok {
			r = all[0]
		}
		return err
	})
	return r, ok && err == nil, err
}

// ReportPull puts a pull request down. See previews.PullClaims.
func (s *Store) ReportPull(ctx context.Context, r previews.PullRecord, holder string, due, now time.Time, over bool) error {
	state, err := json.Marshal(r.State)
	if err != nil {
		return err
	}
	done := 0
	if over {
		done = 1
	}
	return s.changePreviews(ctx, func(tx *sql.Tx) error {
		// What a preview or the forge told while it was held made it due before.
		_, err := tx.ExecContext(ctx, s.query(`UPDATE preview_pulls SET state = ?3, changed_at = ?4, holder = '', held_until = 0,
			over = CASE WHEN told > ?5 THEN 0 ELSE ?6 END,
			due_at = CASE WHEN told > ?5 OR due_at < held_until THEN CAST(?4 AS BIGINT) ELSE CAST(?7 AS BIGINT) END
			WHERE id = ?1 AND holder = ?2`), r.String(), holder, string(state), micros(now), r.Told, done, micros(due))
		return err
	})
}

// PreviewsOfPull are the previews that follow a pull request. See
// previews.PullClaims.
func (s *Store) PreviewsOfPull(ctx context.Context, at previews.PullRef) ([]previews.Record, error) {
	return s.previewsIn(ctx, s.read, "WHERE pull = ?1 ORDER BY created_at, id", at.String())
}

// AdvancePreview has a preview run another commit. See previews.PullClaims.
func (s *Store) AdvancePreview(ctx context.Context, id string, to previews.Checkout, until, now time.Time, by string) (out previews.Record, err error) {
	err = s.changePreviews(ctx, func(tx *sql.Tx) error {
		n, err := s.changed(tx.ExecContext(ctx, s.query(`UPDATE previews SET commit_id = ?2, dir = ?3, turn = turn + 1, overdue_at = ?6,
			expires_at = CASE WHEN expires_at < ?4 THEN CAST(?4 AS BIGINT) ELSE expires_at END
			WHERE id = ?1 AND expires_at > ?5 AND ended_at = 0 AND phase NOT IN ('deleting', 'gone')`), id, to.Commit, to.Dir, micros(until), micros(now), micros(now.Add(jobGrace))))
		if err != nil {
			return err
		}
		if out, err = s.onePreview(ctx, tx, "WHERE id = ?1", id); err != nil {
			return err
		}
		if n == 0 {
			return fault.New(fault.FailedPrecondition, "preview %s is %s: it is ending and runs no other commit any more", id, out.Phase).WithFix("Create another.")
		}
		return s.tell(ctx, tx, id, previews.Event{At: now, Phase: out.Phase, Text: fmt.Sprintf("goes on to commit %.12s", to.Commit), By: by})
	})
	return out, err
}
