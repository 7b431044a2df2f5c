package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"

	"github.com/pressly/goose/v3"
	"modernc.org/sqlite"
)

// maxPrepared bounds the statements that a connection keeps.
const maxPrepared = 128

// openPrepared opens a SQLite file of whose connections each keeps its
// statements: to parse one takes the engine about as long as to carry it out.
func openPrepared(dsn string) (*sql.DB, error) {
	c, err := sqlite.NewConnector(dsn)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(preparing{c}), nil
}

// preparing connects to SQLite.
type preparing struct{ driver.Connector }

// Connect does as driver.Connector says.
func (p preparing) Connect(ctx context.Context) (driver.Conn, error) {
	c, err := p.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	conn, ok := c.(connection)
	if !ok {
		return nil, errors.Join(fmt.Errorf("a connection of SQLite is a %T, which lacks methods", c), c.Close())
	}
	return &preparedConn{connection: conn, idle: map[string]statement{}}, nil
}

// connection is what SQLite's connections can do.
type connection interface {
	driver.Conn
	driver.ConnBeginTx
	asking
	pooled
}

// asking is how a connection is asked.
type asking interface {
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
}

// pooled is what is asked of a connection between its uses.
type pooled interface {
	driver.Pinger
	driver.SessionResetter
	driver.Validator
}

// statement is what SQLite's statements can do.
type statement interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

// preparedConn is a connection, which one goroutine at a time uses. A statement
// that is in use is not among the idle ones.
type preparedConn struct {
	connection
	idle map[string]statement
}

// Unwrap is the connection of SQLite.
func (c *preparedConn) Unwrap() driver.Conn { return c.connection }

// Close closes the statements and the connection.
func (c *preparedConn) Close() error {
	var err error
	for _, s := range c.idle {
		err = errors.Join(err, s.Close())
	}
	clear(c.idle)
	return errors.Join(err, c.connection.Close())
}

// keeps tells of statements that are the same each time: a PRAGMA does what it
// does while it is parsed.
func keeps(text string) bool {
	for _, verb := range []string{"SELECT ", "INSERT ", "UPDATE ", "DELETE ", "WITH "} {
		if len(text) > len(verb) && strings.EqualFold(text[:len(verb)], verb) {
			return true
		}
	}
	return false
}

// take gives a statement, which goes back by put.
func (c *preparedConn) take(ctx context.Context, text string) (statement, error) {
	if s, ok := c.idle[text]; ok {
		delete(c.idle, text)
		return s, nil
	}
	made, err := c.PrepareContext(ctx, text)
	if err != nil {
		return nil, err
	}
	s, ok := made.(statement)
	if !ok {
		return nil, errors.Join(fmt.Errorf("a statement of SQLite is a %T, which lacks methods", made), made.Close())
	}
	return s, nil
}

// put keeps a statement that came to its end well.
func (c *preparedConn) put(text string, s statement, err error) error {
	if _, there := c.idle[text]; err != nil || there || len(c.idle) >= maxPrepared {
		return errors.Join(err, s.Close())
	}
	c.idle[text] = s
	return nil
}

// ExecContext does as driver.ExecerContext says.
func (c *preparedConn) ExecContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Result, error) {
	if !keeps(text) {
		return c.connection.ExecContext(ctx, text, args)
	}
	s, err := c.take(ctx, text)
	if err != nil {
		return nil, err
	}
	res, err := s.ExecContext(ctx, args)
	return res, c.put(text, s, err)
}

// QueryContext does as driver.QueryerContext says.
func (c *preparedConn) QueryContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Rows, error) {
	if !keeps(text) {
		return c.connection.QueryContext(ctx, text, args)
	}
	s, err := c.take(ctx, text)
	if err != nil {
		return nil, err
	}
	rows, err := s.QueryContext(ctx, args)
	if err != nil {
		return nil, c.put(text, s, err)
	}
	return &preparedRows{Rows: rows, done: func(err error) error { return c.put(text, s, err) }}, nil
}

// preparedRows give their statement back.
type preparedRows struct {
	driver.Rows
	done func(error) error
}

// Close does as driver.Rows says.
func (r *preparedRows) Close() error {
	err := r.Rows.Close()
	if done := r.done; done != nil {
		r.done = nil
		err = done(err)
	}
	return err
}

// Whether a write is on disk once it is written.
const (
	syncNormal = "PRAGMA synchronous = normal"
	syncFull   = "PRAGMA synchronous = full"
)

// lazily makes a write that a power cut may undo, as long as no later one is
// on disk: the journal is written in order, so the next that is waited for takes
// this along. What a process leaves when it is killed is kept all the same.
func (s *Store) lazily(ctx context.Context, write func(conn *sql.Conn) error) (err error) {
	conn, err := s.write.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	if s.dialect == goose.DialectPostgres {
		return write(conn)
	}
	if _, err := conn.ExecContext(ctx, syncNormal); err != nil {
		return err
	}
	defer func() {
		if _, back := conn.ExecContext(context.WithoutCancel(ctx), syncFull); back != nil {
			err = errors.Join(err, back, conn.Raw(func(any) error { return driver.ErrBadConn })) // never used again
		}
	}()
	return write(conn)
}

// execLazily is exec by lazily.
func (s *Store) execLazily(ctx context.Context, text string, args ...any) (changed int64, err error) {
	err = s.lazily(ctx, func(conn *sql.Conn) error {
		res, err := conn.ExecContext(ctx, s.query(text), args...)
		if err != nil {
			return fmt.Errorf("%s: %w", s.where, err)
		}
		changed, err = res.RowsAffected()
		return err
	})
	return changed, err
}
