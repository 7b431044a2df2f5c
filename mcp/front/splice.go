package front

import (
	"bytes"
	"encoding/json"
	"strconv"

	"github.com/google/uuid"
)

// Splice keeps a part of an answer, which is JSON already, from the library's
// encoding, that reads and copies it at every level: it gives a text to put in
// its place, as JSON and as itself. Only a Request that is being answered
// takes any; ok tells so.
func (req *Request) Splice(part []byte) (place json.RawMessage, text string, ok bool) {
	if req.answer == nil {
		return nil, "", false
	}
	if req.marker == "" {
		req.marker = uuid.NewString() // nobody can write it into a message
	}
	text = req.marker + strconv.Itoa(len(req.parts))
	req.parts = append(req.parts, part)
	return json.RawMessage(`"` + text + `"`), text, true
}

// spliced puts the parts where they belong.
func (req *Request) spliced(message []byte) []byte {
	if len(req.parts) == 0 {
		return message
	}
	size := len(message)
	for _, p := range req.parts {
		size += len(p)
	}
	out := make([]byte, 0, size)
	mark := []byte(`"` + req.marker)
	for {
		i := bytes.Index(message, mark)
		if i < 0 {
			return append(out, message...)
		}
		out = append(out, message[:i]...)
		message = message[i+len(mark):]
		end := bytes.IndexByte(message, '"')
		if n, err := strconv.Atoi(string(message[:max(end, 0)])); err == nil && n < len(req.parts) {
			out = append(out, req.parts[n]...)
		}
		message = message[end+1:]
	}
}
