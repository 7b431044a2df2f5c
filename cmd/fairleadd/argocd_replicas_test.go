package main

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/internal/realtest"
	"github.com/fairlead-dev/fairlead/previews"
)

// twoReplicas are two servers over one PostgreSQL, with a gate each and an
// address before both.
func twoReplicas(t *testing.T) (*world, []*gate) {
	t.Helper()
	database := realtest.Postgres(t)
	a := realtest.ArgoCD(t)
	gates := []*gate{newGate(t, a), newGate(t, a)}
	w := newWorldWithout(t, realtest.Web(goodImage))
	front := w.front()
	for _, g := range gates {
		w.serve(settings{server: g.address, state: database, publicURL: front}).awaitReady()
	}
	return w, gates
}

// TestArgoCDPreviewOfTwoReplicas has two servers look after a preview that
// both were asked for.
func TestArgoCDPreviewOfTwoReplicas(t *testing.T) {
	w, gates := twoReplicas(t)
	var wg sync.WaitGroup
	ids := make([]string, 10)
	for i := range ids {
		wg.Go(func() { ids[i] = w.servers[i%2].create(map[string]any{"ttl": "60s", "key": "same"}).ID })
	}
	wg.Wait()
	if len(slices.Compact(slices.Sorted(slices.Values(ids)))) != 1 {
		t.Fatalf("one key made %v", ids)
	}
	most := 0
	id, commit := ids[0], w.repo.Head(t)
	ready := w.servers[0].until(id, "ready", 90*time.Second, func(p previews.Preview) bool {
		most = max(most, len(w.applications()))
		return p.Phase == previews.Ready
	})
	w.holdsReady(ready, commit)
	if other := w.servers[1].get(id); other.Phase != previews.Ready {
		t.Errorf("the other replica has %+v", other)
	}
	// Written before and after its manifests were looked at.
	if n := gates[0].count("Create") + gates[1].count("Create"); n != 2 || most != 1 {
		t.Errorf("it was written %d times, and there were up to %d applications", n, most)
	}
	w.servers[0].until(id, "gone", 3*time.Minute, in(previews.Gone))
	w.nothingLeft()
}

// TestArgoCDPreviewChangesHands kills the replica that has just made a
// preview.
func TestArgoCDPreviewChangesHands(t *testing.T) {
	w, gates := twoReplicas(t)
	dead := make(chan int, 2)
	for i, g := range gates {
		killed := g.arm(after("Create"), w.servers[i].kill9)
		go func() {
			<-killed
			gates[1-i].disarm()
			dead <- i
		}()
	}
	id := w.servers[0].create(map[string]any{"ttl": "4m"}).ID
	var other *fairleadServer
	select {
	case i := <-dead:
		_ = w.servers[i].cmd.Wait() // it was killed
		other = w.servers[1-i]
	case <-time.After(time.Minute):
		t.Fatal("nobody made it")
	}
	other.until(id, "ready", 3*time.Minute, in(previews.Ready))
	w.holdsReady(other.get(id), w.repo.Head(t))
	other.remove(id)
	other.until(id, "gone", 90*time.Second, in(previews.Gone))
	w.nothingLeft()
}
