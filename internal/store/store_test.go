package store_test

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/pressly/goose/v3"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/access/accesstest"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/realtest"
	"github.com/fairlead-dev/fairlead/internal/store"
)

// engines runs a test on each engine; dsn gives an empty database.
func engines(t *testing.T, test func(t *testing.T, dsn func(testing.TB) string)) {
	t.Run("sqlite", func(t *testing.T) {
		test(t, func(t testing.TB) string { return filepath.Join(t.TempDir(), "state") })
	})
	t.Run("postgres", func(t *testing.T) {
		realtest.Postgres(t) // leaves the whole test out where there is none
		test(t, realtest.Postgres)
	})
}

// open opens a database and brings its tables up to date.
func open(t testing.TB, dsn string) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	if _, err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

// raw opens a database beside the store.
func raw(t testing.TB, dsn string) *sql.DB {
	t.Helper()
	driver, name := "sqlite", "file:"+filepath.Join(dsn, "fairlead.db")
	if strings.HasPrefix(dsn, "postgres://") {
		driver, name = "pgx", dsn
	}
	db, err := sql.Open(driver, name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// older takes a database back to a version of its tables.
func older(t testing.TB, dsn string, version int64) {
	t.Helper()
	dialect := goose.DialectSQLite3
	if strings.HasPrefix(dsn, "postgres://") {
		dialect = goose.DialectPostgres
	}
	p, err := goose.NewProvider(dialect, raw(t, dsn), os.DirFS("migrations"), goose.WithDisableGlobalRegistry(true), goose.WithTableName("fairlead_schema"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.DownTo(t.Context(), version); err != nil {
		t.Fatal(err)
	}
}

func TestContracts(t *testing.T) {
	engines(t, func(t *testing.T, dsn func(testing.TB) string) {
		accesstest.LogContract(t, func(t testing.TB) accesstest.RecordedLog { return open(t, dsn(t)) })
		accesstest.ApprovalsContract(t, func(t testing.TB) access.Approvals { return open(t, dsn(t)) })
		accesstest.QuotaContract(t, func(t testing.TB) access.Quota { return open(t, dsn(t)) })
	})
}

func TestMigrateOnce(t *testing.T) {
	engines(t, func(t *testing.T, dsn func(testing.TB) string) {
		s, err := store.Open(t.Context(), dsn(t))
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		applied, err := s.Migrate(t.Context())
		if err != nil || len(applied) == 0 || applied[0] != "00001_audit_and_quota" {
			t.Errorf("first: %q, %v", applied, err)
		}
		if applied, err = s.Migrate(t.Context()); err != nil || len(applied) != 0 {
			t.Errorf("second: %q, %v", applied, err)
		}
	})
}

// TestMigrateThereAndBack takes every step back, and makes them all again.
func TestMigrateThereAndBack(t *testing.T) {
	engines(t, func(t *testing.T, dsn func(testing.TB) string) {
		name := dsn(t)
		s := open(t, name)
		older(t, name, 0)
		if applied, err := s.Migrate(t.Context()); err != nil || len(applied) < 20 {
			t.Errorf("%q, %v", applied, err)
		}
	})
}

func TestMigrateTogether(t *testing.T) {
	engines(t, func(t *testing.T, dsn func(testing.TB) string) {
		name := dsn(t)
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				s, err := store.Open(t.Context(), name)
				if err != nil {
					t.Error(err)
					return
				}
				defer s.Close()
				if _, err := s.Migrate(t.Context()); err != nil {
					t.Error(err)
				}
				if _, err := s.Audit(t.Context(), access.AuditQuery{Limit: 1}); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
	})
}

func TestStateOutlivesTheStore(t *testing.T) {
	engines(t, func(t *testing.T, dsn func(testing.TB) string) {
		name := dsn(t)
		limit := access.Rate{Burst: 1, Per: 3600e9}
		first := open(t, name)
		id, err := first.Begin(t.Context(), access.Begun{Who: accesstest.As("alice")})
		if err != nil {
			t.Fatal(err)
		}
		if wait, err := first.Take(t.Context(), "k", limit); wait != 0 || err != nil {
			t.Fatal(wait, err)
		}
		second := open(t, name) // a replica, or the same after a restart
		if wait, err := second.Take(t.Context(), "k", limit); wait == 0 || err != nil {
			t.Errorf("the quota was forgotten: %s, %v", wait, err)
		}
		if err := second.End(t.Context(), id, access.Outcome{Status: access.StatusOK}); err != nil {
			t.Error(err)
		}
	})
}

func TestRefusesANewerDatabase(t *testing.T) {
	engines(t, func(t *testing.T, dsn func(testing.TB) string) {
		name := dsn(t)
		open(t, name)
		if _, err := raw(t, name).ExecContext(t.Context(), "INSERT INTO fairlead_schema (version_id, is_applied) VALUES (9999, true)"); err != nil {
			t.Fatal(err)
		}
		_, err := store.Open(t.Context(), name)
		f := fault.From(err)
		if f.Code != fault.FailedPrecondition || !strings.Contains(f.Message, "9999") || f.Fix == "" {
			t.Errorf("fault = %+v", f)
		}
	})
}

func TestFoldersWithStrangeNames(t *testing.T) {
	for _, name := range []string{"a b", "q?mode=memory", "h#x", "p%20c", "ü", "a&b=c", "it's", "file:x"} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), name)
			s := open(t, dir)
			if _, err := s.Begin(t.Context(), access.Begun{Who: accesstest.As("alice")}); err != nil {
				t.Fatal(err)
			}
			for _, file := range []string{"fairlead.db", "fairlead.db-wal"} {
				info, err := os.Stat(filepath.Join(dir, file))
				if err != nil {
					t.Fatal(err)
				}
				if info.Size() == 0 && file != "fairlead.db" || info.Mode().Perm() != 0o600 {
					t.Errorf("%s: %d bytes, mode %v", file, info.Size(), info.Mode())
				}
			}
		})
	}
}

func TestRefusesWhatIsNoDatabase(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	garbage := filepath.Join(dir, "garbage")
	if err := os.MkdirAll(garbage, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{file, filepath.Join(garbage, "fairlead.db")} {
		if err := os.WriteFile(path, []byte(strings.Repeat("not a database ", 1000)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for dsn, code := range map[string]fault.Code{
		file:    fault.FailedPrecondition,
		garbage: fault.Unavailable,
		"postgres://alice:hunter2canary@127.0.0.1:1/db":   fault.Unavailable,
		"postgres://alice:hunter2canary@[::1/db":          fault.Invalid,
		"postgres://alice:hunter2canary@h:port/db":        fault.Invalid,
		"postgres://alice:hunter2canary@h/db?sslmode=who": fault.Invalid,
	} {
		_, err := store.Open(t.Context(), dsn)
		f := fault.From(err)
		if f.Code != code || f.Fix == "" {
			t.Errorf("%s: %+v", dsn, f)
		}
		if strings.Contains(err.Error(), "canary") || strings.Contains(f.Fix, "canary") {
			t.Errorf("the password is told: %v", err)
		}
	}
}

func TestOpenObeysItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := store.Open(ctx, t.TempDir()); err == nil {
		t.Error("opened after the end of its context")
	}
}
