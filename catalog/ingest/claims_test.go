package ingest

import (
	"fmt"
	"sync"
	"testing"

	"github.com/fairlead-dev/fairlead/catalog/entity"
	"github.com/fairlead-dev/fairlead/catalog/index"
)

func claimOf(s *source, ref string) []holding {
	return []holding{{{source: s, path: ref, doc: &Document{Ref: ref, Entity: &entity.Entity{}}}}}
}

// What many sources say while something is being published is published
// together, and each returns when its own is.
func TestChangesArePublishedTogether(t *testing.T) {
	c, s := newClaims(), newKept(rank{}, Description{})
	var mu sync.Mutex
	shown := map[string]bool{}
	publications := 0
	begun, let := make(chan struct{}), make(chan struct{})
	publish := func(changes []index.Change) {
		if publications++; publications == 1 {
			close(begun)
			<-let
		}
		mu.Lock()
		defer mu.Unlock()
		for _, ch := range changes {
			shown[ch.Ref] = true
		}
	}
	say := func(ref string) {
		if n := c.replace(nil, claimOf(s, ref), publish); n != 1 {
			t.Errorf("%s: %d changes", ref, n)
		}
		mu.Lock()
		defer mu.Unlock()
		if !shown[ref] {
			t.Errorf("%s is not shown on return", ref)
		}
	}
	var wg sync.WaitGroup
	wg.Go(func() { say("component:default/first") })
	<-begun
	var pending sync.WaitGroup
	for i := range 20 {
		ref := fmt.Sprintf("component:default/c%d", i)
		pending.Add(1)
		wg.Go(func() {
			c.exchange(nil, claimOf(s, ref))
			pending.Done()
			c.publish(publish)
			mu.Lock()
			defer mu.Unlock()
			if !shown[ref] {
				t.Errorf("%s is not shown on return", ref)
			}
		})
	}
	pending.Wait()
	close(let)
	wg.Wait()
	if publications != 2 {
		t.Errorf("there were %d publications", publications)
	}
}
