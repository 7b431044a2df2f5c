package app

import (
	"context"
	"errors"

	"github.com/fairlead-dev/fairlead/internal/store"
)

// Migrate brings the state's database up to this version and names the
// migrations that were applied.
func Migrate(ctx context.Context, cfg *Config) (applied []string, err error) {
	s, err := store.Open(ctx, cfg.State)
	if err != nil {
		return nil, err
	}
	applied, err = s.Migrate(ctx)
	return applied, errors.Join(err, s.Close())
}
