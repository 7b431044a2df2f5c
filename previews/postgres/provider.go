package postgres

import (
	"context"
	"encoding/hex"
	"fmt"
	"net/url"
	"path"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/previews"
)

// Files reads files of the repositories that services are in.
type Files interface {
	// File gives the bytes of a file of a commit, at its path from the root of
	// the repository.
	File(ctx context.Context, repository, commit, path string) ([]byte, error)
}

// Options are what a Provider is given by its surroundings.
type Options struct {
	// Key is what passwords are derived from; whoever shares it shares the
	// previews.
	Key access.Secret
	// Files brings the files that databases are filled from.
	Files Files
}

// kept is how many connections are kept for the next look.
const kept = 2

// atOnce is how many databases are made or removed at a time: each takes up to
// two connections of a server that may have few, and copying its template.
const atOnce = 8

// Provider makes databases of previews' own in one server. It is safe for
// concurrent use, and several may work in one server.
type Provider struct {
	cfg   Config
	key   access.Secret
	files Files
	// installation tells what is ours from what others have made in the server.
	installation string
	idle         chan *session
	making       chan struct{}
	guarded      atomic.Bool // the server has been seen to ask for passwords

	mu     sync.Mutex
	closed bool
}

var (
	_ previews.Data    = (*Provider)(nil)
	_ previews.Sweeper = (*Provider)(nil)
)

// New makes a Provider; the server is not asked yet. Errors are those of the
// configuration.
func New(cfg Config, opts Options) (*Provider, error) {
	if ps := cfg.Validate(); len(ps) > 0 {
		return nil, fault.New(fault.Invalid, "data of previews: %s: %s", ps[0].Field, ps[0].Message).WithFix("Correct previews.data.postgres in the configuration.")
	}
	if opts.Key.IsZero() || opts.Files == nil {
		return nil, fault.New(fault.Internal, "data of previews needs a key and files")
	}
	cfg.Limits = cfg.Limits.withDefaults()
	return &Provider{cfg: cfg, key: opts.Key, files: opts.Files, idle: make(chan *session, kept), making: make(chan struct{}, atOnce),
		installation: hex.EncodeToString(previews.Derive(opts.Key, "installation")[:8])}, nil
}

// Close ends the connections that are kept.
func (p *Provider) Close() error {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	for {
		select {
		case s := <-p.idle:
			s.close()
		default:
			return nil
		}
	}
}

// Provide makes a database and its role and fills it. What was left half done
// is begun anew. A database that was filled from the same file stays as it is.
func (p *Provider) Provide(ctx context.Context, w previews.Wish, d previews.DataTemplate) (access.Secret, error) {
	name := nameOf(w, d)
	if err := p.alone(ctx, name, func(s *session) error { return p.provide(ctx, s, name, w, d) }); err != nil {
		return access.Secret{}, p.explain("making", err)
	}
	return p.urlOf(name)
}

func (p *Provider) provide(ctx context.Context, s *session, name string, w previews.Wish, d previews.DataTemplate) error {
	was, err := see(ctx, s, name)
	if err != nil {
		return err
	}
	if err := was.foreign(name, w.ID); err != nil {
		return err
	}
	there := was.role && was.database && was.label.filled()
	if there && was.label.Commit == w.Commit {
		return p.admit(ctx, s, name)
	}
	seed, err := p.seed(ctx, w, d)
	if err != nil {
		return err
	}
	l := label{Fairlead: p.installation, Preview: w.ID, Data: d.Name, Service: w.Service}
	if !there || was.label.Seed != sum(seed) {
		if err := p.anew(ctx, s, name, l, was); err != nil {
			return err
		}
		if err := p.fill(ctx, name, seedPath(w, d), w.Commit, seed); err != nil {
			return err
		}
	} else if err := p.admit(ctx, s, name); err != nil {
		return err
	}
	l.Seed, l.Commit = sum(seed), w.Commit
	return s.exec(ctx, "COMMENT ON DATABASE "+ident(name)+" IS "+literal(l.String()))
}

// seedPath is where a seed is in the repository.
func seedPath(w previews.Wish, d previews.DataTemplate) string { return path.Join(w.Dir, d.Seed) }

// seed reads what a database is filled from.
func (p *Provider) seed(ctx context.Context, w previews.Wish, d previews.DataTemplate) ([]byte, error) {
	if d.Seed == "" {
		return nil, nil
	}
	at := seedPath(w, d)
	data, err := p.files.File(ctx, w.Repository, w.Commit, at)
	switch {
	case fault.CodeOf(err) == fault.NotFound: // the commit will not get one
		return nil, fault.New(fault.FailedPrecondition, "%s", fault.From(err).Message).WithFix("Name a file by seed that is in the repository, and preview a revision that has it.").Because(err)
	case err == nil && int64(len(data)) > p.cfg.Limits.SeedBytes:
		return nil, fault.New(fault.FailedPrecondition, "the seed %s has %d bytes, more than the limit of %d", at, len(data), p.cfg.Limits.SeedBytes).
			WithFix("Make the seed smaller, or have the operators raise limits.seedBytes of the server %s.", p.cfg.Name)
	}
	return data, err
}

// urlOf is what a preview reaches its database by.
func (p *Provider) urlOf(name string) (access.Secret, error) {
	at := p.cfg.PreviewURL
	if at == "" {
		at = p.cfg.URL
	}
	u, err := url.Parse(at)
	if err != nil {
		return access.Secret{}, err
	}
	params := url.Values{}
	if mode := u.Query().Get("sslmode"); mode != "" {
		params.Set("sslmode", mode)
	}
	if p.cfg.PreviewURL != "" {
		params = u.Query()
	}
	out := url.URL{Scheme: "postgres", User: url.UserPassword(name, p.passwordOf(name).Reveal()), Host: u.Host, Path: "/" + name, RawQuery: params.Encode()}
	return access.NewSecret(out.String()), nil
}

// Observe tells what there is of a database and its role. One that has
// outgrown its limit is closed: its role may not log in any more.
func (p *Provider) Observe(ctx context.Context, w previews.Wish, d previews.DataTemplate) (o previews.DataObserved, err error) {
	name := nameOf(w, d)
	var is state
	err = p.admin(ctx, func(s *session) (err error) {
		if is, err = see(ctx, s, name); err != nil || is.foreign(name, w.ID) != nil {
			return err
		}
		if is.size > p.cfg.Limits.SizeBytes && is.login {
			return shut(ctx, s, name)
		}
		return nil
	})
	if err != nil {
		return o, p.explain("looking at", err)
	}
	return p.observed(name, w.ID, is), nil
}

func (p *Provider) observed(name, id string, is state) (o previews.DataObserved) {
	if f := is.foreign(name, id); f != nil {
		return previews.DataObserved{Failed: true, Reason: fault.From(f).Message}
	}
	if is.busy {
		o.Remains = append(o.Remains, "somebody's work on database "+name)
	}
	if is.database {
		o.Remains = append(o.Remains, "database "+name)
	}
	if is.role {
		o.Remains = append(o.Remains, "role "+name)
	}
	o.Exists = len(o.Remains) > 0
	switch {
	case is.busy:
		o.Reason = "somebody is at work on it"
	case !is.database || !is.role:
		o.Reason = "it is not made yet"
	case !is.label.filled():
		o.Reason = "it is not filled yet"
	case is.size > p.cfg.Limits.SizeBytes:
		o.Failed, o.Reason = true, fmt.Sprintf("it takes %d bytes, more than the limit of %d, and was closed", is.size, p.cfg.Limits.SizeBytes)
	case !is.login:
		o.Reason = "it was closed"
	default:
		o.Ready, o.Reason = true, "it is there"
	}
	return o
}

// Remove drops a database, whoever is connected, and its role.
func (p *Provider) Remove(ctx context.Context, w previews.Wish, d previews.DataTemplate) error {
	name := nameOf(w, d)
	err := p.alone(ctx, name, func(s *session) error {
		was, err := see(ctx, s, name)
		if err != nil || was.foreign(name, w.ID) != nil {
			return err
		}
		return p.drop(ctx, s, name, was)
	})
	if err != nil {
		return p.explain("removing", err)
	}
	return nil
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

// atoi reads a number that PostgreSQL wrote; 0 for what is none.
func atoi(s string) int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return 0
	}
	return n
}
