// Package overhttp speaks the two protocols by which GraphQL travels: GraphQL
// over HTTP, and graphql-transport-ws for subscriptions. It knows no schema:
// an Engine runs the documents.
package overhttp

import (
	"context"
	"encoding/json"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// Params is one GraphQL request.
type Params struct {
	Query         string
	OperationName string
	Variables     map[string]any
	Extensions    map[string]any
}

// Kind is what an operation does.
type Kind string

// The kinds of operation.
const (
	Query        Kind = "query"
	Mutation     Kind = "mutation"
	Subscription Kind = "subscription"
)

// Engine checks documents.
type Engine interface {
	// Prepare checks a request and makes it ready to run for a caller, or
	// answers with what is wrong with it.
	Prepare(ctx context.Context, who access.Caller, p Params) (Operation, *Response)
}

// Operation is a request that has been checked and is ready to run once.
type Operation interface {
	Kind() Kind
	// Run runs a query or a mutation.
	Run(ctx context.Context) *Response
	// Subscribe runs a subscription; the channel is closed when it ends, and
	// it ends when ctx does.
	Subscribe(ctx context.Context) <-chan *Response
}

// Response is what is answered to a request. Without Data the request was
// refused as a whole; Data is JSON without white space.
type Response struct {
	Errors     []Error         `json:"errors,omitempty"`
	Data       json.RawMessage `json:"data,omitempty"`
	Extensions map[string]any  `json:"extensions,omitempty"`
}

// Error is one error of a response.
type Error struct {
	Message    string         `json:"message"`
	Locations  []Location     `json:"locations,omitempty"`
	Path       []any          `json:"path,omitempty"`
	Extensions map[string]any `json:"extensions,omitempty"`
}

// Location is a place in the document, from 1.
type Location struct {
	Line   int `json:"line"`
	Column int `json:"column"`
}

// FromFault renders an error as every door does: code and fix, and details
// where there are any.
func FromFault(err error) Error {
	f := fault.From(err)
	ext := map[string]any{"code": f.Code}
	if f.Fix != "" {
		ext["fix"] = f.Fix
	}
	if len(f.Details) > 0 {
		ext["details"] = f.Details
	}
	return Error{Message: f.Message, Extensions: ext}
}

// Refuse is the response to a request that is refused as a whole.
func Refuse(err error) *Response { return &Response{Errors: []Error{FromFault(err)}} }

// encode writes the response as JSON, in three pieces. Data alone goes out as
// it is: encoding it again would cost as much as all else the door adds to an
// answer.
func (r *Response) encode() (head string, data []byte, tail string, err error) {
	if r.Data == nil || len(r.Errors) > 0 || len(r.Extensions) > 0 {
		data, err = json.Marshal(r)
		return "", data, "", err
	}
	return `{"data":`, r.Data, "}", nil
}

// status is the HTTP status of a response without data.
func (r *Response) status() int {
	code, _ := r.Errors[0].Extensions["code"].(fault.Code)
	if code == "" {
		code = fault.Invalid
	}
	return code.HTTPStatus()
}
