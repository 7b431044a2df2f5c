package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

var _ catalog.LocationStore = (*Store)(nil)

// Locations are the registered locations, oldest first. See
// catalog.LocationStore.
func (s *Store) Locations(ctx context.Context) (out []catalog.Location, err error) {
	rows, err := s.read.QueryContext(ctx, "SELECT id, type, target, entity_ref, subject, agent, group_refs, registered_at FROM locations ORDER BY registered_at, id")
	if err != nil {
		return nil, s.locationsDown("read", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var l catalog.Location
		var groups string
		var at int64
		if err := rows.Scan(&l.ID, &l.Type, &l.Target, &l.EntityRef, &l.Subject, &l.Agent, &groups, &at); err != nil {
			return nil, s.locationsDown("read", err)
		}
		if err := json.Unmarshal([]byte(groups), &l.Groups); err != nil {
			return nil, fmt.Errorf("reading the groups of location %s: %w", l.ID, err)
		}
		l.At = time.UnixMicro(at).UTC()
		out = append(out, l)
	}
	if err := rows.Err(); err != nil {
		return nil, s.locationsDown("read", err)
	}
	return out, nil
}

// AddLocation registers a location. See catalog.LocationStore.
func (s *Store) AddLocation(ctx context.Context, l catalog.Location, most int) error {
	groups, err := json.Marshal(append([]string{}, l.Groups...))
	if err != nil {
		return fmt.Errorf("recording the groups of location %s: %w", l.ID, err)
	}
	return s.changeLocations(ctx, func(tx *sql.Tx) error {
		var there int
		if err := tx.QueryRowContext(ctx, "SELECT COUNT(*) FROM locations").Scan(&there); err != nil {
			return s.locationsDown("counted", err)
		}
		n, err := s.changed(tx.ExecContext(ctx, s.query(`INSERT INTO locations (id, type, target, entity_ref, subject, agent, group_refs, registered_at)
			VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT (type, target) DO NOTHING`),
			l.ID, l.Type, l.Target, l.EntityRef, l.Subject, l.Agent, string(groups), l.At.UnixMicro()))
		switch {
		case err != nil:
			return s.locationsDown("written", err)
		case n == 0:
			return already(l.Type, l.Target)
		case there >= most:
			return fault.New(fault.FailedPrecondition, "%d locations are registered already, which is as many as catalog.locations.max allows", there).
				WithFix("Unregister some that are no longer needed, or have the operators raise catalog.locations.max.")
		}
		return nil
	})
}

// MoveLocation gives a location another target. See catalog.LocationStore.
func (s *Store) MoveLocation(ctx context.Context, id, target string) error {
	return s.changeLocations(ctx, func(tx *sql.Tx) error {
		var typ string
		var other sql.NullString
		err := tx.QueryRowContext(ctx, s.query(`SELECT l.type, o.id FROM locations l
			LEFT JOIN locations o ON o.type = l.type AND o.target = ?2 AND o.id <> l.id WHERE l.id = ?1`), id, target).Scan(&typ, &other)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			return noLocation(id)
		case err != nil:
			return s.locationsDown("read", err)
		case other.Valid:
			return already(typ, target)
		}
		if _, err := tx.ExecContext(ctx, s.query("UPDATE locations SET target = ?2 WHERE id = ?1"), id, target); err != nil {
			return s.locationsDown("written", err)
		}
		return nil
	})
}

// RemoveLocation removes a location. See catalog.LocationStore.
func (s *Store) RemoveLocation(ctx context.Context, id string) error {
	return s.changeLocations(ctx, func(tx *sql.Tx) error {
		n, err := s.changed(tx.ExecContext(ctx, s.query("DELETE FROM locations WHERE id = ?1"), id))
		switch {
		case err != nil:
			return s.locationsDown("written", err)
		case n == 0:
			return noLocation(id)
		}
		return nil
	})
}

// LocationsRevision grows with every change of the locations, by whichever
// replica.
func (s *Store) LocationsRevision(ctx context.Context) (int64, error) {
	n, err := s.counted(ctx, "locations")
	return n, s.locationsDown("read", err)
}

// changeLocations makes a change and counts it.
func (s *Store) changeLocations(ctx context.Context, change func(*sql.Tx) error) error {
	return s.locationsDown("written", s.counting(ctx, "locations", func(tx *sql.Tx, _ int64) error { return change(tx) }))
}

func (s *Store) changed(res sql.Result, err error) (int64, error) {
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

func (s *Store) locationsDown(what string, err error) error {
	return s.down("the registered locations", what, err)
}

func already(typ, target string) error {
	return fault.New(fault.Conflict, "Location %s:%s already exists", typ, target).
		WithFix("Nothing is to be done: it is read already. Refresh an entity of it to have it read again now.")
}

func noLocation(id string) error {
	return fault.New(fault.NotFound, "Found no location with ID %s", id).WithFix("List the locations to see their ids.")
}
