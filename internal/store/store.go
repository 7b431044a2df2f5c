// Package store keeps Fairlead's state: the audit and the quotas. It is one
// SQL text over two engines, SQLite in a folder of its own (the default) and
// PostgreSQL, where several replicas share their state.
package store

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"strings"
	"time"

	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

//go:embed migrations/*.sql
var migrations embed.FS

// What the rest of Fairlead asks of a Store.
var (
	_ access.Log         = (*Store)(nil)
	_ access.AuditReader = (*Store)(nil)
	_ access.Quota       = (*Store)(nil)
)

// Store is the state in one database. It is safe for concurrent use, and
// several processes may have the same one open.
type Store struct {
	read, write *sql.DB // the same for PostgreSQL
	dialect     goose.Dialect
	where       string // names the database in messages, without secrets
}

// Open opens the state that dsn names: postgres://… is a PostgreSQL database,
// all else a folder, made if missing, that holds an SQLite file. It changes no
// table: call Migrate before use. A database that a newer Fairlead has changed
// is refused (failed_precondition); one that does not answer is unavailable.
func Open(ctx context.Context, dsn string) (*Store, error) {
	open := openSQLite
	if strings.HasPrefix(dsn, "postgres://") || strings.HasPrefix(dsn, "postgresql://") {
		open = openPostgres
	}
	s, err := open(dsn)
	if err != nil {
		return nil, err
	}
	err = s.Ping(ctx)
	for until := time.Now().Add(busyFor); err != nil && busy(err) && ctx.Err() == nil && time.Now().Before(until); err = s.Ping(ctx) {
		time.Sleep(busyFor / 200)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	if err := s.refuseNewer(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Ping tells whether the database answers.
func (s *Store) Ping(ctx context.Context) error {
	for _, db := range []*sql.DB{s.write, s.read} {
		if err := db.PingContext(ctx); err != nil {
			return fault.New(fault.Unavailable, "%s cannot be opened: %s", s.where, reason(err)).
				WithFix("%s", remedy(s.dialect)).Because(err)
		}
	}
	return nil
}

// Close closes the database; what was recorded is kept.
func (s *Store) Close() error {
	if s.read == s.write {
		return s.write.Close()
	}
	return errors.Join(s.read.Close(), s.write.Close())
}

// String names the database without its secrets.
func (s *Store) String() string { return s.where }

// Migrate brings the tables to what this program knows and names the
// migrations that were applied, none if the database was current. Several
// processes may do so at once.
func (s *Store) Migrate(ctx context.Context) (applied []string, err error) {
	p, err := s.provider()
	if err != nil {
		return nil, err
	}
	results, err := p.Up(ctx)
	for i := 0; err != nil && ctx.Err() == nil && i < 3; i++ {
		// Another process on the same SQLite file may have been first.
		if current, target, versionErr := p.GetVersions(ctx); versionErr == nil && current == target {
			err = nil
			break
		}
		results, err = p.Up(ctx)
	}
	if err != nil {
		return nil, fault.New(fault.Unavailable, "%s could not be brought up to date: %s", s.where, reason(err)).
			WithFix("Check that its user may create tables, then run: fairleadd migrate").Because(err)
	}
	for _, r := range results {
		applied = append(applied, strings.TrimSuffix(r.Source.Path[strings.LastIndexByte(r.Source.Path, '/')+1:], ".sql"))
	}
	return applied, s.forgetQuotas(ctx)
}

func (s *Store) provider() (*goose.Provider, error) {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return nil, err
	}
	opts := []goose.ProviderOption{
		goose.WithDisableGlobalRegistry(true),
		goose.WithTableName("fairlead_schema"),
		goose.WithSlog(slog.New(slog.DiscardHandler)),
	}
	if s.dialect == goose.DialectPostgres {
		locker, err := lock.NewPostgresSessionLocker(lock.WithLockTimeout(1, 300)) // tries each second
		if err != nil {
			return nil, err
		}
		opts = append(opts, goose.WithSessionLocker(locker))
	}
	return goose.NewProvider(s.dialect, s.write, files, opts...)
}

// refuseNewer refuses a database with migrations that this program lacks: it
// would read and write tables it does not understand.
func (s *Store) refuseNewer(ctx context.Context) error {
	p, err := s.provider()
	if err != nil {
		return err
	}
	var current int64
	err = s.write.QueryRowContext(ctx, "SELECT COALESCE(MAX(version_id), 0) FROM fairlead_schema").Scan(&current)
	if err != nil { // a new database has no such table, and a broken one fails in Migrate
		return nil //nolint:nilerr // see above
	}
	sources := p.ListSources()
	if known := sources[len(sources)-1].Version; current > known {
		return fault.New(fault.FailedPrecondition, "%s was written by a newer Fairlead: its schema is version %d, and this program knows %d", s.where, current, known).
			WithFix("Run the newer version, or restore a backup from before the upgrade.")
	}
	return nil
}

// query fits the one SQL text to the engine: SQLite counts its parameters
// ?1, ?2, PostgreSQL $1, $2. No text holds another question mark.
func (s *Store) query(text string) string {
	if s.dialect == goose.DialectPostgres {
		return strings.ReplaceAll(text, "?", "$")
	}
	return text
}

func (s *Store) exec(ctx context.Context, text string, args ...any) (changed int64, err error) {
	res, err := s.write.ExecContext(ctx, s.query(text), args...)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", s.where, err)
	}
	return res.RowsAffected()
}

// forgetQuotas removes what has long been full again.
func (s *Store) forgetQuotas(ctx context.Context) error {
	_, err := s.exec(ctx, "DELETE FROM quota WHERE full_at < ?1", time.Now().Add(-time.Hour).UnixNano())
	return err
}

// down is the fault of a database that failed over something; a fault stays as
// it is, and nil nil.
func (s *Store) down(thing, what string, err error) error {
	var f *fault.Error
	if err == nil || errors.As(err, &f) {
		return err
	}
	return fault.New(fault.Unavailable, "%s could not be %s", thing, what).
		WithFix("Try again in a moment; the operators find the cause in the server's log.").Because(fmt.Errorf("%s: %w", s.where, err))
}

// beginner is a database or one of its connections.
type beginner interface {
	BeginTx(ctx context.Context, opts *sql.TxOptions) (*sql.Tx, error)
}

// inOne makes a change in one transaction.
func inOne(ctx context.Context, on beginner, change func(*sql.Tx) error) error {
	tx, err := on.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // nothing is left to roll back after the commit
	if err = change(tx); err != nil {
		return err
	}
	return tx.Commit()
}

// count notes that a table changes, and gives how often it has. Who does so
// before all else waits for who did before, so that no change becomes visible
// behind one with a larger number.
func (s *Store) count(ctx context.Context, tx *sql.Tx, table string) (n int64, err error) {
	err = tx.QueryRowContext(ctx, s.query(`INSERT INTO revision (name, n) VALUES (?1, 1)
		ON CONFLICT (name) DO UPDATE SET n = revision.n + 1 RETURNING n`), table).Scan(&n)
	return n, err
}

// counting makes a change of a table in one transaction that counts it, both or
// neither.
func (s *Store) counting(ctx context.Context, table string, change func(tx *sql.Tx, revision int64) error) error {
	return inOne(ctx, s.write, func(tx *sql.Tx) error {
		n, err := s.count(ctx, tx, table)
		if err != nil {
			return err
		}
		return change(tx, n)
	})
}

// counted is how often a table has changed, by whichever replica.
func (s *Store) counted(ctx context.Context, table string) (n int64, err error) {
	err = s.read.QueryRowContext(ctx, s.query("SELECT COALESCE(MAX(n), 0) FROM revision WHERE name = ?1"), table).Scan(&n)
	return n, err
}

// querier is a database or a transaction.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// gather gives the rows of a query, each read by scan.
func gather[T any](ctx context.Context, in querier, scan func(scan func(...any) error) (T, error), text string, args ...any) (out []T, err error) {
	rows, err := in.QueryContext(ctx, text, args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		r, err := scan(rows.Scan)
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, rows.Err()
}
