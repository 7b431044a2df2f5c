package relay

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/fairlead-dev/fairlead/internal/fault"
)

// FuzzParse holds that no line stops the relay and that what it says of a
// line is fit for headers and for an answer.
func FuzzParse(f *testing.F) {
	for _, s := range []string{`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`,
		`[1]`, `null`, `{"id":{},"method":5,"params":[]}`, `{"id":1.50,"method":"resources/read","params":{"uri":"ä"}}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		m, ok := parse(line)
		if !ok {
			return
		}
		name := headerSafe(m.name())
		for i := range len(name) {
			if name[i] < ' ' || name[i] > '~' {
				t.Fatalf("%q is not fit for a header", name)
			}
		}
		if out := failure(m.ID, codeServer, fault.New(fault.Internal, "x")); !json.Valid(out) {
			t.Fatalf("%s is not JSON", out)
		}
	})
}

// FuzzEvents holds that no stream of events yields more than it holds.
func FuzzEvents(f *testing.F) {
	f.Add([]byte("id: 1\nevent: message\nretry: 5\ndata: {}\n\n"))
	f.Add([]byte(": c\r\ndata:a\r\ndata\r\n\r\ndata: b"))
	f.Fuzz(func(t *testing.T, stream []byte) {
		size := 0
		_, retry, err := events(bytes.NewReader(stream), func(e event) { size += len(e.data) })
		if err != nil || retry < 0 || size > len(stream) {
			t.Fatal(size, retry, err)
		}
	})
}
