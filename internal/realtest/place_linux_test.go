package realtest

import (
	"context"
	"io"
	"net"
	"net/http"
	"os/exec"
	"strings"
	"testing"
)

func TestPlaceIsANetworkOfItsOwn(t *testing.T) {
	p := newPlace()
	if p.shared != nil {
		t.Skipf("this user may not make one: %v", p.shared)
	}
	inside, err := p.listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer inside.Close()
	go func() {
		for {
			c, err := inside.Accept()
			if err != nil {
				return
			}
			_, _ = c.Write([]byte("hello"))
			c.Close()
		}
	}()
	address := inside.Addr().String()
	if c, err := net.Dial("tcp", address); err == nil {
		c.Close()
		t.Errorf("%s is reached from outside", address)
	}
	c, err := p.dial(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	hello := make([]byte, 5)
	if _, err := c.Read(hello); err != nil || string(hello) != "hello" {
		t.Errorf("read %q, %v", hello, err)
	}
	cmd := exec.Command("cat", "/proc/self/net/dev")
	var out strings.Builder
	cmd.Stdout = &out
	if err := p.start(cmd); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "lo:") || strings.Contains(out.String(), "eth0") {
		t.Errorf("a program sees %s", out.String())
	}
}

func TestLinkForwardsUntilItIsCut(t *testing.T) {
	p := newPlace()
	inside, err := p.listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	outside, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { outside.Close() })
	held := make(chan struct{})
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		_, _ = w.Write(body)
		if r.URL.Path == "/hold" {
			w.(http.Flusher).Flush()
			close(held)
			<-r.Context().Done()
		}
	})}
	go func() { _ = server.Serve(inside) }()
	t.Cleanup(func() { server.Close() })
	link := newLink(outside, func(ctx context.Context) (net.Conn, error) { return p.dial(ctx, "tcp", inside.Addr().String()) })

	large := strings.Repeat("x", 5<<20)
	post := func(path string) (string, error) {
		resp, err := http.Post("http://"+link.Address+path, "text/plain", strings.NewReader(large))
		if err != nil {
			return "", err
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		return string(body), err
	}
	if got, err := post("/"); err != nil || got != large {
		t.Fatalf("over the link: %d bytes, %v", len(got), err)
	}
	broken := make(chan error)
	go func() { _, err := post("/hold"); broken <- err }()
	<-held
	link.Cut(t)
	if err := <-broken; err == nil {
		t.Error("an answer that was under way ended well")
	}
	if _, err := post("/"); err == nil {
		t.Error("a link that is cut forwards")
	}
	link.Restore()
	if got, err := post("/"); err != nil || got != large {
		t.Errorf("over the restored link: %d bytes, %v", len(got), err)
	}
}
