package app

import (
	"context"
	"maps"
	"sync"
	"time"

	"github.com/fairlead-dev/fairlead/catalog/ingest"
)

// lookAtReplicas is how often it is looked what other replicas have read.
const lookAtReplicas = time.Second

// moves are the revisions of sources that the other replicas have yet to be
// told.
type moves struct {
	mu      sync.Mutex
	untold  map[string]string // by source
	changed chan struct{}
}

func newMoves() *moves { return &moves{untold: map[string]string{}, changed: make(chan struct{}, 1)} }

// add notes where a source is read.
func (m *moves) add(source string, to ingest.Revision) {
	m.mu.Lock()
	m.untold[source] = string(to)
	m.mu.Unlock()
	select {
	case m.changed <- struct{}{}:
	default:
	}
}

// tell gives all of them to others, and keeps what could not be told and is
// not outdated.
func (m *moves) tell(to func(map[string]string) error) error {
	m.mu.Lock()
	told := m.untold
	m.untold = map[string]string{}
	m.mu.Unlock()
	if len(told) == 0 {
		return nil
	}
	err := to(told)
	if err != nil {
		m.mu.Lock()
		defer m.mu.Unlock()
		maps.Copy(told, m.untold)
		m.untold = told
	}
	return err
}

// keepUp tells the other replicas what this one has read, and reads what they
// have: a webhook reaches one of them, and each polls at another time, while a
// page asks any.
func (a *App) keepUp(ctx context.Context) error {
	tick := time.NewTicker(lookAtReplicas)
	defer tick.Stop()
	seen, down := int64(-1), false
	for {
		err := a.catchUp(ctx, &seen)
		if err != nil && !down && ctx.Err() == nil {
			a.telemetry.log.WarnContext(ctx, "it cannot be told what other replicas have read", "error", err)
		}
		down = err != nil
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		case <-a.moves.changed:
		}
	}
}

// catchUp does that once. What was told before this replica began is of no
// interest: it reads everything then.
func (a *App) catchUp(ctx context.Context, seen *int64) (err error) {
	if *seen < 0 {
		if *seen, err = a.store.LastSourceRevision(ctx); err != nil {
			*seen = -1
			return err
		}
	}
	if err := a.moves.tell(func(read map[string]string) error { return a.store.NoteSourceRevisions(ctx, read) }); err != nil {
		return err
	}
	news, err := a.store.SourceRevisionsAfter(ctx, *seen)
	if err != nil {
		return err
	}
	for _, r := range news {
		*seen = r.N
		a.ingester.Behind(r.Source, ingest.Revision(r.Revision))
	}
	return nil
}
