package rest

import (
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"strconv"
	"strings"

	"github.com/fairlead-dev/fairlead/internal/fault"
)

// httpFault is a fault with a status, or headers, of its own.
type httpFault struct {
	fault  *fault.Error
	status int
	header http.Header
}

func (f *httpFault) Error() string { return f.fault.Error() }

func (f *httpFault) Unwrap() error { return f.fault }

// errorShape writes a fault as the clients of a part of the API expect it.
type errorShape func(r *http.Request, status int, f *fault.Error) any

// nativeErrors is the shape of Fairlead's own API.
func nativeErrors(_ *http.Request, _ int, f *fault.Error) any {
	return struct {
		Error *fault.Error `json:"error"`
	}{f}
}

// backstageError is an error as Backstage's backends write it, with the code
// and the fix beside it.
type backstageError struct {
	Error struct {
		Name    string         `json:"name"`
		Message string         `json:"message"`
		Code    fault.Code     `json:"code"`
		Fix     string         `json:"fix,omitempty"`
		Details map[string]any `json:"details,omitempty"`
	} `json:"error"`
	Request struct {
		Method string `json:"method"`
		URL    string `json:"url"`
	} `json:"request"`
	Response struct {
		StatusCode int `json:"statusCode"`
	} `json:"response"`
}

// backstageErrors is the shape of Backstage's APIs.
func backstageErrors(r *http.Request, status int, f *fault.Error) any {
	var e backstageError
	e.Error.Name, e.Error.Message, e.Error.Code, e.Error.Fix, e.Error.Details = backstageName(f.Code, status), f.Message, f.Code, f.Fix, f.Details
	e.Request.Method, e.Request.URL = r.Method, strings.TrimPrefix(r.URL.RequestURI(), backstageBase)
	e.Response.StatusCode = status
	return e
}

// backstageName is the name that Backstage's clients know a fault by.
func backstageName(code fault.Code, status int) string {
	if status == http.StatusNotImplemented {
		return "NotImplementedError"
	}
	switch code {
	case fault.Invalid:
		return "InputError"
	case fault.Unauthenticated:
		return "AuthenticationError"
	case fault.Forbidden, fault.ApprovalRequired:
		return "NotAllowedError"
	case fault.NotFound:
		return "NotFoundError"
	case fault.Conflict:
		return "ConflictError"
	case fault.Unavailable:
		return "ServiceUnavailableError"
	default:
		return "Error"
	}
}

// refuse answers with a fault.
func (d *door) refuse(w http.ResponseWriter, r *http.Request, shape errorShape, err error) {
	f := fault.From(err)
	status := f.Code.HTTPStatus()
	var special *httpFault
	if errors.As(err, &special) {
		if special.status != 0 {
			status = special.status
		}
		for k, v := range special.header {
			w.Header()[k] = v
		}
	}
	if status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", d.Challenge)
	}
	if f.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(f.RetryAfter.Seconds()))))
	}
	body, err := json.Marshal(shape(r, status, f))
	if err != nil { // details that are no JSON
		plain := *f
		plain.Details = nil
		body, _ = json.Marshal(shape(r, status, &plain)) // strings alone always are
	}
	write(w, status, body)
}

// write sends an error.
func write(w http.ResponseWriter, status int, body []byte) {
	s := &sink{w: w, status: status, b: body}
	s.finish()
}
