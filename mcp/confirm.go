package mcp

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"time"

	mcpgo "github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/mcp/front"
)

// answerWithin is how long a person may take to confirm.
const answerWithin = 10 * time.Minute

// seal marks what clients carry for the server from one request to the next,
// so that it cannot be made up, nor used for another call or by another
// caller. Its key lives as long as the server: after a restart one is asked
// again.
type seal struct{ key []byte }

func newSeal() seal {
	key := make([]byte, sha256.Size)
	_, _ = rand.Read(key) // it never fails
	return seal{key}
}

// close seals what a state is about, until a time.
func (s seal) close(about string, until time.Time) string {
	at := binary.BigEndian.AppendUint64(nil, uint64(until.Unix())) //nolint:gosec // times after 1970
	return base64.RawURLEncoding.EncodeToString(append(at, s.mac(at, about)...))
}

// open refuses a state that is none of ours, is about something else, or too
// old.
func (s seal) open(state, about string) error {
	raw, err := base64.RawURLEncoding.DecodeString(state)
	if err != nil || len(raw) != 8+sha256.Size || !hmac.Equal(raw[8:], s.mac(raw[:8], about)) {
		return fault.New(fault.Invalid, "requestState is not what this server gave for this call").WithFix("Call again without requestState and inputResponses.")
	}
	if time.Now().Unix() > int64(binary.BigEndian.Uint64(raw)) { //nolint:gosec // it was made from such a number
		return fault.New(fault.Invalid, "the answer comes more than %s after the question", answerWithin).WithFix("Call again without requestState and inputResponses.")
	}
	return nil
}

func (s seal) mac(at []byte, about string) []byte {
	m := hmac.New(sha256.New, s.key)
	m.Write(at)
	m.Write([]byte(about))
	return m.Sum(nil)
}

// aboutCall names a call of a caller: another tool, other arguments or another
// caller are about something else.
func aboutCall(req *front.Request, tool string, arguments []byte) string {
	sum := sha256.Sum256(bytes.Join([][]byte{[]byte(front.OwnerOf(req.Who)), []byte(tool), arguments}, []byte{0}))
	return string(sum[:])
}

// asks tells whether the client can put questions to its person: it has said
// so, and there is a way for the answer to come back to this call.
func asks(ctx context.Context) bool {
	req := front.RequestOf(ctx)
	s, ok := server.ClientSessionFromContext(ctx).(server.SessionWithClientInfo)
	return ok && (req.Modern || req.InSession()) && s.GetClientCapabilities().Elicitation != nil
}

// confirmed asks the person at the client before something is removed or
// overwritten. It gives what to answer instead of acting: the question, for
// which the client calls again with the answer, or that the person does not
// want it; nothing, if the act may go on. Before revision 2026-07-28 the
// question is a request of its own.
//
// A client that cannot ask is not kept from acting: policy and approval are
// what protects, the hints tell the client to ask, and this asks in words.
func (d *door) confirmed(ctx context.Context, r mcpgo.CallToolRequest, question string) (*mcpgo.CallToolResult, error) {
	if !asks(ctx) {
		return nil, nil
	}
	req := front.RequestOf(ctx)
	form := mcpgo.ElicitationParams{Message: question, RequestedSchema: map[string]any{
		"type": "object", "required": []string{"confirm"},
		"properties": map[string]any{"confirm": map[string]any{"type": "boolean", "title": "Do it"}},
	}}
	if !req.Modern {
		return confirmedNow(ctx, req, form)
	}
	about := aboutCall(req, r.Params.Name, r.Params.RawArguments)
	if r.Params.RequestState != "" {
		if err := d.seal.open(r.Params.RequestState, about); err != nil {
			return nil, req.Noted(err)
		}
		if a := server.ElicitationResponse(r.Params.InputResponses, "confirm"); a != nil && a.Action != "" {
			return agreed(a.ElicitationResponse), nil
		}
	}
	return server.NewInputRequestBuilder(d.seal.close(about, time.Now().Add(answerWithin))).Elicit("confirm", form).ToolResult(), nil
}

// confirmedNow asks on the stream of the call.
func confirmedNow(ctx context.Context, req *front.Request, form mcpgo.ElicitationParams) (*mcpgo.CallToolResult, error) {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	raw, err := req.Ask(ctx, string(mcpgo.MethodElicitationCreate), form)
	if err != nil {
		return failed(err), nil
	}
	var a mcpgo.ElicitationResponse
	if err := json.Unmarshal(raw, &a); err != nil {
		return failed(fault.New(fault.Invalid, "the client's answer is of no form that the protocol gives it")), nil
	}
	return agreed(a), nil
}

// agreed is nothing if the person agreed, else what tells the model so.
func agreed(a mcpgo.ElicitationResponse) *mcpgo.CallToolResult {
	if content, ok := a.Content.(map[string]any); ok && a.Action == mcpgo.ElicitationResponseActionAccept && content["confirm"] == true {
		return nil
	}
	return failed(fault.New(fault.FailedPrecondition, "the person who was asked did not confirm it").WithFix("Do not try again unless they ask for it."))
}
