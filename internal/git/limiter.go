package git

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/semaphore"
)

const (
	// DefaultFetches is how many fetches run at a time at one host where
	// nothing is said.
	DefaultFetches = 4
	// busyHosts is how many hosts may have all their fetches running before
	// others wait.
	busyHosts = 4
)

// Limiter bounds how many fetches run at a time, across the sources that
// share it; they share connections, too. Each host has slots of its own, so
// that one that hangs delays no other.
type Limiter struct {
	each      int64
	all       *semaphore.Weighted
	transport *http.Transport

	mu    sync.Mutex
	hosts map[string]*host
}

// host is what is known of a host that repositories are on.
type host struct {
	slots *semaphore.Weighted
	// knows is what is known of its speaking protocol version 2.
	knows atomic.Int32
}

const (
	unasked int32 = iota
	version2
	version0
)

// speaksVersion2 tells whether the host lets clients ask for protocol version
// 2, of which it is asked once. An ssh host shows it when it is asked for files.
func (h *host) speaksVersion2(ctx context.Context, w wire) bool {
	over, ok := w.(*httpWire)
	if known := h.knows.Load(); !ok || known != unasked {
		return known != version0
	}
	speaks, err := over.version2(ctx)
	switch {
	case err != nil:
		return false // another fetch asks again
	case speaks:
		h.knows.Store(version2)
	default:
		h.knows.Store(version0)
	}
	return speaks
}

// NewLimiter allows n fetches at a time at each host, and four times as many
// in all.
func NewLimiter(n int64) *Limiter {
	return &Limiter{each: n, all: semaphore.NewWeighted(busyHosts * n), transport: newTransport(), hosts: map[string]*host{}}
}

// Close closes connections that are kept for the next request.
func (l *Limiter) Close() error {
	l.transport.CloseIdleConnections()
	return nil
}

// host gives what is known of the host of a URL.
func (l *Limiter) host(u *url.URL) *host {
	name := u.Scheme + "://" + strings.ToLower(u.Host)
	l.mu.Lock()
	defer l.mu.Unlock()
	h := l.hosts[name]
	if h == nil {
		h = &host{slots: semaphore.NewWeighted(l.each)}
		l.hosts[name] = h
	}
	return h
}

// acquire waits for a slot of the host first: who waits for that holds nothing
// that others could use.
func (l *Limiter) acquire(ctx context.Context, u *url.URL) (release func(), err error) {
	h := l.host(u)
	if err := h.slots.Acquire(ctx, 1); err != nil {
		return nil, err
	}
	if err := l.all.Acquire(ctx, 1); err != nil {
		h.slots.Release(1)
		return nil, err
	}
	return func() {
		l.all.Release(1)
		h.slots.Release(1)
	}, nil
}
