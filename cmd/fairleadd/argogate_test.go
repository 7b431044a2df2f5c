package main

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/fairlead-dev/fairlead/internal/realtest"
)

// gate stands between a Fairlead and Argo CD, sees each call, and ends
// Fairlead by the one that it is told.
type gate struct {
	address string

	mu     sync.Mutex
	calls  []call
	at     call        // the call that ends the server, by its first coming
	kill   func()      // ends it; nil lets all pass
	killed chan<- call // told of it
}

// call is one of Argo CD's interface, such as Create.
type call struct {
	name  string
	after bool
}

func (c call) String() string {
	if c.after {
		return "after " + c.name
	}
	return "before " + c.name
}

// newGate opens a gate with Argo CD's own certificate.
func newGate(t *testing.T, a *realtest.Argo) *gate {
	t.Helper()
	g := &gate{}
	authority, err := os.ReadFile(a.CAFile)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(authority)
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "https", Host: a.Server.Address})
	var http2 http.Protocols // alone: Argo CD prefers what carries no gRPC
	http2.SetHTTP2(true)
	transport := &http.Transport{Protocols: &http2, DisableCompression: true, TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}}
	t.Cleanup(transport.CloseIdleConnections)
	proxy.Transport, proxy.FlushInterval = transport, -1
	proxy.ErrorHandler = func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) }
	proxy.ModifyResponse = func(r *http.Response) error {
		if !g.pass(path.Base(r.Request.URL.Path), true) {
			return errors.New("nobody is there to hear it")
		}
		return nil
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.Header.Get("Content-Type"), "application/grpc") || !g.pass(path.Base(r.URL.Path), false) {
			panic(http.ErrAbortHandler)
		}
		proxy.ServeHTTP(w, r)
	})}
	go func() { _ = server.ServeTLS(l, filepath.Join(a.Dir, "server.pem"), filepath.Join(a.Dir, "server.key")) }()
	t.Cleanup(func() { server.Close() })
	g.address = l.Addr().String()
	return g
}

// arm has kill called by the first such call from now on, and gives what tells
// of it.
func (g *gate) arm(at call, kill func()) <-chan call {
	g.mu.Lock()
	defer g.mu.Unlock()
	killed := make(chan call, 1)
	g.at, g.kill, g.killed = at, kill, killed
	return killed
}

// disarm lets all calls pass.
func (g *gate) disarm() { g.arm(call{}, nil) }

// pass notes a call, and tells whether it may go on.
func (g *gate) pass(name string, after bool) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	c := call{name, after}
	g.calls = append(g.calls, c)
	if g.kill == nil || c != g.at {
		return true
	}
	g.kill()
	g.kill = nil
	g.killed <- c
	return false
}

// count is how often a call has come.
func (g *gate) count(name string) (n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, c := range g.calls {
		if c.name == name && !c.after {
			n++
		}
	}
	return n
}
