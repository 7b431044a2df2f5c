package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fairlead-dev/fairlead/gitops"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

var (
	_ gitops.FleetReads  = (*Store)(nil)
	_ gitops.FleetWrites = (*Store)(nil)
	_ gitops.FleetClaims = (*Store)(nil)
	_ gitops.Neighbours  = (*Store)(nil)
)

const fleetColumns = "id, person, agent, mandate, spec, title, state, plan_hash, wave, protected, approval, why, next, created_at, started_at, updated_at, ended_at"

// scanFleet reads fleetColumns.
func scanFleet(scan func(...any) error) (r gitops.FleetRecord, err error) {
	var mandate, spec, approval string
	var protected int
	var created, started, updated, ended int64
	err = scan(&r.ID, &r.Person, &r.Agent, &mandate, &spec, &r.Title, &r.State, &r.PlanHash, &r.Wave, &protected, &approval, &r.Why, &r.Next, &created, &started, &updated, &ended)
	if err != nil {
		return r, err
	}
	r.Protected, r.CreatedAt, r.StartedAt, r.UpdatedAt, r.EndedAt = protected == 1, instant(created), instant(started), instant(updated), instant(ended)
	return r, errors.Join(fromText(mandate, &r.Mandate), fromText(spec, &r.Spec), fromText(approval, &r.Approval))
}

// fromText reads a value that is kept as JSON; "" is none.
func fromText(text string, into any) error {
	if text == "" {
		return nil
	}
	return json.Unmarshal([]byte(text), into)
}

// asTexts are values as JSON.
func asTexts(values ...any) (out []string, err error) {
	for _, v := range values {
		text, one := json.Marshal(v)
		out, err = append(out, string(text)), errors.Join(err, one)
	}
	return out, err
}

// fleetValues are the values of fleetColumns.
func fleetValues(r *gitops.FleetRecord) ([]any, error) {
	texts, err := asTexts(r.Mandate, r.Spec, r.Approval)
	return []any{r.ID, r.Person, r.Agent, texts[0], texts[1], r.Title, r.State, r.PlanHash, r.Wave, number(r.Protected), texts[2], r.Why, r.Next,
		micros(r.CreatedAt), micros(r.StartedAt), micros(r.UpdatedAt), micros(r.EndedAt)}, err
}

func (s *Store) fleetsDown(what string, err error) error { return s.down("the fleets", what, err) }

func (s *Store) fleetsIn(ctx context.Context, rest string, args ...any) ([]gitops.FleetRecord, error) {
	out, err := gather(ctx, s.read, scanFleet, s.query("SELECT "+fleetColumns+" FROM fleets "+rest), args...)
	if err != nil {
		return nil, s.fleetsDown("read", err)
	}
	return out, nil
}

// Fleet is one fleet. See gitops.FleetReads.
func (s *Store) Fleet(ctx context.Context, id string) (gitops.FleetRecord, error) {
	all, err := s.fleetsIn(ctx, "WHERE id = ?1", id)
	switch {
	case err != nil:
		return gitops.FleetRecord{}, err
	case len(all) == 0:
		return gitops.FleetRecord{}, fault.New(fault.NotFound, "there is no such fleet").WithFix("List the fleets to see their ids.")
	}
	return all[0], nil
}

// Fleets are those meant. See gitops.FleetReads.
func (s *Store) Fleets(ctx context.Context, q gitops.FleetQuery) ([]gitops.FleetRecord, error) {
	where, args := []string{"1 = 1"}, []any{}
	for _, f := range []struct{ column, value string }{{"person", q.Person}, {"state", q.State}} {
		if f.value != "" {
			args = append(args, f.value)
			where = append(where, fmt.Sprintf("%s = ?%d", f.column, len(args)))
		}
	}
	if !q.Before.IsZero() {
		args = append(args, q.Before.UnixMicro(), q.BeforeID)
		where = append(where, fmt.Sprintf("(created_at < ?%d OR created_at = ?%d AND id < ?%d)", len(args)-1, len(args)-1, len(args)))
	}
	return s.fleetsIn(ctx, "WHERE "+strings.Join(where, " AND ")+fmt.Sprintf(" ORDER BY created_at DESC, id DESC LIMIT %d", q.Limit), args...)
}

// changeFleets makes a change in one transaction.
func (s *Store) changeFleets(ctx context.Context, change func(*sql.Tx) error) (err error) {
	return s.fleetsDown("written", inOne(ctx, s.write, change))
}

// AddFleet keeps a fleet. See gitops.FleetWrites.
func (s *Store) AddFleet(ctx context.Context, r gitops.FleetRecord, stale time.Time, few int) error {
	values, err := fleetValues(&r)
	if err != nil {
		return err
	}
	return s.changeFleets(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, s.query("INSERT INTO fleets ("+fleetColumns+", due_at, holder, held_until) VALUES ("+marks(len(values))+", 0, '', 0)"), values...)
		if err == nil {
			err = s.forgetPlans(ctx, tx, &r, stale, few)
		}
		return err
	})
}

// forgetPlans removes plans that were never started: those that are old, and
// all but the newest few of a person and agent.
func (s *Store) forgetPlans(ctx context.Context, tx *sql.Tx, r *gitops.FleetRecord, stale time.Time, few int) error {
	_, err := tx.ExecContext(ctx, s.query(`DELETE FROM fleets WHERE state IN ('planning', 'planned') AND (created_at < ?1 OR person = ?2 AND agent = ?3 AND id NOT IN (
			SELECT id FROM fleets WHERE person = ?2 AND agent = ?3 AND state IN ('planning', 'planned') ORDER BY created_at DESC, id DESC LIMIT `+fmt.Sprint(few)+"))"),
		micros(stale), r.Person, r.Agent)
	if err == nil {
		_, err = tx.ExecContext(ctx, "DELETE FROM fleet_members WHERE fleet NOT IN (SELECT id FROM fleets)")
	}
	return err
}

// marks are the parameters from the first to the nth.
func marks(n int) string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("?%d", i+1)
	}
	return strings.Join(out, ", ")
}

// MoveFleet writes a fleet down if it is in one of some states. See
// gitops.FleetWrites.
func (s *Store) MoveFleet(ctx context.Context, r gitops.FleetRecord, again bool, from ...string) (ok bool, err error) {
	values, err := fleetValues(&r)
	if err != nil {
		return false, err
	}
	set, args := setting(fleetColumns, values, "id", "created_at")
	args = append(args, r.ID)
	err = s.changeFleets(ctx, func(tx *sql.Tx) error {
		n, err := s.changed(tx.ExecContext(ctx, s.query("UPDATE fleets SET "+set+fmt.Sprintf(", due_at = 0 WHERE id = ?%d AND state IN ('", len(args))+strings.Join(from, "', '")+"')"), args...))
		if ok = n > 0; err != nil || !ok || !again {
			return err
		}
		return s.tryAgain(ctx, tx, r.ID)
	})
	return ok, err
}

// tryAgain has the members that failed be looked at or proposed again.
func (s *Store) tryAgain(ctx context.Context, tx *sql.Tx, id string) error {
	_, err := tx.ExecContext(ctx, s.query("UPDATE fleet_members SET state = CASE WHEN proposal = '' THEN 'waiting' ELSE 'open' END WHERE fleet = ?1 AND state = 'failed'"), id)
	return err
}

// setting is what follows SET for columns, but for some of them.
func setting(columns string, values []any, but ...string) (set string, args []any) {
	var parts []string
	for i, column := range strings.Split(strings.ReplaceAll(columns, " ", ""), ",") {
		if !slices.Contains(but, column) {
			args = append(args, values[i])
			parts = append(parts, fmt.Sprintf("%s = ?%d", column, len(args)))
		}
	}
	return strings.Join(parts, ", "), args
}

// DueFleets are those to look after. See gitops.FleetClaims.
func (s *Store) DueFleets(ctx context.Context, now time.Time, most int) ([]string, error) {
	one := func(scan func(...any) error) (id string, err error) { return id, scan(&id) }
	out, err := gather(ctx, s.read, one, s.query(fmt.Sprintf("SELECT id FROM fleets WHERE state = 'running' AND due_at <= ?1 AND held_until <= ?1 ORDER BY due_at LIMIT %d", most)), micros(now))
	if err != nil {
		return nil, s.fleetsDown("read", err)
	}
	return out, nil
}

// ClaimFleet takes a fleet. See gitops.FleetClaims.
func (s *Store) ClaimFleet(ctx context.Context, id, holder string, now, until time.Time) (r gitops.FleetRecord, ok bool, err error) {
	n, err := s.changed(s.write.ExecContext(ctx, s.query("UPDATE fleets SET holder = ?2, held_until = ?4 WHERE id = ?1 AND state = 'running' AND (held_until <= ?3 OR holder = ?2)"),
		id, holder, micros(now), micros(until)))
	if err != nil || n == 0 {
		return r, false, s.fleetsDown("written", err)
	}
	r, err = s.Fleet(ctx, id)
	return r, err == nil, err
}

// ReportFleet lets a fleet go. See gitops.FleetClaims.
func (s *Store) ReportFleet(ctx context.Context, r gitops.FleetRecord, holder string, due time.Time) error {
	n, err := s.changed(s.write.ExecContext(ctx, s.query(`UPDATE fleets SET state = ?3, wave = ?4, why = ?5, next = ?6, updated_at = ?7, ended_at = ?8, due_at = ?9, holder = '', held_until = 0
		WHERE id = ?1 AND holder = ?2 AND state = 'running'`), r.ID, holder, r.State, r.Wave, r.Why, r.Next, micros(r.UpdatedAt), micros(r.EndedAt), micros(due)))
	if err == nil && n == 0 {
		_, err = s.write.ExecContext(ctx, s.query("UPDATE fleets SET holder = '', held_until = 0 WHERE id = ?1 AND holder = ?2"), r.ID, holder)
	}
	return s.fleetsDown("written", err)
}

// LetGoOfProposals ends all holds of proposals and fleets: those of a program
// that has died, where no other can be at work.
func (s *Store) LetGoOfProposals(ctx context.Context) error {
	_, one := s.exec(ctx, "UPDATE proposals SET holder = '', held_until = 0 WHERE held_until > 0")
	_, two := s.exec(ctx, "UPDATE fleets SET holder = '', held_until = 0 WHERE held_until > 0")
	return s.fleetsDown("written", errors.Join(one, two))
}

// OpenProposals are those of a repository. See gitops.Neighbours.
func (s *Store) OpenProposals(ctx context.Context, forge, name string, most int) ([]gitops.Record, error) {
	columns := strings.Replace(proposalColumns, " diff,", " '' AS diff,", 1)
	out, err := gather(ctx, s.read, scanProposal, s.query("SELECT "+columns+fmt.Sprintf(" FROM proposals WHERE forge = ?1 AND name = ?2 AND ended_at = 0 ORDER BY created_at, id LIMIT %d", most)), forge, name)
	if err != nil {
		return nil, s.proposalsDown("read", err)
	}
	return out, nil
}
