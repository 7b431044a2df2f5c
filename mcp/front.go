package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	mcpgo "github.com/mark3labs/mcp-go/mcp"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// request is what the handlers behind the protocol's library need to know of
// the HTTP request, and what they leave for its answer.
type request struct {
	who      access.Caller
	readonly bool
	toolsets []string // nil is all
	envelope envelope
	modern   bool // revision 2026-07-28 or later
	session  bool // an earlier one, in a session of the caller's
	// fault is what a handler of a resource, prompt or completion failed with:
	// the library has no way to tell it to the client.
	fault *fault.Error
}

// envelope is what the front reads of a message.
type envelope struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Name string      `json:"name"`
		URI  string      `json:"uri"`
		Meta *mcpgo.Meta `json:"_meta"`
	} `json:"params"`
}

// requestKey finds the request in a context: the library passes nothing else
// through to handlers.
type requestKey struct{}

func requestOf(ctx context.Context) *request {
	if r, ok := ctx.Value(requestKey{}).(*request); ok {
		return r
	}
	return &request{} // nobody
}

// ServeHTTP answers a request.
func (d *door) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-Content-Type-Options", "nosniff")
	path := strings.TrimSuffix(r.URL.Path, "/")
	if h := d.metadata[path]; h != nil {
		h.ServeHTTP(w, r)
		return
	}
	req := &request{readonly: path == "/mcp/readonly"}
	defer d.recovered(w, r, req)
	if path != "/mcp" && !req.readonly {
		refuse(w, req, http.StatusNotFound, fault.New(fault.NotFound, "there is nothing at %s", r.URL.Path).WithFix("MCP is served at /mcp and /mcp/readonly."))
		return
	}
	if d.foreign(w, r, req) {
		return
	}
	who, err := d.Authenticate(r)
	if err != nil {
		f := fault.From(err)
		if f.Code == fault.Unauthenticated {
			w.Header().Set("WWW-Authenticate", Challenge(d.PublicURL, path))
		}
		refuse(w, req, f.Code.HTTPStatus(), f)
		return
	}
	req.who = who
	if status, f := d.admit(w, r, req); f != nil {
		refuse(w, req, status, f)
		return
	}
	if crossing(req) {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	out := &rewriter{ResponseWriter: w, door: d, request: req}
	d.stream.ServeHTTP(out, r.WithContext(context.WithValue(r.Context(), requestKey{}, req)))
	out.finish()
}

// crossing tells whether a message would end a request by its id alone: without
// a session, an id could be anybody's. Whoever hangs up cancels.
func crossing(req *request) bool {
	return !req.session && req.envelope.Method == "notifications/cancelled"
}

// recovered answers for a handler that panicked.
func (d *door) recovered(w http.ResponseWriter, r *http.Request, req *request) {
	p := recover()
	if p == nil {
		return
	}
	if p == http.ErrAbortHandler { //nolint:errorlint // the panic's value is this very error
		panic(p)
	}
	d.Logger.ErrorContext(r.Context(), "panic in the MCP door", "method", req.envelope.Method, "panic", fmt.Sprint(p))
	refuse(w, req, http.StatusInternalServerError, fault.From(errors.New("panic")))
}

// foreign keeps out web pages that have no business here, and names by which
// a page could make a loopback server its own; it tells whether the request
// is answered.
func (d *door) foreign(w http.ResponseWriter, r *http.Request, req *request) bool {
	w.Header().Add("Vary", "Origin")
	if local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr); ok && loopback(local.String()) && !loopback(r.Host) &&
		(d.public == nil || !strings.EqualFold(r.Host, d.public.Host)) {
		refuse(w, req, http.StatusForbidden, fault.New(fault.Forbidden, "this server is not known as %.80q", r.Host).WithFix("Call it by localhost, or set publicURL to the name it is reached by."))
		return true
	}
	if origin := r.Header.Get("Origin"); origin != "" {
		if !d.knownOrigin(origin) && !itself(origin, r.Host) {
			refuse(w, req, http.StatusForbidden, fault.New(fault.Forbidden, "pages of the origin %.80q may not call", origin).WithFix("Add the origin to the list cors of the server's configuration."))
			return true
		}
		h := w.Header()
		h.Set("Access-Control-Allow-Origin", origin)
		h.Set("Access-Control-Expose-Headers", "Mcp-Session-Id, WWW-Authenticate, Retry-After")
		h.Set("Access-Control-Allow-Methods", "POST, DELETE, OPTIONS")
		h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, Accept, Last-Event-ID, Mcp-Session-Id, Mcp-Protocol-Version, Mcp-Method, Mcp-Name")
		h.Set("Access-Control-Max-Age", "600")
	}
	if r.Method == http.MethodOptions {
		w.WriteHeader(http.StatusNoContent)
		return true
	}
	return false
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

// admit checks a request before the library sees it.
func (d *door) admit(w http.ResponseWriter, r *http.Request, req *request) (int, *fault.Error) {
	if r.Method != http.MethodPost && r.Method != http.MethodDelete {
		w.Header().Set("Allow", "POST, DELETE, OPTIONS")
		return http.StatusMethodNotAllowed, fault.New(fault.Invalid, "%s is not taken here: there is no stream to listen to", r.Method).WithFix("Send messages by POST.")
	}
	if f := req.narrow(r.URL.Query()); f != nil {
		return http.StatusBadRequest, f
	}
	if r.Method == http.MethodPost {
		if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
			return http.StatusUnsupportedMediaType, fault.New(fault.Invalid, "the body is of type %.60q, not application/json", r.Header.Get("Content-Type")).
				WithFix("Send one JSON-RPC message as application/json.")
		}
		if status, f := req.read(r); f != nil {
			return status, f
		}
	}
	req.modern = req.modern || mcpgo.IsModernProtocol(r.Header.Get(mcpgo.HeaderProtocolVersion))
	if req.modern || req.envelope.Method == string(mcpgo.MethodInitialize) {
		return 0, nil
	}
	// A request without a session is served on its own, as from revision
	// 2026-07-28 on; one that names a session must be its owner's.
	if id := r.Header.Get(mcpgo.HeaderSessionID); id != "" {
		if req.session = d.sessions.holds(id, ownerOf(req.who)); !req.session {
			return http.StatusNotFound, fault.New(fault.NotFound, "there is no such session of yours").WithFix("Send initialize to open one.")
		}
	}
	return 0, nil
}

// narrow reads which toolsets are wanted.
func (req *request) narrow(q url.Values) *fault.Error {
	if !q.Has("toolsets") {
		return nil
	}
	req.toolsets = []string{}
	for name := range strings.SplitSeq(strings.Join(q["toolsets"], ","), ",") {
		if name = strings.TrimSpace(name); name == "" {
			continue
		}
		if !slices.Contains(toolsets(), name) {
			return fault.New(fault.Invalid, "there is no toolset %.60q", name).WithFix("There are: %s.", strings.Join(toolsets(), ", "))
		}
		req.toolsets = append(req.toolsets, name)
	}
	return nil
}

// read reads the body within its bound and leaves it to be read again.
func (req *request) read(r *http.Request) (int, *fault.Error) {
	tooLarge := fault.New(fault.Invalid, "the body is larger than %d bytes", MaxBody).WithFix("Send less at once.")
	if r.ContentLength > MaxBody {
		return http.StatusRequestEntityTooLarge, tooLarge
	}
	data, err := io.ReadAll(io.LimitReader(r.Body, MaxBody+1))
	if err != nil {
		return http.StatusBadRequest, fault.New(fault.Invalid, "the body ended too early").Because(err)
	}
	if len(data) > MaxBody {
		return http.StatusRequestEntityTooLarge, tooLarge
	}
	r.Body = io.NopCloser(bytes.NewReader(data))
	if !json.Valid(data) {
		return http.StatusBadRequest, fault.New(fault.Invalid, "the body is not valid JSON").WithFix("Send one JSON-RPC message.")
	}
	if trimmed := bytes.TrimSpace(data); trimmed[0] != '{' {
		return http.StatusBadRequest, fault.New(fault.Invalid, "the body is no JSON object").WithFix("Send one JSON-RPC message; batches are not taken.")
	}
	_ = json.Unmarshal(data, &req.envelope) // parts of other types stay empty, and the library refuses them
	req.modern = mcpgo.IsModernProtocol(req.envelope.Params.Meta.ProtocolVersion())
	return 0, nil
}

// rpcError is a JSON-RPC error response.
type rpcError struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Error   rpcErrorBody    `json:"error"`
}

type rpcErrorBody struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

// codeOf is the JSON-RPC code of a fault.
func (req *request) codeOf(f *fault.Error) int {
	switch f.Code {
	case fault.Invalid:
		return mcpgo.INVALID_PARAMS
	case fault.NotFound:
		if req.modern {
			return mcpgo.INVALID_PARAMS
		}
		return mcpgo.RESOURCE_NOT_FOUND
	case fault.Internal:
		return mcpgo.INTERNAL_ERROR
	default:
		return -32000 // an error of the server's own, told apart by data.code
	}
}

// rpc writes a fault as a JSON-RPC error.
func (req *request) rpc(code int, f *fault.Error) []byte {
	data, err := json.Marshal(struct {
		*fault.Error
		URI string `json:"uri,omitempty"` // revision 2026-07-28 wants it of a missing resource
	}{f, req.envelope.Params.URI})
	if err != nil { // details that are no JSON
		data = nil
	}
	id := req.envelope.ID
	if len(id) == 0 {
		id = json.RawMessage("null")
	}
	message := f.Message
	if f.Fix != "" {
		message += ". " + f.Fix
	}
	out, _ := json.Marshal(rpcError{"2.0", id, rpcErrorBody{code, message, data}}) // texts and valid JSON alone
	return out
}

// refuse answers a request that the library does not get to see.
func refuse(w http.ResponseWriter, req *request, status int, f *fault.Error) {
	code := mcpgo.INVALID_REQUEST
	if f.Code == fault.Internal {
		code = mcpgo.INTERNAL_ERROR
	}
	if f.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(f.RetryAfter.Seconds()))))
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(req.rpc(code, f)) //nolint:gosec // JSON under nosniff is no page; a client that has gone needs no answer
}
