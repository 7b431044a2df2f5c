package store

import (
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/pressly/goose/v3"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/fairlead-dev/fairlead/internal/fault"
)

// sqliteFile is the file in the state folder.
const sqliteFile = "fairlead.db"

// busyFor is how long to wait for another process to let go of the file.
const busyFor = 10 * time.Second

// busy tells whether another holds the file's lock. SQLite waits for most
// locks itself, but not for the one that a new file's first journal takes.
func busy(err error) bool {
	var e *sqlite.Error
	return errors.As(err, &e) && e.Code()&0xff == sqlite3.SQLITE_BUSY
}

// openSQLite opens the file in a folder: one connection that writes, so that
// writers queue in the program and not on the file's lock, and several that
// read beside it.
func openSQLite(dir string) (*Store, error) {
	file, err := sqlitePath(dir, sqliteFile)
	if err != nil {
		return nil, fault.New(fault.FailedPrecondition, "the state folder %q cannot be used: %s", dir, reason(err)).
			WithFix("Name a folder that the server's user may write, or a PostgreSQL database as postgres://….").Because(err)
	}
	s := &Store{dialect: goose.DialectSQLite3, where: "the SQLite database " + file}
	if s.write, err = openPrepared(sqliteDSN(file, false)); err != nil {
		return nil, err
	}
	s.write.SetMaxOpenConns(1)
	if s.read, err = openPrepared(sqliteDSN(file, true)); err != nil {
		return nil, errors.Join(err, s.write.Close())
	}
	s.read.SetMaxOpenConns(4)
	return s, nil
}

// sqlitePath makes the folder and the file, both for the server's user alone;
// SQLite gives the files beside it the same mode.
func sqlitePath(dir, name string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	path := filepath.Join(dir, name)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return "", err
	}
	return path, f.Close()
}

// OpenJobs opens the SQLite file for jobs in a state folder, beside the
// state's own so that neither waits for the other. It has one connection, as
// jobs want it. What is lost of it in a power cut is found again in the state.
func OpenJobs(dir string) (*sql.DB, error) {
	file, err := sqlitePath(dir, "jobs.db")
	if err != nil {
		return nil, err
	}
	db, err := sql.Open("sqlite", strings.Replace(sqliteDSN(file, false), "synchronous%28full%29", "synchronous%28normal%29", 1))
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	return db, nil
}

// sqliteDSN asks for a journal that lets readers read beside the writer, for
// records that survive a power cut once written, and for transactions that
// take the write lock at once instead of failing half-way.
func sqliteDSN(file string, readOnly bool) string {
	waits := fmt.Sprintf("busy_timeout(%d)", busyFor.Milliseconds())
	q := url.Values{
		"_pragma": {waits, "journal_mode(wal)", "synchronous(full)", "foreign_keys(on)"},
		"_txlock": {"immediate"},
	}
	if readOnly {
		q["_pragma"] = []string{waits, "query_only(on)"}
		q.Del("_txlock")
	}
	return (&url.URL{Scheme: "file", Opaque: (&url.URL{Path: file}).EscapedPath(), RawQuery: q.Encode()}).String()
}

// reason is the innermost cause, which says it in the fewest words.
func reason(err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return fmt.Sprintf("%s: %s", pe.Path, pe.Err)
	}
	return err.Error()
}

func remedy(d goose.Dialect) string {
	if d == goose.DialectPostgres {
		return "Check that the server runs, and host, database, user and password (also in PGPASSWORD or the password file)."
	}
	return "Check that the file is a database of Fairlead's and that the server's user may write it and its folder; if it is damaged, restore a backup."
}
