package vault

import (
	"sync"
	"time"
)

// wrapping is one that this process has made, and when it ends.
type wrapping struct {
	accessor string
	ends     time.Time
}

// wrappings are those of this process by the handles of their accounts: in
// Vault a wrapping outlives the account that drew it, and so does what is in it
// where that has no lease, as secrets of KV have none.
type wrappings struct {
	mu     sync.Mutex
	known  map[string]wrapping
	sweeps int // how many there are when those that have ended go
}

const firstSweep = 256

func newWrappings() *wrappings { return &wrappings{known: map[string]wrapping{}, sweeps: firstSweep} }

func (w *wrappings) add(handle string, one wrapping, now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.known[handle] = one
	if len(w.known) < w.sweeps {
		return
	}
	for handle, one := range w.known {
		if one.ends.Before(now) {
			delete(w.known, handle)
		}
	}
	w.sweeps = max(firstSweep, 2*len(w.known))
}

func (w *wrappings) of(handle string) (wrapping, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	one, there := w.known[handle]
	return one, there
}

func (w *wrappings) remove(handle string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.known, handle)
}
