package mcp

import (
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/mark3labs/mcp-go/server"

	"github.com/fairlead-dev/fairlead/access"
)

// maxSessions is how many sessions a caller may have at once; opening another
// ends the one that was used least recently.
const maxSessions = 100

// sessions are the open sessions of revisions before 2026-07-28, each bound to
// the caller who opened it.
type sessions struct {
	mu     sync.Mutex
	open   map[string]*session
	idle   time.Duration
	swept  time.Time
	now    func() time.Time
	forget func(id string)
}

type session struct {
	owner string
	used  time.Time
}

// newSessions makes the store; forget frees what the library holds of a
// session that has ended.
func newSessions(idle time.Duration, forget func(id string)) *sessions {
	return &sessions{open: map[string]*session{}, idle: idle, now: time.Now, forget: forget}
}

// ownerOf tells callers apart: the same person by another token or agent is
// another.
func ownerOf(who access.Caller) string {
	return strings.Join([]string{who.Subject(), who.Agent(), who.Token()}, "\x00")
}

// holds tells whether a session is open and the owner's, and notes its use.
func (s *sessions) holds(id, owner string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := s.open[id]
	if at == nil || at.owner != owner || s.now().Sub(at.used) > s.idle {
		return false
	}
	at.used = s.now()
	return true
}

// begin opens a session, and ends those that are idle or too many.
func (s *sessions) begin(owner string) string {
	id := uuid.NewString()
	s.mu.Lock()
	ended := s.expire()
	if over := s.oldest(owner); over != "" {
		delete(s.open, over)
		ended = append(ended, over)
	}
	s.open[id] = &session{owner, s.now()}
	s.mu.Unlock()
	for _, e := range ended {
		s.forget(e)
	}
	return id
}

// expire takes out the sessions that are idle, at most once a minute.
func (s *sessions) expire() (ended []string) {
	now := s.now()
	if now.Sub(s.swept) < min(time.Minute, s.idle) {
		return nil
	}
	s.swept = now
	for id, at := range s.open {
		if now.Sub(at.used) > s.idle {
			delete(s.open, id)
			ended = append(ended, id)
		}
	}
	return ended
}

// oldest is the session of an owner that was used least recently, if they
// have as many as they may.
func (s *sessions) oldest(owner string) (id string) {
	n := 0
	var least time.Time
	for i, at := range s.open {
		if at.owner != owner {
			continue
		}
		if n++; id == "" || at.used.Before(least) {
			id, least = i, at.used
		}
	}
	if n < maxSessions {
		return ""
	}
	return id
}

func (s *sessions) end(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, id)
}

// ResolveSessionIdManager gives the manager for the caller of a request.
func (s *sessions) ResolveSessionIdManager(r *http.Request) server.SessionIdManager {
	owner := ""
	if r != nil {
		owner = ownerOf(requestOf(r.Context()).who)
	}
	return &callersSessions{s, owner}
}

// callersSessions are the sessions of one caller.
type callersSessions struct {
	all   *sessions
	owner string
}

// Generate opens a session.
func (c *callersSessions) Generate() string { return c.all.begin(c.owner) }

// Validate refuses sessions that are not open or another's; none at all is
// well.
func (c *callersSessions) Validate(id string) (bool, error) {
	if id != "" && !c.all.holds(id, c.owner) {
		return false, errors.New("no such session")
	}
	return false, nil
}

// Terminate ends a session.
func (c *callersSessions) Terminate(id string) (bool, error) {
	c.all.end(id)
	return false, nil
}

// nowhere takes an answer that nobody waits for.
type nowhere struct{ header http.Header }

func (n nowhere) Header() http.Header         { return n.header }
func (n nowhere) WriteHeader(int)             {}
func (n nowhere) Write(p []byte) (int, error) { return len(p), nil }
func (n nowhere) Flush()                      {}
func (n nowhere) CanStream() bool             { return false }

// forget makes the library drop what it holds of a session, in the one way
// that it offers.
func (d *door) forget(id string) {
	d.stream.Handle(nowhere{http.Header{}}, &server.HTTPRequest{Method: http.MethodDelete, Header: http.Header{server.HeaderKeySessionID: {id}}})
}
