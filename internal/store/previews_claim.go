package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"time"

	"github.com/fairlead-dev/fairlead/previews"
)

// ClaimPreview takes a preview. See previews.Claims.
func (s *Store) ClaimPreview(ctx context.Context, t previews.Turn, holder string, now, until time.Time) (r previews.Record, hold previews.Hold, err error) {
	err = s.changePreviews(ctx, func(tx *sql.Tx) error {
		n, err := s.changed(tx.ExecContext(ctx, s.query(`UPDATE previews SET holder = ?3, held_until = ?5
			WHERE id = ?1 AND turn = ?2 AND phase <> 'gone' AND (held_until <= ?4 OR holder = ?3)`), t.ID, t.Number, holder, micros(now), micros(until)))
		if err != nil {
			return err
		}
		if n > 0 {
			r, err = s.onePreview(ctx, tx, "WHERE id = ?1", t.ID)
			return err
		}
		hold = previews.Over
		var alive int
		err = tx.QueryRowContext(ctx, s.query("SELECT COUNT(*) FROM previews WHERE id = ?1 AND turn = ?2 AND phase <> 'gone'"), t.ID, t.Number).Scan(&alive)
		if alive > 0 {
			hold = previews.Held
		}
		return err
	})
	return r, hold, err
}

// ReportPreview puts down a state. See previews.Claims.
func (s *Store) ReportPreview(ctx context.Context, r previews.Record, holder string, e *previews.Event, overdue time.Time) (ok bool, err error) {
	remains, err := json.Marshal(append([]string{}, r.Remains...))
	if err != nil {
		return false, err
	}
	err = s.changePreviews(ctx, func(tx *sql.Tx) error {
		n, err := s.changed(tx.ExecContext(ctx, s.query(`UPDATE previews SET phase = ?5, reason = ?6, since = ?7, ready_at = ?8, url = ?9, running = ?10, remains = ?11, tries = ?12, warned_of = ?13, applied = ?15, stuck_at = ?17,
			overdue_at = CASE WHEN CAST(?14 AS BIGINT) = 0 THEN overdue_at ELSE CAST(?14 AS BIGINT) END, holder = CASE WHEN CAST(?14 AS BIGINT) = 0 THEN holder ELSE '' END, held_until = CASE WHEN CAST(?14 AS BIGINT) = 0 THEN held_until ELSE 0 END
			WHERE id = ?1 AND holder = ?2 AND expires_at = ?3 AND ended_at = ?4 AND commit_id = ?16`),
			r.ID, holder, micros(r.ExpiresAt), micros(r.EndedAt), string(r.Phase), r.Reason, micros(r.Since), micros(r.ReadyAt), r.URL, r.Running, string(remains), r.Tries, micros(r.WarnedOf), micros(overdue), r.Applied, r.Commit, micros(r.StuckAt)))
		if err != nil {
			return err
		}
		if ok = n > 0; !ok {
			_, err = tx.ExecContext(ctx, s.query("UPDATE previews SET holder = '', held_until = 0 WHERE id = ?1 AND holder = ?2"), r.ID, holder)
			return err
		}
		if e == nil {
			return nil
		}
		return s.tell(ctx, tx, r.ID, *e)
	})
	return ok && err == nil, err
}

// queued selects those that wait for room, in order.
const queued = "WHERE phase = 'pending' AND admitted_at = 0 AND ended_at = 0 ORDER BY created_at, id"

// AdmitPreviews admits those that there is room for. Who holds one of them has
// seen it without room, and puts nothing down any more. See previews.Claims.
func (s *Store) AdmitPreviews(ctx context.Context, l previews.Limits, now time.Time) error {
	return s.changePreviews(ctx, func(tx *sql.Tx) error {
		if err := s.inLine(ctx, tx); err != nil {
			return err
		}
		waiting, err := s.previewsIn(ctx, tx, queued)
		if err != nil {
			return err
		}
		type whose struct{ owner, person, agent, pull string }
		none := map[whose]bool{} // for whom there is no room: that only gets less
		for _, r := range waiting {
			of := whose{r.Owner, r.Person, r.Agent, r.Pull}
			if none[of] {
				continue
			}
			full, err := s.full(ctx, tx, r, l)
			switch {
			case err != nil:
				return err
			case full != "":
				none[of] = true
				continue
			}
			if _, err := tx.ExecContext(ctx, s.query("UPDATE previews SET admitted_at = ?2, overdue_at = 0, holder = '', held_until = 0 WHERE id = ?1"), r.ID, micros(now)); err != nil {
				return err
			}
		}
		return nil
	})
}

// PreviewPositions are the places of those that wait for room. See
// previews.Reads.
func (s *Store) PreviewPositions(ctx context.Context) (map[string]int, error) {
	waiting, err := s.previewsIn(ctx, s.read, queued)
	if err != nil {
		return nil, err
	}
	out := make(map[string]int, len(waiting))
	for i, r := range waiting {
		out[r.ID] = i + 1
	}
	return out, nil
}

// mostOverdue is how many previews are given new turns at once.
const mostOverdue = 200

// OverduePreviews gives new turns. See previews.Claims.
func (s *Store) OverduePreviews(ctx context.Context, now time.Time) (out []previews.Turn, err error) {
	found, err := s.overdue(ctx, now)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	err = s.changePreviews(ctx, func(tx *sql.Tx) error {
		out = out[:0]
		for _, t := range found {
			n, err := s.changed(tx.ExecContext(ctx, s.query(`UPDATE previews SET turn = turn + 1, overdue_at = ?3
				WHERE id = ?1 AND turn = ?2 AND phase <> 'gone' AND overdue_at <= ?4 AND held_until <= ?4`), t.ID, t.Number, micros(now.Add(jobGrace)), micros(now)))
			if err != nil {
				return err
			}
			if n > 0 {
				out = append(out, previews.Turn{ID: t.ID, Number: t.Number + 1})
			}
		}
		return nil
	})
	return out, err
}

func (s *Store) overdue(ctx context.Context, now time.Time) (out []previews.Turn, err error) {
	rows, err := s.read.QueryContext(ctx, s.query(`SELECT id, turn FROM previews WHERE phase <> 'gone' AND overdue_at <= ?1 AND held_until <= ?1
		ORDER BY overdue_at LIMIT ?2`), micros(now), mostOverdue)
	if err != nil {
		return nil, s.previewsDown("read", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var t previews.Turn
		if err := rows.Scan(&t.ID, &t.Number); err != nil {
			return nil, s.previewsDown("read", err)
		}
		out = append(out, t)
	}
	return out, rows.Err()
}

// LetGoOfPreviews ends all holds: those of a program that has died, where no
// other can be at work.
func (s *Store) LetGoOfPreviews(ctx context.Context) error {
	_, err := s.exec(ctx, "UPDATE previews SET holder = '', held_until = 0, overdue_at = 0 WHERE phase <> 'gone'")
	return err
}

// ForgetPreviews removes previews that are gone since before a time.
func (s *Store) ForgetPreviews(ctx context.Context, before time.Time) error {
	return s.changePreviews(ctx, func(tx *sql.Tx) error {
		for _, text := range []string{"DELETE FROM preview_events WHERE preview IN (SELECT id FROM previews WHERE phase = 'gone' AND since < ?1)",
			"DELETE FROM previews WHERE phase = 'gone' AND since < ?1", "DELETE FROM preview_pulls WHERE over = 1 AND changed_at < ?1"} {
			if _, err := tx.ExecContext(ctx, s.query(text), micros(before)); err != nil {
				return err
			}
		}
		return nil
	})
}
