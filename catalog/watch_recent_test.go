package catalog_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/access/accesstest"
	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/catalog/catalogtest"
	"github.com/fairlead-dev/fairlead/catalog/index"
)

// firstOf is what a caller is told who begins to watch now, and knows what was
// there a while ago; nothing where nothing is told at once.
func firstOf(t *testing.T, s *catalog.Service, who access.Caller, which catalog.WatchInput) (c catalog.Changes) {
	t.Helper()
	seen := s.WatchFor(t.Context(), who, which)
	synctest.Wait()
	select {
	case c = <-seen:
	default:
	}
	return c
}

// TestWatchForTellsWhatCameBefore: who has read the catalog a while ago is told
// at once of what has changed since, and of no more.
func TestWatchForTellsWhatCameBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := catalogtest.NewEmpty(t)
		who := accesstest.As("user:a")
		time.Sleep(time.Hour)
		s.Publish(catalogtest.Changes(t, groups("old", "going")))
		time.Sleep(time.Minute)
		s.Publish(catalogtest.Changes(t, groups("fresh", "passing")))
		time.Sleep(time.Minute)
		s.Publish([]index.Change{{Ref: "group:default/going"}, {Ref: "group:default/passing"}})
		time.Sleep(time.Second)
		minute := catalog.Changes{Changed: []string{}, Removed: []string{"group:default/going", "group:default/passing"}}
		for _, c := range []struct {
			recent time.Duration
			kinds  []string
			want   catalog.Changes
		}{
			{0, nil, catalog.Changes{}},
			{time.Second / 2, nil, catalog.Changes{}},
			{10 * time.Second, nil, minute},
			{10 * time.Second, []string{"component"}, catalog.Changes{}},
			{90 * time.Second, nil, catalog.Changes{Changed: []string{"group:default/fresh"}, Added: []string{"group:default/fresh"}, Removed: minute.Removed}},
			{2 * time.Hour, nil, catalog.Changes{Many: true}}, // before the server was
		} {
			if d := cmp.Diff(c.want, firstOf(t, s, who, catalog.WatchInput{Kinds: c.kinds, Recent: c.recent})); d != "" {
				t.Errorf("of the last %v of %v: %s", c.recent, c.kinds, d)
			}
		}
	})
}

// TestWatchForGoesOnFromWhatCameBefore: what changes while the first event is on
// its way is told as well, also of what came before.
func TestWatchForGoesOnFromWhatCameBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := catalogtest.NewEmpty(t)
		time.Sleep(time.Hour)
		s.Publish(catalogtest.Changes(t, groups("brief", "fresh")))
		seen := s.WatchFor(t.Context(), accesstest.As("user:a"), catalog.WatchInput{Recent: time.Second})
		s.Publish([]index.Change{{Ref: "group:default/brief"}})
		got := map[string]bool{}
		for !got["-group:default/brief"] {
			c := <-seen
			for _, ref := range c.Changed {
				got[ref] = true
			}
			for _, ref := range c.Removed {
				got["-"+ref] = true
			}
		}
		if !got["group:default/fresh"] {
			t.Errorf("told of %v", got)
		}
	})
}

// TestWatchForTellsOfTheRecentInScope: of what came before, each is told what
// they could see, also of what is out of their sight now.
func TestWatchForTellsOfTheRecentInScope(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		policy := accesstest.Policy(t, `rules:
  - {name: all, effect: allow, who: {roles: [reader]}, actions: [catalog.read]}
  - {name: some, effect: allow, who: {roles: [guest]}, actions: [catalog.read], on: {tags: [open]}}
`)
		s := catalogtest.NewEmpty(t, catalogtest.WithPolicy(policy))
		time.Sleep(time.Hour)
		tagged := func(name, tag string) string {
			return component(fmt.Sprintf("{name: %s, tags: [%s]}", name, tag), "owner: red")
		}
		s.Publish(catalogtest.Changes(t, tagged("closing", "open"), tagged("hidden", "secret"), tagged("gone", "open")))
		time.Sleep(time.Minute)
		s.Publish(append(catalogtest.Changes(t, tagged("closing", "secret"), tagged("hidden", "secrets")), index.Change{Ref: "component:default/gone"}))
		which := catalog.WatchInput{Recent: time.Second}
		closing, gone, hidden := "component:default/closing", "component:default/gone", "component:default/hidden"
		for role, want := range map[string]catalog.Changes{
			"reader": {Changed: []string{closing, hidden}, Removed: []string{gone}},
			"guest":  {Changed: []string{}, Removed: []string{closing, gone}},
			"nobody": {},
		} {
			if d := cmp.Diff(want, firstOf(t, s, accesstest.As("user:"+role, accesstest.Roles(role)), which)); d != "" {
				t.Errorf("%s: %s", role, d)
			}
		}
	})
}

// TestWatchForRemembersNoMoreThanItMay: where more has changed than is
// remembered, anything may have.
func TestWatchForRemembersNoMoreThanItMay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := catalogtest.NewEmpty(t)
		who := accesstest.As("user:a")
		time.Sleep(time.Hour)
		for i := range 1_001 {
			s.Publish(catalogtest.Changes(t, groups(fmt.Sprintf("g%d", i))))
			time.Sleep(time.Second)
		}
		for recent, many := range map[time.Duration]bool{1_000*time.Second + time.Millisecond: false, 1_002 * time.Second: true} {
			if c := firstOf(t, s, who, catalog.WatchInput{Recent: recent}); c.Many != many || !many && len(c.Added) != 1_000 {
				t.Errorf("the last %v: %d added, many %v", recent, len(c.Added), c.Many)
			}
		}
		names := make([]string, 1_001)
		for i := range names {
			names[i] = fmt.Sprintf("many%d", i)
		}
		s.Publish(catalogtest.Changes(t, groups(names...)))
		time.Sleep(time.Minute)
		if c := firstOf(t, s, who, catalog.WatchInput{Recent: 2 * time.Minute}); !c.Many {
			t.Errorf("of many at once is told %+v", c)
		}
		if c := firstOf(t, s, who, catalog.WatchInput{Recent: time.Second}); c.Many || len(c.Changed) > 0 {
			t.Errorf("of many a minute ago is told %+v", c)
		}
	})
}
