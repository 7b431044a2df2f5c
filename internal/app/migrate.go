package app

import (
	"context"
	"errors"

	"github.com/fairlead-dev/fairlead/internal/jobs"
	"github.com/fairlead-dev/fairlead/internal/store"
)

// Migrate brings the state's database up to this version, the tables of jobs
// included, and names the migrations that were applied.
func Migrate(ctx context.Context, cfg *Config) (applied []string, err error) {
	s, err := store.Open(ctx, cfg.State)
	if err != nil {
		return nil, err
	}
	applied, err = s.Migrate(ctx)
	if err = errors.Join(err, s.Close()); err != nil {
		return applied, err
	}
	more, err := migrateJobs(ctx, cfg.State)
	return append(applied, more...), err
}

func migrateJobs(ctx context.Context, state string) (applied []string, err error) {
	if isPostgres(state) {
		return jobs.MigratePostgres(ctx, state)
	}
	db, err := store.OpenJobs(state)
	if err != nil {
		return nil, err
	}
	applied, err = jobs.MigrateSQLite(ctx, db)
	return applied, errors.Join(err, db.Close())
}
