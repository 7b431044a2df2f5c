package app

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime/metrics"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// besieged is a server that somebody attacks while somebody else uses it.
type besieged struct {
	*server
	answered atomic.Int64 // answers that the other client got
	end      func()
}

// maxGrowth is by how many bytes what is in use and the stacks of this process, attackers included, may grow under an attack. The heap is at most
// twice as large: how much of that is garbage depends on how busy the machine is.
const maxGrowth = 128 << 20

// besiege starts a server and a client that keeps asking it, to the end of the
// test; that all its answers are good and that memory stays bounded is checked
// then.
func besiege(t *testing.T) *besieged {
	t.Helper()
	s := &server{t: t, dir: t.TempDir(), tokens: map[string]string{"user": "token-of-the-user-0123456789"}, before: func(a *App) {
		a.server.ReadHeaderTimeout = 5 * time.Second // half of the usual, as it is waited for here; a real client of a busy machine needs over one
	}}
	if err := os.Mkdir(filepath.Join(s.dir, "catalog"), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(s.dir, "catalog", "catalog-info.yaml"), "apiVersion: backstage.io/v1alpha1\nkind: Group\nmetadata: {name: payments}\nspec: {type: team, children: []}\n")
	write(t, filepath.Join(s.dir, "token"), s.tokens["user"])
	write(t, filepath.Join(s.dir, "fairlead.yaml"), "listen: 127.0.0.1:0\nauth: {tokens: [{name: user, tokenFile: token, subject: user}]}\ncatalog: {sources: [{name: local, file: {path: ./catalog}}]}\n")
	s.start(filepath.Join(s.dir, "fairlead.yaml"))
	b := &besieged{server: s}
	ctx, cancel := context.WithCancel(context.Background())
	before := inUse()
	var peak atomic.Uint64
	var wg sync.WaitGroup
	wg.Go(func() { b.use(ctx) })
	wg.Go(func() {
		for tick := time.NewTicker(20 * time.Millisecond); ctx.Err() == nil; <-tick.C {
			peak.Store(max(peak.Load(), inUse()))
		}
	})
	b.end = sync.OnceFunc(func() {
		seen := b.answered.Load()
		b.await("the other client is answered to the end", func() bool { return b.answered.Load() > seen+10 })
		cancel()
		wg.Wait()
		grown := int64(peak.Load()) - int64(before)
		t.Logf("memory grew by %d MB", grown>>20)
		if grown > maxGrowth {
			t.Errorf("memory grew by %d MB", grown>>20)
		}
	})
	t.Cleanup(b.end)
	return b
}

func inUse() uint64 {
	in := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/memory/classes/heap/stacks:bytes"}}
	metrics.Read(in)
	return in[0].Value.Uint64() + in[1].Value.Uint64()
}

// use asks until the context ends.
func (b *besieged) use(ctx context.Context) {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for ctx.Err() == nil {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, b.url+"/api/v1/whoami", http.NoBody)
		if err != nil {
			b.t.Error(err)
			return
		}
		r.Header.Set("Authorization", "Bearer "+b.tokens["user"])
		resp, err := client.Do(r)
		if err == nil {
			_, err = io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
		}
		switch {
		case ctx.Err() != nil:
		case err != nil:
			b.t.Errorf("the other client: %v", err)
		case resp.StatusCode != http.StatusOK:
			b.t.Errorf("the other client: %s", resp.Status)
		default:
			b.answered.Add(1)
		}
	}
}

// dial opens a connection, which ends with the test.
func (b *besieged) dial() net.Conn {
	b.t.Helper()
	conn, err := (&net.Dialer{}).DialContext(b.t.Context(), "tcp", b.app.Addr().String())
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { conn.Close() })
	return conn
}

// raw sends bytes, and then whatever more gives as long as it is taken; it
// gives the status of the answer, 0 if there is none.
func (b *besieged) raw(request string, more io.Reader) (int, http.Header) {
	b.t.Helper()
	conn := b.dial()
	defer conn.Close()
	go func() {
		if _, err := io.WriteString(conn, request); err == nil && more != nil {
			_, _ = io.Copy(conn, more) // the server may hang up
		}
	}()
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return 0, nil
	}
	_, _ = io.Copy(io.Discard, resp.Body) // what was sent as an answer is all that counts
	resp.Body.Close()
	return resp.StatusCode, resp.Header
}

// request is the start of a request by the user.
func (b *besieged) request(line string, header ...string) string {
	text := line + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nAuthorization: Bearer " + b.tokens["user"] + "\r\n"
	for _, h := range header {
		text += h + "\r\n"
	}
	return text + "\r\n"
}

// spaces are bytes without end, in chunks of HTTP if so wanted.
type spaces struct {
	chunked bool
	left    int
}

func (s *spaces) Read(p []byte) (int, error) {
	if s.left <= 0 {
		return 0, io.EOF
	}
	part := strings.Repeat(" ", len(p)-16)
	if s.chunked {
		part = fmt.Sprintf("%x\r\n%s\r\n", len(part), part)
	}
	s.left -= len(part)
	return copy(p, part), nil
}

const hundredMB = 100 << 20

func TestHugeBodies(t *testing.T) {
	b := besiege(t)
	for _, tt := range []struct {
		line string
		want []int
	}{
		{"POST /graphql", []int{413}}, {"POST /mcp", []int{413}}, {"POST /mcp/readonly", []int{413}}, {"POST /api/v1/search", []int{413}},
		{"POST /api/catalog/entities/by-query", []int{413}}, {"POST /api/catalog/entities/by-refs", []int{413}}, {"POST /api/catalog/validate-entity", []int{413}},
		{"POST /webhooks/github", []int{404, 413}}, {"POST /nowhere", []int{404}}, {"GET /api/v1/whoami", []int{200, 413}}, {"PUT /healthz", []int{404, 405}}, {"POST /metrics", []int{404, 405}},
	} {
		declared, _ := b.raw(b.request(tt.line, fmt.Sprintf("Content-Length: %d", hundredMB)), &spaces{left: hundredMB})
		unknown, _ := b.raw(b.request(tt.line, "Transfer-Encoding: chunked"), &spaces{left: hundredMB, chunked: true})
		for how, got := range map[string]int{"declared": declared, "chunked": unknown} {
			if !slices.Contains(tt.want, got) {
				t.Errorf("%s, %s: %d, want %d", tt.line, how, got, tt.want)
			}
		}
	}
}

func TestManyHugeBodiesAtOnce(t *testing.T) {
	b := besiege(t)
	var wg sync.WaitGroup
	for _, line := range []string{"POST /graphql", "POST /mcp", "POST /api/v1/search", "POST /api/catalog/entities/by-query"} {
		for range 3 {
			wg.Go(func() {
				if got, _ := b.raw(b.request(line, "Transfer-Encoding: chunked"), &spaces{left: hundredMB, chunked: true}); got != http.StatusRequestEntityTooLarge {
					t.Errorf("%s: %d", line, got)
				}
			})
		}
	}
	wg.Wait()
}

func TestRefusals(t *testing.T) {
	b := besiege(t)
	long := strings.Repeat("x", 1<<20)
	token := "Authorization: Bearer " + b.tokens["user"]
	for name, tt := range map[string]struct {
		request string
		want    int
	}{
		"a huge header":             {b.request("GET /api/v1/whoami", "X-Long: "+long), 431},
		"many headers":              {b.request("GET /api/v1/whoami", strings.Repeat("X-Many: yes\r\n", 10_000)+"X-Last: 1"), 431},
		"a huge path":               {b.request("GET /api/v1/" + long), 431},
		"a huge token":              {"GET /api/v1/whoami HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + long[:60_000] + "\r\n\r\n", 401},
		"a foreign host":            {"GET /api/v1/whoami HTTP/1.1\r\nHost: evil.example.com\r\n" + token + "\r\n\r\n", 403},
		"a foreign absolute URL":    {"GET http://evil.example.com/api/v1/whoami HTTP/1.1\r\nHost: localhost\r\n" + token + "\r\n\r\n", 403},
		"no host":                   {"GET /api/v1/whoami HTTP/1.1\r\n" + token + "\r\n\r\n", 400},
		"two hosts":                 {"GET /api/v1/whoami HTTP/1.1\r\nHost: localhost\r\nHost: evil.example.com\r\n" + token + "\r\n\r\n", 400},
		"no host in HTTP/1.0":       {"GET /api/v1/whoami HTTP/1.0\r\n" + token + "\r\n\r\n", 403},
		"a foreign origin at MCP":   {b.request("POST /mcp", "Origin: https://evil.example.com", "Content-Length: 2") + "{}", 403},
		"a foreign origin's socket": {b.request("GET /graphql", "Origin: https://evil.example.com", "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Protocol: graphql-transport-ws"), 403},
		"a compressed body":         {b.request("POST /graphql", "Content-Encoding: gzip", "Content-Length: 3") + "\x1f\x8b\x08", 415},
		"two lengths":               {b.request("POST /graphql", "Content-Length: 2", "Content-Length: 3") + "{} ", 400},
		"a negative length":         {b.request("POST /graphql", "Content-Length: -2") + "{}", 400},
		"a bad chunk":               {b.request("POST /api/v1/search", "Transfer-Encoding: chunked") + "zz\r\n{}\r\n0\r\n\r\n", 400},
		"another transfer coding":   {b.request("POST /graphql", "Transfer-Encoding: gzip, chunked") + "0\r\n\r\n", 501},
		"a header split":            {"GET /api/v1/whoami HTTP/1.1\r\nHost: localhost\r\nX: a\x00b\r\n\r\n", 400},
		"no HTTP":                   {"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", 400},
		"a body that ends early":    {b.request("POST /api/v1/search", "Content-Length: 100") + "{}", 0},
	} {
		conn := b.dial()
		if _, err := io.WriteString(conn, tt.request); err != nil && tt.want != http.StatusRequestHeaderFieldsTooLarge {
			t.Errorf("%s: %v", name, err)
		}
		if half, ok := conn.(*net.TCPConn); ok && tt.want == 0 {
			if err := half.CloseWrite(); err != nil {
				t.Error(err)
			}
			tt.want = http.StatusBadRequest
		}
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		resp.Body.Close()
		if resp.StatusCode != tt.want {
			t.Errorf("%s: %d, want %d", name, resp.StatusCode, tt.want)
		}
	}
}

// ended waits until the server has hung up.
func ended(t *testing.T, conn net.Conn) {
	t.Helper()
	_, err := io.Copy(io.Discard, conn)
	if err != nil && !errors.Is(err, net.ErrClosed) && !strings.Contains(err.Error(), "reset") {
		t.Error(err)
	}
}

func TestSlowAndIdleConnections(t *testing.T) {
	b := besiege(t)
	var idle, slow []net.Conn
	for range 1000 {
		idle = append(idle, b.dial())
	}
	for range 500 {
		conn := b.dial()
		if _, err := io.WriteString(conn, "GET /api/v1/whoami HTTP/1.1\r\nHost: loc"); err != nil {
			t.Fatal(err)
		}
		slow = append(slow, conn)
	}
	for _, line := range []string{"POST /graphql", "POST /mcp", "POST /api/v1/search", "POST /webhooks/github"} {
		for range 100 { // bodies that never come
			conn := b.dial()
			if _, err := io.WriteString(conn, b.request(line, "Content-Length: 4000000")+"{"); err != nil {
				t.Fatal(err)
			}
		}
	}
	seen := b.answered.Load()
	b.await("the other client is answered", func() bool { return b.answered.Load() > seen+20 })
	for _, conn := range append(idle, slow...) {
		ended(t, conn) // who sends nothing is left
	}
}

func TestPipelinedRequests(t *testing.T) {
	b := besiege(t)
	conn := b.dial()
	const n = 300
	go func() { _, _ = io.WriteString(conn, strings.Repeat(b.request("GET /api/v1/whoami"), n)) }()
	in := bufio.NewReader(conn)
	for i := range n {
		resp, err := http.ReadResponse(in, nil)
		if err != nil {
			t.Fatalf("answer %d: %v", i, err)
		}
		if _, err := io.Copy(io.Discard, resp.Body); err != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("answer %d: %s %v", i, resp.Status, err)
		}
		resp.Body.Close()
	}
	// Whoever never reads is not served on and on.
	deaf := b.dial()
	if err := deaf.SetWriteDeadline(time.Now().Add(2 * time.Second)); err != nil {
		t.Fatal(err)
	}
	sent, err := io.Copy(deaf, &repeated{text: b.request("GET /metrics"), left: hundredMB})
	if err == nil {
		t.Errorf("%d bytes of requests were taken of a client that reads no answer", sent)
	}
}

// repeated is a text again and again.
type repeated struct {
	text string
	left int
}

func (r *repeated) Read(p []byte) (int, error) {
	if r.left <= 0 {
		return 0, io.EOF
	}
	n := copy(p, strings.Repeat(r.text, max(1, len(p)/len(r.text))))
	n -= n % len(r.text)
	r.left -= n
	return n, nil
}
