package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/fairlead-dev/fairlead/gitops"
)

const memberColumns = "fleet, position, service, state, wave, about, conflicts, said, binding, diff, proposal, updated_at"

// scanMember reads memberColumns.
func scanMember(scan func(...any) error) (m gitops.FleetMember, err error) {
	var about, conflicts, said, service, state, diff, proposal string
	var wave int
	var updated int64
	if err = scan(&m.Fleet, &m.Position, &service, &state, &wave, &about, &conflicts, &said, &m.Binding, &diff, &proposal, &updated); err != nil {
		return m, err
	}
	err = errors.Join(fromText(about, &m.About), fromText(said, &m.Member), fromText(conflicts, &m.Conflicts))
	m.Service, m.State, m.Wave, m.Diff, m.Proposal, m.UpdatedAt = service, state, wave, diff, proposal, instant(updated)
	return m, err
}

// memberValues are the values of memberColumns.
func memberValues(m *gitops.FleetMember) ([]any, error) {
	rest := m.Member
	rest.Service, rest.State, rest.Wave, rest.Diff, rest.Proposal, rest.Conflicts = "", "", 0, "", "", nil
	texts, err := asTexts(m.About, rest, m.Conflicts)
	if len(m.Conflicts) == 0 {
		texts[2] = ""
	}
	return []any{m.Fleet, m.Position, m.Service, m.State, m.Wave, texts[0], texts[2], texts[1], m.Binding, m.Diff, m.Proposal, micros(m.UpdatedAt)}, err
}

// AddFleetMembers keeps members. See gitops.FleetWrites.
func (s *Store) AddFleetMembers(ctx context.Context, members []gitops.FleetMember) error {
	return s.changeFleets(ctx, func(tx *sql.Tx) (err error) {
		add, err := tx.PrepareContext(ctx, s.query("INSERT INTO fleet_members ("+memberColumns+") VALUES ("+marks(12)+")"))
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, add.Close()) }()
		for i := range members {
			if err = addMember(ctx, add, &members[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

func addMember(ctx context.Context, add *sql.Stmt, m *gitops.FleetMember) error {
	values, err := memberValues(m)
	if err == nil {
		_, err = add.ExecContext(ctx, values...)
	}
	return err
}

// FleetWaves puts members into waves. See gitops.FleetWrites.
func (s *Store) FleetWaves(ctx context.Context, id string, waves []gitops.WaveRange) error {
	return s.changeFleets(ctx, func(tx *sql.Tx) error {
		for _, w := range waves {
			if _, err := tx.ExecContext(ctx, s.query("UPDATE fleet_members SET wave = ?1 WHERE fleet = ?2 AND state = 'waiting' AND position > ?3 AND position <= ?4"), w.Wave, id, w.From, w.To); err != nil {
				return err
			}
		}
		return nil
	})
}

// FleetMembers are those meant. See gitops.FleetReads.
func (s *Store) FleetMembers(ctx context.Context, q gitops.MemberQuery) ([]gitops.FleetMember, error) {
	where, args := []string{"fleet = ?1", "position > ?2"}, []any{q.Fleet, q.After}
	if q.UpTo > 0 {
		args = append(args, q.UpTo)
		where = append(where, fmt.Sprintf("wave BETWEEN 1 AND ?%d", len(args)))
	}
	if len(q.States) > 0 {
		var in []string
		for _, state := range q.States {
			args = append(args, state)
			in = append(in, fmt.Sprintf("?%d", len(args)))
		}
		where = append(where, "state IN ("+strings.Join(in, ", ")+")")
	}
	columns := memberColumns
	if q.Bare {
		columns = strings.Replace(columns, " diff,", " '' AS diff,", 1)
	}
	out, err := gather(ctx, s.read, scanMember, s.query("SELECT "+columns+" FROM fleet_members WHERE "+strings.Join(where, " AND ")+fmt.Sprintf(" ORDER BY position LIMIT %d", q.Limit)), args...)
	if err != nil {
		return nil, s.fleetsDown("read", err)
	}
	return out, nil
}

// TallyFleet counts members. See gitops.FleetReads.
func (s *Store) TallyFleet(ctx context.Context, id string, tally func(gitops.MemberTally)) error {
	one := func(scan func(...any) error) (none struct{}, err error) {
		var t gitops.MemberTally
		var about, conflicts string
		if err = scan(&t.State, &t.Wave, &about, &conflicts); err == nil {
			err = fromText(about, &t.About)
		}
		t.Conflicted = conflicts != ""
		tally(t)
		return none, err
	}
	if _, err := gather(ctx, s.read, one, s.query("SELECT state, wave, about, conflicts FROM fleet_members WHERE fleet = ?1 ORDER BY position"), id); err != nil {
		return s.fleetsDown("read", err)
	}
	return nil
}

// SaveFleetMember writes a member down. See gitops.FleetClaims.
func (s *Store) SaveFleetMember(ctx context.Context, m gitops.FleetMember, holder string) (ok bool, err error) {
	values, err := memberValues(&m)
	if err != nil {
		return false, err
	}
	set, args := setting(memberColumns, values, "fleet", "position", "service", "wave", "about", "binding", "diff")
	args = append(args, m.Fleet, m.Position, holder)
	n := len(args)
	_, err = s.write.ExecContext(ctx, s.query(fmt.Sprintf("UPDATE fleet_members SET %s WHERE fleet = ?%d AND position = ?%d AND EXISTS (SELECT 1 FROM fleets WHERE id = ?%d AND holder = ?%d)", set, n-2, n-1, n-2, n)), args...)
	if err != nil {
		return false, s.fleetsDown("written", err)
	}
	return s.runs(ctx, m.Fleet, holder)
}

// runs tells whether a fleet runs and somebody holds it.
func (s *Store) runs(ctx context.Context, id, holder string) (bool, error) {
	var n int
	err := s.write.QueryRowContext(ctx, s.query("SELECT COUNT(*) FROM fleets WHERE id = ?1 AND holder = ?2 AND state = 'running'"), id, holder).Scan(&n)
	return n == 1, s.fleetsDown("written", err)
}
