package catalog_test

import (
	"strings"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/access/accesstest"
	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/catalog/catalogtest"
	"github.com/fairlead-dev/fairlead/catalog/entity"
)

// broken is an ingestion whose sources cannot be read any more.
type broken struct{ seen }

func (*broken) Failing(string) bool { return true }

func TestFactsOfAFailingSourceAreStale(t *testing.T) {
	s := catalogtest.NewWith(t, neighbours(), catalogtest.WithIngestion(&broken{}))
	b, err := s.GetServiceBrief(t.Context(), accesstest.As("user:default/alice"), catalog.GetServiceBriefInput{Service: "checkout"})
	if err != nil {
		t.Fatal(err)
	}
	const want = "its repository cannot be read now, it was last read at 2026-01-02T03:04:05Z"
	for name, f := range map[string]*catalog.Fact{"owner": b.Owner, "test": b.Commands.Test, "dependencyOf": &b.DependencyOf[0]} {
		if f.Stale != want {
			t.Errorf("%s: stale is %q", name, f.Stale)
		}
	}
	if n := strings.Count(b.Text(), want); n != 1 {
		t.Errorf("it is said %d times:\n%s", n, b.Text())
	}
}

func TestFactsExpireWithTheAgeOfTheirFile(t *testing.T) {
	for _, c := range []struct {
		changed time.Time
		stale   string
	}{
		{time.Now().AddDate(-1, 0, 0), ""},
		{time.Date(2021, 5, 6, 7, 8, 9, 0, time.UTC), "its file was not changed since 2021-05-06"},
	} {
		changes := catalogtest.Changes(t, neighbours()...)
		for i := range changes {
			h := &entity.History{}
			h.Know(entity.LastChange{At: c.changed})
			changes[i].Record.Entity.From.History = h
		}
		s := catalogtest.NewEmpty(t)
		s.Publish(changes)
		b, err := s.GetServiceBrief(t.Context(), accesstest.As("user:default/alice"), catalog.GetServiceBriefInput{Service: "checkout"})
		if err != nil {
			t.Fatal(err)
		}
		if o := b.Owner; o.Stale != c.stale || o.ExpiresAt == nil || !o.ExpiresAt.Equal(c.changed.Add(2*365*24*time.Hour)) {
			t.Errorf("changed %s: %+v", c.changed, o)
		}
	}
}

// What another team answers for names that team, what is the service's own
// does not.
func TestFactsNameTheOwnersOfOthers(t *testing.T) {
	docs := append(neighbours(), component("{name: ledger}", "owner: money, dependsOn: [\"component:checkout\"]"))
	s := catalogtest.New(t, docs...)
	b, err := s.GetServiceBrief(t.Context(), accesstest.As("user:default/alice"), catalog.GetServiceBriefInput{Service: "checkout"})
	if err != nil {
		t.Fatal(err)
	}
	owners := map[string]string{}
	for _, f := range b.DependencyOf {
		owners[f.Value] = f.Owner
	}
	if owners["component:default/ledger"] != "group:default/money" || owners["component:default/web"] != "" || b.Owner.Owner != "" {
		t.Errorf("owners: %v", owners)
	}
}
