package external

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/knowledge"
)

// maxBody is the most that is read of an answer, in bytes.
const maxBody = 1 << 20

// Providers ask those that are configured. It is for all callers at once.
type Providers struct {
	list  []*provider
	dir   string
	log   *slog.Logger
	kept  cache
	ahead singleflight.Group
}

// provider is one that may be asked.
type provider struct {
	Config
	client *http.Client
}

// New makes Providers of a section that Validate found right. Token files are
// relative to dir; log is told why a provider did not answer.
func New(cs []Config, dir string, log *slog.Logger) *Providers {
	p := &Providers{dir: dir, log: log}
	for _, c := range cs {
		p.list = append(p.list, &provider{c.withDefaults(), newClient(c.Allow)})
	}
	return p
}

// Providers are those that are configured.
func (p *Providers) Providers() []knowledge.ExternalProvider {
	out := make([]knowledge.ExternalProvider, len(p.list))
	for i, c := range p.list {
		out[i] = knowledge.ExternalProvider{Name: c.Name, Title: c.Title}
	}
	return out
}

// Ask asks the provider of a name, or tells what it said to the same query
// within its time in the cache. Callers that ask the same at once wait for one
// answer. A query with a secret in it goes nowhere.
func (p *Providers) Ask(ctx context.Context, name, query string) (*knowledge.ExternalHits, error) {
	c, err := p.named(name)
	if err != nil {
		return nil, err
	}
	q, err := harmless(query)
	if err != nil {
		return nil, err
	}
	key := name + "\n" + q
	if e, ok := p.kept.get(key, time.Now().Add(-c.Cache)); ok {
		return e.hits(name, true), nil
	}
	// Whoever asked first may hang up: the answer is for the others, too, and
	// the timeout ends it.
	v, err, _ := p.ahead.Do(key, func() (any, error) { return p.fetch(context.WithoutCancel(ctx), c, key, q) })
	if err != nil {
		return nil, err
	}
	return v.(*entry).hits(name, false), nil
}

func (p *Providers) named(name string) (*provider, error) {
	names := make([]string, len(p.list))
	for i, c := range p.list {
		if names[i] = c.Name; c.Name == name {
			return c, nil
		}
	}
	return nil, fault.New(fault.NotFound, "there is no provider %.80q", name).WithFix("Known: %s.", strings.Join(names, ", "))
}

// harmless is a query as it may be sent, a line without what cannot be seen.
func harmless(query string) (string, error) {
	q := visible(query)
	if access.Redact(query) != query || access.Redact(q) != q {
		return "", fault.New(fault.Invalid, "the query holds what looks like a secret, so it was not sent").
			WithFix("Leave it out; where it is none, say it in other words (a word behind bearer, basic, token= or password= counts as one).")
	}
	if q == "" {
		return "", fault.New(fault.Invalid, "query: nothing can be seen in it").WithFix("Give words to look for.")
	}
	return q, nil
}

// fetch asks a provider and keeps what it says.
func (p *Providers) fetch(ctx context.Context, c *provider, key, query string) (*entry, error) {
	hits, err := c.fetch(ctx, p.dir, query)
	if err != nil {
		cause := reason(err)
		p.log.WarnContext(ctx, "a provider outside did not answer as it should", "provider", c.Name, "error", cause)
		return nil, fault.New(fault.Unavailable, "the provider %s did not answer as it should: %s", c.Name, cause).WithFix("Try again later, or ask the operators.")
	}
	e := &entry{found: hits, at: time.Now().UTC()}
	p.kept.put(key, e)
	return e, nil
}

func (c *provider) fetch(ctx context.Context, dir, query string) ([]knowledge.ExternalHit, error) {
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	req, err := c.request(ctx, dir, query)
	if err != nil {
		return nil, err
	}
	resp, err := c.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }() // only read from
	data, err := body(resp)
	if err != nil {
		return nil, err
	}
	return c.hits(data, resp.Request.URL)
}

// request is the question.
func (c *provider) request(ctx context.Context, dir, query string) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.Replace(c.URL, placeholder, url.QueryEscape(query), 1), nil)
	if err != nil {
		return nil, err
	}
	if !allowed(c.Allow, req.URL) {
		return nil, complaint("its host is not allowed")
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "fairlead")
	return req, c.authorize(req, dir)
}

// authorize adds the token, where there is one.
func (c *provider) authorize(req *http.Request, dir string) error {
	token, err := c.token(dir)
	if err == nil && !token.IsZero() {
		req.Header.Set("Authorization", "Bearer "+token.Reveal())
	}
	return err
}

// body reads an answer that is JSON, and not too large.
func body(resp *http.Response) ([]byte, error) {
	if resp.StatusCode != http.StatusOK {
		return nil, complaint("it answered with the status " + strconv.Itoa(resp.StatusCode))
	}
	if !isJSON(resp.Header.Get("Content-Type")) {
		return nil, complaint("the answer is no JSON")
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxBody+1))
	if len(data) > maxBody {
		return nil, complaint("the answer is larger than 1 MiB")
	}
	return data, err
}

func isJSON(contentType string) bool {
	media, _, err := mime.ParseMediaType(contentType)
	return err == nil && (media == "application/json" || strings.HasSuffix(media, "+json"))
}

// reason is an error for a caller to read.
func reason(err error) string {
	var said complaint
	switch {
	case errors.As(err, &said):
		return said.Error()
	case errors.Is(err, context.DeadlineExceeded):
		return "it took too long"
	default:
		return "it cannot be reached"
	}
}
