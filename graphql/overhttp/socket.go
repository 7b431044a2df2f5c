package overhttp

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"reflect"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/fault/beside"
)

const subprotocol = "graphql-transport-ws"

// Close codes of graphql-transport-ws.
const (
	closeBadMessage   websocket.StatusCode = 4400
	closeUnauthorized websocket.StatusCode = 4401
	closeForbidden    websocket.StatusCode = 4403
	closeProtocol     websocket.StatusCode = 4406
	closeInitTimeout  websocket.StatusCode = 4408
	closeDuplicate    websocket.StatusCode = 4409
	closeTooMany      websocket.StatusCode = 4429
)

// reasonEnded is why a connection ends that was let in; "Forbidden" is why one
// is not let in. After both clients may connect again, with another token.
const reasonEnded = "Forbidden: the credential holds no longer, or stands for other groups or roles; connect with a new one"

// SocketLimits bound WebSocket connections. The zero value of a field means
// the default.
type SocketLimits struct {
	// Connections whose callers are known, at one time, 1,000 by default; a
	// further one is closed with 1013, upon which clients try again later.
	Connections int
	// Waiting is how many connections may be open that have not sent
	// connection_init, 256 by default; when more come, the oldest of the
	// address that has most of them is dropped.
	Waiting int
	// WaitingPerAddress is how many of them one address may have, 64 by
	// default; a further one drops its oldest.
	WaitingPerAddress int
	// PerCaller is how many of them one caller may have, 100 by default; a
	// further one is closed with 4429.
	PerCaller int
	// Operations running at one time on a connection, 32 by default.
	Operations int
	// MessageBytes is the size of a message from the client, 128 KiB by
	// default; a larger one ends the connection with 1009.
	MessageBytes int64
	// InitTimeout is how long a client may take to send connection_init, 5 s
	// by default.
	InitTimeout time.Duration
	// KeepAlive is how often a connection is probed, 25 s by default.
	KeepAlive time.Duration
	// Recheck is how often the credential that a connection was let in by is
	// checked again, 5 s by default. One that no longer holds, or stands for a
	// caller with other groups or roles, ends the connection with 4403.
	Recheck time.Duration
	// WriteTimeout is how long a client may take to accept a message, 10 s by
	// default.
	WriteTimeout time.Duration
}

// message is one message of graphql-transport-ws, either way.
type message struct {
	ID      string          `json:"id,omitempty"`
	Type    string          `json:"type"`
	Payload json.RawMessage `json:"payload,omitempty"`
}

// socket is one connection. who and proof are written before the connection
// is acknowledged and only read after.
type socket struct {
	h    *Handler
	conn *websocket.Conn
	r    *http.Request

	inits        int
	acknowledged chan struct{}
	who          access.Caller
	proof        *http.Request // shows what who was let in by
	waiting      *waiter
	leave        func()

	mu      sync.Mutex
	running map[string]*job
	jobs    beside.All
}

func (h *Handler) serveSocket(w http.ResponseWriter, r *http.Request) {
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{subprotocol}, OriginPatterns: h.patterns()})
	if err != nil {
		return // Accept has answered
	}
	defer conn.CloseNow() //nolint:errcheck // closed already in the usual case
	waiting := h.waiting.enter(r.RemoteAddr, or(h.Socket.Waiting, 256), or(h.Socket.WaitingPerAddress, 64), func() { _ = conn.CloseNow() })
	defer h.waiting.leave(waiting)
	if conn.Subprotocol() != subprotocol {
		_ = conn.Close(closeProtocol, "Subprotocol not acceptable")
		return
	}
	conn.SetReadLimit(or(h.Socket.MessageBytes, 128<<10))
	ctx, cancel := context.WithCancel(r.Context())
	s := &socket{h: h, conn: conn, r: r, acknowledged: make(chan struct{}), running: map[string]*job{}, waiting: waiting, leave: func() {}}
	defer func() { s.leave() }()
	s.jobs.Go(func() {
		if !s.logged(ctx, "watching over a connection", func() { s.watch(ctx) }) {
			_ = conn.CloseNow() // nobody would see that it has to end
		}
	})
	s.serve(ctx)
	cancel()
	s.jobs.Wait()
}

// logged does something and tells whether it came to its end; a panic is logged.
func (s *socket) logged(ctx context.Context, doing string, do func()) bool {
	return beside.Logged(ctx, or(s.h.Logger, slog.Default()), doing, do)
}

// serve reads until the connection ends. Reads are not bound to ctx, so that
// the end of the server is told to the client by a close message.
func (s *socket) serve(ctx context.Context) {
	for {
		typ, data, err := s.conn.Read(context.WithoutCancel(ctx))
		if err != nil {
			return
		}
		var m message
		if typ != websocket.MessageText || json.Unmarshal(data, &m) != nil {
			s.close(closeBadMessage, "Invalid message received")
			return
		}
		if !s.handle(ctx, m) {
			return
		}
	}
}

// watch ends the connection when ctx ends, when no connection_init came in
// time, when the client is gone, or when its credential holds no longer.
func (s *socket) watch(ctx context.Context) {
	select {
	case <-s.acknowledged:
	case <-ctx.Done():
		s.close(websocket.StatusGoingAway, "the server is shutting down")
		return
	case <-time.After(or(s.h.Socket.InitTimeout, 5*time.Second)):
		s.close(closeInitTimeout, "Connection initialisation timeout")
		return
	}
	tick := time.NewTicker(or(s.h.Socket.KeepAlive, 25*time.Second))
	defer tick.Stop()
	recheck := time.NewTicker(or(s.h.Socket.Recheck, 5*time.Second))
	defer recheck.Stop()
	for {
		select {
		case <-ctx.Done():
			s.close(websocket.StatusGoingAway, "the server is shutting down")
			return
		case <-recheck.C:
			if !s.holds() {
				s.close(closeForbidden, reasonEnded)
				return
			}
		case <-tick.C:
			if !s.alive(ctx) {
				_ = s.conn.CloseNow()
				return
			}
		}
	}
}

// holds tells whether the credential still stands for the caller that was let
// in, in all that policy looks at. Where that cannot be told it does.
func (s *socket) holds() bool {
	who, err := s.h.Authenticate(s.proof)
	if err != nil {
		return fault.CodeOf(err) != fault.Unauthenticated
	}
	return reflect.DeepEqual(who, s.who)
}

func (s *socket) alive(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), or(s.h.Socket.WriteTimeout, 10*time.Second))
	defer cancel()
	return s.conn.Ping(ctx) == nil
}

// close ends the connection; what went wrong on the way matters to nobody.
func (s *socket) close(code websocket.StatusCode, reason string) { _ = s.conn.Close(code, reason) }

// handle acts on one message and tells whether the connection goes on.
func (s *socket) handle(ctx context.Context, m message) bool {
	switch m.Type {
	case "connection_init":
		return s.init(ctx, m)
	case "ping":
		return s.send(ctx, message{Type: "pong", Payload: m.Payload})
	case "pong":
		return true
	case "subscribe":
		return s.subscribe(ctx, m)
	case "complete":
		s.cancel(m.ID)
		return true
	}
	s.close(closeBadMessage, "Invalid message received")
	return false
}

// init lets the client in by the credential of its payload, else by that of
// the request that opened the connection.
func (s *socket) init(ctx context.Context, m message) bool {
	if s.inits++; s.inits > 1 {
		s.close(closeTooMany, "Too many initialisation requests")
		return false
	}
	s.proof = s.r.Clone(ctx)
	if auth, ok := credential(m.Payload); ok {
		s.proof.Header.Set("Authorization", auth)
	}
	var err error
	if s.who, err = s.h.Authenticate(s.proof); err != nil {
		s.close(closeForbidden, "Forbidden")
		return false
	}
	leave, refused := s.h.shares.take(s.who, or(s.h.Socket.PerCaller, 100), or(s.h.Socket.Connections, 1000))
	if refused != 0 {
		s.close(refused, "Too many connections")
		return false
	}
	s.leave = leave
	s.h.waiting.leave(s.waiting)
	close(s.acknowledged)
	return s.send(ctx, message{Type: "connection_ack"})
}

// credential finds an Authorization header in the payload of
// connection_init: at its top or under headers, in any case.
func credential(payload json.RawMessage) (string, bool) {
	var p map[string]json.RawMessage
	if json.Unmarshal(payload, &p) != nil {
		return "", false
	}
	for _, fields := range []map[string]json.RawMessage{p, nested(p["headers"])} {
		for k, v := range fields {
			var value string
			if http.CanonicalHeaderKey(k) == "Authorization" && json.Unmarshal(v, &value) == nil {
				return value, true
			}
		}
	}
	return "", false
}

func nested(raw json.RawMessage) (m map[string]json.RawMessage) {
	_ = json.Unmarshal(raw, &m) // what is no object holds no header
	return m
}

// send writes a message. A write that ctx could cut short would end the
// connection without a close message.
func (s *socket) send(ctx context.Context, m message) bool {
	data, err := json.Marshal(m)
	if err != nil {
		return false
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), or(s.h.Socket.WriteTimeout, 10*time.Second))
	defer cancel()
	return s.conn.Write(ctx, websocket.MessageText, data) == nil
}
