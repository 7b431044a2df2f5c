package github

import (
	"bytes"
	"net/http"
	"strings"
	"sync"

	gh "github.com/google/go-github/v89/github"

	"github.com/fairlead-dev/fairlead/gitops"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/forge"
)

// Client talks to GitHub for one source or forge. It is safe for concurrent
// use.
type Client struct {
	name    string
	cfg     Config
	at      endpoints
	wire    forge.Wire
	api     *gh.Client
	act     *gh.Client // of calls that somebody waits for
	account forge.Account
	webhook *forge.Webhook

	mu    sync.Mutex // guards list, and lets one list at a time
	list  listing
	again chan struct{} // asks for a whole list next time
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
		account := c.at.rest.Host + " " + c.wire.Credentials.String()
		c.wire.Budget = budgets.Of(account, c.at.web.Host, c.cfg.Limits)
	}
}

// WithTransport shares connections with other clients.
func WithTransport(t http.RoundTripper) Option {
	return func(c *Client) { c.wire.Transport = t }
}

// New makes a client called name for a source; relative files of the
// configuration are those of dir. It talks to nobody yet: errors are those of
// the configuration.
func New(name string, cfg Config, dir string, opts ...Option) (*Client, error) {
	if ps := cfg.Validate(); len(ps) > 0 {
		return nil, fault.New(fault.Invalid, "github source %q: %s: %s", name, ps[0].Field, ps[0].Message).WithFix("Correct the configuration of the source.")
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
	cfg.Limits = cfg.Limits.WithDefaults()
	c := &Client{name: name, cfg: cfg, at: endpointsOf(forge.Address(&ps, cfg.Host, cfg.URL, publicHost, true)), again: make(chan struct{}, 1)}
	c.webhook = forge.NewWebhook(cfg.WebhookSecretFile, dir)
	c.wire = forge.Wire{Base: c.at.rest, Host: c.at.web.Host, Credentials: cfg.Token().In(dir),
		Authorize: func(h http.Header, token string) { h.Set("Authorization", "Bearer "+token) },
		Resource:  resource, Slow: slow, Limits: cfg.Limits}
	for _, o := range opts {
		o(c)
	}
	if c.wire.Budget == nil {
		c.wire.Budget = forge.NewBudget(c.at.web.Host, cfg.Limits)
	}
	if c.wire.Transport == nil {
		c.wire.Transport = forge.NewTransport()
	}
	base := c.at.rest.String()
	for p, api := range map[forge.Priority]**gh.Client{forge.Background: &c.api, forge.Interactive: &c.act} {
		var err error
		*api, err = gh.NewClient(gh.WithHTTPClient(c.wire.Client(p)), gh.WithURLs(&base, nil),
			gh.WithDisableRateLimitCheck(), gh.WithUserAgent("fairlead"))
		if err != nil {
			return nil, fault.New(fault.Invalid, "github source %q: the client cannot be made", name).Because(err)
		}
	}
	return c, nil
}

// Budget is the budget that the client keeps to.
func (c *Client) Budget() *forge.Budget { return c.wire.Budget }

// resource names the limit that a request counts against, by its path.
func resource(r *http.Request) string {
	switch {
	case strings.HasSuffix(r.URL.Path, "/graphql"):
		return "graphql"
	case strings.Contains(r.URL.Path, "/search/"):
		return "search"
	default:
		return "core"
	}
}

// maxRefusal is the size in bytes of the largest answer that may be a refusal.
const maxRefusal = 16 << 10

// slow tells of limits that GitHub answers with in words: by status 403, or
// 200 where GraphQL tells of an error.
func slow(status int, h http.Header, body []byte) bool {
	if status == http.StatusOK && (len(body) > maxRefusal || !bytes.Contains(body, []byte(`"errors"`))) {
		return false
	}
	text := strings.ToLower(string(body))
	return status == http.StatusForbidden && h.Get("Retry-After") != "" || strings.Contains(text, "secondary rate limit") ||
		strings.Contains(text, "secondary-rate-limits") || strings.Contains(text, "abuse detection") || strings.Contains(text, `"rate_limit`)
}

// Relist makes the next list a whole one, for when something tells that
// repositories came or went.
func (c *Client) Relist() {
	select {
	case c.again <- struct{}{}:
	default:
	}
}
