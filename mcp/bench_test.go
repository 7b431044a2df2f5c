package mcp

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"syscall"
	"testing"
	"time"

	mcpgo "github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/fairlead-dev/fairlead/access"
)

// called is a connection to a server and the call that it is measured with.
// The client does as little as can be, so that it is the server that counts.
type called struct {
	conn    net.Conn
	in      *bufio.Reader
	request []byte
}

func (c *called) call(tb testing.TB) {
	if _, err := c.conn.Write(c.request); err != nil {
		tb.Fatal(err)
	}
	res, err := http.ReadResponse(c.in, nil)
	if err != nil {
		tb.Fatal(err)
	}
	if n, err := io.Copy(io.Discard, res.Body); err != nil || n < 50 || res.StatusCode != http.StatusOK {
		tb.Fatal(res.StatusCode, n, err)
	}
}

// calling opens a session and gives a call of a tool in it.
func calling(tb testing.TB, h http.Handler, tool, args string) *called {
	srv := httptest.NewServer(h)
	tb.Cleanup(srv.Close)
	session := opened(tb, srv.URL+"/mcp")
	conn, err := (&net.Dialer{}).DialContext(tb.Context(), "tcp", srv.Listener.Addr().String())
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { conn.Close() })
	body := request(2, "tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, tool, args))
	head := fmt.Sprintf("POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"+
		"Mcp-Protocol-Version: 2025-11-25\r\nMcp-Session-Id: %s\r\nContent-Length: %d\r\n\r\n", session, len(body))
	c := &called{conn, bufio.NewReader(conn), []byte(head + body)}
	c.call(tb)
	return c
}

// echo is the least that the library can do.
func echo(tb testing.TB) *called {
	s := server.NewMCPServer("bare", "1")
	s.AddTool(mcpgo.NewTool("echo", mcpgo.WithString("message", mcpgo.Required())), func(_ context.Context, r mcpgo.CallToolRequest) (*mcpgo.CallToolResult, error) {
		return mcpgo.NewToolResultText(r.GetString("message", "")), nil
	})
	return calling(tb, server.NewStreamableHTTPServer(s), "echo", `{"message":"component:default/checkout"}`)
}

// entityOf is a call of the door's own.
func entityOf(tb testing.TB) *called {
	return calling(tb, standing(tb).front, "get_entity", `{"ref":"component:default/checkout"}`)
}

// echoOf is the same echo as an operation behind the door: with arguments
// checked, a record, structured content and a text.
func echoOf(tb testing.TB) *called {
	type message struct {
		Message string `json:"message"`
	}
	d := standing(tb)
	e := tool(d, "echo", "Echo", "Says it again.", access.ReadSelf, func(_ context.Context, _ access.Caller, in message) (*message, error) { return &in, nil },
		func(out *message) string { return out.Message }, traits[message, message]{})
	d.tools = append(d.tools, e)
	d.protocol.AddTool(e.tool, e.handle)
	return calling(tb, d.front, "echo", `{"message":"component:default/checkout"}`)
}

func BenchmarkCall(b *testing.B) {
	c := entityOf(b)
	b.ReportAllocs()
	for b.Loop() {
		c.call(b)
	}
}

func BenchmarkBareEcho(b *testing.B) {
	c := echo(b)
	b.ReportAllocs()
	for b.Loop() {
		c.call(b)
	}
}

// BenchmarkOverBareEcho reports how many times the processor time of the bare
// library's echo calls of the door's take, measured in turns.
func BenchmarkOverBareEcho(b *testing.B) {
	calls := []*called{echo(b), echoOf(b), entityOf(b)}
	took := make([]time.Duration, len(calls))
	for b.Loop() {
		for i, c := range calls {
			before := processorTime()
			for range 100 {
				c.call(b)
			}
			took[i] += processorTime() - before
		}
	}
	b.ReportMetric(float64(took[1])/float64(took[0]), "echo/bare")
	b.ReportMetric(float64(took[2])/float64(took[0]), "get_entity/bare")
}

func processorTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u) // it fails for no process of this kind
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
