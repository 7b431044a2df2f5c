package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/secrets"
)

// Lease is one lease. See secrets.Reads.
func (s *Store) Lease(ctx context.Context, id string) (secrets.Record, error) {
	return s.oneLease(ctx, s.read, "WHERE id = ?1", id)
}

// leasesWhere is the condition of a query, and its values after those given.
func leasesWhere(q secrets.Query, args []any) (string, []any) {
	where := []string{"1 = 1"}
	for _, f := range []struct{ column, value string }{{"id", q.ID}, {"service", q.Service}, {"person", q.Person}, {"agent", q.Agent}, {"name", q.Name}, {"bound_to", q.BoundTo}, {"state", string(q.State)}} {
		if f.value != "" {
			args = append(args, f.value)
			where = append(where, fmt.Sprintf("%s = ?%d", f.column, len(args)))
		}
	}
	if q.Open {
		where = append(where, "ended = 0")
	}
	if !q.ChangedSince.IsZero() {
		args = append(args, micros(q.ChangedSince))
		where = append(where, fmt.Sprintf("changed_at >= ?%d", len(args)))
	}
	if !q.Before.IsZero() {
		args = append(args, q.Before.UnixMicro(), q.BeforeID)
		where = append(where, fmt.Sprintf("(created_at < ?%d OR created_at = ?%d AND id < ?%d)", len(args)-1, len(args)-1, len(args)))
	}
	return strings.Join(where, " AND "), args
}

// Leases are those meant. See secrets.Reads.
func (s *Store) Leases(ctx context.Context, q secrets.Query) ([]secrets.Record, error) {
	where, args := leasesWhere(q, nil)
	return s.leasesIn(ctx, s.read, "WHERE "+where+fmt.Sprintf(" ORDER BY created_at DESC, id DESC LIMIT %d", q.Limit), args...)
}

// LeaseBindings are what leases are bound to. See secrets.Reads.
func (s *Store) LeaseBindings(ctx context.Context) ([]string, error) {
	out, err := gather(ctx, s.read, func(scan func(...any) error) (to string, err error) { return to, scan(&to) },
		s.query("SELECT DISTINCT bound_to FROM leases WHERE ended = 0 AND bound_to > '' AND bound_to <> ?1 AND state IN ('issuing', 'live')"), secrets.Session)
	if err != nil {
		return nil, s.leasesDown("read", err)
	}
	return out, nil
}

// LeaseFigures counts leases. See secrets.Reads.
func (s *Store) LeaseFigures(ctx context.Context, now time.Time) (f secrets.Figures, err error) {
	err = s.read.QueryRowContext(ctx, s.query(`SELECT COALESCE(SUM(CASE WHEN state = 'issuing' THEN 1 ELSE 0 END), 0), COALESCE(SUM(CASE WHEN state = 'live' THEN 1 ELSE 0 END), 0),
		COALESCE(SUM(CASE WHEN state = 'revoking' THEN 1 ELSE 0 END), 0), COALESCE(SUM(CASE WHEN state = 'revoking' AND ended_at < ?1 THEN 1 ELSE 0 END), 0) FROM leases WHERE ended = 0`),
		micros(now.Add(-secrets.OverdueAfter))).Scan(&f.Issuing, &f.Live, &f.Revoking, &f.Overdue)
	if err != nil {
		return f, s.leasesDown("read", err)
	}
	return f, nil
}

// EndLeases has leases be over. See secrets.Ledger.
func (s *Store) EndLeases(ctx context.Context, q secrets.Query, e secrets.End) (n int, err error) {
	if q == (secrets.Query{}) {
		return 0, fault.From(errors.New("all leases there are were to be ended"))
	}
	where, args := leasesWhere(q, []any{micros(e.At), e.By, e.Reason, micros(time.Now())})
	err = s.changeLeases(ctx, func(tx *sql.Tx) error {
		if err := s.leasesInLine(ctx, tx); err != nil {
			return err
		}
		ended, err := s.changed(tx.ExecContext(ctx, s.query(`UPDATE leases SET state = 'revoking', ends = 'revoked', ended_at = ?1, ended_by = ?2, reason = ?3, due_at = ?1, tries = 0, version = version + 1, changed_at = ?4
			WHERE ended = 0 AND state IN ('issuing', 'live') AND `+where), args...))
		n = int(ended)
		return err
	})
	return n, err
}

// ClaimLeases takes leases that are due. See secrets.Ledger.
func (s *Store) ClaimLeases(ctx context.Context, now, until time.Time, most int) (due []secrets.Record, next time.Time, err error) {
	// Mostly there are none, and looking for them takes no lock.
	if next, err = s.nextLease(ctx); err != nil || next.IsZero() || next.After(now) {
		return nil, next, err
	}
	err = s.changeLeases(ctx, func(tx *sql.Tx) error {
		due = nil
		if err := s.leasesInLine(ctx, tx); err != nil {
			return err
		}
		found, err := s.leasesIn(ctx, tx, fmt.Sprintf("WHERE ended = 0 AND due_at <= ?1 ORDER BY due_at, id LIMIT %d", most), micros(now))
		if err != nil {
			return err
		}
		for _, r := range found {
			n, err := s.changed(tx.ExecContext(ctx, s.query("UPDATE leases SET due_at = ?3 WHERE id = ?1 AND version = ?2 AND due_at <= ?4"), r.ID, r.Version, micros(until), micros(now)))
			if err != nil {
				return err
			}
			if n > 0 {
				r.DueAt = until
				due = append(due, r)
			}
		}
		return nil
	})
	if err != nil {
		return nil, time.Time{}, err
	}
	next, err = s.nextLease(ctx)
	return due, next, err
}

// nextLease is when the next lease is due.
func (s *Store) nextLease(ctx context.Context) (time.Time, error) {
	var at sql.NullInt64
	if err := s.read.QueryRowContext(ctx, "SELECT MIN(due_at) FROM leases WHERE ended = 0").Scan(&at); err != nil {
		return time.Time{}, s.leasesDown("read", err)
	}
	return instant(at.Int64), nil
}

// SeenAccounts notes which accounts were seen. See secrets.Accounts.
func (s *Store) SeenAccounts(ctx context.Context, handles []string, at time.Time) (unknown []string, err error) {
	known := map[string]bool{}
	err = s.changeLeases(ctx, func(tx *sql.Tx) error {
		if err := s.leasesInLine(ctx, tx); err != nil {
			return err
		}
		args, marks := []any{micros(at)}, make([]string, len(handles))
		for i, h := range handles {
			args = append(args, h)
			marks[i] = fmt.Sprintf("?%d", i+2)
		}
		seen, err := gather(ctx, tx, func(scan func(...any) error) (handle string, err error) { return handle, scan(&handle) },
			s.query("UPDATE leases SET seen_at = ?1 WHERE ended = 0 AND handle IN ("+strings.Join(marks, ", ")+") RETURNING handle"), args...)
		for _, h := range seen {
			known[h] = true
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(handles), func(h string) bool { return known[h] }), nil
}

// UnseenLeases are live leases whose accounts were not seen. See
// secrets.Accounts.
func (s *Store) UnseenLeases(ctx context.Context, madeBefore, since time.Time, most int) ([]secrets.Record, error) {
	return s.leasesIn(ctx, s.read, fmt.Sprintf("WHERE ended = 0 AND state = 'live' AND handle <> '' AND opened_at < ?1 AND seen_at < ?2 ORDER BY id LIMIT %d", most), micros(madeBefore), micros(since))
}

// ForgetLeases removes leases of which nothing is left since before a time.
func (s *Store) ForgetLeases(ctx context.Context, before time.Time) error {
	_, err := s.exec(ctx, "DELETE FROM leases WHERE ended = 1 AND gone_at < ?1", micros(before))
	return err
}
