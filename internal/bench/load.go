package main

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// The load: requests arrive at an open rate, whether earlier ones have been
// answered or not, and are sent over that many connections.
const (
	rate        = 500 // requests a second
	connections = 16
)

// request is one HTTP request and a text that a good answer holds.
type request struct {
	method, path, body string
	header             http.Header
	holds              string
}

// latencies is what a load met with.
type latencies struct {
	times  []time.Duration // sorted
	failed int64
	err    error // the first failure
	cpu    time.Duration
}

// load sends requests for a while after a warm-up of one second. The time of
// a request counts from when it was due if all connections were busy then,
// else from when it was sent: waiting for the server counts, the sender's own
// tardiness does not.
func (s *server) load(ctx context.Context, length time.Duration, next func(i int) request) (*latencies, error) {
	if l := s.send(ctx, time.Second, next); l.err != nil {
		return nil, l.err
	}
	before, err := cpuOf(s.cmd.Process.Pid)
	if err != nil {
		return nil, err
	}
	l := s.send(ctx, length, next)
	after, err := cpuOf(s.cmd.Process.Pid)
	l.cpu = after - before
	return l, err
}

func (s *server) send(ctx context.Context, length time.Duration, next func(i int) request) *latencies {
	l := &latencies{}
	total := int(length.Seconds() * rate)
	var at atomic.Int64
	var mu sync.Mutex
	var wg sync.WaitGroup
	start := time.Now()
	for range connections {
		wg.Go(func() {
			var mine []time.Duration
			for i := int(at.Add(1)) - 1; i < total && ctx.Err() == nil; i = int(at.Add(1)) - 1 {
				from := start.Add(time.Duration(i) * time.Second / rate)
				if early := time.Until(from); early > 0 {
					time.Sleep(early)
					from = time.Now()
				}
				_, err := s.ask(ctx, next(i))
				mine = append(mine, time.Since(from))
				if err != nil && atomic.AddInt64(&l.failed, 1) == 1 {
					mu.Lock()
					l.err = err
					mu.Unlock()
				}
			}
			mu.Lock()
			defer mu.Unlock()
			l.times = append(l.times, mine...)
		})
	}
	wg.Wait()
	slices.Sort(l.times)
	return l
}

func (l *latencies) String() string {
	out := fmt.Sprintf("%s / %s / %s", millis(quantile(l.times, 0.5)), millis(quantile(l.times, 0.99)), millis(quantile(l.times, 1)))
	if l.failed > 0 {
		out += fmt.Sprintf(" (%d of %d failed)", l.failed, len(l.times))
	}
	return out
}
