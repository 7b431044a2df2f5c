package postgres

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"net"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/fairlead-dev/fairlead/access"
)

// connectTimeout bounds one attempt to connect.
const connectTimeout = 10 * time.Second

// session is one connection to the server.
type session struct{ conn *pgconn.PgConn }

// dial connects to a database, as the administrator where no user is named.
func (p *Provider) dial(ctx context.Context, database, user string, password access.Secret) (*session, error) {
	cfg, err := pgconn.ParseConfig(p.cfg.URL)
	if err != nil {
		return nil, err
	}
	if user == "" {
		if password, err = p.cfg.password(); err != nil {
			return nil, err
		}
		user = cfg.User
	}
	cfg.User, cfg.Password, cfg.ConnectTimeout = user, password.Reveal(), connectTimeout
	if database != "" {
		cfg.Database = database
	}
	for name, value := range map[string]string{"application_name": "fairlead previews", "standard_conforming_strings": "on", "client_encoding": "UTF8"} {
		cfg.RuntimeParams[name] = value
	}
	conn, err := pgconn.ConnectConfig(ctx, cfg)
	if err != nil {
		return nil, err
	}
	return &session{conn}, nil
}

// close ends a connection, at once where the context has ended.
func (s *session) close() {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	_ = s.conn.Close(ctx) // nothing is left to be lost
}

// exec runs one statement without parameters, outside of a transaction.
func (s *session) exec(ctx context.Context, statement string) error {
	_, err := s.conn.Exec(ctx, statement).ReadAll()
	return err
}

// rows runs a query and gives what it finds; NULL is "".
func (s *session) rows(ctx context.Context, query string, params ...string) ([][]string, error) {
	values := make([][]byte, len(params))
	for i, v := range params {
		values[i] = []byte(v)
	}
	result := s.conn.ExecParams(ctx, query, values, nil, nil, nil).Read()
	out := make([][]string, len(result.Rows))
	for i, row := range result.Rows {
		out[i] = make([]string, len(row))
		for j, v := range row {
			out[i][j] = string(v)
		}
	}
	return out, result.Err
}

// script runs statements as they come from a file: in one transaction unless
// they say otherwise. What they give is thrown away as it comes; copying from
// the client is refused.
func (s *session) script(ctx context.Context, statements string) (err error) {
	defer context.AfterFunc(ctx, func() { _ = s.conn.Conn().SetDeadline(time.Now()) })() // of sending, too
	s.conn.Frontend().Send(&pgproto3.Query{String: statements})
	if err := s.conn.Frontend().Flush(); err != nil {
		return err
	}
	for {
		message, received := s.conn.ReceiveMessage(ctx)
		if received != nil {
			return errors.Join(err, received)
		}
		switch m := message.(type) {
		case *pgproto3.CopyInResponse:
			s.conn.Frontend().Send(&pgproto3.CopyFail{Message: "there is nothing to copy from; write INSERT"})
			if err := s.conn.Frontend().Flush(); err != nil {
				return err
			}
		case *pgproto3.ErrorResponse:
			if err == nil {
				err = pgconn.ErrorResponseToPgError(m)
			}
		case *pgproto3.ReadyForQuery:
			return err
		}
	}
}

// lockOf is the advisory lock under which a name is made and removed.
func lockOf(name string) int64 {
	sum := sha256.Sum256([]byte("fairlead preview " + name))
	return int64(binary.BigEndian.Uint64(sum[:8])) //nolint:gosec // any 64 bits are a lock
}

// admin calls do with a connection of the administrator, a kept one if there
// is one. One that has died meanwhile is noticed by its first use: do is then
// called again.
func (p *Provider) admin(ctx context.Context, do func(*session) error) error {
	select {
	case s := <-p.idle:
		err := do(s)
		if err == nil || !s.conn.IsClosed() || ctx.Err() != nil {
			p.put(s)
			return err
		}
	default:
	}
	s, err := p.dial(ctx, "", "", access.Secret{})
	if err != nil {
		return err
	}
	defer p.put(s)
	return do(s)
}

// put keeps a connection for the next one, if it is of use and there is room.
func (p *Provider) put(s *session) {
	if s.conn.IsClosed() || s.conn.IsBusy() || s.conn.TxStatus() != 'I' {
		s.close()
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		select {
		case p.idle <- s:
			return
		default:
		}
	}
	s.close()
}

// alone calls do under the lock of a name. Nobody else makes or removes what
// it names meanwhile, and neither does a statement that a process which has
// died had begun: its connection holds the lock until that has ended.
func (p *Provider) alone(ctx context.Context, name string, do func(*session) error) error {
	select {
	case p.making <- struct{}{}:
		defer func() { <-p.making }()
	case <-ctx.Done():
		return ctx.Err()
	}
	return p.admin(ctx, func(s *session) error {
		key := itoa(lockOf(name))
		if _, err := s.rows(ctx, "SELECT pg_advisory_lock($1)", key); err != nil {
			return err
		}
		err := do(s)
		if s.conn.IsClosed() {
			return err
		}
		if _, unlock := s.rows(ctx, "SELECT pg_advisory_unlock($1)", key); unlock != nil {
			s.close() // which unlocks
		}
		return err
	})
}

// unreachable tells whether an error is one of getting through to the server.
func unreachable(err error) bool {
	var network net.Error
	var connect *pgconn.ConnectError
	return errors.As(err, &network) || errors.As(err, &connect) || strings.Contains(err.Error(), "conn closed")
}
