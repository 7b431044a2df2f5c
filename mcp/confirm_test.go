package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/access"
)

// dropInput and dropped are those of an operation that removes something.
type dropInput struct {
	Name string `json:"name" jsonschema:"what to remove"`
}

type dropped struct {
	Name string `json:"name"`
}

// dropping is the door with a tool that asks before it removes.
func dropping(t *testing.T) (url string, names *[]string) {
	t.Helper()
	d, names := standing(t), &[]string{}
	e := tool(d, "drop", "Drop", "Removes something.", access.Action("test.drop"), func(_ context.Context, _ access.Caller, in dropInput) (*dropped, error) {
		*names = append(*names, in.Name)
		return &dropped{in.Name}, nil
	}, func(out *dropped) string { return "dropped " + out.Name }, traits[dropInput, dropped]{confirm: func(in *dropInput) string { return "Drop " + in.Name + "?" }})
	d.tools = append(d.tools, e)
	d.protocol.AddTool(e.tool, e.handle)
	srv := httptest.NewServer(d.front)
	t.Cleanup(srv.Close)
	return srv.URL + "/mcp", names
}

// modernDrop calls the tool in revision 2026-07-28.
func modernDrop(t *testing.T, url, capabilities, more string, header ...string) (result struct {
	ResultType    string
	RequestState  string
	IsError       bool
	InputRequests map[string]struct{ Params struct{ Message string } }
}, raw string) {
	t.Helper()
	_, raw, _ = say(t, url, request(1, "tools/call", `{"name":"drop",`+more+`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},
		"io.modelcontextprotocol/clientCapabilities":`+capabilities+`}}`), append(header, "Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "drop")...)
	if err := json.Unmarshal([]byte(raw), &struct{ Result any }{&result}); err != nil {
		t.Fatal(err)
	}
	return result, raw
}

func TestConfirmationWithoutSession(t *testing.T) {
	url, names := dropping(t)
	const able, db, yes = `{"elicitation":{}}`, `"arguments":{"name":"db"},`, `"inputResponses":{"confirm":{"action":"accept","content":{"confirm":true}}},`
	asked, raw := modernDrop(t, url, able, db)
	if asked.ResultType != "input_required" || asked.InputRequests["confirm"].Params.Message != "Drop db?" || asked.RequestState == "" {
		t.Fatal(raw)
	}
	state := `"requestState":"` + asked.RequestState + `",`
	for name, more := range map[string]string{
		"another argument": `"arguments":{"name":"all"},` + state + yes, "a state made up": db + `"requestState":"x",` + yes,
		"a state changed": db + `"requestState":"A` + asked.RequestState + `",` + yes,
	} {
		if _, raw := modernDrop(t, url, able, more); !strings.Contains(raw, "-32602") {
			t.Errorf("%s: %s", name, raw)
		}
	}
	if _, raw := modernDrop(t, url, able, db+state+yes, "Authorization", "Bearer another"); !strings.Contains(raw, "-32602") {
		t.Errorf("another caller's state: %s", raw)
	}
	for name, more := range map[string]string{"no state": db + yes, "no answer": db + state, "another question": db + state + `"inputResponses":{"x":{"action":"accept"}},`} {
		if r, raw := modernDrop(t, url, able, more); r.ResultType != "input_required" {
			t.Errorf("%s: %s", name, raw)
		}
	}
	for _, no := range []string{`{"action":"decline"}`, `{"action":"cancel"}`, `{"action":"accept","content":{"confirm":false}}`, `{"action":"accept"}`} {
		if r, raw := modernDrop(t, url, able, db+state+`"inputResponses":{"confirm":`+no+`},`); !r.IsError {
			t.Errorf("%s: %s", no, raw)
		}
	}
	if len(*names) != 0 {
		t.Fatalf("dropped without a yes: %q", *names)
	}
	if _, raw := modernDrop(t, url, able, db+state+yes); !strings.Contains(raw, "dropped db") {
		t.Error(raw)
	}
	if _, raw := modernDrop(t, url, `{}`, db); !strings.Contains(raw, "dropped db") {
		t.Errorf("a client that cannot ask: %s", raw)
	}
}

func TestSealsGrowOld(t *testing.T) {
	s := newSeal()
	if err := s.open(s.close("x", time.Now().Add(-2*time.Second)), "x"); err == nil || !strings.Contains(err.Error(), "after the question") {
		t.Error(err)
	}
	if newSeal().open(s.close("x", time.Now().Add(time.Hour)), "x") == nil {
		t.Error("a seal of another key is taken")
	}
}

// TestConfirmationInASession asks on the stream of the call, and takes the
// answer from the session alone.
func TestConfirmationInASession(t *testing.T) {
	url, names := dropping(t)
	_, _, h := say(t, url, request(1, "initialize", `{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}},"clientInfo":{"name":"t","version":"1"}}`))
	session := h.Get("Mcp-Session-Id")
	for answer, want := range map[string]string{
		`"result":{"action":"accept","content":{"confirm":true}}`: "dropped db", `"result":{"action":"decline"}`: "did not confirm",
		`"error":{"code":-1,"message":"no screen"}`: "no screen", `"result":5`: "no form that the protocol",
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(request(2, "tools/call", `{"name":"drop","arguments":{"name":"db"}}`)))
		if err != nil {
			t.Fatal(err)
		}
		req.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}, "Mcp-Session-Id": {session}}
		res, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		events := bufio.NewScanner(res.Body)
		var question struct {
			ID, Method string
			Params     struct{ Message string }
		}
		next(t, events, &question)
		if question.Method != "elicitation/create" || question.Params.Message != "Drop db?" {
			t.Fatalf("%+v", question)
		}
		reply := `{"jsonrpc":"2.0","id":"` + question.ID + `",` + answer + `}`
		thief := opened(t, url)
		if status, _, _ := say(t, url, reply, "Mcp-Session-Id", thief); status == http.StatusAccepted {
			t.Error("an answer from another session is taken")
		}
		if status, raw, _ := say(t, url, reply, "Mcp-Session-Id", session); status != http.StatusAccepted {
			t.Errorf("%d %s", status, raw)
		}
		var result json.RawMessage
		next(t, events, &result)
		if !strings.Contains(string(result), want) {
			t.Errorf("%s: %s", answer, result)
		}
		res.Body.Close()
	}
	if len(*names) != 1 {
		t.Errorf("%q", *names)
	}
}

// next reads the next event.
func next(t *testing.T, events *bufio.Scanner, into any) {
	t.Helper()
	for events.Scan() {
		if data, ok := strings.CutPrefix(events.Text(), "data: "); ok {
			if err := json.Unmarshal([]byte(data), into); err != nil {
				t.Fatal(err)
			}
			return
		}
	}
	t.Fatal("the stream ended")
}
