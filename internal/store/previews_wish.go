package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/previews"
)

// jobGrace is how long the job of a new turn may take to begin before
// somebody else looks after the preview.
const jobGrace = 6 * time.Second

// AddPreview keeps a new preview. See previews.Wishes.
func (s *Store) AddPreview(ctx context.Context, r previews.Record, l previews.Limits) (out previews.Record, err error) {
	err = s.changePreviews(ctx, func(tx *sql.Tx) error {
		if err := s.inLine(ctx, tx); err != nil {
			return err
		}
		if r.Key != "" {
			old, err := s.onePreview(ctx, tx, "WHERE person = ?1 AND agent = ?2 AND idem_key = ?3", r.Person, r.Agent, r.Key)
			if err == nil || fault.CodeOf(err) != fault.NotFound {
				out = old
				return err
			}
		}
		full, err := s.full(ctx, tx, r, l)
		switch {
		case err != nil:
			return err
		case full == "":
			r.AdmittedAt, r.Reason = r.CreatedAt, "accepted"
		default:
			r.Reason = "waits for room: " + full
			if err := s.queueable(ctx, tx, l); err != nil {
				return err
			}
		}
		r.Turn = 1
		out = r
		if err := s.insertPreview(ctx, tx, r); err != nil {
			return err
		}
		return s.tell(ctx, tx, r.ID, previews.Event{At: r.CreatedAt, Phase: r.Phase, Text: r.Reason, By: access.Acting(r.Person, r.Agent)})
	})
	return out, err
}

func (s *Store) insertPreview(ctx context.Context, tx *sql.Tx, r previews.Record) error {
	template, err := json.Marshal(r.Template)
	if err != nil {
		return err
	}
	about, err := json.Marshal(r.About)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, s.query(`INSERT INTO previews (id, service, repository, dir, revision, commit_id, template, about, person, agent, owner, idem_key, input_hash,
		created_at, expires_at, ended_at, ended_by, phase, reason, since, admitted_at, ready_at, url, running, remains, tries, warned_of, turn, overdue_at, holder, held_until, pull, pull_url)
		VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, 0, '', ?16, ?17, ?18, ?19, 0, '', '', '[]', 0, 0, ?20, ?21, '', 0, ?22, ?23)`),
		r.ID, r.Service, r.Repository, r.Dir, r.Revision, r.Commit, string(template), string(about), r.Person, r.Agent, r.Owner, sql.NullString{String: r.Key, Valid: r.Key != ""}, r.InputHash,
		micros(r.CreatedAt), micros(r.ExpiresAt), string(r.Phase), r.Reason, micros(r.Since), micros(r.AdmittedAt), r.Turn, micros(r.CreatedAt.Add(jobGrace)), r.Pull, r.PullURL)
	return err
}

// full says which limit leaves no room for a preview, "" for none.
func (s *Store) full(ctx context.Context, tx *sql.Tx, r previews.Record, l previews.Limits) (string, error) {
	const counted = "SELECT COUNT(*) FROM previews WHERE phase <> 'gone' AND admitted_at > 0 AND "
	for _, f := range []struct {
		whose, where string
		args         []any
		most         int
		counts       bool
	}{
		{"the services of " + r.Owner, "owner = ?1", []any{r.Owner}, l.PerTeam, r.Owner != ""},
		{r.Person, "person = ?1", []any{r.Person}, l.PerPerson, r.Pull == ""}, // what follows a pull request is nobody's
		{access.Acting(r.Person, r.Agent), "person = ?1 AND agent = ?2", []any{r.Person, r.Agent}, l.PerAgent, r.Agent != ""},
	} {
		if !f.counts {
			continue
		}
		var n int
		if err := tx.QueryRowContext(ctx, s.query(counted+f.where), f.args...).Scan(&n); err != nil {
			return "", err
		}
		if n >= f.most {
			return fmt.Sprintf("there are %d previews of %s already, and there may be %d", n, f.whose, f.most), nil
		}
	}
	return "", nil
}

// queueable refuses where too many wait already.
func (s *Store) queueable(ctx context.Context, tx *sql.Tx, l previews.Limits) error {
	var n int
	if err := tx.QueryRowContext(ctx, "SELECT COUNT(*) FROM previews WHERE phase = 'pending' AND admitted_at = 0").Scan(&n); err != nil {
		return err
	}
	if n >= l.Queue {
		return fault.New(fault.QuotaExceeded, "there is no room for another preview, and %d wait for room already", n).
			WithFix("Delete previews that nobody needs, or try again in a minute.").After(time.Minute)
	}
	return nil
}

// PutOffPreview has a preview end later. See previews.Wishes.
func (s *Store) PutOffPreview(ctx context.Context, id string, until, now time.Time, by string) (out previews.Record, err error) {
	err = s.changePreviews(ctx, func(tx *sql.Tx) error {
		n, err := s.changed(tx.ExecContext(ctx, s.query(`UPDATE previews SET expires_at = ?2, turn = turn + 1, overdue_at = ?4
			WHERE id = ?1 AND expires_at > ?3 AND expires_at <= ?2 AND ended_at = 0 AND phase NOT IN ('deleting', 'gone')`), id, micros(until), micros(now), micros(now.Add(jobGrace))))
		if err != nil {
			return err
		}
		if out, err = s.onePreview(ctx, tx, "WHERE id = ?1", id); err != nil {
			return err
		}
		if n == 0 {
			if out.ExpiresAt.After(until) {
				return nil // somebody has put it off further meanwhile
			}
			return fault.New(fault.FailedPrecondition, "preview %s is %s: it is ending and cannot be extended any more", id, out.Phase).WithFix("Create another.")
		}
		return s.tell(ctx, tx, id, previews.Event{At: now, Phase: out.Phase, Text: "extended until " + until.UTC().Format(time.RFC3339), By: by})
	})
	return out, err
}

// EndPreview has a preview removed. See previews.Wishes.
func (s *Store) EndPreview(ctx context.Context, id string, now time.Time, by string) (out previews.Record, err error) {
	err = s.changePreviews(ctx, func(tx *sql.Tx) error {
		n, err := s.changed(tx.ExecContext(ctx, s.query(`UPDATE previews SET ended_at = ?2, ended_by = ?3, turn = turn + 1, overdue_at = ?4
			WHERE id = ?1 AND ended_at = 0 AND phase NOT IN ('deleting', 'gone')`), id, micros(now), by, micros(now.Add(jobGrace))))
		if err != nil {
			return err
		}
		if out, err = s.onePreview(ctx, tx, "WHERE id = ?1", id); err != nil || n == 0 {
			return err
		}
		return s.tell(ctx, tx, id, previews.Event{At: now, Phase: out.Phase, Text: "its removal was asked for", By: by})
	})
	return out, err
}
