package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/fairlead-dev/fairlead/internal/fault"
)

// Local is a database of this process alone, in a file that can always be made
// again: one connection that writes, and several that read beside it. Scratch is
// another database, in memory, with one connection; it may be lost at any time.
type Local struct{ Read, Write, Scratch *sql.DB }

// OpenKnowledge opens or makes knowledge.db in a folder, made if missing, for
// the index of documents, whatever database holds the state. A file that is
// damaged, or no database, is thrown away.
func OpenKnowledge(ctx context.Context, dir string) (*Local, error) {
	return reopenLocal(ctx, filepath.Join(dir, "knowledge.db"))
}

// OpenCode opens or makes code.db in a folder as OpenKnowledge does, for the
// index of code.
func OpenCode(ctx context.Context, dir string) (*Local, error) {
	return reopenLocal(ctx, filepath.Join(dir, "code.db"))
}

func reopenLocal(ctx context.Context, file string) (*Local, error) {
	l, err := openLocal(ctx, file)
	if damaged(err) {
		for _, part := range []string{"", "-wal", "-shm"} {
			if err := os.Remove(file + part); err != nil && !errors.Is(err, os.ErrNotExist) {
				return nil, unusable(file, err)
			}
		}
		l, err = openLocal(ctx, file)
	}
	if err != nil {
		return nil, unusable(file, err)
	}
	return l, nil
}

func unusable(file string, err error) error {
	return fault.New(fault.FailedPrecondition, "the index %q cannot be used: %s", file, reason(err)).
		WithFix("Check that the server's user may write the file and its folder, and that no other server has the same cache.").Because(err)
}

// damaged tells whether a file holds no database that could be read.
func damaged(err error) bool {
	var e *sqlite.Error
	return errors.As(err, &e) && (e.Code()&0xff == sqlite3.SQLITE_NOTADB || e.Code()&0xff == sqlite3.SQLITE_CORRUPT)
}

func openLocal(ctx context.Context, file string) (_ *Local, err error) {
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := f.Close(); err != nil {
		return nil, err
	}
	l := &Local{}
	if l.Write, err = sql.Open("sqlite", localDSN(file, false)); err != nil {
		return nil, err
	}
	l.Write.SetMaxOpenConns(1)
	if l.Read, err = sql.Open("sqlite", localDSN(file, true)); err != nil {
		return nil, errors.Join(err, l.Write.Close())
	}
	if l.Scratch, err = sql.Open("sqlite", ":memory:"); err != nil {
		return nil, errors.Join(err, l.Read.Close(), l.Write.Close())
	}
	l.Scratch.SetMaxOpenConns(1)
	l.Read.SetMaxOpenConns(4)
	l.Read.SetMaxIdleConns(4)
	var n int
	if err := l.Write.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema").Scan(&n); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// localDSN asks for no more safety than a cache needs: after a power cut the
// last changes may be missing, and are made again.
func localDSN(file string, readOnly bool) string {
	waits := fmt.Sprintf("busy_timeout(%d)", busyFor.Milliseconds())
	q := url.Values{"_pragma": {waits, "journal_mode(wal)", "synchronous(normal)", "cache_size(-16000)", "journal_size_limit(67108864)"}, "_txlock": {"immediate"}}
	if readOnly {
		q = url.Values{"_pragma": {waits, "query_only(on)", "cache_size(-16000)"}}
	}
	return (&url.URL{Scheme: "file", Opaque: (&url.URL{Path: file}).EscapedPath(), RawQuery: q.Encode()}).String()
}

// Close closes the file.
func (l *Local) Close() error { return errors.Join(l.Read.Close(), l.Write.Close(), l.Scratch.Close()) }
