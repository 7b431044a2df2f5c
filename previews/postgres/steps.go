package postgres

import (
	"context"
	"crypto/rand"
	"errors"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// state is what the server says of a name.
type state struct {
	role, login, database bool
	// busy tells that somebody else holds the lock of the name.
	busy bool
	size int64
	// label is the database's, or the role's where it has none.
	label label
}

// foreign is a conflict where a name is another's.
func (s *state) foreign(name, id string) error {
	if s.label.Preview == "" || s.label.Preview == id {
		return nil
	}
	return fault.New(fault.Conflict, "the database %s is one of the preview %s", name, s.label.Preview).WithFix("Create another preview.")
}

// see asks what there is under a name.
func see(ctx context.Context, s *session, name string) (state, error) {
	key := uint64(lockOf(name)) //nolint:gosec // any 64 bits are a lock
	found, err := s.rows(ctx, `SELECT r.oid IS NOT NULL, coalesce(r.rolcanlogin, false), d.oid IS NOT NULL, coalesce(CASE WHEN has_database_privilege(d.oid, 'CONNECT') THEN pg_database_size(d.oid) END, 0),
		shobj_description(d.oid, 'pg_database'), shobj_description(r.oid, 'pg_authid'),
		EXISTS (SELECT FROM pg_locks l JOIN pg_database here ON here.oid = l.database AND here.datname = current_database()
			WHERE l.locktype = 'advisory' AND l.classid = $2::oid AND l.objid = $3::oid AND l.objsubid = 1 AND l.granted AND l.pid <> pg_backend_pid())
		FROM (SELECT $1::name AS name) one LEFT JOIN pg_roles r ON r.rolname = one.name LEFT JOIN pg_database d ON d.datname = one.name`,
		name, strconv.FormatUint(key>>32, 10), strconv.FormatUint(key&0xffffffff, 10))
	if err != nil {
		return state{}, err
	}
	if len(found) != 1 {
		return state{}, errors.New("PostgreSQL gave no row")
	}
	f := found[0]
	out := state{role: f[0] == "t", login: f[1] == "t", database: f[2] == "t", busy: f[6] == "t", label: readLabel(f[4])}
	if out.label == (label{}) {
		out.label = readLabel(f[5])
	}
	out.size, err = strconv.ParseInt(f[3], 10, 64)
	return out, err
}

// anew makes role and database from nothing, whatever was there. The role
// comes first, with its label: by that what is left of a crash is known.
func (p *Provider) anew(ctx context.Context, s *session, name string, l label, was state) error {
	if was.database {
		if err := p.drop(ctx, s, name, was); err != nil {
			return err
		}
		was.role = false
	}
	if !was.role {
		if err := s.exec(ctx, "CREATE ROLE "+ident(name)+" NOLOGIN; COMMENT ON ROLE "+ident(name)+" IS "+literal(l.String())); err != nil {
			return err
		}
	}
	if err := join(ctx, s, name); err != nil {
		return err
	}
	limit := strconv.Itoa(p.cfg.Limits.Connections + 2) // and Fairlead itself
	for _, statement := range []string{
		"CREATE DATABASE " + ident(name) + " TEMPLATE template0 CONNECTION LIMIT " + limit,
		"REVOKE ALL ON DATABASE " + ident(name) + " FROM PUBLIC",
		"COMMENT ON DATABASE " + ident(name) + " IS " + literal(l.String()),
		"GRANT CONNECT, CREATE, TEMPORARY ON DATABASE " + ident(name) + " TO " + ident(name),
	} {
		if err := s.exec(ctx, statement); err != nil {
			return err
		}
	}
	if err := p.inside(ctx, name); err != nil {
		return err
	}
	if err := p.fenced(ctx, s, name); err != nil {
		return err
	}
	return p.admit(ctx, s, name)
}

// join makes the administrator a member of a role, which ending its
// connections takes of one that is no superuser.
func join(ctx context.Context, s *session, name string) error {
	found, err := s.rows(ctx, "SELECT rolsuper OR pg_has_role(current_user, $1::name, 'USAGE') FROM pg_roles WHERE rolname = current_user", name)
	if err != nil || len(found) == 1 && found[0][0] == "t" {
		return err
	}
	return s.exec(ctx, "GRANT "+ident(name)+" TO CURRENT_USER")
}

// inside gives the role the schema public of its database.
func (p *Provider) inside(ctx context.Context, name string) error {
	s, err := p.dial(ctx, name, "", access.Secret{})
	if err != nil {
		return err
	}
	defer s.close()
	return s.exec(ctx, "GRANT ALL ON SCHEMA public TO "+ident(name))
}

// fenced refuses a server in which a role gets at databases that are not its
// own.
func (p *Provider) fenced(ctx context.Context, s *session, name string) error {
	found, err := s.rows(ctx, `SELECT datname FROM pg_database WHERE datallowconn AND datname <> $1 AND has_database_privilege($1::name, oid, 'CONNECT')
		AND NOT datname = ANY (string_to_array($2, ',')) ORDER BY datname LIMIT 20`, name, strings.Join(p.cfg.Open, ","))
	if err != nil || len(found) == 0 {
		return err
	}
	var names, fixes []string
	for _, row := range found {
		names = append(names, row[0])
		fixes = append(fixes, "REVOKE CONNECT ON DATABASE "+ident(row[0])+" FROM PUBLIC;")
	}
	return fault.New(fault.FailedPrecondition, "in the PostgreSQL server %s everybody may connect to %s, and so may previews", p.cfg.Name, strings.Join(names, ", ")).
		WithFix("Have the operators run: %s Or have them name those under open of the server in previews.data.postgres.", strings.Join(fixes, " "))
}

// admit lets a role log in by its password, within its limits.
func (p *Provider) admit(ctx context.Context, s *session, name string) error {
	salt := make([]byte, 16)
	_, _ = rand.Read(salt) // it never fails
	v, err := verifier(p.passwordOf(name), salt)
	if err != nil {
		return err
	}
	l := p.cfg.Limits
	for _, statement := range []string{
		"ALTER ROLE " + ident(name) + " SET statement_timeout = " + literal(itoa(l.StatementTimeout.Milliseconds())),
		"ALTER ROLE " + ident(name) + " SET idle_in_transaction_session_timeout = '10min'",
		"ALTER ROLE " + ident(name) + " LOGIN CONNECTION LIMIT " + strconv.Itoa(l.Connections) + " PASSWORD " + literal(v.Reveal()),
	} {
		if err := s.exec(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

// shut keeps a role out, and ends its connections.
func shut(ctx context.Context, s *session, name string) error {
	if err := s.exec(ctx, "ALTER ROLE "+ident(name)+" NOLOGIN"); err != nil {
		return err
	}
	_, err := s.rows(ctx, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1", name)
	return err
}

// drop drops the database and then the role, by whose label what is left of a
// crash is known.
func (p *Provider) drop(ctx context.Context, s *session, name string, was state) error {
	if was.role {
		if err := join(ctx, s, name); err != nil {
			return err
		}
		if err := shut(ctx, s, name); err != nil {
			return err
		}
	}
	if was.database {
		if err := s.exec(ctx, "DROP DATABASE IF EXISTS "+ident(name)+" WITH (FORCE)"); err != nil {
			return err
		}
	}
	if was.role {
		return s.exec(ctx, "DROP ROLE IF EXISTS "+ident(name))
	}
	return nil
}

// fill runs a seed as the role itself, never as the administrator.
func (p *Provider) fill(ctx context.Context, name, file, commit string, seed []byte) error {
	if err := p.asksForPasswords(ctx, name); err != nil {
		return err
	}
	s, err := p.dial(ctx, name, name, p.passwordOf(name))
	if err != nil {
		return refused(p.cfg.Name, err)
	}
	defer s.close()
	if len(seed) == 0 {
		return nil
	}
	if i := strings.IndexByte(string(seed), 0); i >= 0 {
		return wrongSeed(file, commit, seed, i, "a zero byte")
	}
	err = s.script(ctx, string(seed))
	var pg *pgconn.PgError
	if !errors.As(err, &pg) {
		return err
	}
	switch {
	case pg.Code == "57014": // query_canceled
		if ctx.Err() != nil {
			return err
		}
	case strings.HasPrefix(pg.Code, "08"), strings.HasPrefix(pg.Code, "53"), strings.HasPrefix(pg.Code, "57"), strings.HasPrefix(pg.Code, "58"), strings.HasPrefix(pg.Code, "XX"):
		return err // of the server, and not of the seed
	}
	return wrongSeed(file, commit, seed, offset(seed, int(pg.Position)), pg.Message+" (SQLSTATE "+pg.Code+")")
}

// asksForPasswords refuses a server that lets roles in without their
// password. It is asked once.
func (p *Provider) asksForPasswords(ctx context.Context, name string) error {
	if p.guarded.Load() {
		return nil
	}
	s, err := p.dial(ctx, name, name, access.NewSecret("not the password of "+name))
	if err == nil {
		s.close()
		return fault.New(fault.FailedPrecondition, "the PostgreSQL server %s lets roles in whatever their password", p.cfg.Name).
			WithFix("Have the operators ask for scram-sha-256 in its pg_hba.conf.")
	}
	var pg *pgconn.PgError
	if errors.As(err, &pg) && strings.HasPrefix(pg.Code, "28") {
		p.guarded.Store(true)
		return nil
	}
	return err
}
