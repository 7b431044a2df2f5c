package entity

import (
	"sync/atomic"
	"time"
)

// LastChange is the newest commit that changed a file.
type LastChange struct {
	// Commit is the full commit id.
	Commit string
	// At is the author time of the commit, in UTC.
	At time.Time
}

// History is what is known of when a file was changed last. Finding that out
// takes a look at the repository's history, so it may become known, or cease
// to be certain, after entities of the file have been handed out; it is the
// one thing of an Entity that changes. A nil History never knows. It is safe
// for concurrent use.
type History struct{ last atomic.Pointer[LastChange] }

// Last is the last change; false while that is not known for certain.
func (h *History) Last() (LastChange, bool) {
	if h == nil {
		return LastChange{}, false
	}
	c := h.last.Load()
	if c == nil {
		return LastChange{}, false
	}
	return *c, true
}

// Know makes a last change known.
func (h *History) Know(c LastChange) { h.last.Store(&c) }

// Doubt makes the last change unknown.
func (h *History) Doubt() { h.last.Store(nil) }
