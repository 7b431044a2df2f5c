package gitlab

import (
	"log/slog"
	"net/http"
	"sync"

	gl "gitlab.com/gitlab-org/api/client-go/v2"
	"golang.org/x/time/rate"

	"github.com/fairlead-dev/fairlead/gitops"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/forge"
)

// Client talks to a GitLab for one source or forge. It is safe for concurrent
// use.
type Client struct {
	name    string
	cfg     Config
	base    string
	wire    forge.Wire
	api     *gl.Client
	act     *gl.Client // of calls that somebody waits for
	account forge.Account
	webhook *forge.Webhook

	mu    sync.Mutex // lets one list at a time
	known map[int64]bool
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
		return nil, fault.New(fault.Invalid, "gitlab source %q: %s: %s", name, ps[0].Field, ps[0].Message).WithFix("Correct the configuration of the source.")
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
	at := forge.Address(&ps, cfg.Host, cfg.URL, publicHost, false)
	c := &Client{name: name, cfg: cfg, base: at.String(), known: map[int64]bool{}, webhook: forge.NewWebhook(cfg.WebhookSecretFile, dir)}
	c.wire = forge.Wire{Base: at, Host: at.Host, Credentials: cfg.Token().In(dir), Limits: cfg.Limits,
		Authorize: func(h http.Header, token string) { h.Set("Authorization", "Bearer "+token) }}
	for _, o := range opts {
		o(c)
	}
	if c.wire.Budget == nil {
		c.wire.Budget = forge.NewBudget(c.wire.Host, cfg.Limits)
	}
	if c.wire.Transport == nil {
		c.wire.Transport = forge.NewTransport()
	}
	for p, api := range map[forge.Priority]**gl.Client{forge.Background: &c.api, forge.Interactive: &c.act} {
		var err error
		// The wire keeps the pace and tries again, so the library shall not.
		*api, err = gl.NewAuthSourceClient(gl.Unauthenticated{}, gl.WithBaseURL(c.base), gl.WithHTTPClient(c.wire.Client(p)),
			gl.WithCustomRetryMax(0), gl.WithCustomLimiter(rate.NewLimiter(rate.Inf, 0)), gl.WithUserAgent("fairlead"), gl.WithURLWarningLogger(slog.New(slog.DiscardHandler)))
		if err != nil {
			return nil, fault.New(fault.Invalid, "gitlab source %q: the client cannot be made", name).Because(err)
		}
	}
	return c, nil
}

// Budget is the budget that the client keeps to.
func (c *Client) Budget() *forge.Budget { return c.wire.Budget }
