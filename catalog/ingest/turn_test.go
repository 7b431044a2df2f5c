package ingest_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/fairlead-dev/fairlead/catalog/ingest"
	"github.com/fairlead-dev/fairlead/catalog/ingest/ingesttest"
)

// slow is a source that answers when it is let go.
type slow struct {
	*ingesttest.Memory
	now, most *atomic.Int64
	let       chan struct{}
}

func (s *slow) Observe(ctx context.Context) (ingest.Revision, error) {
	n := s.now.Add(1)
	defer s.now.Add(-1)
	for {
		most := s.most.Load()
		if n <= most || s.most.CompareAndSwap(most, n) {
			break
		}
	}
	select {
	case <-s.let:
	case <-ctx.Done():
		return "", ctx.Err()
	}
	return s.Memory.Observe(ctx)
}

func TestPollsTakeTurnsAndARefreshDoesNotWait(t *testing.T) {
	o, let := &organization{}, make(chan struct{})
	var now, most atomic.Int64
	var all []ingest.Source
	for i := range 200 {
		all = append(all, &slow{Memory: repository(fmt.Sprintf("s%03d", i)), now: &now, most: &most, let: let})
	}
	quick := repository("zz-quick")
	o.set(nil, append(all, quick)...)
	r := run(t, o, &memoryKeeper{kept: map[string]*ingest.Kept{}})
	r.await("polls have taken all turns", func() bool { return now.Load() == 64 })
	if _, err := r.in.Refresh(t.Context(), "zz-quick"); err != nil || !r.has("component:default/zz-quick") {
		t.Errorf("a refresh waited for a turn: %v", err)
	}
	if n := most.Load(); n > 64 {
		t.Errorf("%d sources were read at once", n)
	}
	close(let)
	r.await("all are read in the end", func() bool { return r.has("component:default/s000") && r.has("component:default/s199") })
}
