package overhttp

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// Handler serves an Engine at one path. The zero value of a limit means its
// default. WebSocket connections end when their request's context does, so
// give http.Server a BaseContext that is cancelled at shutdown.
type Handler struct {
	Engine Engine
	// Authenticate tells who sends a request.
	Authenticate func(*http.Request) (access.Caller, error)
	// Page is what a browser gets, and requests with the parameter asset for
	// the page's files; nil for none.
	Page http.Handler
	// Challenge is the WWW-Authenticate header of a 401, "Bearer" by default.
	Challenge string
	// MaxBody is the size of a request's body, 4 MiB by default.
	MaxBody int64
	// Timeout bounds one query or mutation, 15 s by default.
	Timeout time.Duration
	// Origins are the origins, such as https://portal.example.com, whose pages
	// may call besides the server's own; "*" is any.
	Origins []string
	// Socket bounds WebSocket connections.
	Socket SocketLimits
	// Logger is told of what panics on a connection; nil is slog.Default.
	Logger *slog.Logger

	waiting   waiters
	shares    shares
	persisted persisted
}

// ServeHTTP answers one request or serves one WebSocket connection.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.EqualFold(r.Header.Get("Upgrade"), "websocket") {
		h.serveSocket(w, r)
		return
	}
	w.Header().Set("Vary", "Accept")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if h.crossOrigin(w, r) {
		return
	}
	if r.Method != http.MethodGet && r.Method != http.MethodPost {
		w.Header().Set("Allow", "GET, POST")
		writeError(w, mediaJSON, http.StatusMethodNotAllowed, fault.New(fault.Invalid, "method %s is not served here", r.Method).
			WithFix("Send queries by GET or POST, mutations by POST."))
		return
	}
	media := negotiate(r)
	if h.Page != nil && r.Method == http.MethodGet && (media == mediaHTML || r.URL.Query().Has("asset")) {
		h.Page.ServeHTTP(w, r)
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	if media == "" || media == mediaHTML {
		writeError(w, mediaJSON, http.StatusNotAcceptable, fault.New(fault.Invalid, "none of the media types in Accept is served here").
			WithFix("Accept application/graphql-response+json or application/json."))
		return
	}
	h.serveQuery(w, r, media)
}

func (h *Handler) serveQuery(w http.ResponseWriter, r *http.Request, media string) {
	who, err := h.Authenticate(r)
	if err != nil {
		h.refuse(w, media, err)
		return
	}
	p, bad := h.read(w, r)
	if bad != nil {
		writeError(w, media, bad.status, bad.err)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), or(h.Timeout, 15*time.Second))
	defer cancel()
	op, resp := h.prepare(ctx, who, *p)
	switch {
	case resp != nil:
	case op.Kind() == Mutation && r.Method == http.MethodGet:
		w.Header().Set("Allow", "POST")
		writeError(w, media, http.StatusMethodNotAllowed, fault.New(fault.Invalid, "a mutation cannot be sent by GET").WithFix("Send it by POST."))
		return
	case op.Kind() == Subscription:
		resp = Refuse(fault.New(fault.Invalid, "a subscription cannot be sent by plain HTTP").
			WithFix("Open a WebSocket at this address with the subprotocol %s.", subprotocol))
	default:
		resp = op.Run(ctx)
	}
	status := http.StatusOK
	if resp.Data == nil && media == mediaResponse {
		status = resp.status()
	}
	write(w, media, status, resp)
}

// refuse answers a request whose sender is not let in.
func (h *Handler) refuse(w http.ResponseWriter, media string, err error) {
	f := fault.From(err)
	if f.Code == fault.Unauthenticated {
		w.Header().Set("WWW-Authenticate", or(h.Challenge, "Bearer"))
	}
	writeError(w, media, f.Code.HTTPStatus(), f)
}

func writeError(w http.ResponseWriter, media string, status int, err error) {
	write(w, media, status, Refuse(err))
}

func write(w http.ResponseWriter, media string, status int, resp *Response) {
	head, data, tail, err := resp.encode()
	if err != nil {
		status, head, data, tail = http.StatusInternalServerError, `{"errors":[{"message":"the answer cannot be written","extensions":{"code":"internal"}}]}`, nil, ""
	}
	tail += "\n"
	w.Header().Set("Content-Type", media+"; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(len(head)+len(data)+len(tail)))
	w.WriteHeader(status)
	_, _ = io.WriteString(w, head) // the client is gone if these fail
	_, _ = w.Write(data)
	_, _ = io.WriteString(w, tail)
}

func or[T comparable](v, otherwise T) T {
	var zero T
	if v == zero {
		return otherwise
	}
	return v
}
