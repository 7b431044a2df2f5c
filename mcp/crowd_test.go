package mcp_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/mcp"
)

// heapNow is what is in use after a collection, in bytes.
func heapNow() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestTenThousandSessions: whoever opens sessions without end keeps the last
// hundred, and nobody else loses one.
func TestTenThousandSessions(t *testing.T) {
	c := serve(t, []string{shop})
	other := c.as("reader").open("2025-11-25")
	before := heapNow()
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			greedy := c.as("owner")
			for range 500 {
				greedy.session = ""
				greedy.open("2025-11-25")
			}
		})
	}
	wg.Wait()
	if grown := heapNow() - before; grown > 32<<20 {
		t.Errorf("ten thousand sessions hold %d MiB", grown>>20)
	}
	if a := other.send(http.MethodPost, listing); a.status != http.StatusOK {
		t.Errorf("another caller's session is gone: %d", a.status)
	}
}

// endless gives bytes without end, and counts those that were taken.
type endless struct{ taken atomic.Int64 }

func (e *endless) Read(p []byte) (int, error) {
	if e.taken.Load() > 100<<20 {
		return 0, io.EOF
	}
	for i := range p {
		p[i] = ' '
	}
	e.taken.Add(int64(len(p)))
	return len(p), nil
}

// TestHugeBodies: a hundred megabytes are neither read nor kept, whether or not
// their size is told.
func TestHugeBodies(t *testing.T) {
	c := serve(t, []string{shop})
	for _, size := range []int64{100 << 20, -1} {
		body := &endless{}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, c.URL+"/mcp", body)
		if err != nil {
			t.Fatal(err)
		}
		req.ContentLength = size
		req.Header.Set("Authorization", "Bearer owner")
		req.Header.Set("Content-Type", "application/json")
		res, err := http.DefaultTransport.RoundTrip(req)
		if err == nil {
			res.Body.Close()
			if res.StatusCode != http.StatusRequestEntityTooLarge {
				t.Errorf("size %d: %d", size, res.StatusCode)
			}
		}
		if taken := body.taken.Load(); taken > mcp.MaxBody+(16<<20) {
			t.Errorf("size %d: %d MiB were taken", size, taken>>20)
		}
	}
}

// TestSlowAndHalfOpenClients: those who send a byte and wait, or open a stream
// and read nothing of it, keep nobody from being served.
func TestSlowAndHalfOpenClients(t *testing.T) {
	c := serve(t, []string{shop}).open("2025-11-25")
	addr := c.Listener.Addr().String()
	for i := range 40 {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		head := "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer owner\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"
		if i%2 == 0 {
			head = "GET /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer owner\r\nAccept: text/event-stream\r\nMcp-Session-Id: " + c.session + "\r\n\r\n"
		}
		if _, err := io.WriteString(conn, head); err != nil {
			t.Fatal(err)
		}
		if i%2 == 0 { // each stream takes the place of the one before
			if line, err := bufio.NewReader(conn).ReadString('\n'); err != nil || !strings.Contains(line, "200") {
				t.Fatalf("stream %d: %s %v", i, line, err)
			}
		}
	}
	if a := c.as("reader").open("2025-11-25").call("tools/list", nil); a.status != http.StatusOK {
		t.Errorf("%d %s", a.status, a.raw)
	}
	if a := c.send(http.MethodPost, listing); a.status != http.StatusOK {
		t.Errorf("%d %s", a.status, a.raw)
	}
}

// TestBehindAProxy: without a public URL a near proxy tells how clients reach
// the server, and nothing that it says gets out of its quotes.
func TestBehindAProxy(t *testing.T) {
	c := serve(t, []string{shop}, func(cfg *mcp.Config) { cfg.PublicURL, cfg.Scopes = "", []string{"catalog"} })
	c.token = ""
	a := c.send(http.MethodPost, listing, header("X-Forwarded-Host", "fairlead.acme.example, inner"), header("X-Forwarded-Proto", "https"))
	want := `Bearer scope="catalog", resource_metadata="https://fairlead.acme.example/.well-known/oauth-protected-resource/mcp"`
	if got := a.header.Get("WWW-Authenticate"); got != want {
		t.Errorf("%s", got)
	}
	c.path = "/.well-known/oauth-protected-resource/mcp"
	doc := c.send(http.MethodGet, "", header("X-Forwarded-Host", "fairlead.acme.example"), header("X-Forwarded-Proto", "https"))
	contains(t, doc.raw, `"resource":"https://fairlead.acme.example/mcp"`, `"scopes_supported":["catalog"]`)
	if plain := c.send(http.MethodGet, ""); !strings.Contains(plain.raw, `"resource":"`+c.URL+`/mcp"`) {
		t.Error(plain.raw)
	}
	c.path, c.token = "/mcp", "unknown"
	for _, host := range []string{`evil"x`, "a/b", "a b", "u:p@h"} {
		a := c.send(http.MethodPost, listing, header("X-Forwarded-Host", host))
		if got := a.header.Get("WWW-Authenticate"); strings.Contains(got, host) || !strings.Contains(got, `error="invalid_token"`) {
			t.Errorf("%s: %s", host, got)
		}
	}
}

// TestScopeChallenges: a token that does not reach far enough is told what to
// ask for, whether it is let in or not.
func TestScopeChallenges(t *testing.T) {
	lacking := fault.New(fault.Forbidden, "the token does not reach so far").WithDetail("scope", "catalog.refresh")
	c := serve(t, []string{shop}, func(cfg *mcp.Config) {
		cfg.Authenticate = func(*http.Request) (access.Caller, error) { return access.Caller{}, lacking }
	})
	want := `Bearer error="insufficient_scope", scope="catalog.refresh", resource_metadata="https://fairlead.example.com/.well-known/oauth-protected-resource/mcp"`
	if a := c.send(http.MethodPost, listing); a.status != http.StatusForbidden || a.header.Get("WWW-Authenticate") != want {
		t.Errorf("%d %s", a.status, a.header.Get("WWW-Authenticate"))
	}
	c = serveWith(t, []string{shop}, refusing{troubled(t, 1), lacking}).open("2025-11-25")
	a := c.call("tools/call", map[string]any{"name": "refresh_entity", "arguments": map[string]any{"source": "memory"}})
	if a.status != http.StatusForbidden || a.header.Get("WWW-Authenticate") != want || a.Error == nil {
		t.Errorf("%d %s %s", a.status, a.header.Get("WWW-Authenticate"), a.raw)
	}
}

// refusing is an ingestion that reads nothing.
type refusing struct {
	catalog.Ingestion
	why error
}

func (r refusing) Refresh(context.Context, string) (*catalog.RefreshResult, error) { return nil, r.why }
