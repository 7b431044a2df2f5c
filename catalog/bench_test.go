package catalog_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/access/accesstest"
	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/catalog/catalogtest"
)

// BenchmarkService asks what doors ask, as one who may read everything and as
// one who may read a half.
func BenchmarkService(b *testing.B) {
	half := `rules: [{name: half, effect: allow, who: {subjects: ["*"]}, actions: [catalog.read], on: {owners: ["group:default/t1", "group:default/t3", "group:default/t5"]}}]`
	var docs []string
	for i := range 4_000 {
		docs = append(docs, component(fmt.Sprintf("{name: c%d, title: Component %d, description: Does the work of %d, tags: [t%d]}", i, i, i, i%9), fmt.Sprintf("owner: t%d", i%6)))
	}
	for who, policy := range map[string]*access.Policy{"all": access.DefaultPolicy(), "half": accesstest.Policy(b, half)} {
		s := catalogtest.NewWith(b, docs, catalogtest.WithPolicy(policy))
		ctx, limit := b.Context(), 20
		for name, ask := range map[string]func() (any, error){
			"get": func() (any, error) {
				return s.GetEntity(ctx, alice, catalog.GetEntityInput{Ref: "component:default/c1"})
			},
			"page": func() (any, error) {
				return s.ListEntities(ctx, alice, catalog.ListEntitiesInput{Filter: []string{"kind=component,spec.type=service"}, Limit: &limit})
			},
			"search": func() (any, error) {
				return s.SearchCatalog(ctx, alice, catalog.SearchCatalogInput{Query: "component work"})
			},
			"facets": func() (any, error) {
				return s.ListFacets(ctx, alice, catalog.ListFacetsInput{Facets: []string{"kind", "spec.owner"}})
			},
		} {
			b.Run(who+"/"+name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					out, err := ask()
					if err != nil {
						b.Fatal(err)
					}
					if _, err := json.Marshal(out); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
