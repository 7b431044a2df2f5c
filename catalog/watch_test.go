package catalog_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-dev/fairlead/access/accesstest"
	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/catalog/catalogtest"
	"github.com/fairlead-dev/fairlead/catalog/index"
)

func TestWatchTellsWhatIsTouched(t *testing.T) {
	s := catalogtest.NewEmpty(t)
	ctx, cancel := context.WithCancel(t.Context())
	seen := s.WatchFor(ctx, accesstest.As("user:a"), catalog.WatchInput{})
	s.Publish(catalogtest.Changes(t, town()[3], component("{name: web}", "owner: red, dependsOn: ['resource:db']")))
	if got, want := <-seen, []string{"component:default/web", "resource:default/db"}; !slices.Equal(got.Changed, want) || len(got.Removed) > 0 || got.Many {
		t.Errorf("%+v, want %v", got, want)
	}
	s.Publish(catalogtest.Changes(t, town()[3])) // nothing new
	s.Publish([]index.Change{{Ref: "component:default/none"}})
	s.Publish([]index.Change{{Ref: "component:default/web"}}) // takes a relation from the resource
	if got := <-seen; !slices.Equal(got.Removed, []string{"component:default/web"}) || !slices.Equal(got.Changed, []string{"resource:default/db"}) {
		t.Errorf("%+v after the removal", got)
	}
	cancel()
	for range seen { // until it is closed
	}
	s.Publish(catalogtest.Changes(t, town()...))
}

func TestWatchTellsTogetherWhatComesFast(t *testing.T) {
	s := catalogtest.NewEmpty(t)
	seen := s.WatchFor(t.Context(), accesstest.As("user:a"), catalog.WatchInput{})
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 5 {
				s.Publish(catalogtest.Changes(t, component(fmt.Sprintf("{name: c%d-%d}", i, j), "owner: red")))
			}
		})
	}
	got := map[string]bool{}
	for len(got) < 40 {
		for _, r := range (<-seen).Changed {
			got[r] = true
		}
	}
	wg.Wait()
	var docs []string
	for i := range 1_200 {
		docs = append(docs, component(fmt.Sprintf("{name: many%d}", i), "owner: red"))
	}
	s.Publish(catalogtest.Changes(t, docs...))
	if c := <-seen; !c.Many || len(c.Changed)+len(c.Removed) > 0 {
		t.Errorf("%d changes are told as %+v", len(docs), c)
	}
}

// TestWatchForLosesNoRemoval removes an entity while an earlier change is on
// its way to a caller who is slow to take it.
func TestWatchForLosesNoRemoval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := catalogtest.NewEmpty(t)
		s.Publish(catalogtest.Changes(t, component("{name: gone}", "owner: red")))
		ctx, cancel := context.WithCancel(t.Context())
		seen := s.WatchFor(ctx, accesstest.As("user:a"), catalog.WatchInput{})
		for _, name := range []string{"first", "second"} { // one told, one on its way
			s.Publish(catalogtest.Changes(t, component("{name: "+name+"}", "owner: red")))
			synctest.Wait()
		}
		s.Publish([]index.Change{{Ref: "component:default/gone"}})
		synctest.Wait()
		var got []string
		for range 3 {
			select {
			case c := <-seen:
				got = append(append(got, c.Changed...), c.Removed...)
			case <-time.After(time.Minute): // of the test's own clock: nothing more comes
			}
		}
		cancel()
		synctest.Wait()
		if want := []string{"component:default/first", "component:default/second", "component:default/gone"}; !slices.Equal(got, want) {
			t.Errorf("told of %v, want %v", got, want)
		}
	})
}

func TestServiceNeedsAPolicy(t *testing.T) {
	if _, err := catalog.New(catalog.Config{}); err == nil {
		t.Error("a service without a policy is made")
	}
}
