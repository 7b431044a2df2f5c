package redis

import (
	"context"
	"encoding/hex"
	"errors"
	"net/url"
	"regexp"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/previews"
)

// timeout bounds connecting, and the answer to one command.
const timeout = 10 * time.Second

// batch is about how many keys are looked at, and at most removed, at a time:
// few enough that others hardly wait.
const batch = 1000

// Provider makes caches of previews' own in one server. It is safe for
// concurrent use, and several may work in one server.
type Provider struct {
	cfg Config
	key access.Secret
	// installation tells what is ours from what others have made in the server.
	installation string
	admin        *redis.Client
}

var (
	_ previews.Data     = (*Provider)(nil)
	_ previews.Sweeper  = (*Provider)(nil)
	_ previews.Prefixed = (*Provider)(nil)
)

// New makes a Provider; key is what passwords are derived from, and whoever
// shares it shares the previews. The server is not asked yet. Errors are those
// of the configuration.
func New(cfg Config, key access.Secret) (*Provider, error) {
	if ps := cfg.Validate(); len(ps) > 0 {
		return nil, fault.New(fault.Invalid, "data of previews: %s: %s", ps[0].Field, ps[0].Message).WithFix("Correct %s in the configuration.", section)
	}
	if key.IsZero() {
		return nil, fault.New(fault.Internal, "data of previews needs a key")
	}
	opts, err := redis.ParseURL(cfg.URL)
	if err != nil {
		return nil, fault.New(fault.Invalid, "data of previews: the url of %s cannot be read", cfg.Name).WithFix("Correct %s in the configuration.", section).Because(err)
	}
	opts.CredentialsProviderContext = func(context.Context) (string, string, error) { return cfg.credentials() }
	opts.Protocol, opts.DisableIdentity, opts.ContextTimeoutEnabled = 2, true, true
	opts.DialTimeout, opts.ReadTimeout, opts.WriteTimeout, opts.MaxIdleConns = timeout, timeout, timeout, 2
	return &Provider{cfg: cfg, key: key, admin: redis.NewClient(opts),
		installation: hex.EncodeToString(previews.Derive(key, "installation")[:4])}, nil
}

// Close ends the connections.
func (p *Provider) Close() error { return p.admin.Close() }

// plain is what ids and names are made of, and no pattern has.
var plain = regexp.MustCompile(`^[a-z0-9-]{1,100}$`)

// named are the user of a preview's data, and what its keys and channels begin
// with. Ids and names have neither underscores nor colons, so that no two give
// the same.
func (p *Provider) named(w previews.Wish, d previews.DataTemplate) (user, prefix string, err error) {
	if !plain.MatchString(w.ID) || !plain.MatchString(d.Name) {
		return "", "", fault.New(fault.Internal, "a preview with the id %.100q cannot have a cache %.100q", w.ID, d.Name)
	}
	return p.users(w.ID) + d.Name, p.Prefix(w, d), nil
}

// users begins the names of a preview's users, and keys its keys; of all of
// this Fairlead where id is "".
func (p *Provider) users(id string) string { return joined("pv", p.installation, id, "_") }
func (p *Provider) keys(id string) string  { return joined("pv", p.installation, id, ":") }

func joined(first, second, id, sep string) string {
	if id != "" {
		id += sep
	}
	return first + sep + second + sep + id
}

// Prefix is what a preview's keys and channels begin with.
func (p *Provider) Prefix(w previews.Wish, d previews.DataTemplate) string {
	return p.keys(w.ID) + d.Name + ":"
}

// passwordOf is the password of a user.
func (p *Provider) passwordOf(user string) access.Secret {
	return previews.DerivePassword(p.key, "redis password", p.cfg.Name, user)
}

// Provide makes a user, or makes it anew as it is to be: a server that keeps
// no users loses them when it is started again.
func (p *Provider) Provide(ctx context.Context, w previews.Wish, d previews.DataTemplate) (access.Secret, error) {
	user, prefix, err := p.named(w, d)
	if err != nil {
		return access.Secret{}, err
	}
	if err := p.provide(ctx, user, prefix); err != nil {
		return access.Secret{}, p.explain("making", err)
	}
	return p.urlOf(user)
}

func (p *Provider) provide(ctx context.Context, user, prefix string) error {
	if err := p.fenced(ctx); err != nil {
		return err
	}
	modules, err := p.moduleCommands(ctx)
	if err != nil {
		return err
	}
	args := []any{"ACL", "SETUSER", user}
	for _, rule := range rules(prefix, p.passwordOf(user), modules) {
		args = append(args, rule)
	}
	return p.admin.Do(ctx, args...).Err()
}

// urlOf is what a preview reaches its cache by.
func (p *Provider) urlOf(user string) (access.Secret, error) {
	at := p.cfg.PreviewURL
	if at == "" {
		at = p.cfg.URL
	}
	u, err := serverURL(at)
	if err != nil {
		return access.Secret{}, err
	}
	out := url.URL{Scheme: u.Scheme, Host: u.Host, User: url.UserPassword(user, p.passwordOf(user).Reveal())}
	return access.NewSecret(out.String()), nil
}

// account asks for a user.
func (p *Provider) account(ctx context.Context, user string) (account, error) {
	answer, err := p.admin.Do(ctx, "ACL", "GETUSER", user).Result()
	if errors.Is(err, redis.Nil) {
		return account{}, nil
	}
	if err != nil {
		return account{}, err
	}
	about := fields(answer)
	a := account{there: true}.flagged(about["flags"])
	sums, _ := about["passwords"].([]any)
	for _, s := range sums {
		if text, ok := s.(string); ok {
			a.passwords = append(a.passwords, text)
		}
	}
	return a, nil
}

// scan gives all keys that begin with a prefix, some at a time, until each says
// that it has seen enough. What others write meanwhile may be left out.
func (p *Provider) scan(ctx context.Context, prefix string, each func(keys []string) (enough bool, err error)) error {
	var cursor uint64
	for {
		keys, next, err := p.admin.Scan(ctx, cursor, prefix+"*", batch).Result()
		if err != nil {
			return err
		}
		if len(keys) > 0 {
			if enough, err := each(keys); err != nil || enough {
				return err
			}
		}
		if cursor = next; cursor == 0 {
			return nil
		}
	}
}

// Observe tells what there is of a user and its keys. For keys the whole
// server is looked through, and only where there is no user any more.
func (p *Provider) Observe(ctx context.Context, w previews.Wish, d previews.DataTemplate) (o previews.DataObserved, err error) {
	user, prefix, err := p.named(w, d)
	if err != nil {
		return o, err
	}
	is, err := p.account(ctx, user)
	if err == nil && !is.there {
		err = p.scan(ctx, prefix, func([]string) (bool, error) {
			o.Remains = []string{"keys " + prefix + "*"}
			return true, nil
		})
	}
	if err != nil {
		return previews.DataObserved{}, p.explain("looking at", err)
	}
	if is.there {
		o.Remains = []string{"user " + user}
	}
	o.Exists = len(o.Remains) > 0
	switch {
	case !is.there:
		o.Reason = "its user is not there"
	case !is.on || len(is.passwords) != 1 || is.passwords[0] != passwordSum(p.passwordOf(user)):
		o.Reason = "its user was closed or has another password"
	default:
		o.Ready, o.Reason = true, "it is there"
	}
	return o, nil
}

// Remove removes the user, which ends its connections, and then its keys, which
// nobody makes any more.
func (p *Provider) Remove(ctx context.Context, w previews.Wish, d previews.DataTemplate) error {
	user, prefix, err := p.named(w, d)
	if err != nil {
		return err
	}
	if err := p.remove(ctx, []string{user}, prefix); err != nil {
		return p.explain("removing", err)
	}
	return nil
}

func (p *Provider) remove(ctx context.Context, users []string, prefix string) error {
	for _, user := range users {
		if err := p.admin.Do(ctx, "ACL", "DELUSER", user).Err(); err != nil {
			return err
		}
	}
	return p.scan(ctx, prefix, func(keys []string) (bool, error) {
		return false, p.admin.Unlink(ctx, keys...).Err()
	})
}
