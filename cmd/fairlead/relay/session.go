package relay

import (
	"context"
	"net/http"
	"sync"
	"time"
)

// The headers of the protocol.
const (
	headerSession = "Mcp-Session-Id"
	headerVersion = "Mcp-Protocol-Version"
	headerMethod  = "Mcp-Method"
	headerName    = "Mcp-Name"
	headerLast    = "Last-Event-Id"
)

// session is what the revisions with sessions keep between messages.
type session struct {
	relay *relay

	mu      sync.Mutex
	id      string // "" for a server that has no sessions
	version string
	begun   bool
	hello   []byte // the initialize message, to open another session with
	ready   bool   // the client has said notifications/initialized
	listen  context.CancelFunc

	renewal sync.Mutex // held while another session is opened
}

func (s *session) open() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.begun
}

func (s *session) current() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.id
}

// begin notes what the answer to initialize says.
func (s *session) begin(hello []byte, id, version string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hello, s.id, s.version, s.begun = hello, id, version, true
}

// dress puts the headers on a request that the message's revision wants.
func (s *session) dress(req *http.Request, m *message) {
	if m != nil && m.modern() {
		req.Header.Set(headerVersion, m.version())
		req.Header.Set(headerMethod, m.Method)
		if name := m.name(); name != "" {
			req.Header.Set(headerName, headerSafe(name))
		}
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if m != nil && m.Method == "initialize" {
		return
	}
	if s.id != "" {
		req.Header.Set(headerSession, s.id)
	}
	if s.version != "" {
		req.Header.Set(headerVersion, s.version)
	}
}

// initialized begins to listen for what the server says of its own accord.
func (s *session) initialized() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ready = true
	if s.listen != nil {
		s.listen()
	}
	if s.id == "" {
		return
	}
	ctx, cancel := context.WithCancel(s.relay.base)
	s.listen = cancel
	s.relay.wg.Go(func() {
		defer cancel()
		s.follow(ctx)
	})
}

func (s *session) stopListening() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ready = false
	if s.listen != nil {
		s.listen()
	}
}

// The pauses between attempts to listen.
const (
	firstPause = time.Second
	lastPause  = 30 * time.Second
)

// follow reads the server's own stream, and comes back to it when it ends.
func (s *session) follow(ctx context.Context) {
	last, pause := "", firstPause
	for ctx.Err() == nil {
		id, retry, got := s.stream(ctx, last)
		if got == streamNone {
			return
		}
		if id != "" {
			last = id
		}
		if got == streamEnded {
			pause = firstPause
		}
		wait := max(retry, pause)
		pause = min(2*pause, lastPause)
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
		}
	}
}

// How an attempt to listen went.
type streamed int

const (
	streamEnded  streamed = iota // there was one
	streamFailed                 // no answer, or trouble at the server
	streamNone                   // the server has none to offer
)

func (s *session) stream(ctx context.Context, last string) (string, time.Duration, streamed) {
	r := s.relay
	req, err := r.Server.Request(ctx, http.MethodGet, r.Path, nil)
	if err != nil {
		return "", 0, streamNone
	}
	s.dress(req, nil)
	req.Header.Set("Accept", "text/event-stream")
	if last != "" {
		req.Header.Set(headerLast, last)
	}
	res, err := r.Server.Do(req)
	if err != nil {
		return "", 0, streamFailed
	}
	defer res.Body.Close()
	switch {
	case res.StatusCode/100 == 5 || res.StatusCode == http.StatusTooManyRequests:
		return "", 0, streamFailed
	case res.StatusCode != http.StatusOK || media(res) != mediaEvents:
		return "", 0, streamNone
	}
	id, retry, err := events(res.Body, func(e event) { r.forward(e.data) })
	if err != nil && ctx.Err() == nil {
		r.Log.Debug("the server's stream broke off", "error", err)
	}
	return id, retry, streamEnded
}

// renew opens another session in the place of one that the server has
// forgotten, as after a restart, and tells whether that went well.
func (s *session) renew(ctx context.Context, old string) bool {
	s.renewal.Lock()
	defer s.renewal.Unlock()
	if now := s.current(); now != old {
		return now != "" // another request has done it
	}
	s.mu.Lock()
	hello, ready := s.hello, s.ready
	s.mu.Unlock()
	m, ok := parse(hello)
	if !ok || !s.relay.reopen(ctx, &m) {
		return false
	}
	if ready {
		note, _ := parse([]byte(`{"jsonrpc":"2.0","method":"notifications/initialized"}`))
		s.relay.tell(ctx, &note)
	}
	s.relay.Log.Info("the server has forgotten the session; another one is open")
	return true
}

// close tells the server that the session is over.
func (s *session) close(ctx context.Context) {
	if s.current() == "" {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, s.relay.courtesy())
	defer cancel()
	req, err := s.relay.Server.Request(ctx, http.MethodDelete, s.relay.Path, nil)
	if err != nil {
		return
	}
	s.dress(req, nil)
	res, err := s.relay.Server.Do(req)
	if err != nil {
		return
	}
	res.Body.Close()
}
