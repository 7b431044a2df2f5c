package front

import (
	"encoding/json"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"github.com/fairlead-dev/fairlead/internal/fault"
)

// wellKnown is where the metadata of RFC 9728 is; a resource's path follows.
const wellKnown = "/.well-known/oauth-protected-resource"

// endpoint tells whether a path is one that metadata is of: the server's own
// or one of MCP's.
func endpoint(path string) bool { return path == "" || path == "/mcp" || path == "/mcp/readonly" }

// describe serves the metadata of RFC 9728 for a path.
func (f *Front) describe(w http.ResponseWriter, r *http.Request, path string) {
	h := w.Header()
	h.Set("Access-Control-Allow-Origin", "*") // it tells nothing that is secret
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		h.Set("Allow", "GET, HEAD")
		if r.Method == http.MethodOptions {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		refuse(w, &Request{}, http.StatusMethodNotAllowed, fault.New(fault.Invalid, "%.20s is not taken here", r.Method).WithFix("GET it."))
		return
	}
	base := f.base(r)
	if base == "" {
		refuse(w, &Request{}, http.StatusNotFound, fault.New(fault.NotFound, "it is not known how this server is reached").WithFix("Set publicURL in the server's configuration."))
		return
	}
	doc, _ := json.Marshal(struct {
		Resource string   `json:"resource"`
		Name     string   `json:"resource_name"`
		Servers  []string `json:"authorization_servers,omitempty"`
		Scopes   []string `json:"scopes_supported,omitempty"`
		Methods  []string `json:"bearer_methods_supported"`
	}{base + path, "Fairlead", f.cfg.AuthorizationServers, f.cfg.Scopes, []string{"header"}}) // texts alone
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "max-age=300")
	h.Add("Vary", "Host, X-Forwarded-Host, X-Forwarded-Proto")
	_, _ = w.Write(doc) // a client that has gone needs no answer
}

// base is how the client of a request reaches this server: by publicURL, else
// by what a proxy that is near says of it, else by what it was called.
func (f *Front) base(r *http.Request) string {
	if f.public != nil {
		return strings.TrimSuffix(f.cfg.PublicURL, "/")
	}
	scheme, host := "http", r.Host
	if r.TLS != nil {
		scheme = "https"
	}
	if near(r.RemoteAddr) {
		if h := first(r.Header.Get("X-Forwarded-Host")); h != "" {
			host = h
		}
		if p := first(r.Header.Get("X-Forwarded-Proto")); p == "http" || p == "https" {
			scheme = p
		}
	}
	if u, err := url.Parse(scheme + "://" + host); err != nil || u.Host != host || host == "" || strings.ContainsFunc(host, func(r rune) bool { return !strings.ContainsRune(hostLetters, r) }) {
		return ""
	}
	return scheme + "://" + host
}

// hostLetters are what the name of a host and its port are made of; anything
// else could end the quotes of a header.
const hostLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_:[]"

// first is the first of a list's items, that of the proxy that the client
// called.
func first(list string) string {
	item, _, _ := strings.Cut(list, ",")
	return strings.TrimSpace(item)
}

// near tells whether a peer is on this machine or in its private network, as
// a proxy is; others could say what they like.
func near(peer string) bool {
	at, err := netip.ParseAddrPort(peer)
	if err != nil {
		return false
	}
	ip := at.Addr().Unmap()
	return ip.IsLoopback() || ip.IsPrivate()
}

// challenge refuses a caller who is not known, or whose token does not reach.
func (f *Front) challenge(w http.ResponseWriter, r *http.Request, req *Request, path string, flt *fault.Error) {
	req.Fault = flt
	switch {
	case flt.Code == fault.Unauthenticated && r.Header.Get("Authorization") != "":
		w.Header().Set("WWW-Authenticate", f.bearer(r, path, "invalid_token", ""))
	case flt.Code == fault.Unauthenticated:
		w.Header().Set("WWW-Authenticate", f.bearer(r, path, "", strings.Join(f.cfg.Scopes, " ")))
	case req.wants() != "":
		w.Header().Set("WWW-Authenticate", f.bearer(r, path, "insufficient_scope", req.wants()))
	}
	refuse(w, req, flt.Code.HTTPStatus(), flt)
}

// bearer is a challenge of RFC 6750 that points to the metadata.
func (f *Front) bearer(r *http.Request, path, problem, scope string) string {
	var params []string
	for _, p := range [][2]string{{"error", problem}, {"scope", quotable(scope)}} {
		if p[1] != "" {
			params = append(params, p[0]+`="`+p[1]+`"`)
		}
	}
	if base := f.base(r); base != "" {
		params = append(params, `resource_metadata="`+base+wellKnown+path+`"`)
	}
	return strings.TrimSuffix("Bearer "+strings.Join(params, ", "), " ")
}

// quotable leaves out what would end a quoted text in a header.
func quotable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' || r == '"' || r == '\\' {
			return -1
		}
		return r
	}, s)
}
