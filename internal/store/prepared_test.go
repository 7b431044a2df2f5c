package store

import (
	"context"
	"database/sql"
	"path/filepath"
	"testing"
)

// one gives the only value of a query.
func one(t *testing.T, in interface {
	QueryRowContext(ctx context.Context, text string, args ...any) *sql.Row
}, text string, args ...any) (n int) {
	t.Helper()
	if err := in.QueryRowContext(t.Context(), text, args...).Scan(&n); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return n
}

func run(t *testing.T, db *sql.DB, text string, args ...any) {
	t.Helper()
	if _, err := db.ExecContext(t.Context(), text, args...); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}

func preparedDB(t *testing.T) *sql.DB {
	t.Helper()
	db, err := openPrepared(sqliteDSN(filepath.Join(t.TempDir(), "x.db"), false))
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	run(t, db, "CREATE TABLE n (x INTEGER PRIMARY KEY, y INTEGER DEFAULT 7)")
	for i := range 5 {
		run(t, db, "INSERT INTO n (x) VALUES (?1)", i)
	}
	return db
}

func TestStatementsAreReused(t *testing.T) {
	db := preparedDB(t)
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }()
	const text = "SELECT x FROM n WHERE x >= ?1 ORDER BY x"
	sum := 0
	each := func(scan func(...any) error) (x int, err error) { // the same text within itself
		err = scan(&x)
		sum += 100*x + one(t, tx, text, x)
		return x, err
	}
	if all, err := gather(t.Context(), tx, each, text, 1); err != nil || len(all) != 4 || sum != 1010 {
		t.Errorf("read %v, %d, %v", all, sum, err)
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	run(t, db, "ALTER TABLE n ADD COLUMN z INTEGER DEFAULT 9")
	if n := one(t, db, text, 3); n != 3 {
		t.Errorf("after a change of the table: %d", n)
	}
	run(t, db, "INSERT INTO n (x) VALUES (?1)", 9)
	if _, err := db.ExecContext(t.Context(), "INSERT INTO n (x) VALUES (?1)", 9); err == nil {
		t.Error("a row was written twice")
	}
	run(t, db, "INSERT INTO n (x) VALUES (?1)", 10)
}

func TestStatementsOutliveWhoGivesUp(t *testing.T) {
	db := preparedDB(t)
	const endless = "SELECT COUNT(*) FROM n a, n b, n c, n d, n e, n f, n g, n h, n i, n j, n k, n l, n m WHERE a.x + m.y < ?1"
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		var n int
		done <- db.QueryRowContext(ctx, endless, 0).Scan(&n)
	}()
	cancel()
	if err := <-done; err == nil {
		t.Error("what was cancelled came to an end")
	}
	if n := one(t, db, "SELECT COUNT(*) FROM n WHERE x < ?1", 3); n != 3 {
		t.Errorf("counted %d", n)
	}
}

func TestLazyWritesLeaveTheOthersDurable(t *testing.T) {
	s, err := Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	run(t, s.write, "CREATE TABLE n (x INTEGER PRIMARY KEY)")
	during := 0
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for range 2 {
		err = s.lazily(ctx, func(conn *sql.Conn) error {
			during = one(t, conn, "PRAGMA synchronous")
			cancel() // full comes back all the same
			return nil
		})
		if err == nil && during != 1 {
			t.Errorf("synchronous is %d during a lazy write", during)
		}
	}
	if err == nil {
		t.Error("a lazy write began though its caller had gone")
	}
	if after := one(t, s.write, "PRAGMA synchronous"); after != 2 {
		t.Errorf("synchronous is %d after a lazy write", after)
	}
	if _, err := s.execLazily(t.Context(), "INSERT INTO n VALUES (?1)", 1); err != nil || one(t, s.read, "SELECT COUNT(*) FROM n") != 1 {
		t.Errorf("a lazy write was not read: %v", err)
	}
}
