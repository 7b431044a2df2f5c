package external

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"syscall"
	"time"
)

// complaint is an error that a caller may read: it has nothing of addresses,
// queries or tokens.
type complaint string

// Error is the complaint.
func (c complaint) Error() string { return string(c) }

// What a provider must not lead to.
const (
	errPrivate  complaint = "its address is not a public one"
	errRedirect complaint = "it redirects to where it is not allowed"
)

// inside are the networks, beside those that netip knows as such, in which
// nobody outside is (RFC 6890, and RFC 6052 and 3056 for addresses in
// others').
var inside = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("192.0.0.0/24"), netip.MustParsePrefix("198.18.0.0/15"), netip.MustParsePrefix("240.0.0.0/4"),
	netip.MustParsePrefix("64:ff9b::/96"), netip.MustParsePrefix("64:ff9b:1::/48"), netip.MustParsePrefix("2002::/16"), netip.MustParsePrefix("2001::/23"), netip.MustParsePrefix("fec0::/10"),
}

// public tells whether an address is somebody's outside.
func public(ip netip.Addr) bool {
	ip = ip.Unmap().WithZone("")
	return ip.IsGlobalUnicast() && !ip.IsPrivate() && !slices.ContainsFunc(inside, func(p netip.Prefix) bool { return p.Contains(ip) })
}

// newClient makes a client that goes to allowed hosts alone, and there to
// public addresses alone, whatever a name leads to.
func newClient(allow []string) *http.Client {
	return &http.Client{
		Transport:     &http.Transport{DialContext: dialer(addresses(allow)), TLSHandshakeTimeout: maxTimeout, MaxIdleConnsPerHost: 2, IdleConnTimeout: time.Minute, MaxResponseHeaderBytes: 64 << 10, ForceAttemptHTTP2: true},
		CheckRedirect: func(r *http.Request, via []*http.Request) error { return redirect(allow, r, via) },
	}
}

// addresses are the hosts that are addresses themselves, or this machine.
func addresses(allow []string) map[string]bool {
	out := map[string]bool{}
	for _, a := range allow {
		host := (&url.URL{Host: a}).Hostname()
		if _, err := netip.ParseAddr(host); err == nil || host == "localhost" {
			out[host] = true
		}
	}
	return out
}

// dialer connects to public addresses, and to hosts that are named.
func dialer(named map[string]bool) func(ctx context.Context, network, addr string) (net.Conn, error) {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		d := net.Dialer{Timeout: maxTimeout}
		if host, _, err := net.SplitHostPort(addr); err != nil || !named[host] {
			d.Control = publicOnly
		}
		return d.DialContext(ctx, network, addr)
	}
}

// redirect follows within the list; another host gets no token, and none is
// told the query that it was not given.
func redirect(allow []string, r *http.Request, via []*http.Request) error {
	if len(via) > 3 || !allowed(allow, r.URL) {
		return errRedirect
	}
	if r.URL.Host != via[0].URL.Host || r.URL.Scheme != via[0].URL.Scheme {
		r.Header.Del("Authorization")
	}
	r.Header.Del("Referer")
	return nil
}

// publicOnly refuses to connect to an address that is not public.
func publicOnly(_, address string, _ syscall.RawConn) error {
	if to, err := netip.ParseAddrPort(address); err != nil || !public(to.Addr()) {
		return errPrivate
	}
	return nil
}
