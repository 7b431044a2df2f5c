package relay_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/fairlead-dev/fairlead/cmd/fairlead/client"
	"github.com/fairlead-dev/fairlead/cmd/fairlead/relay"
)

// pipe is a relay with a client at one end and a server at the other.
type pipe struct {
	*server
	t    *testing.T
	in   *io.PipeWriter
	out  *bufio.Reader
	done chan error
	log  *lockedBuffer
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

func start(t *testing.T, token string) *pipe {
	t.Helper()
	return startWith(t, token, 0)
}

func startWith(t *testing.T, token string, timeout time.Duration) *pipe {
	t.Helper()
	s := newServer(t)
	srv := httptest.NewServer(s)
	p := &pipe{server: s, t: t, done: make(chan error, 1), log: &lockedBuffer{}}
	in, inW := io.Pipe()
	outR, out := io.Pipe()
	p.in, p.out = inW, bufio.NewReader(outR)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		p.done <- relay.Run(ctx, relay.Config{Server: client.New(client.Settings{Server: srv.URL, Token: token}, "test"), Path: "/mcp", In: in, Out: out, Timeout: timeout,
			Log: slog.New(slog.NewTextHandler(p.log, nil))})
		out.Close()
		in.Close()
	}()
	t.Cleanup(func() {
		cancel()
		inW.Close()
		outR.Close()
		srv.CloseClientConnections()
		srv.Close()
	})
	return p
}

func (p *pipe) send(line string) {
	p.t.Helper()
	if _, err := io.WriteString(p.in, line+"\n"); err != nil {
		p.t.Fatal(err)
	}
}

func (p *pipe) line() string {
	p.t.Helper()
	line, err := p.out.ReadString('\n')
	if err != nil {
		p.t.Fatalf("%v; log: %s", err, p.log)
	}
	if !json.Valid([]byte(line)) {
		p.t.Fatalf("not JSON: %s", line)
	}
	return strings.TrimSuffix(line, "\n")
}

func (p *pipe) expect(want string) {
	p.t.Helper()
	if got := p.line(); got != want {
		p.t.Fatalf("got  %s\nwant %s", got, want)
	}
}

func (p *pipe) expectPart(want string) {
	p.t.Helper()
	if got := p.line(); !strings.Contains(got, want) {
		p.t.Fatalf("got %s, want something with %s", got, want)
	}
}

// end closes the input and waits for the relay to end, and for its output.
func (p *pipe) end() (rest string) {
	p.t.Helper()
	p.in.Close()
	out, err := io.ReadAll(p.out)
	if err != nil {
		p.t.Fatal(err)
	}
	if err := <-p.done; err != nil {
		p.t.Fatal(err)
	}
	return string(out)
}

// greet opens a session.
func (p *pipe) greet() {
	p.t.Helper()
	p.send(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}`)
	p.expect(`{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{}}}`)
	p.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	if id := <-p.listening; !strings.HasPrefix(id, "session-") {
		p.t.Fatal(id)
	}
}

func tool(id, name string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"` + name + `"}}`
}

func modern(id, method, name string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"` + method + `","params":{"name":"` + name + `","uri":"` + name + `","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestSession(t *testing.T) {
	p := start(t, "tok")
	p.greet()
	p.send(`{"jsonrpc":"2.0","id":"a","method":"tools/list"}`)
	p.expect(`{"jsonrpc":"2.0","id":"a","result":{"method":"tools/list"}}`)
	if h := p.lastPost(); h.Get("Mcp-Session-Id") != "session-1" || h.Get("Mcp-Protocol-Version") != "2025-11-25" || h.Get("Mcp-Method") != "" {
		t.Errorf("headers %v", h)
	}
	p.send(tool("2", "events"))
	p.expect(`{"jsonrpc":"2.0","method":"notifications/progress"}`)
	p.expect(`{"jsonrpc":"2.0","id":2,"result":{}}`)
	p.say("{\"jsonrpc\":\"2.0\",\n\"method\":\"notifications/tools/list_changed\"}")
	p.expect(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
	p.send(`{"jsonrpc":"2.0","id":7,"result":{"answer":"to the server"}}`)
	if rest := p.end(); rest != "" {
		t.Errorf("more came: %s", rest)
	}
	if id := <-p.deleted; id != "session-1" {
		t.Errorf("closed %q", id)
	}
	if got, want := p.methods(), "initialize notifications/initialized tools/list tools/call "; got != want {
		t.Errorf("the server was told %q, want %q", got, want)
	}
}

func TestStateless(t *testing.T) {
	p := start(t, "tok")
	p.send(modern("1", "tools/call", "get_entity"))
	p.expect(`{"jsonrpc":"2.0","id":1,"result":{"method":"tools/call"}}`)
	if h := p.lastPost(); h.Get("Mcp-Name") != "get_entity" {
		t.Errorf("headers %v", h)
	}
	p.send(modern("2", "resources/read", "doc://käse"))
	p.expect(`{"jsonrpc":"2.0","id":2,"result":{"method":"resources/read"}}`)
	if h := p.lastPost(); h.Get("Mcp-Name") != "=?base64?ZG9jOi8va8Okc2U=?=" {
		t.Errorf("headers %v", h)
	}
	p.send(modern("3", "tools/call", "unknown"))
	p.expect(`{"jsonrpc":"2.0","id":3,"error":{"code":-32602,"message":"no such tool"}}`)
	p.send(modern("4", "subscriptions/listen", ""))
	p.expect(`{"jsonrpc":"2.0","method":"notifications/progress"}`)
	if rest := p.end(); rest != "" {
		t.Errorf("more came: %s", rest)
	}
	if got := <-p.cancelled; got != "subscriptions/listen" {
		t.Error(got)
	}
}

func TestCancelling(t *testing.T) {
	p := start(t, "tok")
	p.send(modern("1", "tools/call", "hang"))
	p.expect(`{"jsonrpc":"2.0","method":"notifications/progress"}`)
	p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`)
	<-p.cancelled
	if strings.Contains(p.methods(), "cancelled") {
		t.Error("a server without sessions was told of a cancellation")
	}
	p.greet()
	p.send(tool(`"x"`, "hang"))
	p.expect(`{"jsonrpc":"2.0","method":"notifications/progress"}`)
	p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"x"}}`)
	<-p.cancelled
	if !strings.Contains(p.methods(), "notifications/cancelled") {
		t.Error("a server with sessions was not told of a cancellation")
	}
	if rest := p.end(); rest != "" {
		t.Errorf("a cancelled request was answered: %s", rest)
	}
}

func TestForgottenSession(t *testing.T) {
	p := start(t, "tok")
	p.greet()
	p.forget()
	p.send(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	p.expect(`{"jsonrpc":"2.0","id":1,"result":{"method":"tools/list"}}`)
	if h := p.lastPost(); h.Get("Mcp-Session-Id") != "session-2" {
		t.Errorf("headers %v", h)
	}
	if id := <-p.listening; id != "session-2" {
		t.Error(id)
	}
	p.end()
}

func TestTrouble(t *testing.T) {
	p := start(t, "tok")
	p.send(`{`)
	p.expectPart(`"code":-32700`)
	p.send("")
	p.send(`{"jsonrpc":"2.0","id":1,"method":"` + strings.Repeat("x", 17<<20) + `"}`)
	p.expectPart(`more than 16 MiB`)
	p.greet()
	p.send(tool("1", "cut"))
	p.expect(`{"jsonrpc":"2.0","method":"notifications/progress"}`)
	p.expectPart(`broke off`)
	p.send(tool("2", "proxy"))
	p.expectPart(`status 502`)
	p.end()
}

func TestUnknownCaller(t *testing.T) {
	p := start(t, "other")
	p.send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`)
	line := p.line()
	for _, want := range []string{`"id":1`, `"code":"unauthenticated"`, "fairlead login"} {
		if !strings.Contains(line, want) {
			t.Errorf("%s lacks %s", line, want)
		}
	}
	p.end()
}

func TestAnswersAreAwaitedAtTheEnd(t *testing.T) {
	p := start(t, "tok")
	p.greet()
	p.send(tool("1", "slow"))
	<-p.hanging
	p.in.Close()
	close(p.release)
	p.expect(`{"jsonrpc":"2.0","id":1,"result":{"tool":"slow"}}`)
	p.end()
}

// TestAllAtOnce sends everything before any answer, as scripts do.
func TestAllAtOnce(t *testing.T) {
	s := newServer(t)
	srv := httptest.NewServer(s)
	defer srv.Close()
	defer srv.CloseClientConnections()
	in := strings.NewReader(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}` + "\n" + `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	var out bytes.Buffer
	err := relay.Run(t.Context(), relay.Config{Server: client.New(client.Settings{Server: srv.URL, Token: "tok"}, "test"), Path: "/mcp", In: in, Out: &out})
	if err != nil || !strings.HasSuffix(out.String(), `{"jsonrpc":"2.0","id":1,"result":{"method":"tools/list"}}`+"\n") {
		t.Fatalf("%v: %s", err, out.String())
	}
}

func TestInterrupted(t *testing.T) {
	s := newServer(t)
	srv := httptest.NewServer(s)
	defer srv.Close()
	why := errors.New("why")
	ctx, cancel := context.WithCancelCause(t.Context())
	in, inW := io.Pipe()
	defer inW.Close()
	done := make(chan error)
	go func() {
		done <- relay.Run(ctx, relay.Config{Server: client.New(client.Settings{Server: srv.URL, Token: "tok"}, "test"), Path: "/mcp", In: in, Out: io.Discard})
	}()
	if _, err := io.WriteString(inW, modern("1", "tools/call", "hang")+"\n"); err != nil {
		t.Fatal(err)
	}
	<-s.hanging
	cancel(why)
	if err := <-done; !errors.Is(err, why) {
		t.Fatal(err)
	}
	<-s.cancelled
}

// TestMuteServer: who says nothing is not waited for, however the silence
// begins; a subscription may be silent.
func TestMuteServer(t *testing.T) {
	p := startWith(t, "tok", 50*time.Millisecond)
	p.send(modern("9", "subscriptions/listen", ""))
	p.expect(`{"jsonrpc":"2.0","method":"notifications/progress"}`)
	for _, name := range []string{"mute", "half"} {
		p.send(modern("1", "tools/call", name))
		p.expectPart("the server has said nothing for 50ms. Try again, or allow more with --timeout.")
	}
	if rest := p.end(); rest != "" {
		t.Errorf("more came: %s", rest)
	}
}

// TestQuestions: a server may ask the client while it works on a call.
func TestQuestions(t *testing.T) {
	p := start(t, "tok")
	p.greet()
	p.send(tool("1", "asks"))
	p.expect(`{"jsonrpc":"2.0","id":"q","method":"elicitation/create"}`)
	p.send(`{"jsonrpc":"2.0","id":"q","result":{"action":"accept"}}`)
	p.expect(`{"jsonrpc":"2.0","id":1,"result":{"action":"accept"}}`)
	p.end()
}
