package catalog

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/fairlead-dev/fairlead/catalog/index"
	"github.com/fairlead-dev/fairlead/internal/fault/beside"
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
	// before is the catalog that was told of last, and at the one with the
	// changes and with no later ones.
	before, at *index.Snapshot
	// was is what entities were in changes that came before the watcher did.
	was past
}

// watchers are those who want to know of changes.
type watchers struct {
	mu     sync.Mutex
	all    map[*watcher]struct{}
	at     *index.Snapshot // of which was told
	recent recent
}

// watcher is one of them, with what it has not been told yet.
type watcher struct {
	mu         sync.Mutex
	pending    map[string]struct{}
	many       bool
	before, at *index.Snapshot
	was        past
	wake       chan struct{} // holds one
}

// watch tells of every change until ctx ends, from what has changed in a time
// before on; then the channel is closed. Changes that come faster than they are
// received are told together. It does not look at scopes.
func (s *Service) watch(ctx context.Context, before time.Duration) <-chan touched {
	w := &watcher{wake: make(chan struct{}, 1)}
	s.watchers.add(w, before)
	out := make(chan touched)
	beside.Go(ctx, slog.Default(), "telling of changes of the catalog", func() {
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
	})
	return out
}

func (ws *watchers) add(w *watcher, before time.Duration) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if ws.all == nil {
		ws.all = map[*watcher]struct{}{}
	}
	ws.all[w] = struct{}{}
	w.before, w.at = ws.at, ws.at
	if w.was, w.many = ws.recent.within(before); w.many || len(w.was) > 0 {
		w.note(ws.at, slices.Collect(maps.Keys(w.was)))
	}
}

func (ws *watchers) remove(w *watcher) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	delete(ws.all, w)
}

func (ws *watchers) tell(next *index.Snapshot) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	before, refs := ws.at, next.Touched()
	ws.at = next
	if len(refs) == 0 {
		return
	}
	ws.recent.add(refs, before)
	for w := range ws.all {
		w.note(next, refs)
	}
}

// note adds what has changed until a snapshot to what the watcher is to be told.
func (w *watcher) note(next *index.Snapshot, refs []string) {
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
	c := touched{many: w.many, refs: slices.Sorted(maps.Keys(w.pending)), before: w.before, at: w.at, was: w.was}
	w.pending, w.many, w.before, w.was = nil, false, w.at, nil
	return c
}
