package front

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// MaxBody is the largest request body that is read, in bytes.
const MaxBody = 4 << 20

// The headers of the protocol.
const (
	HeaderSession = "Mcp-Session-Id"
	HeaderVersion = "Mcp-Protocol-Version"
)

// Config is what a front is built from. Authenticate, Explain and Room are
// needed; the zero value of anything else is its default.
type Config struct {
	// Authenticate tells who sends a request.
	Authenticate func(*http.Request) (access.Caller, error)
	// PublicURL is how clients reach the server; "" takes it from requests.
	PublicURL string
	// AuthorizationServers and Scopes are what the metadata says of tokens.
	AuthorizationServers, Scopes []string
	// Origins are the origins whose pages may call, beside PublicURL's own;
	// "*" lets all do so.
	Origins []string
	// SessionIdle is after how long without use a session ends.
	SessionIdle time.Duration
	// Recheck is how often the credential that a stream was opened with is
	// checked again, 5 s by default; the stream ends when it holds no longer.
	Recheck time.Duration
	// Toolsets are the names that ?toolsets= takes.
	Toolsets []string
	// Explain puts an error of the library's as a fault; nil where the
	// library says it well.
	Explain func(req *Request, code int, message string) (int, *fault.Error)
	// Room is what subscriptions are about.
	Room Room
	// Logger is told of panics.
	Logger *slog.Logger
}

// Front is the handler.
type Front struct {
	cfg      Config
	public   *url.URL
	inner    http.Handler
	sessions *Sessions
	streams  *streams
}

// New makes a front; Serve names what stands behind it. An error is a
// PublicURL that is none.
func New(cfg Config) (*Front, error) {
	cfg.Recheck = cmp.Or(cfg.Recheck, recheck)
	f := &Front{cfg: cfg, sessions: newSessions(cfg.SessionIdle), streams: &streams{open: map[string]int{}}}
	if cfg.PublicURL == "" {
		return f, nil
	}
	u, err := url.Parse(cfg.PublicURL)
	if err != nil || u.Host == "" {
		return nil, errors.New("mcp: PublicURL is no URL: " + cfg.PublicURL)
	}
	f.public = u
	return f, nil
}

// Sessions are the open sessions.
func (f *Front) Sessions() *Sessions { return f.sessions }

// Serve sets what gets the requests that are let in, and what is told the
// ids of sessions that have ended. It is called once, before any request.
func (f *Front) Serve(inner http.Handler, ended func(id string)) {
	f.inner, f.sessions.ended = inner, ended
}

// ServeHTTP answers a request.
func (f *Front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-Content-Type-Options", "nosniff")
	path := strings.TrimSuffix(r.URL.Path, "/")
	if resource, ok := strings.CutPrefix(path, wellKnown); ok && endpoint(resource) {
		f.describe(w, r, resource)
		return
	}
	req := &Request{ReadOnly: path == "/mcp/readonly"}
	defer f.recovered(w, r, req)
	if path == "" || !endpoint(path) {
		refuse(w, req, http.StatusNotFound, fault.New(fault.NotFound, "there is nothing at %.120q", r.URL.Path).WithFix("MCP is served at /mcp and /mcp/readonly."))
		return
	}
	if f.foreign(w, r, req) {
		return
	}
	who, err := f.cfg.Authenticate(r)
	if err != nil {
		f.challenge(w, r, req, path, fault.From(err))
		return
	}
	req.Who = who
	if status, flt := f.admit(w, r, req); flt != nil {
		refuse(w, req, status, flt)
		return
	}
	switch {
	case r.Method == http.MethodGet:
		f.stream(w, r, req)
	case req.crossing(), req.answers():
		w.WriteHeader(http.StatusAccepted)
	case f.subscribe(w, r, req):
	default:
		f.pass(w, r, req, path)
	}
}

// pass lets the library answer.
func (f *Front) pass(w http.ResponseWriter, r *http.Request, req *Request, path string) {
	hold := func() (context.Context, context.CancelFunc) { return context.WithCancel(r.Context()) }
	if req.Modern && req.Method == "subscriptions/listen" {
		leave, flt := f.streams.enter(OwnerOf(req.Who))
		if flt != nil {
			refuse(w, req, http.StatusTooManyRequests, flt)
			return
		}
		defer leave()
		hold = func() (context.Context, context.CancelFunc) { return f.whileHeld(r.Context(), r, req.Who) }
	}
	ctx, cancel := hold()
	defer cancel()
	out := newAnswer(w, f, req, r)
	req.answer = out
	defer out.close()
	defer req.listening.Wait()
	defer cancel()
	f.inner.ServeHTTP(out, r.WithContext(context.WithValue(ctx, requestKey{}, req)))
	if scope := req.wants(); scope != "" {
		out.refuse(http.StatusForbidden, f.bearer(r, path, "insufficient_scope", scope))
	}
	out.finish()
}

// recovered answers for a handler that panicked.
func (f *Front) recovered(w http.ResponseWriter, r *http.Request, req *Request) {
	p := recover()
	if p == nil {
		return
	}
	if p == http.ErrAbortHandler { //nolint:errorlint // the panic's value is this very error
		panic(p)
	}
	f.cfg.Logger.ErrorContext(r.Context(), "panic in the MCP door", "method", req.Method, "error", fault.Recovered(p, "answering a request"))
	refuse(w, req, http.StatusInternalServerError, fault.From(errors.New("panic")))
}

// admit checks a request before the library sees it.
func (f *Front) admit(w http.ResponseWriter, r *http.Request, req *Request) (int, *fault.Error) {
	if flt := req.narrow(r.URL.Query(), f.cfg.Toolsets); flt != nil {
		return http.StatusBadRequest, flt
	}
	switch r.Method {
	case http.MethodPost:
		if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
			return http.StatusUnsupportedMediaType, fault.New(fault.Invalid, "the body is of type %.60q, not application/json", r.Header.Get("Content-Type")).
				WithFix("Send one JSON-RPC message as application/json.")
		}
		if status, flt := req.read(r); flt != nil {
			return status, flt
		}
	case http.MethodGet, http.MethodDelete:
	default:
		return notAllowed(w, r)
	}
	req.Modern = req.Modern || modern(r.Header.Get(HeaderVersion))
	if req.Modern && r.Method != http.MethodPost {
		return notAllowed(w, r)
	}
	if req.Modern || req.Method == "initialize" {
		return 0, nil
	}
	return f.belongs(r, req)
}

// belongs holds a request to the session that it names. A request without one
// is served on its own, as from revision 2026-07-28 on.
func (f *Front) belongs(r *http.Request, req *Request) (int, *fault.Error) {
	id := r.Header.Get(HeaderSession)
	if id == "" && r.Method == http.MethodPost {
		return 0, nil
	}
	if req.session = f.sessions.use(id, OwnerOf(req.Who)); req.session == nil {
		return http.StatusNotFound, fault.New(fault.NotFound, "there is no such session of yours").WithFix("Send initialize to open one.")
	}
	return 0, nil
}

func notAllowed(w http.ResponseWriter, r *http.Request) (int, *fault.Error) {
	w.Header().Set("Allow", "GET, POST, DELETE, OPTIONS")
	return http.StatusMethodNotAllowed, fault.New(fault.Invalid, "%.20s is not taken here", r.Method).
		WithFix("Send messages by POST; from revision 2026-07-28 on, listen with subscriptions/listen.")
}
