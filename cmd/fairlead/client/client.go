package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/fairlead-dev/fairlead/internal/fault"
)

// maxAnswer bounds in bytes what is read of one answer.
const maxAnswer = 256 << 20

// Client talks to one server.
type Client struct {
	settings Settings
	http     *http.Client
	agent    string
}

// New makes a client; version goes into the User-Agent header.
func New(s Settings, version string) *Client {
	transport, ok := http.DefaultTransport.(*http.Transport)
	if ok {
		transport = transport.Clone()
		transport.DialContext = (&net.Dialer{Timeout: 10 * time.Second}).DialContext
		transport.TLSHandshakeTimeout = 10 * time.Second
	}
	return &Client{settings: s, agent: "fairlead/" + version, http: &http.Client{
		Transport: transport,
		// A token must not follow to wherever an answer points.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Settings are what the client was made of.
func (c *Client) Settings() Settings { return c.settings }

// Get asks for a path below the server's URL and gives the answer's JSON.
func (c *Client) Get(ctx context.Context, path string, query url.Values) (json.RawMessage, error) {
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	return c.call(ctx, http.MethodGet, path, nil)
}

// Post sends a value as JSON and gives the answer's JSON.
func (c *Client) Post(ctx context.Context, path string, body any) (json.RawMessage, error) {
	data, err := json.Marshal(body)
	if err != nil {
		return nil, fault.New(fault.Internal, "the request cannot be written").Because(err)
	}
	return c.call(ctx, http.MethodPost, path, data)
}

// Delete removes what is at a path and gives the answer's JSON.
func (c *Client) Delete(ctx context.Context, path string) (json.RawMessage, error) {
	return c.call(ctx, http.MethodDelete, path, nil)
}

// Probe asks for a path that answers in plain text; it gives the first line
// and whether the status is 200.
func (c *Client) Probe(ctx context.Context, path string) (text string, ok bool, err error) {
	req, err := c.Request(ctx, http.MethodGet, path, nil)
	if err != nil {
		return "", false, err
	}
	res, err := c.Do(req)
	if err != nil {
		return "", false, err
	}
	defer res.Body.Close()
	data, err := io.ReadAll(io.LimitReader(res.Body, 4096))
	if err != nil {
		return "", false, c.cut(ctx, err)
	}
	line, _, _ := strings.Cut(strings.TrimSpace(string(data)), "\n")
	return line, res.StatusCode == http.StatusOK, nil
}

// Request makes a request with the caller's token.
func (c *Client) Request(ctx context.Context, method, path string, body io.Reader) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.settings.Server+path, body)
	if err != nil {
		return nil, fault.New(fault.Invalid, "%s%s is not a URL", c.settings.Server, path).WithFix("Correct --server.").Because(err)
	}
	req.Header.Set("User-Agent", c.agent)
	if c.settings.Token != "" {
		req.Header.Set("Authorization", "Bearer "+c.settings.Token)
	}
	return req, nil
}

// Do sends a request; its error is a fault that says why there is no answer.
func (c *Client) Do(req *http.Request) (*http.Response, error) {
	res, err := c.http.Do(req)
	if err != nil {
		return nil, c.unreachable(req.Context(), err)
	}
	return res, nil
}

func (c *Client) call(ctx context.Context, method, path string, body []byte) (json.RawMessage, error) {
	req, err := c.Request(ctx, method, path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := c.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	data, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	switch {
	case err != nil:
		return nil, c.cut(ctx, err)
	case len(data) > maxAnswer:
		return nil, fault.New(fault.Invalid, "the answer has more than %d MiB", maxAnswer>>20).WithFix("Ask for less, with --limit or --filter.")
	case res.StatusCode/100 != 2:
		return nil, c.Refusal(res, data)
	case !isJSON(res) || !json.Valid(data):
		return nil, c.stranger(res)
	}
	return data, nil
}

func isJSON(res *http.Response) bool {
	media, _, err := mime.ParseMediaType(res.Header.Get("Content-Type"))
	return err == nil && media == "application/json"
}

// cut is the fault of an answer that broke off.
func (c *Client) cut(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return c.unreachable(ctx, err)
	}
	return fault.New(fault.Unavailable, "the answer of %s broke off", c.settings.Server).WithFix("Try again.").Because(err)
}

// unreachable says why no answer came.
func (c *Client) unreachable(ctx context.Context, err error) error {
	var dns *net.DNSError
	server := c.settings.Server
	switch {
	case errors.Is(context.Cause(ctx), context.DeadlineExceeded):
		return fault.New(fault.Unavailable, "%s gave no answer in time", server).WithFix("Try again, or allow more with --timeout.").Because(err)
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(err, &dns):
		return fault.New(fault.Unavailable, "the host of %s is not known", server).WithFix("Correct the server (%s).", c.settings.ServerFrom).Because(err)
	case strings.HasPrefix(server, "https:") && strings.Contains(err.Error(), "tls:"):
		return fault.New(fault.Unavailable, "no secure connection to %s could be made: %v", server, rootCause(err)).
			WithFix("Check the server's certificate and that it speaks HTTPS.").Because(err)
	}
	return fault.New(fault.Unavailable, "no Fairlead server answers at %s (%s)", server, c.settings.ServerFrom).
		WithFix("Start one with `fairleadd serve --config FILE --listen %s` or try `fairleadd demo`, or name another with --server.", c.listen()).Because(err)
}

func rootCause(err error) error {
	for {
		next := errors.Unwrap(err)
		if next == nil {
			return err
		}
		err = next
	}
}

// listen is the server's address as `fairleadd serve --listen` takes it.
func (c *Client) listen() string {
	u, err := url.Parse(c.settings.Server)
	if err != nil {
		return c.settings.Server
	}
	return u.Host
}

// stranger is the fault of an answer that no Fairlead server gives.
func (c *Client) stranger(res *http.Response) error {
	return fault.New(fault.Unavailable, "what answers at %s is no Fairlead server: it sent status %d and %s", c.settings.Server, res.StatusCode, mediaOf(res)).
		WithFix("Correct the server (%s), or what stands in front of it.", c.settings.ServerFrom)
}

func mediaOf(res *http.Response) string {
	if t := res.Header.Get("Content-Type"); t != "" && len(t) < 100 {
		return t
	}
	return "no media type"
}
