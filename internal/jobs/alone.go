package jobs

import (
	"time"

	"github.com/riverqueue/river/riverdriver"
)

// fetchPause is the least time between two looks, also where somebody tells of
// tasks. Between replicas what is told of sooner than that after another is not
// told at all, so it is short there.
const fetchPause, fetchPauseBetween = 20 * time.Millisecond, time.Millisecond

// alone is a driver of a database that no other process works on. River tells
// of new tasks within the process then; else it would look for notices in the
// database twenty times a second.
type alone[TTx any] struct{ riverdriver.Driver[TTx] }

// pause is the least time between two looks for tasks.
func pause[TTx any](driver riverdriver.Driver[TTx]) time.Duration {
	if driver.SupportsListener() {
		return fetchPauseBetween
	}
	return fetchPause
}

// SupportsListener is false.
func (alone[TTx]) SupportsListener() bool { return false }

// SupportsListenNotify is false.
func (alone[TTx]) SupportsListenNotify() bool { return false }
