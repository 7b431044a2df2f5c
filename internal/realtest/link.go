package realtest

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"testing"
	"time"
)

// Link is an address that leads to a server. It can be cut, which is what a
// server or a network that fails looks like to whoever uses it, while others
// still reach the server.
type Link struct {
	// Address is its host and port.
	Address string

	dial  func(ctx context.Context) (net.Conn, error)
	mu    sync.Mutex
	cut   bool
	conns map[net.Conn]struct{}
}

// newLink forwards what comes to a listener.
func newLink(l net.Listener, dial func(ctx context.Context) (net.Conn, error)) *Link {
	k := &Link{Address: l.Addr().String(), dial: dial, conns: map[net.Conn]struct{}{}}
	go k.serve(l)
	return k
}

// Cut ends the connections that go over the link and each new one at once,
// until the test ends or Restore is called.
func (k *Link) Cut(t testing.TB) {
	t.Helper()
	t.Cleanup(k.Restore)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.cut = true
	for c := range k.conns {
		shut(c)
	}
}

// Restore lets connections pass again.
func (k *Link) Restore() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.cut = false
}

// serve takes connections as long as the process lives.
func (k *Link) serve(l net.Listener) {
	for {
		c, err := l.Accept()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil: // too many open files: some will be closed
			time.Sleep(10 * time.Millisecond)
		default:
			go k.forward(c)
		}
	}
}

func (k *Link) forward(from net.Conn) {
	defer shut(from)
	if !k.enter(from) {
		return
	}
	defer k.leave(from)
	to, err := k.dial(context.Background())
	if err != nil {
		return
	}
	defer shut(to)
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		pour(from, to)
	}()
	pour(to, from)
	<-answered
}

// pour copies until one side ends, and tells the other; what either says by an
// error has ended the connection, which is all that a network tells.
func pour(to, from net.Conn) {
	if _, err := io.Copy(to, from); err != nil {
		shut(to, from)
		return
	}
	if half, ok := to.(interface{ CloseWrite() error }); !ok || half.CloseWrite() != nil {
		shut(to)
	}
}

// shut closes what nothing was left to be written to.
func shut(cs ...io.Closer) {
	for _, c := range cs {
		c.Close()
	}
}

func (k *Link) enter(c net.Conn) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.cut {
		k.conns[c] = struct{}{}
	}
	return !k.cut
}

func (k *Link) leave(c net.Conn) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.conns, c)
}
