package registry

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"syscall"
	"time"
)

// maxBody bounds what is read of one answer, in bytes.
const maxBody = 4 << 20

// guarded asks one registry, and what that refers to: the server of its tokens,
// the store of its contents. Neither may be at an address that is not public,
// but the registry itself where that is allowed, and nothing is asked without
// TLS but that.
type guarded struct {
	cfg  Config
	host string
	base *http.Transport
}

func newGuarded(cfg Config) *guarded {
	g := &guarded{cfg: cfg, host: cfg.key()}
	g.base = &http.Transport{DialContext: g.dial, TLSHandshakeTimeout: 5 * time.Second, ResponseHeaderTimeout: 10 * time.Second, MaxIdleConnsPerHost: 2, IdleConnTimeout: 30 * time.Second,
		ForceAttemptHTTP2: true, MaxResponseHeaderBytes: 64 << 10}
	return g
}

// dial connects to what may be reached.
func (g *guarded) dial(ctx context.Context, network, address string) (net.Conn, error) {
	d := net.Dialer{Timeout: 5 * time.Second}
	if !g.cfg.Private || !g.is(address) {
		d.Control = func(_, resolved string, _ syscall.RawConn) error { return public(resolved) }
	}
	return d.DialContext(ctx, network, address)
}

// is tells whether an address is that of the registry.
func (g *guarded) is(address string) bool {
	if _, _, err := net.SplitHostPort(g.host); err == nil {
		return address == g.host
	}
	host, port, err := net.SplitHostPort(address)
	return err == nil && host == g.host && (port == "443" || port == "80" && g.cfg.PlainHTTP)
}

// public refuses an address that is not one of the public network.
func public(address string) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return err
	}
	ip := at.Addr().Unmap()
	if !ip.IsGlobalUnicast() || ip.IsPrivate() || shared(ip) {
		return fmt.Errorf("%s is no public address", ip)
	}
	return nil
}

// shared tells whether an address is one of those that networks use among
// themselves, besides those that netip knows: of carriers, for benchmarks, of
// protocols, and IPv4 within IPv6.
func shared(ip netip.Addr) bool {
	for _, p := range []string{"100.64.0.0/10", "198.18.0.0/15", "192.0.0.0/24", "240.0.0.0/4", "0.0.0.0/8", "64:ff9b::/96", "64:ff9b:1::/48", "2002::/16", "2001::/32"} {
		if netip.MustParsePrefix(p).Contains(ip) {
			return true
		}
	}
	return false
}

var errPlain = errors.New("it is asked without TLS, which plainHTTP does not allow")

// RoundTrip is that of http.RoundTripper.
func (g *guarded) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.URL.Scheme != "https" && (!g.cfg.PlainHTTP || req.URL.Host != g.host) {
		return nil, errPlain
	}
	resp, err := g.base.RoundTrip(req)
	if err == nil {
		resp.Body = &bounded{resp.Body, maxBody}
	}
	return resp, err
}

// bounded is a body that ends with an error where it is too long.
type bounded struct {
	io.ReadCloser
	left int
}

var errLong = errors.New("the registry's answer is too long")

// Read is that of io.Reader.
func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errLong
	}
	n, err := b.ReadCloser.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}
