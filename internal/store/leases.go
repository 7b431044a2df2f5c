package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/secrets"
)

var (
	_ secrets.Ledger   = (*Store)(nil)
	_ secrets.Reads    = (*Store)(nil)
	_ secrets.Accounts = (*Store)(nil)
)

const leaseColumns = `id, service, name, environment, offer, about, person, agent, idem_key, input_hash, purpose, task, bound_to, created_at, expires_at, until_at,
	state, ended, handle, opened_at, wrapping, accessor, wrap_ends, handed_at, missed_at, beat_at, ended_at, gone_at, ended_by, reason, ends, alarm, tries, due_at, version`

// scanLease reads leaseColumns.
func scanLease(scan func(...any) error) (r secrets.Record, err error) {
	var name, offer, about string
	var created, expires, until, opened, wrapEnds, handed, missed, beat, endedAt, gone, due, alarm, ended int64
	err = scan(&r.ID, &r.Service, &name, &r.Environment, &offer, &about, &r.Person, &r.Agent, &r.Key, &r.InputHash, &r.Purpose, &r.Task, &r.BoundTo, &created, &expires, &until,
		&r.State, &ended, &r.Handle, &opened, &r.Wrapping, &r.Accessor, &wrapEnds, &handed, &missed, &beat, &endedAt, &gone, &r.EndedBy, &r.Reason, &r.Ends, &alarm, &r.Tries, &due, &r.Version)
	if err != nil {
		return r, err
	}
	r.Alarm = alarm != 0
	r.CreatedAt, r.ExpiresAt, r.Until, r.OpenedAt = instant(created), instant(expires), instant(until), instant(opened)
	r.WrapEnds, r.HandedAt, r.MissedAt, r.BeatAt = instant(wrapEnds), instant(handed), instant(missed), instant(beat)
	r.EndedAt, r.GoneAt, r.DueAt = instant(endedAt), instant(gone), instant(due)
	if err := errors.Join(json.Unmarshal([]byte(offer), &r.Offer), json.Unmarshal([]byte(about), &r.About)); err != nil {
		return r, fmt.Errorf("reading lease %s: %w", r.ID, err)
	}
	return r, nil
}

// leaseValues are the values of leaseColumns.
func leaseValues(r *secrets.Record) ([]any, error) {
	offer, err := json.Marshal(r.Offer)
	if err != nil {
		return nil, err
	}
	about, err := json.Marshal(r.About)
	if err != nil {
		return nil, err
	}
	return []any{r.ID, r.Service, r.Offer.Name, r.Environment, string(offer), string(about), r.Person, r.Agent, r.Key, r.InputHash, r.Purpose, r.Task, r.BoundTo,
		micros(r.CreatedAt), micros(r.ExpiresAt), micros(r.Until), string(r.State), number(r.State.Ended()), r.Handle, micros(r.OpenedAt), string(r.Wrapping), r.Accessor, micros(r.WrapEnds), micros(r.HandedAt), micros(r.MissedAt),
		micros(r.BeatAt), micros(r.EndedAt), micros(r.GoneAt), r.EndedBy, r.Reason, string(r.Ends), number(r.Alarm), r.Tries, micros(r.DueAt), r.Version}, nil
}

func number(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (s *Store) leasesDown(what string, err error) error { return s.down("the leases", what, err) }

// leasesIn are the leases that a condition and what follows it select.
func (s *Store) leasesIn(ctx context.Context, q querier, rest string, args ...any) ([]secrets.Record, error) {
	out, err := gather(ctx, q, scanLease, s.query("SELECT "+leaseColumns+" FROM leases "+rest), args...)
	if err != nil {
		return nil, s.leasesDown("read", err)
	}
	return out, nil
}

// oneLease is the lease that a condition selects.
func (s *Store) oneLease(ctx context.Context, q querier, rest string, args ...any) (secrets.Record, error) {
	all, err := s.leasesIn(ctx, q, rest, args...)
	switch {
	case err != nil:
		return secrets.Record{}, err
	case len(all) == 0:
		return secrets.Record{}, fault.New(fault.NotFound, "there is no such lease").WithFix("List the credentials to see the leases.")
	}
	return all[0], nil
}

// changeLeases makes a change in one transaction.
func (s *Store) changeLeases(ctx context.Context, change func(*sql.Tx) error) error {
	return s.changeLeasesOn(ctx, s.write, change)
}

func (s *Store) changeLeasesOn(ctx context.Context, on beginner, change func(*sql.Tx) error) error {
	return s.leasesDown("written", inOne(ctx, on, change))
}

// leasesInLine has who counts leases, or changes several, wait for who did
// before.
func (s *Store) leasesInLine(ctx context.Context, tx *sql.Tx) error {
	_, err := s.count(ctx, tx, "leases")
	return err
}

// AddLease keeps a new lease; that is on disk no later than it is live. See
// secrets.Ledger.
func (s *Store) AddLease(ctx context.Context, r secrets.Record, l secrets.Limits, share bool) (out secrets.Record, err error) {
	add := func(tx *sql.Tx) error {
		if err := s.leasesInLine(ctx, tx); err != nil {
			return err
		}
		old, err := s.sameLease(ctx, tx, &r, share)
		if err == nil || fault.CodeOf(err) != fault.NotFound {
			out = old
			return err
		}
		if err := s.roomForLease(ctx, tx, &r, l); err != nil {
			return err
		}
		r.Version = 1
		out = r
		return s.insertLease(ctx, tx, &r)
	}
	err = s.lazily(ctx, func(conn *sql.Conn) error { return s.changeLeasesOn(ctx, conn, add) })
	return out, err
}

func (s *Store) insertLease(ctx context.Context, tx *sql.Tx, r *secrets.Record) error {
	values, err := leaseValues(r)
	if err != nil {
		return err
	}
	values = append(values, micros(time.Now()))
	_, err = tx.ExecContext(ctx, s.query("INSERT INTO leases ("+leaseColumns+", changed_at, seen_at) VALUES ("+marks(len(values))+", 0)"), values...)
	return err
}

// sameLease is the lease that is given back in the place of a new one.
func (s *Store) sameLease(ctx context.Context, tx *sql.Tx, r *secrets.Record, share bool) (secrets.Record, error) {
	switch {
	case r.Key != "":
		old, err := s.oneLease(ctx, tx, "WHERE person = ?1 AND agent = ?2 AND idem_key = ?3 AND state <> 'failed'", r.Person, r.Agent, r.Key)
		if err == nil && old.InputHash != r.InputHash {
			return old, fault.New(fault.Conflict, "the key %q was used for lease %s, which is for something else", r.Key, old.ID).WithFix("Use another key, or ask for the same as then.")
		}
		return old, err
	case share:
		return s.oneLease(ctx, tx, "WHERE ended = 0 AND person = ?1 AND agent = ?2 AND input_hash = ?3 AND state IN ('issuing', 'live') AND expires_at > ?4 ORDER BY created_at DESC LIMIT 1",
			r.Person, r.Agent, r.InputHash, micros(r.CreatedAt))
	}
	return secrets.Record{}, fault.New(fault.NotFound, "a new lease")
}

// roomForLease refuses where a limit leaves no room for a lease.
func (s *Store) roomForLease(ctx context.Context, tx *sql.Tx, r *secrets.Record, l secrets.Limits) error {
	for _, f := range []struct {
		whose, where string
		args         []any
		most         int
		counts       bool
	}{
		{"of " + access.Acting(r.Person, r.Agent), "person = ?1 AND agent = ?2", []any{r.Person, r.Agent}, l.PerAgent, r.Agent != ""},
		{"of " + r.Person, "person = ?1", []any{r.Person}, l.PerPerson, true},
		{"of what " + r.Service + " lends", "service = ?1", []any{r.Service}, l.PerService, true},
	} {
		if !f.counts {
			continue
		}
		var n int
		if err := tx.QueryRowContext(ctx, s.query("SELECT COUNT(*) FROM leases WHERE ended = 0 AND "+f.where), f.args...).Scan(&n); err != nil {
			return err
		}
		if n >= f.most {
			return fault.New(fault.QuotaExceeded, "there are %d leases %s already, and there may be %d", n, f.whose, f.most).
				WithFix("Revoke leases that nobody needs, or wait for one to end.").After(time.Minute)
		}
	}
	return nil
}

// SaveLease writes a lease down; while that is being issued, it is on disk no
// later than it is live. See secrets.Ledger.
func (s *Store) SaveLease(ctx context.Context, r secrets.Record) (secrets.Record, error) {
	at := r.Version
	r.Version++
	values, err := leaseValues(&r)
	if err != nil {
		return r, err
	}
	set, args := []string{"changed_at = ?3"}, []any{r.ID, at, micros(time.Now())}
	for i, column := range strings.Split(strings.NewReplacer("\n", "", "\t", "", " ", "").Replace(leaseColumns), ",") {
		if column != "id" && column != "created_at" {
			args = append(args, values[i])
			set = append(set, fmt.Sprintf("%s = ?%d", column, len(args)))
		}
	}
	write := s.exec
	if r.State == secrets.Issuing {
		write = s.execLazily
	}
	n, err := write(ctx, "UPDATE leases SET "+strings.Join(set, ", ")+" WHERE id = ?1 AND version = ?2", args...)
	switch {
	case err != nil:
		return r, s.leasesDown("written", err)
	case n == 0:
		return r, fault.New(fault.Conflict, "lease %s was changed by somebody else meanwhile", r.ID).WithFix("Look at it, and try again.")
	}
	return r, nil
}
