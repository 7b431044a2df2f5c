package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
)

const (
	uploadPack   = "git-upload-pack"
	advertType   = "application/x-git-upload-pack-advertisement"
	answerType   = "application/x-git-upload-pack-result"
	receivePack  = "git-receive-pack"
	maxRedirects = 5
	// maxConns bounds the connections to one host. All are kept for a while,
	// so that a look at a thousand repositories makes them once.
	maxConns = 64
	// maxTail is how much is read of what follows an answer's last packet, so
	// that the connection can be used again.
	maxTail = 4 << 10
)

// newTransport makes the connections that sources share.
func newTransport() *http.Transport {
	return &http.Transport{Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, MaxIdleConns: 4 * maxConns, MaxIdleConnsPerHost: maxConns,
		MaxConnsPerHost: maxConns, IdleConnTimeout: 30 * time.Second, TLSHandshakeTimeout: 15 * time.Second, MaxResponseHeaderBytes: 256 << 10}
}

// statusError is an answer of the server that is no success.
type statusError struct {
	status     int
	retryAfter time.Duration
}

func (e *statusError) Error() string { return fmt.Sprintf("HTTP status %d", e.status) }

// redirectError is a redirect that is not followed: to another host, or to
// what is no repository.
type redirectError struct {
	to    string
	alien bool
}

func (e *redirectError) Error() string { return "redirected to " + e.to }

var errNotGit = errors.New("the answer is not that of a Git server")

// httpWire talks smart HTTP. Credentials go to the host of the configured URL
// and to no other: redirects are followed on that host alone.
type httpWire struct {
	service     string // uploadPack or receivePack
	client      *http.Client
	base        url.URL
	user, token string
}

func newHTTPWire(transport http.RoundTripper, at *url.URL, user, token string) *httpWire {
	w := &httpWire{service: uploadPack, base: *at, user: user, token: token}
	w.base.Path = strings.TrimRight(w.base.Path, "/")
	w.base.RawPath = ""
	w.client = &http.Client{Transport: transport, CheckRedirect: w.mayFollow}
	return w
}

// mayFollow allows redirects of the first request that stay on the host, with
// the same port or from http to https.
func (w *httpWire) mayFollow(req *http.Request, via []*http.Request) error {
	same := strings.EqualFold(req.URL.Host, w.base.Host) && strings.EqualFold(req.URL.Scheme, w.base.Scheme)
	upgrade := w.base.Scheme == "http" && req.URL.Scheme == "https" && w.base.Port() == "" && strings.EqualFold(req.URL.Host, w.base.Hostname())
	repository, ok := strings.CutSuffix(req.URL.Path, "/info/refs")
	if !same && !upgrade || !ok || req.Method != http.MethodGet || len(via) > maxRedirects {
		to := url.URL{Scheme: req.URL.Scheme, Host: req.URL.Host, Path: repository}
		return &redirectError{to.String(), !same && !upgrade}
	}
	w.authorize(req)
	return nil
}

func (w *httpWire) authorize(req *http.Request) {
	if w.token != "" {
		req.SetBasicAuth(w.user, w.token)
	}
}

func (w *httpWire) advertise(ctx context.Context) (*packp.AdvRefs, error) {
	at := w.base
	at.Path += "/info/refs"
	at.RawQuery = "service=" + w.service
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		return nil, err
	}
	body, final, err := w.do(req, "application/x-"+w.service+"-advertisement")
	if err != nil {
		return nil, err
	}
	defer body.Close()
	refs, err := decodeAdvert(body)
	if err != nil {
		return nil, err
	}
	finish(body)
	w.rebase(final)
	return refs, nil
}

// rebase notes where redirects have led.
func (w *httpWire) rebase(final *url.URL) {
	w.base.Scheme, w.base.Host = final.Scheme, final.Host
	w.base.Path = strings.TrimSuffix(final.Path, "/info/refs")
}

func (w *httpWire) exchange(ctx context.Context, r *packp.UploadPackRequest) (io.ReadCloser, error) {
	var content bytes.Buffer
	if err := encode(&content, r); err != nil {
		return nil, err
	}
	return w.post(ctx, &content)
}

// post sends the request of the wire's service.
func (w *httpWire) post(ctx context.Context, content *bytes.Buffer) (io.ReadCloser, error) {
	at := w.base
	at.Path += "/" + w.service
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, at.String(), content)
	if err != nil {
		return nil, err
	}
	wanted := "application/x-" + w.service + "-result"
	req.Header.Set("Content-Type", "application/x-"+w.service+"-request")
	req.Header.Set("Accept", wanted)
	body, _, err := w.do(req, wanted)
	return body, err
}

// do sends a request and gives the body of an answer that is of the type
// wanted, and the URL that it came from in the end.
func (w *httpWire) do(req *http.Request, wanted string) (io.ReadCloser, *url.URL, error) {
	// Hosts are known to serve Git by the name of the client.
	req.Header.Set("User-Agent", "git/2 (fairlead)")
	w.authorize(req)
	res, err := w.client.Do(req)
	if err != nil {
		return nil, nil, err
	}
	if res.StatusCode != http.StatusOK {
		_ = res.Body.Close() // nothing of it is read
		return nil, nil, &statusError{res.StatusCode, retryAfter(res.Header.Get("Retry-After"))}
	}
	if kind, _, _ := strings.Cut(res.Header.Get("Content-Type"), ";"); strings.TrimSpace(kind) != wanted {
		_ = res.Body.Close() // nothing of it is read
		return nil, nil, fmt.Errorf("%w: its type is %.80q", errNotGit, kind)
	}
	return answerBody{res.Body}, res.Request.URL, nil
}

// answerBody is the body of an answer. Its protocol says where it ends, and what
// is left then is read so that the connection can be used again.
type answerBody struct{ io.ReadCloser }

func (a answerBody) finish() {
	_, _ = io.CopyN(io.Discard, a.ReadCloser, maxTail) // a connection that broke is not used again
}

// finish tells an answer that nothing more of it is wanted. One over ssh does
// not end as long as the server waits for requests.
func finish(answer io.Reader) {
	if a, ok := answer.(answerBody); ok {
		a.finish()
	}
}

// finishing finishes an answer where what is read of it ends.
type finishing struct {
	io.Reader
	answer io.Reader
}

// Read reads on.
func (f finishing) Read(p []byte) (int, error) {
	n, err := f.Reader.Read(p)
	if errors.Is(err, io.EOF) {
		finish(f.answer)
	}
	return n, err
}

// retryAfter reads a number of seconds; dates are not worth reading here.
func retryAfter(s string) time.Duration {
	d, err := time.ParseDuration(strings.TrimSpace(s) + "s")
	if err != nil || d < 0 || d > 24*time.Hour {
		return 0
	}
	return d
}

func (w *httpWire) close() {}
