package relay

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strings"

	"github.com/fairlead-dev/fairlead/internal/fault"
)

// stateless is the first revision without sessions.
const stateless = "2026-07-28"

// message is what the transport needs to know of a JSON-RPC message.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Name      json.RawMessage            `json:"name"`
		URI       json.RawMessage            `json:"uri"`
		RequestID json.RawMessage            `json:"requestId"`
		Meta      map[string]json.RawMessage `json:"_meta"`
	} `json:"params"`
	Result *struct {
		ProtocolVersion json.RawMessage `json:"protocolVersion"`
	} `json:"result"`

	line []byte
}

// parse reads a line. Members of unexpected types leave the message as it is:
// judging it is the server's part.
func parse(line []byte) (message, bool) {
	m := message{line: line}
	if !json.Valid(line) {
		return m, false
	}
	var envelope struct {
		ID     json.RawMessage `json:"id"`
		Method json.RawMessage `json:"method"`
		Params json.RawMessage `json:"params"`
		Result json.RawMessage `json:"result"`
	}
	_ = json.Unmarshal(line, &envelope) // an array, or anything else, names nothing
	m.ID, m.Method = envelope.ID, text(envelope.Method)
	_ = json.Unmarshal(envelope.Params, &m.Params)
	_ = json.Unmarshal(envelope.Result, &m.Result)
	return m, true
}

func text(raw json.RawMessage) string {
	var s string
	_ = json.Unmarshal(raw, &s) // anything but a string counts as none
	return s
}

// key is the id of a message in a form that can be compared, "" for none.
func key(id json.RawMessage) string {
	var b bytes.Buffer
	if len(id) == 0 || string(id) == "null" || json.Compact(&b, id) != nil {
		return ""
	}
	return b.String()
}

// asks tells whether the message wants an answer.
func (m *message) asks() bool { return m.Method != "" && key(m.ID) != "" }

// version is the revision that a message of the stateless one carries.
func (m *message) version() string {
	return text(m.Params.Meta["io.modelcontextprotocol/protocolVersion"])
}

// modern tells whether the message is of a revision without sessions.
func (m *message) modern() bool { return m.version() >= stateless }

// name is what the header Mcp-Name says: the tool, prompt or resource.
func (m *message) name() string {
	switch m.Method {
	case "tools/call", "prompts/get":
		return text(m.Params.Name)
	case "resources/read":
		return text(m.Params.URI)
	default:
		return ""
	}
}

// headerSafe writes a value as the protocol has it in headers: as it is where
// it is plain, else encoded and marked so.
func headerSafe(s string) string {
	const mark, end = "=?base64?", "?="
	marked := strings.HasPrefix(s, mark) && strings.HasSuffix(s, end)
	plain := !marked && s == strings.Trim(s, " \t")
	for i := 0; plain && i < len(s); i++ {
		plain = s[i] >= ' ' && s[i] <= '~'
	}
	if plain {
		return s
	}
	return mark + base64.StdEncoding.EncodeToString([]byte(s)) + end
}

// The JSON-RPC codes of what goes wrong on the way.
const (
	codeParse   = -32700
	codeInvalid = -32600
	codeServer  = -32000
)

// failure is the answer to a message that got none from the server.
func failure(id json.RawMessage, code int, f *fault.Error) []byte {
	if key(id) == "" {
		id = json.RawMessage("null")
	}
	out, err := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": id,
		"error": map[string]any{"code": code, "message": sentence(f), "data": f},
	})
	if err != nil { // details that are no JSON
		return []byte(`{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"internal error"}}`)
	}
	return out
}

// sentence is a fault with its fix in one text: many clients show no data.
func sentence(f *fault.Error) string {
	if f.Fix == "" {
		return f.Message
	}
	return strings.TrimSuffix(f.Message, ".") + ". " + f.Fix
}
