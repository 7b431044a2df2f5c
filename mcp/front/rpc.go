package front

import (
	"encoding/json"
	"math"
	"net/http"
	"strconv"

	"github.com/fairlead-dev/fairlead/internal/fault"
)

// The JSON-RPC codes of errors.
const (
	CodeInvalidRequest = -32600
	CodeInvalidParams  = -32602
	CodeInternal       = -32603
	CodeNotFound       = -32002 // of resources, before revision 2026-07-28
	codeCapability     = -32021 // the client cannot do what the answer takes
	codeServer         = -32000 // an error of the server's own, told apart by data.code
)

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

// CodeOf is the JSON-RPC code of a fault.
func (req *Request) CodeOf(f *fault.Error) int {
	if req.Modern && f.Details[Required] != nil {
		return codeCapability
	}
	switch f.Code {
	case fault.Invalid:
		return CodeInvalidParams
	case fault.NotFound:
		if req.Modern {
			return CodeInvalidParams
		}
		return CodeNotFound
	case fault.Internal:
		return CodeInternal
	default:
		return codeServer
	}
}

// Required is the detail of a fault that names the capabilities a client
// lacks, as the protocol writes them.
const Required = "requiredCapabilities"

// rpc writes a fault as a JSON-RPC error.
func (req *Request) rpc(code int, f *fault.Error) []byte {
	data, err := json.Marshal(struct {
		*fault.Error
		URI      string `json:"uri,omitempty"` // revision 2026-07-28 wants it of a missing resource
		Required any    `json:"requiredCapabilities,omitempty"`
	}{f, req.URI, f.Details[Required]})
	if err != nil { // details that are no JSON
		data = nil
	}
	id := req.id
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
func refuse(w http.ResponseWriter, req *Request, status int, f *fault.Error) {
	code := CodeInvalidRequest
	if f.Code == fault.Internal {
		code = CodeInternal
	}
	if f.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(f.RetryAfter.Seconds()))))
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(req.rpc(code, f)) //nolint:gosec // JSON under nosniff is no page; a client that has gone needs no answer
}
