package front

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/fault/beside"
)

// stateless is the first revision without sessions.
const stateless = "2026-07-28"

func modern(version string) bool { return version >= stateless && len(version) == len(stateless) }

// Request is what the handlers behind the library need to know of an HTTP
// request, and what they leave for its answer.
type Request struct {
	Who access.Caller
	// ReadOnly leaves out every act, Toolsets every tool of other sets; nil is
	// all.
	ReadOnly bool
	Toolsets []string
	// Method, Name and URI are the message's; Modern tells that it is of
	// revision 2026-07-28 or later.
	Method, Name, URI string
	Modern            bool
	// Fault is what a handler failed with: the library has no way to tell it
	// to the client.
	Fault *fault.Error
	// Stash is what one handler leaves for a later one.
	Stash any

	id        json.RawMessage
	reply     reply // where the message is an answer to the server
	session   *session
	answer    *answer
	listening beside.All
	marker    string   // of the places where the parts belong
	parts     [][]byte // of the answer, see Splice
}

// requestKey finds the request in a context: the library passes nothing else
// through to handlers.
type requestKey struct{}

// RequestOf is the request that a context belongs to; without one it is
// nobody's, who may do nothing.
func RequestOf(ctx context.Context) *Request {
	if r, ok := ctx.Value(requestKey{}).(*Request); ok {
		return r
	}
	return &Request{}
}

// InSession tells whether the request is of an earlier revision and in a
// session of the caller's.
func (req *Request) InSession() bool { return req.session != nil }

// Noted leaves a fault for the answer and gives it back.
func (req *Request) Noted(err error) error {
	req.Fault = fault.From(err)
	return req.Fault
}

// Send writes a message to the client ahead of the answer; it is written when
// Send returns, in the order of the calls. A client that takes no events, or
// that has gone, gets none.
func (req *Request) Send(message any) error {
	if req.answer == nil {
		return nil
	}
	return req.answer.send(message)
}

// crossing tells whether a message would end a request by its id alone: without
// a session, an id could be anybody's. Whoever hangs up cancels.
func (req *Request) crossing() bool {
	return req.session == nil && req.Method == "notifications/cancelled"
}

// wants is the scope that a caller's token lacks for what was asked, "" if
// that is not what was wrong.
func (req *Request) wants() string {
	if req.Fault == nil || req.Fault.Code != fault.Forbidden {
		return ""
	}
	scope, _ := req.Fault.Details["scope"].(string)
	return scope
}

// narrow reads which toolsets are wanted.
func (req *Request) narrow(q url.Values, known []string) *fault.Error {
	if !q.Has("toolsets") {
		return nil
	}
	req.Toolsets = []string{}
	for name := range strings.SplitSeq(strings.Join(q["toolsets"], ","), ",") {
		if name = strings.TrimSpace(name); name == "" {
			continue
		}
		if !slices.Contains(known, name) {
			return fault.New(fault.Invalid, "there is no toolset %.60q", name).WithFix("There are: %s.", strings.Join(known, ", "))
		}
		req.Toolsets = append(req.Toolsets, name)
	}
	return nil
}

// envelope is what the front reads of a message.
type envelope struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Name string `json:"name"`
		URI  string `json:"uri"`
		Meta struct {
			Version string `json:"io.modelcontextprotocol/protocolVersion"`
		} `json:"_meta"`
	} `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *rpcErrorBody   `json:"error"`
}

// read reads the body within its bound and leaves it to be read again.
func (req *Request) read(r *http.Request) (int, *fault.Error) {
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
	var e envelope
	var syntax *json.SyntaxError
	if err := json.Unmarshal(data, &e); errors.As(err, &syntax) { // parts of other types stay empty, and the library refuses them
		return http.StatusBadRequest, fault.New(fault.Invalid, "the body is not valid JSON").WithFix("Send one JSON-RPC message.")
	}
	if trimmed := bytes.TrimSpace(data); trimmed[0] != '{' {
		return http.StatusBadRequest, fault.New(fault.Invalid, "the body is no JSON object").WithFix("Send one JSON-RPC message; batches are not taken.")
	}
	req.id, req.Method, req.Name, req.URI, req.Modern = e.ID, e.Method, e.Params.Name, e.Params.URI, modern(e.Params.Meta.Version)
	req.reply = reply{e.Result, e.Error}
	return 0, nil
}
