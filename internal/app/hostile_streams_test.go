package app

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
)

func TestHalfOpenStreams(t *testing.T) {
	b := besiege(t)
	before := runtime.NumGoroutine()
	for range 200 {
		conn := b.dial()
		if _, err := io.WriteString(conn, b.request("GET /graphql", "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Protocol: graphql-transport-ws")); err != nil {
			t.Fatal(err)
		}
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusSwitchingProtocols && resp.StatusCode != http.StatusServiceUnavailable && resp.StatusCode != http.StatusTooManyRequests {
			t.Fatalf("status %s", resp.Status)
		}
		conn.Close()
	}
	b.await("nothing is left of the streams", func() bool { return runtime.NumGoroutine() < before+50 })
}

// TestManySessions opens sessions and never uses them: whoever has too many
// loses an older one, or is refused.
func TestManySessions(t *testing.T) {
	b := besiege(t)
	const body = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`
	var wg sync.WaitGroup
	var opened atomic.Int64
	for range 4 {
		wg.Go(func() {
			for range 2500 {
				switch a := b.send("user", http.MethodPost, "/mcp", body, "Accept", "application/json, text/event-stream"); a.status {
				case http.StatusOK:
					opened.Add(1)
				case http.StatusTooManyRequests, http.StatusServiceUnavailable:
				default:
					t.Errorf("%d %s", a.status, a.body)
					return
				}
			}
		})
	}
	wg.Wait()
	if opened.Load() == 0 {
		t.Error("no session was opened")
	}
}

// TestStreamsThatNobodyReads opens streams of the protocol and leaves them.
func TestStreamsThatNobodyReads(t *testing.T) {
	b := besiege(t)
	before := runtime.NumGoroutine()
	const body = `{"jsonrpc":"2.0","id":"sub","method":"subscriptions/listen","params":{"notifications":{"resourcesListChanged":true},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"test","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`
	statuses := map[int]int{}
	for range 100 {
		conn := b.dial()
		request := b.request("POST /mcp", "MCP-Protocol-Version: 2026-07-28", "Mcp-Method: subscriptions/listen", fmt.Sprintf("Content-Length: %d", len(body))) + body
		if _, err := io.WriteString(conn, request); err != nil {
			t.Fatal(err)
		}
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil) // its body is not closed: that would read it to its end
		if err != nil {
			t.Fatal(err)
		}
		statuses[resp.StatusCode]++
	}
	if statuses[http.StatusOK] == 0 || statuses[http.StatusOK]+statuses[http.StatusTooManyRequests] != 100 || statuses[http.StatusTooManyRequests] == 0 {
		t.Errorf("statuses %v", statuses)
	}
	seen := b.answered.Load()
	b.await("the other client is answered", func() bool { return b.answered.Load() > seen+20 })
	if n := runtime.NumGoroutine(); n > before+100*3 {
		t.Errorf("%d goroutines, %d before", n, before)
	}
}
