package overhttp

import (
	"context"
	"log/slog"
	"net/netip"
	"strings"
	"sync"

	"github.com/coder/websocket"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/internal/fault/beside"
)

// shares counts the connections of each caller, so that none takes them all.
type shares struct {
	mu   sync.Mutex
	held map[string]int
	all  int
}

// take counts one more of a caller's connections, unless the caller has each
// already or there are all; then it gives the code to close the connection
// with. leave is to be called when the connection ends.
func (s *shares) take(who access.Caller, each, all int) (leave func(), refused websocket.StatusCode) {
	key := callerKey(who)
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.held[key] >= each:
		return nil, closeTooMany
	case s.all >= all:
		return nil, websocket.StatusTryAgainLater
	case s.held == nil:
		s.held = map[string]int{}
	}
	s.held[key]++
	s.all++
	return func() { s.leave(key) }, 0
}

func (s *shares) leave(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all--
	if s.held[key]--; s.held[key] <= 0 {
		delete(s.held, key)
	}
}

// callerKey tells callers apart.
func callerKey(who access.Caller) string {
	return strings.Join([]string{who.Subject(), who.Agent(), who.Token()}, "\x00")
}

// waiters are the connections that nobody has said yet who is behind. They
// are bounded by dropping and not by refusing: whoever means to use one names
// themselves within a moment, and those who keep them open only to take the
// room lose their own first.
type waiters struct {
	mu   sync.Mutex
	of   map[string][]*waiter // by address, oldest first
	open int
}

// waiter is one such connection; drop ends it.
type waiter struct {
	address string
	drop    func()
}

// enter adds a connection from an address, given as host:port.
func (w *waiters) enter(address string, all, each int, drop func()) *waiter {
	address = network(address)
	one := &waiter{address, drop}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.of == nil {
		w.of = map[string][]*waiter{}
	}
	if len(w.of[address]) >= each {
		w.dropOldest(address)
	}
	if w.open >= all {
		w.dropOldest(w.crowded())
	}
	w.of[address] = append(w.of[address], one)
	w.open++
	return one
}

// network is who an address, given as host:port, counts for: itself, and
// under IPv6 its /64, all of which one machine may use.
func network(address string) string {
	ap, err := netip.ParseAddrPort(address)
	if err != nil {
		return address
	}
	ip := ap.Addr().Unmap().WithZone("")
	if ip.Is4() {
		return ip.String()
	}
	return netip.PrefixFrom(ip, 64).Masked().String()
}

// crowded is the address that has most connections.
func (w *waiters) crowded() (address string) {
	for a, list := range w.of {
		if len(list) > len(w.of[address]) {
			address = a
		}
	}
	return address
}

func (w *waiters) dropOldest(address string) {
	if list := w.of[address]; len(list) > 0 {
		beside.Go(context.Background(), slog.Default(), "dropping a connection", list[0].drop) // it may wait for a write to end
		w.remove(address, 0)
	}
}

func (w *waiters) remove(address string, i int) {
	w.open--
	if w.of[address] = append(w.of[address][:i:i], w.of[address][i+1:]...); len(w.of[address]) == 0 {
		delete(w.of, address)
	}
}

// leave takes a connection out, if it has not been dropped or taken out.
func (w *waiters) leave(one *waiter) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i, other := range w.of[one.address] {
		if other == one {
			w.remove(one.address, i)
			return
		}
	}
}
