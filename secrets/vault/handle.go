package vault

import (
	"strconv"
	"strings"
	"time"
)

// handle is what an account is known by to the room: ACCESSOR, and :PARENT where
// it goes with the pass that it was made by, and @SECONDS/PATH where what is
// drawn has a lease at that path, which begins about then.
type handle struct {
	accessor, parent string
	drawn            string // SECONDS/PATH
}

func (h handle) String() string {
	s := h.accessor
	if h.parent != "" {
		s += ":" + h.parent
	}
	if h.drawn != "" {
		s += "@" + h.drawn
	}
	return s
}

// parseHandle takes the accessor of any token for a handle, too.
func parseHandle(s string) (h handle) {
	s, h.drawn, _ = strings.Cut(s, "@")
	h.accessor, h.parent, _ = strings.Cut(s, ":")
	return h
}

// drawnAt is what a handle says of where an account draws, and when it began.
func drawnAt(d drawing, began time.Time) string {
	if d.role == "" {
		return "" // nothing with a lease
	}
	return strconv.FormatInt(began.Unix(), 10) + "/" + d.path
}

// lease is where and about when the leases of an account began.
func (h handle) lease() (path string, began time.Time, ok bool) {
	at, path, ok := strings.Cut(h.drawn, "/")
	seconds, err := strconv.ParseInt(at, 10, 64)
	return path, time.Unix(seconds, 0), ok && err == nil && isPath(path, maxMount+maxPath)
}
