package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/previews"
)

var (
	_ previews.Wishes = (*Store)(nil)
	_ previews.Reads  = (*Store)(nil)
	_ previews.Claims = (*Store)(nil)
)

// eventsKept is how many events of one preview are kept.
const eventsKept = 200

const previewColumns = `id, service, repository, dir, revision, commit_id, template, about, person, agent, owner, COALESCE(idem_key, ''), input_hash,
	created_at, expires_at, ended_at, ended_by, phase, reason, since, admitted_at, ready_at, url, running, remains, tries, warned_of, turn, applied, pull, pull_url, stuck_at`

// micros is a time as it is kept, 0 for the zero time.
func micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

func instant(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.UnixMicro(n).UTC()
}

// scanPreview reads previewColumns.
func scanPreview(scan func(...any) error) (r previews.Record, err error) {
	var template, about, remains, phase string
	var created, expires, ended, since, admitted, ready, warned, stuck int64
	err = scan(&r.ID, &r.Service, &r.Repository, &r.Dir, &r.Revision, &r.Commit, &template, &about, &r.Person, &r.Agent, &r.Owner, &r.Key, &r.InputHash,
		&created, &expires, &ended, &r.EndedBy, &phase, &r.Reason, &since, &admitted, &ready, &r.URL, &r.Running, &remains, &r.Tries, &warned, &r.Turn, &r.Applied, &r.Pull, &r.PullURL, &stuck)
	if err != nil {
		return r, err
	}
	r.Phase = previews.Phase(phase)
	r.CreatedAt, r.ExpiresAt, r.EndedAt, r.Since = instant(created), instant(expires), instant(ended), instant(since)
	r.AdmittedAt, r.ReadyAt, r.WarnedOf, r.StuckAt = instant(admitted), instant(ready), instant(warned), instant(stuck)
	for _, f := range []struct {
		text string
		into any
	}{{template, &r.Template}, {about, &r.About}, {remains, &r.Remains}} {
		if err := json.Unmarshal([]byte(f.text), f.into); err != nil {
			return r, fmt.Errorf("reading preview %s: %w", r.ID, err)
		}
	}
	return r, nil
}

// previewsIn are the previews that a condition and what follows it select.
func (s *Store) previewsIn(ctx context.Context, q querier, rest string, args ...any) ([]previews.Record, error) {
	out, err := gather(ctx, q, scanPreview, s.query("SELECT "+previewColumns+" FROM previews "+rest), args...)
	if err != nil {
		return nil, s.previewsDown("read", err)
	}
	return out, nil
}

// onePreview is the preview that a condition selects.
func (s *Store) onePreview(ctx context.Context, q querier, rest string, args ...any) (previews.Record, error) {
	all, err := s.previewsIn(ctx, q, rest, args...)
	switch {
	case err != nil:
		return previews.Record{}, err
	case len(all) == 0:
		return previews.Record{}, fault.New(fault.NotFound, "there is no such preview").WithFix("List the previews to see their ids.")
	}
	return all[0], nil
}

func (s *Store) previewsDown(what string, err error) error { return s.down("the previews", what, err) }

// changePreviews makes a change in one transaction.
func (s *Store) changePreviews(ctx context.Context, change func(*sql.Tx) error) error {
	return s.previewsDown("written", inOne(ctx, s.write, change))
}

// inLine has who counts previews wait for who did before.
func (s *Store) inLine(ctx context.Context, tx *sql.Tx) error {
	_, err := s.count(ctx, tx, "previews")
	return err
}

// Preview is one preview. See previews.Reads.
func (s *Store) Preview(ctx context.Context, id string) (previews.Record, error) {
	return s.onePreview(ctx, s.read, "WHERE id = ?1", id)
}

// PreviewOfKey is the preview of an idempotency key. See previews.Wishes.
func (s *Store) PreviewOfKey(ctx context.Context, person, agent, key string) (previews.Record, error) {
	return s.onePreview(ctx, s.read, "WHERE person = ?1 AND agent = ?2 AND idem_key = ?3", person, agent, key)
}

// Previews are those meant. See previews.Reads.
func (s *Store) Previews(ctx context.Context, q previews.Query) ([]previews.Record, error) {
	var where []string
	var args []any
	add := func(condition string, values ...any) {
		for _, v := range values {
			args = append(args, v)
			condition = strings.Replace(condition, "?", fmt.Sprintf("\x00%d", len(args)), 1)
		}
		where = append(where, strings.ReplaceAll(condition, "\x00", "?"))
	}
	for _, f := range []struct{ column, value string }{{"service", q.Service}, {"person", q.Person}, {"agent", q.Agent}, {"phase", string(q.Phase)}} {
		if f.value != "" {
			add(f.column+" = ?", f.value)
		}
	}
	switch {
	case !q.Gone:
		add("phase <> 'gone'")
	case !q.GoneSince.IsZero():
		add("(phase <> 'gone' OR since >= ?)", micros(q.GoneSince))
	}
	if !q.Before.IsZero() {
		at := q.Before.UnixMicro()
		add("(created_at < ? OR created_at = ? AND id < ?)", at, at, q.BeforeID)
	}
	rest := ""
	if len(where) > 0 {
		rest = "WHERE " + strings.Join(where, " AND ")
	}
	return s.previewsIn(ctx, s.read, rest+fmt.Sprintf(" ORDER BY created_at DESC, id DESC LIMIT %d", q.Limit), args...)
}

// PreviewEvents are the last events of a preview. See previews.Reads.
func (s *Store) PreviewEvents(ctx context.Context, id string, most int) (out []previews.Event, err error) {
	rows, err := s.read.QueryContext(ctx, s.query(`SELECT at, phase, text, actor FROM
		(SELECT n, at, phase, text, actor FROM preview_events WHERE preview = ?1 ORDER BY n DESC LIMIT ?2) AS last ORDER BY n`), id, most)
	if err != nil {
		return nil, s.previewsDown("read", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var e previews.Event
		var at int64
		if err := rows.Scan(&at, &e.Phase, &e.Text, &e.By); err != nil {
			return nil, s.previewsDown("read", err)
		}
		e.At = instant(at)
		out = append(out, e)
	}
	return out, rows.Err()
}

// tell adds an event and forgets the oldest of too many. Whoever keeps the
// pull request that the preview follows has a look.
func (s *Store) tell(ctx context.Context, tx *sql.Tx, id string, e previews.Event) error {
	_, err := tx.ExecContext(ctx, s.query(`INSERT INTO preview_events (preview, n, at, phase, text, actor)
		SELECT CAST(?1 AS TEXT), COALESCE(MAX(n), 0) + 1, CAST(?2 AS BIGINT), CAST(?3 AS TEXT), CAST(?4 AS TEXT), CAST(?5 AS TEXT)
		FROM preview_events WHERE preview = ?1`), id, micros(e.At), string(e.Phase), e.Text, e.By)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, s.query(`DELETE FROM preview_events WHERE preview = ?1 AND n <=
		(SELECT MAX(n) FROM preview_events WHERE preview = ?1) - ?2`), id, eventsKept)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, s.query("UPDATE preview_pulls SET due_at = 0 WHERE over = 0 AND id = (SELECT pull FROM previews WHERE id = ?1)"), id)
	return err
}
