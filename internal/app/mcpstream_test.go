package app

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/cmd/fairlead/client"
	"github.com/fairlead-dev/fairlead/cmd/fairlead/relay"
)

// piped is an MCP client at the end of standard input and output.
type piped struct {
	t   *testing.T
	in  *io.PipeWriter
	out *bufio.Reader
}

func (s *server) pipe(role string) *piped {
	s.t.Helper()
	in, inW := io.Pipe()
	outR, out := io.Pipe()
	ctx, cancel := context.WithCancel(s.t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer out.Close()
		_ = relay.Run(ctx, relay.Config{Server: client.New(client.Settings{Server: s.url, Token: s.tokens[role]}, "test"), Path: "/mcp",
			In: in, Out: out, Log: slog.New(slog.DiscardHandler)}) // how it ends is the test's doing
	}()
	s.t.Cleanup(func() { cancel(); inW.Close(); outR.Close(); <-done })
	return &piped{s.t, inW, bufio.NewReader(outR)}
}

func (p *piped) send(line string) {
	p.t.Helper()
	if _, err := io.WriteString(p.in, line+"\n"); err != nil {
		p.t.Fatal(err)
	}
}

// expect reads on until a line holds all parts.
func (p *piped) expect(parts ...string) {
	p.t.Helper()
	for {
		line, err := p.out.ReadString('\n')
		if err != nil {
			p.t.Fatalf("there is no %q: %v", parts, err)
		}
		missing := false
		for _, part := range parts {
			missing = missing || !strings.Contains(line, part)
		}
		if !missing {
			return
		}
	}
}

// TestAgentsAreToldOfCommits: who has subscribed over standard input and output
// hears of a commit, in both kinds of revisions, and reports come before the
// answer that they are of.
func TestAgentsAreToldOfCommits(t *testing.T) {
	s := startDemo(t)
	old, modern := s.pipe("developer"), s.pipe("agent")
	old.send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
	old.expect(`"id":1`, `"subscribe":true`)
	old.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	old.send(`{"jsonrpc":"2.0","id":2,"method":"resources/subscribe","params":{"uri":"catalog://component/default/checkout"}}`)
	old.expect(`"id":2`, `"result"`)
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`
	modern.send(`{"jsonrpc":"2.0","id":"sub","method":"subscriptions/listen","params":{"notifications":{"resourceSubscriptions":["brief://default/checkout"]},` + meta + `}}`)
	modern.expect("notifications/subscriptions/acknowledged", "brief://default/checkout")

	file := s.repo("checkout", "catalog-info.yaml")
	s.commit("checkout", "catalog-info.yaml", strings.Replace(readFile(t, file), "title: Checkout", "title: Checkout, renewed", 1))
	sre := s.pipe("sre")
	sre.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"refresh_entity","arguments":{"source":"checkout"},` + strings.Replace(meta, "{", `{"progressToken":"p",`, 1) + `}}`)
	sre.expect("notifications/progress", `"progressToken":"p"`, "reading checkout")
	sre.expect(`"id":1`, "read checkout")
	old.expect("notifications/resources/updated", "catalog://component/default/checkout")
	modern.expect("notifications/resources/updated", "brief://default/checkout", `"io.modelcontextprotocol/subscriptionId":"sub"`)
}

// TestStreamsEndWithTheServer: a stream that nobody ends keeps the server from
// ending no longer than it allows.
func TestStreamsEndWithTheServer(t *testing.T) {
	s := startDemo(t)
	p := s.pipe("agent")
	p.send(`{"jsonrpc":"2.0","id":"sub","method":"subscriptions/listen","params":{"notifications":{"resourcesListChanged":true},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`)
	p.expect("notifications/subscriptions/acknowledged")
	if a := s.send("agent", http.MethodGet, "/healthz", ""); a.status != http.StatusOK {
		t.Error(a.status)
	}
	if err := s.stop(); err != nil {
		t.Error(err)
	}
}
