package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	mcpgo "github.com/mark3labs/mcp-go/mcp"

	"github.com/fairlead-dev/fairlead/internal/fault"
)

// rewriter holds back a JSON answer until it is whole, so that errors in it
// can be put as a fault would be: the library tells clients the text of
// internal errors and has one code for all of them. Streams pass through.
type rewriter struct {
	http.ResponseWriter
	door    *door
	request *request
	status  int
	body    bytes.Buffer
	passing bool
}

// WriteHeader decides whether the answer is held back.
func (w *rewriter) WriteHeader(status int) {
	if w.status != 0 {
		return
	}
	w.status = status
	if !strings.HasPrefix(w.Header().Get("Content-Type"), "application/json") {
		w.passing = true
		w.ResponseWriter.WriteHeader(status)
	}
}

// Write keeps or passes on a part of the answer.
func (w *rewriter) Write(p []byte) (int, error) {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	if w.passing {
		return w.ResponseWriter.Write(p)
	}
	return w.body.Write(p)
}

// Flush passes on what a stream has so far.
func (w *rewriter) Flush() {
	if f, ok := w.ResponseWriter.(http.Flusher); ok && w.passing {
		f.Flush()
	}
}

// Unwrap lets http.ResponseController reach the connection.
func (w *rewriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// finish sends an answer that was held back.
func (w *rewriter) finish() {
	if w.passing || w.status == 0 {
		return
	}
	body := w.body.Bytes()
	var response struct {
		Error *rpcErrorBody `json:"error"`
	}
	if w.request.maybeError(body) && json.Unmarshal(body, &response) == nil && response.Error != nil {
		if code, f := w.request.explain(w.door, response.Error); f != nil {
			if w.request.modern && w.status == http.StatusOK && code == mcpgo.INVALID_PARAMS {
				w.status = http.StatusBadRequest
			}
			body = w.request.rpc(code, f)
		}
	}
	w.ResponseWriter.WriteHeader(w.status)
	_, _ = w.ResponseWriter.Write(body) // a client that has gone needs no answer
}

// maybeError spares most results the parsing: an error stands where the result
// would, after the id.
func (req *request) maybeError(body []byte) bool {
	head := body[:min(len(body), 200+6*len(req.envelope.ID))]
	return bytes.Contains(head, []byte(`"error":`))
}

// explain puts an error of the library's as a fault, nil where the library says
// it well.
func (req *request) explain(d *door, e *rpcErrorBody) (int, *fault.Error) {
	method := req.envelope.Method
	switch {
	case req.fault != nil:
		return req.codeOf(req.fault), req.fault
	case e.Code == mcpgo.INTERNAL_ERROR:
		return e.Code, fault.From(errors.New(e.Message))
	case method == string(mcpgo.MethodToolsCall) && e.Code == mcpgo.INVALID_PARAMS:
		return e.Code, fault.New(fault.NotFound, "there is no tool %.60q", req.envelope.Params.Name).WithFix("There are: %s.", strings.Join(d.names(req), ", "))
	case method == string(mcpgo.MethodPromptsGet) && e.Code == mcpgo.INVALID_PARAMS:
		return e.Code, fault.New(fault.NotFound, "there is no prompt %.60q", req.envelope.Params.Name).WithFix("There are: start_work, investigate_incident.")
	case method == string(mcpgo.MethodResourcesRead) && (e.Code == mcpgo.RESOURCE_NOT_FOUND || e.Code == mcpgo.INVALID_PARAMS):
		return e.Code, fault.New(fault.NotFound, "there is no resource %.120q", req.envelope.Params.URI).WithFix("There are: %s, %s.", entityTemplate, briefTemplate)
	case strings.HasSuffix(method, "/list") && e.Code == mcpgo.INVALID_PARAMS:
		return e.Code, fault.New(fault.Invalid, "the cursor of %.60q is none that this server gave", method).WithFix("Leave it out: the list is given whole.")
	case strings.Contains(e.Message, "json: ") || strings.Contains(e.Message, "unmarshal"):
		return e.Code, fault.New(fault.Invalid, "the params of %.60q are not of the types that the protocol gives them", method)
	default:
		return e.Code, nil
	}
}

// names are the tools that a caller may call.
func (d *door) names(req *request) []string {
	var out []string
	for _, t := range d.tools {
		if req.offers(t) {
			out = append(out, t.tool.Name)
		}
	}
	return out
}
