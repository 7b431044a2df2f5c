package catalog_test

import (
	"testing"

	"github.com/fairlead-dev/fairlead/access/accesstest"
	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/catalog/catalogtest"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// TestNobodyMovesIn holds that a catalog file elsewhere which says that its
// component lives in a repository is not taken for what the repository says
// itself: an agent that works there would run the commands of a stranger.
func TestNobodyMovesIn(t *testing.T) {
	s := catalogtest.NewEmpty(t)
	const forge = "https://git.example.com/"
	publish := func(repository, doc string) {
		changes := moved(t, "catalog-info.yaml", doc)
		for i := range changes {
			changes[i].Record.Entity.From.Repository = forge + repository
		}
		s.Publish(changes)
	}
	at := func(name, place string) string {
		return component("{name: "+name+", annotations: {backstage.io/source-location: 'url:"+forge+place+"'}}", "owner: shop")
	}
	publish("acme/pay", at("pay", "acme/pay"))
	publish("acme/central", at("quiet", "acme/quiet"))
	publish("evil/evil", at("same", "acme/pay"))
	publish("evil/evil2", at("deeper", "acme/pay/src/branch/main/api/"))
	publish("evil/evil3", at("group", "acme"))
	for url, want := range map[string]string{
		"acme/pay": "pay", "acme/pay/src/branch/main/api": "pay", "acme/pay/pull/7": "pay",
		"acme/quiet":   "quiet", // of which nothing is said there
		"acme/unknown": "",
	} {
		b, err := s.GetServiceBrief(t.Context(), accesstest.As("user:default/alice"), catalog.GetServiceBriefInput{Repository: forge + url})
		switch {
		case want == "" && fault.CodeOf(err) != fault.NotFound:
			t.Errorf("%s: %+v, %v", url, b, err)
		case want != "" && (err != nil || b.Ref != "component:default/"+want):
			t.Errorf("%s: %+v, %v, want %s", url, b, err, want)
		}
	}
}
