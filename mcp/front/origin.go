package front

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/fairlead-dev/fairlead/internal/fault"
)

// foreign keeps out web pages that have no business here, and names by which
// a page could make a loopback server its own; it tells whether the request
// is answered.
func (f *Front) foreign(w http.ResponseWriter, r *http.Request, req *Request) bool {
	w.Header().Add("Vary", "Origin")
	if local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr); ok && loopback(local.String()) && !loopback(r.Host) &&
		(f.public == nil || !strings.EqualFold(r.Host, f.public.Host)) {
		refuse(w, req, http.StatusForbidden, fault.New(fault.Forbidden, "this server is not known as %.80q", r.Host).WithFix("Call it by localhost, or set publicURL to the name it is reached by."))
		return true
	}
	if origin := r.Header.Get("Origin"); origin != "" {
		if !f.knownOrigin(origin) && !itself(origin, r.Host) {
			refuse(w, req, http.StatusForbidden, fault.New(fault.Forbidden, "pages of the origin %.80q may not call", origin).WithFix("Add the origin to the list cors of the server's configuration."))
			return true
		}
		h := w.Header()
		h.Set("Access-Control-Allow-Origin", origin)
		h.Set("Access-Control-Expose-Headers", "Mcp-Session-Id, WWW-Authenticate, Retry-After")
		h.Set("Access-Control-Allow-Methods", "GET, POST, DELETE, OPTIONS")
		h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, Accept, Last-Event-ID, Mcp-Session-Id, Mcp-Protocol-Version, Mcp-Method, Mcp-Name")
		h.Set("Access-Control-Max-Age", "600")
	}
	if r.Method == http.MethodOptions {
		w.WriteHeader(http.StatusNoContent)
		return true
	}
	return false
}

// knownOrigin tells whether pages of an origin may call.
func (f *Front) knownOrigin(origin string) bool {
	if f.public != nil && strings.EqualFold(origin, f.public.Scheme+"://"+f.public.Host) {
		return true
	}
	return slices.ContainsFunc(f.cfg.Origins, func(o string) bool {
		return o == "*" || strings.EqualFold(strings.TrimSuffix(o, "/"), origin)
	})
}

// itself tells whether an origin is this very server, called by a name of
// loopback that no page elsewhere can take for its own.
func itself(origin, host string) bool {
	u, err := url.Parse(origin)
	return err == nil && loopback(host) && strings.EqualFold(u.Host, host)
}

func loopback(hostport string) bool {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		host = strings.Trim(hostport, "[]")
	}
	ip, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && ip.IsLoopback()
}
