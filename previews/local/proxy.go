package local

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"time"
)

// hostSuffix follows the id in the name of a preview's host. Names below
// localhost are this machine's own, in browsers and in curl.
const hostSuffix = ".preview.localhost"

// IDOfHost gives the preview that a host, with or without a port, belongs to.
// A guard of hosts that admits loopback names admits these too.
func IDOfHost(hostport string) (id string, ok bool) {
	host := hostport
	if h, _, err := net.SplitHostPort(hostport); err == nil {
		host = h
	}
	id, ok = strings.CutSuffix(strings.ToLower(strings.TrimSuffix(host, ".")), hostSuffix)
	return id, ok && label.MatchString(id)
}

func newTransport() *http.Transport {
	return &http.Transport{
		DialContext:         (&net.Dialer{Timeout: 5 * time.Second}).DialContext,
		MaxIdleConnsPerHost: 8,
		MaxIdleConns:        256,
		IdleConnTimeout:     30 * time.Second,
		DisableCompression:  true,
	}
}

// Front answers requests for the hosts of previews by the previews
// themselves, and leaves all others to next. It belongs before everything
// that is meant for Fairlead's own doors: guards of hosts, limits of bodies,
// headers. No token is asked for, so only clients on this machine are served.
func (d *Deployer) Front(next http.Handler) http.Handler {
	proxy := &httputil.ReverseProxy{
		Transport: d.transport,
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetXForwarded()
			to, ok := r.In.Context().Value(targetKey{}).(*url.URL)
			if !ok {
				return // the handler below always gives one
			}
			r.SetURL(to)
			r.Out.Host = r.In.Host
		},
		ErrorLog:      slog.NewLogLogger(d.log.Handler(), slog.LevelDebug),
		FlushInterval: -1, // what streams is passed on at once
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) {
			tell(w, http.StatusBadGateway, "the preview did not answer; its log may say why\n")
		},
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id, ok := IDOfHost(r.Host)
		switch {
		case !ok:
			next.ServeHTTP(w, r)
		case !fromHere(r):
			tell(w, http.StatusForbidden, "previews are served to this machine alone\n")
		default:
			d.pass(w, r, id, proxy)
		}
	})
}

// targetKey is where the address of a preview is kept in a request's context.
type targetKey struct{}

// pass hands a request to a preview.
func (d *Deployer) pass(w http.ResponseWriter, r *http.Request, id string, proxy http.Handler) {
	f, err := d.folder(id)
	if err != nil || !f.exists() {
		tell(w, http.StatusNotFound, "there is no preview "+id+"\n")
		return
	}
	p, s, complete := f.read()
	switch {
	case !complete || p.Removing:
		tell(w, http.StatusGone, "the preview "+id+" is being removed\n")
	case s.over() || !alive(f):
		tell(w, http.StatusBadGateway, "the preview "+id+" does not run. "+s.Reason+"\n")
	case s.Phase == starting:
		w.Header().Set("Retry-After", "1")
		tell(w, http.StatusServiceUnavailable, "the preview "+id+" is starting\n")
	default:
		to := &url.URL{Scheme: "http", Host: net.JoinHostPort("127.0.0.1", itoa(p.Port))}
		proxy.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), targetKey{}, to)))
	}
}

// fromHere tells that a request comes from this machine.
func fromHere(r *http.Request) bool {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	ip := net.ParseIP(host)
	return err == nil && ip != nil && ip.IsLoopback()
}

func tell(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	fmt.Fprint(w, text) //nolint:gosec // plain text under nosniff is no page
}
