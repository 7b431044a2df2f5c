package oidc

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// Bounds of a fetch from an issuer.
const (
	fetchFor = 5 * time.Second // everything, from the connection to the last byte
	maxBody  = 512 << 10       // bytes of an answer
)

var (
	errMoved = errors.New("the answer sends elsewhere, and keys are taken from where they are configured alone")
	errLarge = fmt.Errorf("the answer has more than %d bytes", maxBody)
)

// newClient makes the client that issuers are asked with: bounded in time and
// size, and led nowhere.
func newClient(trust *tls.Config) *http.Client {
	t := &http.Transport{Proxy: http.ProxyFromEnvironment, TLSClientConfig: trust, ForceAttemptHTTP2: true, MaxResponseHeaderBytes: 64 << 10,
		MaxIdleConnsPerHost: 1, IdleConnTimeout: time.Minute, DisableCompression: true}
	return &http.Client{Transport: bounded{t}, Timeout: fetchFor,
		CheckRedirect: func(*http.Request, []*http.Request) error { return errMoved }}
}

// bounded lets through good answers alone, and of those no more than maxBody
// bytes.
type bounded struct{ next http.RoundTripper }

// RoundTrip sends a request.
func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := b.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if moved := resp.StatusCode/100 == 3; moved || resp.StatusCode != http.StatusOK {
		_ = resp.Body.Close() // nothing was read of it
		if moved {
			return nil, errMoved
		}
		return nil, fmt.Errorf("the answer is %d %s", resp.StatusCode, http.StatusText(resp.StatusCode))
	}
	resp.Body = &boundedBody{resp.Body, maxBody}
	return resp, nil
}

type boundedBody struct {
	io.ReadCloser
	left int64
}

// Read reads on, up to the bound.
func (b *boundedBody) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errLarge
	}
	if int64(len(p)) > b.left {
		p = p[:b.left]
	}
	n, err := b.ReadCloser.Read(p)
	b.left -= int64(n)
	return n, err
}
