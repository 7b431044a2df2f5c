package catalog_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fairlead-dev/fairlead/access/accesstest"
	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/catalog/catalogtest"
	"github.com/fairlead-dev/fairlead/catalog/index"
)

func groups(names ...string) string {
	var b strings.Builder
	for _, n := range names {
		fmt.Fprintf(&b, "---\napiVersion: backstage.io/v1alpha1\nkind: Group\nmetadata: {name: %s}\nspec: {type: team, children: []}\n", n)
	}
	return b.String()
}

// TestWatchFor tells each caller of what they may see, of the kinds asked for,
// and of what they can see no more.
func TestWatchFor(t *testing.T) {
	policy := accesstest.Policy(t, `rules:
  - {name: all, effect: allow, who: {roles: [reader]}, actions: [catalog.read]}
  - {name: some, effect: allow, who: {roles: [guest]}, actions: [catalog.read], on: {refs: ["group:default/open"]}}
`)
	s := catalogtest.NewWith(t, []string{groups("open", "closed")}, catalogtest.WithPolicy(policy))
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	reader := s.WatchFor(ctx, accesstest.As("user:a", accesstest.Roles("reader")), catalog.WatchInput{})
	guest := s.WatchFor(ctx, accesstest.As("user:b", accesstest.Roles("guest")), catalog.WatchInput{})
	apis := s.WatchFor(ctx, accesstest.As("user:c", accesstest.Roles("reader")), catalog.WatchInput{Kinds: []string{"API", "user"}})
	s.Publish(append(catalogtest.Changes(t, groups("fresh")), index.Change{Ref: "group:default/open"}, index.Change{Ref: "group:default/closed"}))
	if d := cmp.Diff(catalog.Changes{Changed: []string{"group:default/fresh"}, Added: []string{"group:default/fresh"}, Removed: []string{"group:default/closed", "group:default/open"}}, <-reader); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(catalog.Changes{Changed: []string{}, Removed: []string{"group:default/open"}}, <-guest); d != "" {
		t.Error(d)
	}
	s.Publish(catalogtest.Changes(t, "apiVersion: backstage.io/v1alpha1\nkind: User\nmetadata: {name: zoe}\nspec: {memberOf: []}\n"))
	if d := cmp.Diff(catalog.Changes{Changed: []string{"user:default/zoe"}, Added: []string{"user:default/zoe"}, Removed: []string{}}, <-apis); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(catalog.Changes{Changed: []string{"user:default/zoe"}, Added: []string{"user:default/zoe"}, Removed: []string{}}, <-reader); d != "" {
		t.Error(d)
	}
	cancel()
	if _, more := <-guest; more {
		t.Error("a change was told after the end")
	}
}

// TestWatchForMany tells that much has changed, but not to those who may see
// nothing.
func TestWatchForMany(t *testing.T) {
	policy := accesstest.Policy(t, `rules: [{name: all, effect: allow, who: {roles: [reader]}, actions: [catalog.read]}]`)
	s := catalogtest.NewEmpty(t, catalogtest.WithPolicy(policy))
	ctx, cancel := context.WithCancel(context.Background())
	reader := s.WatchFor(ctx, accesstest.As("user:a", accesstest.Roles("reader")), catalog.WatchInput{})
	nobody := s.WatchFor(ctx, accesstest.As("user:b"), catalog.WatchInput{})
	names := make([]string, 1001)
	for i := range names {
		names[i] = fmt.Sprintf("g%d", i)
	}
	s.Publish(catalogtest.Changes(t, groups(names...)))
	if c := <-reader; !c.Many || len(c.Changed)+len(c.Removed) > 0 {
		t.Errorf("got %+v", c)
	}
	cancel()
	if c, more := <-nobody; more {
		t.Errorf("nobody was told %+v", c)
	}
}
