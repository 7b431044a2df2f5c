package catalog

import (
	"context"
	"maps"
	"slices"
	"sync"
)

// maxPending is how many refs a watcher that does not listen may run up
// before it is told only that much has changed.
const maxPending = 1_000

// Changed tells which entities differ from what was told before.
type Changed struct {
	// Refs are the entities added, changed or removed, sorted.
	Refs []string
	// Many tells that there were too many to name: Refs is then empty and
	// everything may have changed.
	Many bool
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
	wake    chan struct{} // holds one
}

// Watch tells of every change until ctx ends; then the channel is closed.
// Changes that come faster than they are received are told together. It does
// not look at scopes: what may be seen of an entity is for reading it to say.
func (s *Service) Watch(ctx context.Context) <-chan Changed {
	w := &watcher{wake: make(chan struct{}, 1)}
	s.watchers.add(w)
	out := make(chan Changed)
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
			if len(c.Refs) == 0 && !c.Many {
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

func (ws *watchers) tell(refs []string) {
	if len(refs) == 0 {
		return
	}
	ws.mu.Lock()
	defer ws.mu.Unlock()
	for w := range ws.all {
		w.note(refs)
	}
}

// note adds refs to what the watcher is to be told.
func (w *watcher) note(refs []string) {
	w.mu.Lock()
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

func (w *watcher) take() Changed {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := Changed{Many: w.many, Refs: slices.Sorted(maps.Keys(w.pending))}
	w.pending, w.many = nil, false
	return c
}
