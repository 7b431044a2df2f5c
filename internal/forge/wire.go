package forge

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

const (
	maxAnswer    = 32 << 20 // bytes of one answer
	maxErrorBody = 64 << 10 // bytes of an answer that is no success
	maxTries     = 3        // of one request, the first included
	maxRedirects = 5
	minMasked    = 8 // bytes; what is shorter is no token, and may be a word
)

// Wire is how a client reaches its host: with its credentials, within its
// budget, and never elsewhere.
type Wire struct {
	// Base is the host's address; requests to another host are refused.
	Base *url.URL
	// Host is its name for people.
	Host string
	// Credentials are read anew for each request.
	Credentials Credentials
	// Authorize puts the token into a request.
	Authorize func(h http.Header, token string)
	// Resource names the limit that a request counts against, as far as that
	// can be told before the answer; may be nil.
	Resource func(*http.Request) string
	// Slow tells an answer that means "too fast" from others of the statuses
	// 200 and 403, by its headers and body; may be nil.
	Slow func(status int, h http.Header, body []byte) bool
	// Budget bounds the requests.
	Budget *Budget
	// Limits bound each of them; the client fills in the defaults.
	Limits Limits
	// Transport makes the connections; default is one of the client's own.
	Transport http.RoundTripper
}

// NewTransport makes the connections to forges; clients may share one.
func NewTransport() *http.Transport {
	return &http.Transport{Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, MaxIdleConns: 32, MaxIdleConnsPerHost: 8,
		IdleConnTimeout: 30 * time.Second, TLSHandshakeTimeout: 15 * time.Second, MaxResponseHeaderBytes: 256 << 10}
}

// StatusError is an answer that is no success.
type StatusError struct {
	// Status is the HTTP status.
	Status int
	// Said is what the host says of it, for logs alone.
	Said string
	// Limited tells that the host refuses because of a limit.
	Limited bool
	// RetryAfter is when the host says that trying again makes sense; 0 if
	// it does not say.
	RetryAfter time.Duration
	header     http.Header
}

// Error names the status and what the host says.
func (e *StatusError) Error() string { return fmt.Sprintf("HTTP status %d: %.300q", e.Status, e.Said) }

// Header gives a header of the answer.
func (e *StatusError) Header(name string) string { return e.header.Get(name) }

// credentialError tells that the token cannot be read.
type credentialError struct{ err error }

func (e *credentialError) Error() string { return e.err.Error() }

// alienError is a request or redirect to another host.
type alienError struct{ to string }

func (e *alienError) Error() string { return "another host is asked for: " + e.to }

// tooMuchError tells that an answer exceeds its bound.
type tooMuchError struct{}

func (tooMuchError) Error() string { return fmt.Sprintf("the answer exceeds %d bytes", maxAnswer) }

// Client is an HTTP client of priority p. It answers what the host says is
// unchanged from what is known, waits for the budget, and tries again where
// the host asks to or stumbles. An answer that is no success is a
// *StatusError; it does not reach the library above.
func (w Wire) Client(p Priority) *http.Client {
	w.Limits = w.Limits.WithDefaults()
	if w.Transport == nil {
		w.Transport = NewTransport()
	}
	t := &transport{Wire: w, priority: p, known: newMemory()}
	return &http.Client{Transport: t, CheckRedirect: t.mayFollow}
}

type transport struct {
	Wire
	priority Priority
	known    *memory
}

func (t *transport) mayFollow(req *http.Request, via []*http.Request) error {
	if !t.ours(req.URL) || len(via) > maxRedirects {
		return &alienError{req.URL.Scheme + "://" + req.URL.Host}
	}
	return nil
}

func (t *transport) ours(u *url.URL) bool {
	return strings.EqualFold(u.Host, t.Base.Host) && strings.EqualFold(u.Scheme, t.Base.Scheme)
}

// RoundTrip sends a request as often as it takes, and as the bounds allow.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Body != nil {
		defer req.Body.Close()
	}
	if !t.ours(req.URL) {
		return nil, &alienError{req.URL.Scheme + "://" + req.URL.Host}
	}
	for try := 1; ; try++ {
		resp, err := t.once(req)
		status, failed := err.(*StatusError) //nolint:errorlint // once returns it unwrapped
		if !failed || try == maxTries || !repeatable(req) {
			return resp, err
		}
		switch {
		case status.Limited: // the budget waits, or says that it takes too long
		case status.Status >= http.StatusInternalServerError && status.Status != http.StatusNotImplemented && status.RetryAfter <= t.Limits.Wait:
			if err := sleep(req.Context(), max(status.RetryAfter, time.Duration(try)*time.Second)); err != nil {
				return nil, err
			}
		default:
			return resp, err
		}
	}
}

// repeatable tells whether a request may be sent twice, as net/http tells.
func repeatable(req *http.Request) bool {
	if req.Body != nil && req.Body != http.NoBody && req.GetBody == nil {
		return false
	}
	_, declared := req.Header["X-Idempotency-Key"]
	return declared || req.Method == http.MethodGet || req.Method == http.MethodHead
}

// once sends a request once, when the budget allows.
func (t *transport) once(req *http.Request) (*http.Response, error) {
	resource := ""
	if t.Resource != nil {
		resource = t.Resource(req)
	}
	release, err := t.Budget.acquire(req.Context(), resource, t.priority)
	if err != nil {
		return nil, err
	}
	defer release()
	token, err := t.Credentials.token()
	if err != nil {
		return nil, &credentialError{err}
	}
	ctx, cancel := context.WithTimeout(req.Context(), t.Limits.Timeout)
	defer cancel()
	sent, known, err := t.prepare(ctx, req, token)
	if err != nil {
		return nil, err
	}
	resp, err := t.Transport.RoundTrip(sent)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	return t.answer(req, resp, known, resource, token)
}

func (t *transport) prepare(ctx context.Context, req *http.Request, token string) (sent *http.Request, known *answer, err error) {
	sent = req.Clone(ctx)
	if req.GetBody != nil {
		if sent.Body, err = req.GetBody(); err != nil {
			return nil, nil, err
		}
	}
	sent.Header.Del("Authorization")
	if token != "" {
		t.Authorize(sent.Header, token)
	}
	if req.Method == http.MethodGet {
		if known = t.known.get(req.URL.String(), sha256.Sum256([]byte(token))); known != nil {
			sent.Header.Set("If-None-Match", known.etag)
		}
	}
	return sent, known, nil
}

// answer reads an answer whole, so that a slow or endless body counts against
// the request's own bounds.
func (t *transport) answer(req *http.Request, resp *http.Response, known *answer, resource, token string) (*http.Response, error) {
	if name := resp.Header.Get("X-Ratelimit-Resource"); name != "" && len(name) < 40 {
		resource = name
	}
	t.Budget.observe(resource, resp.Header, resp.StatusCode)
	if resp.StatusCode == http.StatusNotModified && known != nil {
		t.Budget.succeeded()
		return known.response(req, resp.Header), nil
	}
	bound := int64(maxAnswer)
	if resp.StatusCode >= http.StatusBadRequest {
		bound = maxErrorBody
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, bound+1))
	if err != nil {
		return nil, err
	}
	if len(token) >= minMasked { // whatever the host echoes, no log shall hold it
		body = bytes.ReplaceAll(body, []byte(token), []byte("[secret]"))
	}
	if resp.StatusCode >= http.StatusBadRequest || resp.StatusCode == http.StatusOK && t.slow(resp, body) {
		return nil, t.refusal(resp, body, resource)
	}
	if int64(len(body)) > bound {
		return nil, tooMuchError{}
	}
	t.Budget.succeeded()
	if etag := resp.Header.Get("ETag"); req.Method == http.MethodGet && resp.StatusCode == http.StatusOK && etag != "" {
		t.known.put(req.URL.String(), &answer{etag: etag, token: sha256.Sum256([]byte(token)), header: resp.Header, body: body})
	}
	out := *resp
	out.Request, out.Body, out.ContentLength = req, io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return &out, nil
}

// refusal is the error of an answer that is no success.
func (t *transport) refusal(resp *http.Response, body []byte, resource string) error {
	e := &StatusError{Status: resp.StatusCode, Said: string(body), header: resp.Header}
	e.RetryAfter, _ = retryAfter(resp.Header, time.Now())
	e.Limited = e.Status == http.StatusTooManyRequests || t.slow(resp, body)
	if e.Limited {
		t.Budget.refusedBy(resource, resp.Header)
	}
	return e
}

func (t *transport) slow(resp *http.Response, body []byte) bool {
	switch resp.StatusCode {
	case http.StatusForbidden:
		return resp.Header.Get("X-Ratelimit-Remaining") == "0" || t.Slow != nil && t.Slow(resp.StatusCode, resp.Header, body)
	case http.StatusOK:
		return t.Slow != nil && t.Slow(resp.StatusCode, resp.Header, body)
	default:
		return false
	}
}
