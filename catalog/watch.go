package catalog

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/fairlead-dev/fairlead/catalog/index"
)

// maxPending is how many refs a watcher that does not listen may run up
// before it is told only that much has changed.
const maxPending = 1_000

// touched tells which entities differ from what was told before.
type touched struct {
	// refs are the entities added, changed or removed, sorted.
	refs []string
	// many tells that there were too many to name: refs is then empty and
	// everything may have changed.
	many bool
	// at is the catalog with the changes and with no later ones.
	at *index.Snapshot
}

// watchers are those who want to know of changes.
type watchers struct {
	mu  sync.Mutex
	all map[*watcher]struct{}
}

// watcher is one of them, with what it has not been told yet.
type watcher struct {
	mu      sync.Mutex
	pending map[string]struct{}
	many    bool
	at      *index.Snapshot
	wake    chan struct{} // holds one
}

// watch tells of every change until ctx ends; then the channel is closed.
// Changes that come faster than they are received are told together. It does
// not look at scopes.
func (s *Service) watch(ctx context.Context) <-chan touched {
	w := &watcher{wake: make(chan struct{}, 1)}
	s.watchers.add(w)
	out := make(chan touched)
	go func() {
		defer close(out)
		defer s.watchers.remove(w)
		for {
			select {
			case <-ctx.Done():
				return
			case <-w.wake:
			}
			c := w.take()
			if len(c.refs) == 0 && !c.many {
				continue // it was told with the change before
			}
			select {
			case <-ctx.Done():
				return
			case out <- c:
			}
		}
	}()
	return out
}

func (ws *watchers) add(w *watcher) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if ws.all == nil {
		ws.all = map[*watcher]struct{}{}
	}
	ws.all[w] = struct{}{}
}

func (ws *watchers) remove(w *watcher) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	delete(ws.all, w)
}

func (ws *watchers) tell(next *index.Snapshot) {
	if len(next.Touched()) == 0 {
		return
	}
	ws.mu.Lock()
	defer ws.mu.Unlock()
	for w := range ws.all {
		w.note(next)
	}
}

// note adds what a snapshot changes to what the watcher is to be told.
func (w *watcher) note(next *index.Snapshot) {
	refs := next.Touched()
	w.mu.Lock()
	w.at = next
	if w.pending == nil {
		w.pending = map[string]struct{}{}
	}
	if w.many = w.many || len(w.pending)+len(refs) > maxPending; w.many {
		w.pending = map[string]struct{}{}
	} else {
		for _, r := range refs {
			w.pending[r] = struct{}{}
		}
	}
	w.mu.Unlock()
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

func (w *watcher) take() touched {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := touched{many: w.many, refs: slices.Sorted(maps.Keys(w.pending)), at: w.at}
	w.pending, w.many, w.at = nil, false, nil
	return c
}
