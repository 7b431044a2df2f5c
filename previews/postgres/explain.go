package postgres

import (
	"bytes"
	"context"
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/fairlead-dev/fairlead/internal/fault"
)

// explain is what callers are told of an error.
func (p *Provider) explain(step string, err error) error {
	var f *fault.Error
	var pg *pgconn.PgError
	switch {
	case errors.As(err, &f):
		return err
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.As(err, &pg) && strings.HasPrefix(pg.Code, "28"):
		return fault.New(fault.Unavailable, "the PostgreSQL server %s does not let Fairlead's administrator in", p.cfg.Name).
			WithFix("Have the operators check user and password of previews.data.postgres.").Because(err)
	case errors.As(err, &pg) && pg.Code == "42501":
		return fault.New(fault.FailedPrecondition, "%s a database in the PostgreSQL server %s is not allowed to Fairlead's administrator: %s", step, p.cfg.Name, pg.Message).
			WithFix("Have the operators give it CREATEDB and CREATEROLE: ALTER ROLE … CREATEDB CREATEROLE.").Because(err)
	case errors.As(err, &pg):
		return fault.New(fault.Unavailable, "%s a database in the PostgreSQL server %s did not work: %s (SQLSTATE %s)", step, p.cfg.Name, pg.Message, pg.Code).
			WithFix("It is tried again; if it stays, the operators find the cause in that server's log.").Because(err)
	case unreachable(err):
		return fault.New(fault.Unavailable, "the PostgreSQL server %s cannot be reached", p.cfg.Name).
			WithFix("It is tried again; have the operators check that it runs and that previews.data.postgres names it.").Because(err)
	default:
		return fault.New(fault.Unavailable, "%s a database in the PostgreSQL server %s did not work", step, p.cfg.Name).
			WithFix("It is tried again; the operators find the cause in Fairlead's log.").Because(err)
	}
}

// refused explains why a role is not let into its own database.
func refused(server string, err error) error {
	var pg *pgconn.PgError
	if !errors.As(err, &pg) || !strings.HasPrefix(pg.Code, "28") {
		return err
	}
	return fault.New(fault.FailedPrecondition, "the PostgreSQL server %s does not let the roles of previews in", server).
		WithFix("Have the operators let roles whose names begin with %s in by scram-sha-256 in its pg_hba.conf.", prefix).Because(err)
}

// wrongSeed says what is wrong with a seed, and where.
func wrongSeed(file, commit string, seed []byte, at int, what string) error {
	if at >= 0 {
		file += ":" + strconv.Itoa(1+bytes.Count(seed[:min(at, len(seed))], []byte("\n")))
	}
	f := fault.New(fault.FailedPrecondition, "%s of commit %.12s does not fill a database: %s", file, commit, what)
	switch {
	case at >= 0 && at < len(seed) && seed[at] == '\\':
		return f.WithFix("Take psql's own commands, which begin with a backslash, out of the file: it is run as it is.")
	case strings.Contains(what, "transaction block"):
		return f.WithFix("Take that statement out of the file, which is run as one transaction.")
	case bytes.Contains(bytes.ToLower(seed), []byte("from stdin")):
		return f.WithFix("Write INSERT in the place of COPY; pg_dump does with --inserts.")
	}
	return f.WithFix("Correct the file; it is run by the database's own role, which is no superuser.")
}

// offset turns PostgreSQL's position, in characters from 1, into one in bytes;
// -1 for none.
func offset(text []byte, position int) int {
	if position < 1 {
		return -1
	}
	at := 0
	for range position - 1 {
		_, n := utf8.DecodeRune(text[at:])
		at += n
	}
	return at
}
