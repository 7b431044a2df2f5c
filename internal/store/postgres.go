package store

import (
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"

	"github.com/fairlead-dev/fairlead/internal/fault"
)

// openPostgres opens a PostgreSQL database by its URL. The URL may hold a
// password, so no message repeats it.
func openPostgres(dsn string) (*Store, error) {
	cfg, err := pgx.ParseConfig(dsn)
	if err != nil {
		return nil, fault.New(fault.Invalid, "the state's postgres:// URL cannot be read").
			WithFix("Write postgres://user@host:5432/database?sslmode=verify-full, with special characters percent-encoded.")
	}
	if cfg.ConnectTimeout == 0 {
		cfg.ConnectTimeout = 10 * time.Second
	}
	if cfg.RuntimeParams["application_name"] == "" {
		cfg.RuntimeParams["application_name"] = "fairlead"
	}
	db := stdlib.OpenDB(*cfg)
	db.SetMaxOpenConns(10)
	db.SetMaxIdleConns(4)
	db.SetConnMaxIdleTime(5 * time.Minute)
	where := fmt.Sprintf("the PostgreSQL database %s at %s:%d", cfg.Database, cfg.Host, cfg.Port)
	return &Store{read: db, write: db, dialect: goose.DialectPostgres, where: where}, nil
}
