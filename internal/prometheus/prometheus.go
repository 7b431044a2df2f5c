// Package prometheus asks a Prometheus, or what speaks its HTTP API, what
// expressions come to and which alerts fire.
package prometheus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/fairlead-dev/fairlead/gitops"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// Config is how a Prometheus is reached: the section metrics.prometheus.
type Config struct {
	// URL is where its API is, without /api/v1.
	URL string `yaml:"url"`
	// TokenFile is a file that holds a bearer token, TokenEnv an environment
	// variable that does; neither is needed. It is read anew for each request.
	TokenFile string `yaml:"tokenFile"`
	TokenEnv  string `yaml:"tokenEnv"`
}

// Problem is one thing wrong with a Config.
type Problem struct {
	// Field is the key, Message what is wrong and what to write.
	Field, Message string
}

// Validate tells everything that is wrong with it. It looks at no file.
func (c *Config) Validate() []Problem {
	var ps []Problem
	u, err := url.Parse(c.URL)
	switch {
	case c.URL == "":
		ps = append(ps, Problem{"url", "the URL of Prometheus is missing; write for example https://prometheus.example.com"})
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.Fragment != "":
		ps = append(ps, Problem{"url", fmt.Sprintf("%q is no http or https URL", c.URL)})
	case u.User != nil:
		ps = append(ps, Problem{"url", "a password does not belong in the URL; name a file that holds a token by tokenFile"})
	}
	if c.TokenFile != "" && c.TokenEnv != "" {
		ps = append(ps, Problem{"tokenFile", "name tokenFile or tokenEnv, and not both"})
	}
	return ps
}

// In resolves relative files against the configuration's folder.
func (c *Config) In(dir string) {
	if c.TokenFile != "" && !filepath.IsAbs(c.TokenFile) {
		c.TokenFile = filepath.Join(dir, c.TokenFile)
	}
}

const (
	// maxAnswer is how much of an answer is read, maxToken the size of the
	// largest token, in bytes.
	maxAnswer = 8 << 20
	maxToken  = 64 << 10
	// longest is how long a question may take at Prometheus, should the caller
	// set no end.
	longest = 10 * time.Second
)

// Client asks one Prometheus. It is safe for concurrent use.
type Client struct {
	cfg  Config
	base string
	http *http.Client
}

var _ gitops.Metrics = (*Client)(nil)

// New makes a client; nothing is sent.
func New(cfg Config) *Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = 16
	return &Client{cfg: cfg, base: strings.TrimSuffix(cfg.URL, "/"), http: &http.Client{Transport: transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

// Close lets go of idle connections.
func (c *Client) Close() error {
	c.http.CloseIdleConnections()
	return nil
}

// Value is what an expression comes to now. One that comes to several values is
// refused.
func (c *Client) Value(ctx context.Context, expression string) (v float64, there bool, err error) {
	return c.query(ctx, url.Values{"query": {expression}})
}

// ValueAt is what an expression came to at a time, as Value is.
func (c *Client) ValueAt(ctx context.Context, expression string, at time.Time) (v float64, there bool, err error) {
	return c.query(ctx, url.Values{"query": {expression}, "time": {at.UTC().Format(time.RFC3339Nano)}})
}

func (c *Client) query(ctx context.Context, what url.Values) (v float64, there bool, err error) {
	var data struct {
		Type   string          `json:"resultType"`
		Result json.RawMessage `json:"result"`
	}
	if err := c.ask(ctx, "/api/v1/query", what, &data); err != nil {
		return 0, false, err
	}
	var point sample
	switch data.Type {
	case "scalar":
		err = json.Unmarshal(data.Result, &point)
	case "vector":
		var all []struct{ Value sample }
		if err = json.Unmarshal(data.Result, &all); err == nil {
			switch len(all) {
			case 0:
				return 0, false, nil
			case 1:
				point = all[0].Value
			default:
				return 0, false, fault.New(fault.FailedPrecondition, "the expression comes to %d values and not to one", len(all)).WithFix("Sum it up.")
			}
		}
	default:
		err = fmt.Errorf("a result of the type %q", data.Type)
	}
	if err != nil {
		return 0, false, unreadable(err)
	}
	return float64(point), true, nil
}

// sample is a point in time and a value, as Prometheus writes them.
type sample float64

// UnmarshalJSON reads [time, "value"].
func (s *sample) UnmarshalJSON(text []byte) error {
	var pair [2]any
	if err := json.Unmarshal(text, &pair); err != nil {
		return err
	}
	value, ok := pair[1].(string)
	if !ok {
		return errors.New("a value that is no text")
	}
	f, err := strconv.ParseFloat(value, 64)
	*s = sample(f)
	return err
}

// Firing are the alerts that fire.
func (c *Client) Firing(ctx context.Context) ([]gitops.FiringAlert, error) {
	var data struct {
		Alerts []struct {
			Labels, Annotations map[string]string
			State               string
			ActiveAt            time.Time
		}
	}
	if err := c.ask(ctx, "/api/v1/alerts", nil, &data); err != nil {
		return nil, err
	}
	var out []gitops.FiringAlert
	for _, a := range data.Alerts {
		if a.State != "firing" {
			continue
		}
		out = append(out, gitops.FiringAlert{Name: a.Labels["alertname"], Severity: a.Labels["severity"], Since: a.ActiveAt.UTC().Truncate(time.Second), Labels: a.Labels,
			Summary: either(a.Annotations, "summary", "title", "description", "message"), Runbook: either(a.Annotations, "runbook_url", "runbook", "runbookUrl", "runbook-url")})
	}
	return out, nil
}

func either(m map[string]string, keys ...string) string {
	for _, k := range keys {
		if m[k] != "" {
			return m[k]
		}
	}
	return ""
}

// ask posts a form, or gets where there is none, and reads the data.
func (c *Client) ask(ctx context.Context, path string, form url.Values, data any) error {
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	method, body := http.MethodGet, io.Reader(nil)
	if form != nil {
		if end, ok := ctx.Deadline(); ok {
			form.Set("timeout", strconv.FormatInt(max(time.Until(end).Milliseconds(), 1), 10)+"ms")
		}
		method, body = http.MethodPost, strings.NewReader(form.Encode())
	}
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, body)
	if err != nil {
		return err
	}
	if form != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	req.Header.Set("User-Agent", "fairlead")
	if err := c.authorize(req); err != nil {
		return err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return fault.New(fault.Unavailable, "Prometheus does not answer").WithFix("Check that it runs, and url in the section metrics.").Because(err)
	}
	defer resp.Body.Close()
	return read(resp, data)
}

// read takes an answer apart.
func read(resp *http.Response, data any) error {
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case err != nil:
		return unreadable(err)
	case len(text) > maxAnswer:
		return fault.New(fault.Unavailable, "Prometheus gives more than %d MiB at once", maxAnswer>>20)
	case resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden:
		return fault.New(fault.Unavailable, "Prometheus does not take Fairlead's token").WithFix("Correct tokenFile in the section metrics.")
	}
	var answer struct {
		Status    string
		Data      json.RawMessage
		ErrorType string
	}
	if err := json.Unmarshal(text, &answer); err != nil {
		return unreadable(fmt.Errorf("status %d: %w", resp.StatusCode, err))
	}
	switch {
	case answer.Status == "success":
		if err := json.Unmarshal(answer.Data, data); err != nil {
			return unreadable(err)
		}
		return nil
	case answer.ErrorType == "bad_data", answer.ErrorType == "execution":
		return fault.New(fault.FailedPrecondition, "Prometheus cannot evaluate the expression").WithFix("Correct the query in the objective's file.")
	case answer.ErrorType == "timeout", answer.ErrorType == "canceled":
		return fault.New(fault.Unavailable, "Prometheus took too long over the expression").WithFix("Have it recorded by a rule.")
	default:
		return unreadable(fmt.Errorf("status %d, %q", resp.StatusCode, answer.ErrorType))
	}
}

func unreadable(err error) error {
	return fault.New(fault.Unavailable, "Prometheus gives an answer that cannot be read").WithFix("Check url in the section metrics.").Because(err)
}

// authorize puts the token on a request, where there is one.
func (c *Client) authorize(req *http.Request) error {
	token := ""
	switch {
	case c.cfg.TokenFile != "":
		f, err := os.Open(c.cfg.TokenFile)
		if err == nil {
			var text []byte
			text, err = io.ReadAll(io.LimitReader(f, maxToken))
			token = string(text)
			err = errors.Join(err, f.Close())
		}
		if err != nil {
			return fault.New(fault.Unavailable, "the token of Prometheus cannot be read").WithFix("Correct tokenFile in the section metrics.").Because(err)
		}
	case c.cfg.TokenEnv != "":
		token = os.Getenv(c.cfg.TokenEnv)
	default:
		return nil
	}
	token = strings.TrimSpace(token)
	if token == "" || strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return fault.New(fault.Unavailable, "the token of Prometheus is not one token alone").WithFix("Put one token where tokenFile or tokenEnv of the section metrics say.")
	}
	req.Header.Set("Authorization", "Bearer "+token)
	return nil
}
