package backstage

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

const (
	maxRedirects = 5
	maxSaid      = 4 << 10 // bytes that are read of an answer that is no success
	minMasked    = 4       // bytes; what is shorter may be part of any word
)

// statusError is an answer that is no success.
type statusError struct {
	status     int
	said       string
	retryAfter time.Duration
}

// Error names the status and what the server says, for logs alone.
func (e *statusError) Error() string { return fmt.Sprintf("HTTP status %d: %.300q", e.status, e.said) }

// alienError is a redirect that is not followed.
type alienError struct{ to string }

// Error names the host.
func (e *alienError) Error() string { return "redirected to " + e.to }

// tokenError tells that the token cannot be read.
type tokenError struct{ err error }

// Error says where it should be.
func (e *tokenError) Error() string { return e.err.Error() }

// strangeError is an answer that Backstage does not give.
type strangeError struct{ what string }

// Error says what is strange.
func (e *strangeError) Error() string { return e.what }

func strange(format string, args ...any) error { return &strangeError{fmt.Sprintf(format, args...)} }

// client speaks to the API of one catalog.
type client struct {
	http        *http.Client
	api         *url.URL
	credentials Credentials
	timeout     time.Duration
}

func newClient(api *url.URL, credentials Credentials, timeout time.Duration) *client {
	c := &client{api: api, credentials: credentials, timeout: timeout}
	c.http = &http.Client{CheckRedirect: c.mayFollow, Transport: &http.Transport{
		Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, MaxIdleConnsPerHost: 2,
		IdleConnTimeout: 30 * time.Second, TLSHandshakeTimeout: 15 * time.Second, MaxResponseHeaderBytes: 256 << 10,
	}}
	return c
}

func (c *client) mayFollow(req *http.Request, via []*http.Request) error {
	if len(via) > maxRedirects || !strings.EqualFold(req.URL.Host, c.api.Host) || req.URL.Scheme != c.api.Scheme {
		return &alienError{req.URL.Scheme + "://" + req.URL.Host}
	}
	return nil
}

// get asks for path below the API, and gives the answer's body to read.
func (c *client) get(ctx context.Context, path string, query url.Values, bound int64, read func(*io.LimitedReader) error) error {
	return c.do(ctx, http.MethodGet, path+"?"+query.Encode(), nil, bound, read)
}

// post sends a JSON body to path, and gives the answer's body to read.
func (c *client) post(ctx context.Context, path string, body any, bound int64, read func(*io.LimitedReader) error) error {
	data, err := json.Marshal(body)
	if err != nil {
		return err
	}
	return c.do(ctx, http.MethodPost, path, data, bound, read)
}

// do makes one request; its time includes that of reading the answer.
func (c *client) do(ctx context.Context, method, path string, body []byte, bound int64, read func(*io.LimitedReader) error) error {
	token, err := c.credentials.token()
	if err != nil {
		return &tokenError{err}
	}
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, c.api.String()+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "fairlead")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return masked(err, token)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return refusal(resp, token)
	}
	if kind, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return strange("the answer is %.60q and not JSON", resp.Header.Get("Content-Type"))
	}
	return masked(read(&io.LimitedReader{R: resp.Body, N: bound}), token)
}

// refusal is the error of an answer that is no success.
func refusal(resp *http.Response, token string) error {
	said, err := io.ReadAll(io.LimitReader(resp.Body, maxSaid))
	if err != nil {
		said = nil // the status says enough
	}
	e := &statusError{status: resp.StatusCode, said: mask(string(said), token)}
	if n, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil && n > 0 && n <= 86400 {
		e.retryAfter = time.Duration(n) * time.Second
	}
	return e
}

func mask(text, token string) string {
	if len(token) < minMasked {
		return text
	}
	return strings.ReplaceAll(text, token, "[token]")
}

// maskedError keeps a token that a server echoes out of an error's text.
type maskedError struct {
	error
	token string
}

// Error is the text without the token.
func (e *maskedError) Error() string { return mask(e.error.Error(), e.token) }

// Is and As reach through to the cause without giving its text away.
func (e *maskedError) Is(target error) bool { return errors.Is(e.error, target) }

// As finds a cause by its type.
func (e *maskedError) As(target any) bool { return errors.As(e.error, target) }

func masked(err error, token string) error {
	if err == nil || len(token) < minMasked || !strings.Contains(err.Error(), token) {
		return err
	}
	return &maskedError{err, token}
}
