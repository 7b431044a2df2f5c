package front

import (
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/fairlead-dev/fairlead/access"
)

// How many sessions a caller may have at once, and all of them together. One
// more ends the one used least recently: of the caller's own, or of the caller
// who has the most.
const (
	maxSessions    = 100
	maxAllSessions = 5_000
)

// Sessions are the open sessions of revisions before 2026-07-28, each bound to
// the caller who opened it.
type Sessions struct {
	mu      sync.Mutex
	open    map[string]*session
	byOwner map[string]map[string]*session
	idle    time.Duration
	swept   time.Time
	now     func() time.Time
	ended   func(id string)
}

type session struct {
	id, owner string
	began     time.Time
	used      time.Time
	subs      subscriptions
	questions questions
	// stream is what the session listens to, over tells that it has ended; both
	// are guarded by Sessions.mu.
	stream *listener
	over   bool
}

// listener is a stream that can be ended.
type listener struct{ stop func() }

func newSessions(idle time.Duration) *Sessions {
	return &Sessions{open: map[string]*session{}, byOwner: map[string]map[string]*session{}, idle: idle, now: time.Now}
}

// OwnerOf tells callers apart: the same person by another token or agent is
// another.
func OwnerOf(who access.Caller) string {
	return strings.Join([]string{who.Subject(), who.Agent(), who.Token()}, "\x00")
}

// use gives a session that is open and the owner's, and notes its use; nil if
// there is none.
func (s *Sessions) use(id, owner string) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := s.open[id]
	if at == nil || at.owner != owner || s.stale(at) {
		return nil
	}
	at.used = s.now()
	return at
}

// stale tells whether a session has not been used for too long: one that is
// listened to is in use.
func (s *Sessions) stale(at *session) bool { return at.stream == nil && s.now().Sub(at.used) > s.idle }

// Holds tells whether a session is open and the owner's, and notes its use.
func (s *Sessions) Holds(id, owner string) bool { return s.use(id, owner) != nil }

// Begin opens a session and gives its id. It ends those that are idle or too
// many.
func (s *Sessions) Begin(owner string) string {
	at := &session{id: uuid.NewString(), owner: owner, began: time.Now()}
	s.mu.Lock()
	at.used = s.now()
	ended := s.expire()
	if len(s.byOwner[owner]) >= maxSessions {
		ended = append(ended, s.drop(leastUsed(s.byOwner[owner])))
	} else if len(s.open) >= maxAllSessions {
		ended = append(ended, s.drop(leastUsed(s.largest())))
	}
	if s.byOwner[owner] == nil {
		s.byOwner[owner] = map[string]*session{}
	}
	s.open[at.id], s.byOwner[owner][at.id] = at, at
	s.mu.Unlock()
	for _, id := range ended {
		s.ended(id)
	}
	return at.id
}

// End ends a session.
func (s *Sessions) End(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if at := s.open[id]; at != nil {
		s.drop(at)
	}
}

// Len is how many sessions are open.
func (s *Sessions) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.open)
}

// drop takes a session out. It is called under the lock.
func (s *Sessions) drop(at *session) string {
	at.over = true
	if at.stream != nil {
		at.stream.stop()
	}
	delete(s.open, at.id)
	delete(s.byOwner[at.owner], at.id)
	if len(s.byOwner[at.owner]) == 0 {
		delete(s.byOwner, at.owner)
	}
	return at.id
}

// expire takes out the sessions that are idle, at most once a minute.
func (s *Sessions) expire() (ended []string) {
	now := s.now()
	if now.Sub(s.swept) < min(time.Minute, s.idle) {
		return nil
	}
	s.swept = now
	for at := range maps.Values(s.open) {
		if s.stale(at) {
			ended = append(ended, s.drop(at))
		}
	}
	return ended
}

// leastUsed is the session that was used least recently.
func leastUsed(of map[string]*session) (least *session) {
	for _, at := range of {
		if least == nil || at.used.Before(least.used) {
			least = at
		}
	}
	return least
}

// largest are the sessions of the owner who has the most.
func (s *Sessions) largest() (most map[string]*session) {
	for _, of := range s.byOwner {
		if len(of) > len(most) {
			most = of
		}
	}
	return most
}

// listen makes a stream the session's; the one before it ends. It tells
// whether the session is still open; done is called once the stream has ended.
func (s *Sessions) listen(at *session, stop func()) (done func(), ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if at.over {
		return nil, false
	}
	if at.stream != nil {
		at.stream.stop()
	}
	mine := &listener{stop}
	at.stream = mine
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if at.used = s.now(); at.stream == mine {
			at.stream = nil
		}
	}, true
}
