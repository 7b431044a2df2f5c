package gitea

import (
	"context"
	"net/http"
	"strings"
	"sync"

	"code.gitea.io/sdk/gitea"

	"github.com/fairlead-dev/fairlead/gitops"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/forge"
)

// Client talks to a Gitea for one source or forge. It is safe for concurrent
// use.
type Client struct {
	name    string
	cfg     Config
	base    string
	wire    forge.Wire
	http    *http.Client
	act     *http.Client // of calls that somebody waits for
	account forge.Account
	webhook *forge.Webhook

	mu    sync.Mutex // lets one list at a time
	heads map[int64]head
	known map[int64]bool // the last list, by id
}

var (
	_ forge.Lister    = (*Client)(nil)
	_ gitops.Forge    = (*Client)(nil)
	_ gitops.CI       = (*Client)(nil)
	_ forge.Commenter = (*Client)(nil)
)

// Option changes how a client is made.
type Option func(*Client)

// WithBudgets shares budgets with other clients: those of one account use one.
func WithBudgets(budgets *forge.Budgets) Option {
	return func(c *Client) {
		c.wire.Budget = budgets.Of(c.base+" "+c.wire.Credentials.String(), c.wire.Host, c.cfg.Limits)
	}
}

// New makes a client called name for a source; relative files of the
// configuration are those of dir. It talks to nobody yet: errors are those of
// the configuration.
func New(name string, cfg Config, dir string, opts ...Option) (*Client, error) {
	if ps := cfg.Validate(); len(ps) > 0 {
		return nil, fault.New(fault.Invalid, "gitea source %q: %s: %s", name, ps[0].Field, ps[0].Message).WithFix("Correct the configuration of the source.")
	}
	return build(name, cfg, dir, opts)
}

// NewForge makes a client called name for a forge, which lists nothing: it
// opens pull requests and reads webhooks.
func NewForge(name string, cfg Config, dir string, opts ...Option) (*Client, error) {
	if ps := cfg.ValidateForge(); len(ps) > 0 {
		return nil, fault.New(fault.Invalid, "forge %q: %s: %s", name, ps[0].Field, ps[0].Message).WithFix("Correct the configuration of the forge.")
	}
	return build(name, cfg, dir, opts)
}

func build(name string, cfg Config, dir string, opts []Option) (*Client, error) {
	var ps forge.Problems
	if cfg.Limits.RequestsPerMinute == 0 {
		cfg.Limits.RequestsPerMinute = defaultPace
	}
	cfg.Limits = cfg.Limits.WithDefaults()
	at := forge.Address(&ps, cfg.Host, cfg.URL, "", false)
	c := &Client{name: name, cfg: cfg, base: at.String(), heads: map[int64]head{}, known: map[int64]bool{}, webhook: forge.NewWebhook(cfg.WebhookSecretFile, dir)}
	c.wire = forge.Wire{Base: at, Host: at.Host, Credentials: cfg.Token().In(dir), Limits: cfg.Limits,
		Authorize: func(h http.Header, token string) { h.Set("Authorization", "token "+token) }}
	for _, o := range opts {
		o(c)
	}
	if c.wire.Budget == nil {
		c.wire.Budget = forge.NewBudget(c.wire.Host, cfg.Limits)
	}
	if c.wire.Transport == nil {
		c.wire.Transport = forge.NewTransport()
	}
	c.http, c.act = c.wire.Client(forge.Background), c.wire.Client(forge.Interactive)
	return c, nil
}

// Budget is the budget that the client keeps to.
func (c *Client) Budget() *forge.Budget { return c.wire.Budget }

// api is the library's client for calls under one context, which it takes no
// other way. It is not to ask for the server's version first.
func (c *Client) api(ctx context.Context) (*gitea.Client, error) {
	return c.apiOver(ctx, c.http)
}

func (c *Client) apiOver(ctx context.Context, over *http.Client) (*gitea.Client, error) {
	return gitea.NewClient(c.base, gitea.SetHTTPClient(over), gitea.SetContext(ctx), gitea.SetGiteaVersion(""), gitea.SetUserAgent("fairlead"))
}

func validateLogin(ps *forge.Problems, field, name string) {
	if strings.Contains(name, "/") {
		ps.Add(field, "%q is no name of one", name)
		return
	}
	forge.ValidateName(ps, field, name)
}
