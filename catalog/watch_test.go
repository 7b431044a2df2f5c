package catalog_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/catalog/catalogtest"
	"github.com/fairlead-dev/fairlead/catalog/index"
)

func TestWatchTellsWhatIsTouched(t *testing.T) {
	s := catalogtest.NewEmpty(t)
	ctx, cancel := context.WithCancel(t.Context())
	seen := s.Watch(ctx)
	s.Publish(catalogtest.Changes(t, town()[3], component("{name: web}", "owner: red, dependsOn: ['resource:db']")))
	if got, want := <-seen, []string{"component:default/web", "resource:default/db"}; !slices.Equal(got.Refs, want) || got.Many {
		t.Errorf("%+v, want %v", got, want)
	}
	s.Publish(catalogtest.Changes(t, town()[3])) // nothing new
	s.Publish([]index.Change{{Ref: "component:default/none"}})
	s.Publish([]index.Change{{Ref: "component:default/web"}}) // takes a relation from the resource
	if got, want := <-seen, []string{"component:default/web", "resource:default/db"}; !slices.Equal(got.Refs, want) {
		t.Errorf("%+v, want %v", got, want)
	}
	cancel()
	for range seen { // until it is closed
	}
	s.Publish(catalogtest.Changes(t, town()...))
}

func TestWatchTellsTogetherWhatComesFast(t *testing.T) {
	s := catalogtest.NewEmpty(t)
	seen := s.Watch(t.Context())
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
		for _, r := range (<-seen).Refs {
			got[r] = true
		}
	}
	wg.Wait()
	var docs []string
	for i := range 1_200 {
		docs = append(docs, component(fmt.Sprintf("{name: many%d}", i), "owner: red"))
	}
	s.Publish(catalogtest.Changes(t, docs...))
	if c := <-seen; !c.Many || len(c.Refs) > 0 {
		t.Errorf("%d changes are told as %+v", len(docs), c)
	}
}

func TestServiceNeedsAPolicy(t *testing.T) {
	if _, err := catalog.New(catalog.Config{}); err == nil {
		t.Error("a service without a policy is made")
	}
}
