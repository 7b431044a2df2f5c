package overhttp

import (
	"strings"
	"sync"

	"github.com/fairlead-dev/fairlead/access"
)

// shares counts the connections of each caller, so that none takes them all.
type shares struct {
	mu   sync.Mutex
	held map[string]int
}

// take counts one more of a caller's connections, unless there are limit
// already; leave is to be called when it ends.
func (s *shares) take(who access.Caller, limit int) (leave func(), ok bool) {
	key := strings.Join([]string{who.Subject(), who.Agent(), who.Token()}, "\x00")
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held[key] >= limit {
		return func() {}, false
	}
	if s.held == nil {
		s.held = map[string]int{}
	}
	s.held[key]++
	return func() { s.leave(key) }, true
}

func (s *shares) leave(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held[key]--; s.held[key] <= 0 {
		delete(s.held, key)
	}
}
