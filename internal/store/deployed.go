package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"github.com/fairlead-dev/fairlead/gitops"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

var _ gitops.DeployedRecords = (*Store)(nil)

const deployedColumns = `id, service, environment, application, revision, images, deployed_at, seen_at, healthy_at, degraded_at, recovered_at, replaced_at, replaced_by, undone`

// scanDeployed reads deployedColumns.
func scanDeployed(scan func(...any) error) (d gitops.Deployed, err error) {
	var images string
	var times [6]int64
	var undone int
	err = scan(&d.ID, &d.Service, &d.Environment, &d.Application, &d.Revision, &images, &times[0], &times[1], &times[2], &times[3], &times[4], &times[5], &d.ReplacedBy, &undone)
	if err != nil {
		return d, err
	}
	d.Undone = undone != 0
	for i, t := range []*time.Time{&d.At, &d.SeenAt, &d.HealthyAt, &d.DegradedAt, &d.RecoveredAt, &d.ReplacedAt} {
		*t = instant(times[i])
	}
	if err = json.Unmarshal([]byte(images), &d.Images); err != nil {
		err = fmt.Errorf("reading deployment %s: %w", d.ID, err)
	}
	return d, err
}

func (s *Store) deployedDown(what string, err error) error {
	return s.down("the record of deployments", what, err)
}

// Deployed are the last deployments to an environment. See
// gitops.DeployedRecords.
func (s *Store) Deployed(ctx context.Context, service, environment string, most int) ([]gitops.Deployed, error) {
	out, err := gather(ctx, s.read, scanDeployed, s.query("SELECT "+deployedColumns+" FROM deployed WHERE service = ?1 AND environment = ?2 ORDER BY deployed_at DESC, seen_at DESC, id LIMIT ?3"), service, environment, most)
	return out, s.deployedDown("read", err)
}

// NoteDeployed writes deployments down. See gitops.DeployedRecords.
func (s *Store) NoteDeployed(ctx context.Context, rows []gitops.Deployed) error {
	return s.deployedDown("written", inOne(ctx, s.write, func(tx *sql.Tx) error {
		added := false
		for i := range rows {
			fresh, err := s.noteDeployed(ctx, tx, &rows[i])
			if err != nil {
				return err
			}
			added = added || fresh
		}
		if !added {
			return nil
		}
		return s.forgetDeployed(ctx, tx, &rows[len(rows)-1])
	}))
}

// noteDeployed writes one down, and tells whether it is a new one.
func (s *Store) noteDeployed(ctx context.Context, tx *sql.Tx, d *gitops.Deployed) (added bool, err error) {
	images, err := json.Marshal(append([]gitops.DeployedImage{}, d.Images...))
	if err != nil {
		return false, err
	}
	undone := 0
	if d.Undone {
		undone = 1
	}
	once := func(column string, n int) string {
		return fmt.Sprintf("%s = CASE WHEN %s = 0 THEN CAST(?%d AS BIGINT) ELSE %s END", column, column, n, column)
	}
	n, err := s.changed(tx.ExecContext(ctx, s.query("UPDATE deployed SET "+once("healthy_at", 2)+", "+once("degraded_at", 3)+", "+once("recovered_at", 4)+", "+once("replaced_at", 5)+
		`, replaced_by = CASE WHEN replaced_at = 0 THEN ?6 ELSE replaced_by END, undone = CASE WHEN CAST(?7 AS BIGINT) = 1 THEN 1 ELSE undone END, images = CASE WHEN healthy_at = 0 THEN ?8 ELSE images END
		WHERE id = ?1 AND (replaced_at = 0 OR replaced_by = ?6)`), d.ID, micros(d.HealthyAt), micros(d.DegradedAt), micros(d.RecoveredAt), micros(d.ReplacedAt), d.ReplacedBy, undone, string(images)))
	if err != nil || n > 0 {
		return false, err
	}
	n, err = s.changed(tx.ExecContext(ctx, s.query("INSERT INTO deployed ("+deployedColumns+") VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14) ON CONFLICT DO NOTHING"),
		d.ID, d.Service, d.Environment, d.Application, d.Revision, string(images), micros(d.At), micros(d.SeenAt), micros(d.HealthyAt), micros(d.DegradedAt), micros(d.RecoveredAt), micros(d.ReplacedAt), d.ReplacedBy, undone))
	if err == nil && n == 0 {
		err = fault.New(fault.Conflict, "another replica has written down what is deployed of %s in %s", d.Service, d.Environment).WithFix("Nothing is to be done: it is looked at again.")
	}
	return true, err
}

// forgetDeployed removes what is beyond what is kept: of the environment of a
// deployment that was just written down, and of all.
func (s *Store) forgetDeployed(ctx context.Context, tx *sql.Tx, d *gitops.Deployed) error {
	_, err := tx.ExecContext(ctx, s.query(`DELETE FROM deployed WHERE replaced_at > 0 AND id IN
		(SELECT id FROM deployed WHERE service = ?1 AND environment = ?2 ORDER BY deployed_at DESC, seen_at DESC, id LIMIT 10000 OFFSET ?3)`), d.Service, d.Environment, gitops.KeptDeployed)
	if err == nil {
		_, err = tx.ExecContext(ctx, s.query("DELETE FROM deployed WHERE deployed_at < ?1 AND replaced_at > 0"), micros(d.SeenAt.Add(-gitops.KeptDeployedFor)))
	}
	return err
}

// ClaimTurn takes a turn. See gitops.DeployedRecords.
func (s *Store) ClaimTurn(ctx context.Context, work, holder string, now, until time.Time) (bool, error) {
	n, err := s.changed(s.write.ExecContext(ctx, s.query(`INSERT INTO turns (work, holder, held_until) VALUES (?1, ?2, ?4)
		ON CONFLICT (work) DO UPDATE SET holder = ?2, held_until = ?4 WHERE turns.held_until <= ?3 OR turns.holder = ?2`), work, holder, micros(now), micros(until)))
	return n > 0, s.deployedDown("written", err)
}
