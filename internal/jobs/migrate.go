package jobs

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"time"

	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/riverdriver/riversqlite"
	"github.com/riverqueue/river/rivermigrate"
)

// MigrateSQLite brings the tables of jobs in an SQLite database up to date and
// names the migrations that were applied. Opening a queue does so, too.
func MigrateSQLite(ctx context.Context, db *sql.DB) (applied []string, err error) {
	if applied, err = migrate(ctx, riversqlite.New(db), slog.New(slog.DiscardHandler)); err != nil {
		return nil, unavailable(err)
	}
	return applied, nil
}

// MigratePostgres is MigrateSQLite for the PostgreSQL database of a URL.
func MigratePostgres(ctx context.Context, url string) (applied []string, err error) {
	pool, err := connect(ctx, url)
	if err != nil {
		return nil, err
	}
	defer pool.Close()
	if applied, err = migrate(ctx, riverpgxv5.New(pool), slog.New(slog.DiscardHandler)); err != nil {
		return nil, unavailable(err)
	}
	return applied, nil
}

// migrate brings River's tables up to date. Another replica may do so at the
// same time; then one of them fails and finds it done.
func migrate[TTx any](ctx context.Context, driver riverdriver.Driver[TTx], log *slog.Logger) (applied []string, err error) {
	m, err := rivermigrate.New(driver, &rivermigrate.Config{Logger: log})
	if err != nil {
		return nil, err
	}
	for range 10 {
		var done *rivermigrate.MigrateResult
		if done, err = m.Migrate(ctx, rivermigrate.DirectionUp, nil); err == nil {
			for _, v := range done.Versions {
				applied = append(applied, fmt.Sprintf("jobs_%05d_%s", v.Version, v.Name))
			}
			return applied, nil
		}
		if ctx.Err() != nil {
			return nil, err
		}
		select {
		case <-ctx.Done():
		case <-time.After(200 * time.Millisecond):
		}
	}
	return nil, err
}
