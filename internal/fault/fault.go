// Package fault is the one kind of error that leaves Fairlead: a code that
// machines act on, a message that names the step and the offending value, and
// a fix that a person can follow. Every door renders the same fault.
package fault

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// Code says what a caller can do about an error; the set is closed and the
// same in every door.
type Code string

// The codes, with the HTTP status each door uses for them.
const (
	Invalid            Code = "invalid"             // 400: the input is wrong
	Unauthenticated    Code = "unauthenticated"     // 401: no caller, or a credential that does not hold
	Forbidden          Code = "forbidden"           // 403: the caller may not do this
	NotFound           Code = "not_found"           // 404: no such thing, or not for this caller's eyes
	Conflict           Code = "conflict"            // 409: something else holds the name or moved meanwhile
	ApprovalRequired   Code = "approval_required"   // 403: a person must agree first
	QuotaExceeded      Code = "quota_exceeded"      // 429: try again after RetryAfter
	FailedPrecondition Code = "failed_precondition" // 422: the system is not in a state for this
	Unavailable        Code = "unavailable"         // 503: a part is down; trying again may help
	Internal           Code = "internal"            // 500: a defect of Fairlead's
)

// HTTPStatus is the status that HTTP doors answer with.
func (c Code) HTTPStatus() int {
	switch c {
	case Invalid:
		return http.StatusBadRequest
	case Unauthenticated:
		return http.StatusUnauthorized
	case Forbidden, ApprovalRequired:
		return http.StatusForbidden
	case NotFound:
		return http.StatusNotFound
	case Conflict:
		return http.StatusConflict
	case QuotaExceeded:
		return http.StatusTooManyRequests
	case FailedPrecondition:
		return http.StatusUnprocessableEntity
	case Unavailable:
		return http.StatusServiceUnavailable
	default:
		return http.StatusInternalServerError
	}
}

// Error is an error fit for a caller. Err, the cause, is for logs alone: it
// is never part of what a door sends.
type Error struct {
	Code       Code           `json:"code"`
	Message    string         `json:"message"`
	Fix        string         `json:"fix,omitempty"`
	Details    map[string]any `json:"details,omitempty"`
	RetryAfter time.Duration  `json:"-"`
	Err        error          `json:"-"`
}

// New makes an Error with a formatted message.
func New(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Error gives the message and, for logs, the cause.
func (e *Error) Error() string {
	if e.Err != nil {
		return e.Message + ": " + e.Err.Error()
	}
	return e.Message
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// WithFix returns a copy that tells how to put things right.
func (e *Error) WithFix(format string, args ...any) *Error {
	c := *e
	c.Fix = fmt.Sprintf(format, args...)
	return &c
}

// WithDetail returns a copy that carries one more machine-readable detail.
func (e *Error) WithDetail(key string, value any) *Error {
	c := *e
	c.Details = make(map[string]any, len(e.Details)+1)
	for k, v := range e.Details {
		c.Details[k] = v
	}
	c.Details[key] = value
	return &c
}

// Because returns a copy that keeps err as its cause, for logs.
func (e *Error) Because(err error) *Error {
	c := *e
	c.Err = err
	return &c
}

// After returns a copy that says when trying again makes sense.
func (e *Error) After(d time.Duration) *Error {
	c := *e
	c.RetryAfter = d
	return c.WithDetail("retryAfter", d.Round(time.Millisecond).String())
}

// From gives the fault in err's chain. An ended context becomes unavailable;
// any other error becomes internal with a message that says nothing of its
// inside, the original kept as the cause.
func From(err error) *Error {
	var f *Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &f):
		return f
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return New(Unavailable, "the request ended before its answer was ready").WithFix("Try again, or ask for less at once.").Because(err)
	default:
		return internal(err)
	}
}

func internal(err error) *Error {
	return New(Internal, "something went wrong inside Fairlead").WithFix("Try again; if it stays, report the time of the request to the operators.").Because(err)
}

// CodeOf is the code of the fault in err's chain; "" for nil.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	return From(err).Code
}
