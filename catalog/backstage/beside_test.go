package backstage_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/catalog/descriptor"
	"github.com/fairlead-dev/fairlead/catalog/entity"
	"github.com/fairlead-dev/fairlead/catalog/index"
	"github.com/fairlead-dev/fairlead/catalog/ingest"
)

const shop = `
kind: Group
metadata: {name: team-a, annotations: {backstage.io/view-url: "https://git.example.com/acme/org/src/org.yaml"}}
spec: {type: team, children: [], members: [ann]}
---
kind: User
metadata: {name: ann}
spec: {memberOf: [team-a]}
---
kind: Component
metadata: {name: Checkout, namespace: shop, title: "caf\u00e9 \u0085 \u2028 \U0001F600 \"x\"", labels: {n: "1"}}
spec: {type: service, lifecycle: production, owner: group:default/team-a, providesApis: [pay], weights: [1, 0.5, 1e21, true, null, "1", "yes", "null"]}
---
kind: API
metadata: {name: pay, namespace: shop}
spec: {type: openapi, lifecycle: production, owner: group:default/team-a, definition: "openapi: 3.0.0\ninfo:\n  title: x\n\ttab\n"}
---
kind: Location
metadata: {name: elsewhere}
spec: {type: url, targets: [./never.yaml]}
`

// ingested is what a Fairlead beside the door makes of it.
func ingested(t *testing.T, src ingest.Source) map[string]*index.Record {
	t.Helper()
	out := map[string]*index.Record{}
	var mu sync.Mutex
	ctx, cancel := context.WithCancel(t.Context())
	in := ingest.New(ingest.Config{
		Observe: func(_ context.Context, _ string, _ time.Duration, _ int, err error) {
			if err != nil {
				t.Error(err)
			}
		},
		Processor: descriptor.New(descriptor.Options{}), Sources: []ingest.Source{src}, Settled: cancel,
		Publish: func(changes []index.Change) {
			mu.Lock()
			defer mu.Unlock()
			for _, c := range changes {
				out[c.Ref] = c.Record
			}
		},
	})
	if err := in.Run(ctx); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestBesideAnother(t *testing.T) {
	d := newDoor(t, shop)
	src := d.source()
	got := ingested(t, src)
	var refs []string
	for ref := range got {
		refs = append(refs, ref)
	}
	slices.Sort(refs)
	if want := []string{"api:shop/pay", "component:shop/checkout", "group:default/team-a", "user:default/ann"}; !slices.Equal(refs, want) {
		t.Fatalf("got %q, want %q", refs, want)
	}
	checkout := got["component:shop/checkout"]
	root := checkout.Entity.Root
	page := d.url + "/api/catalog/entities/by-name/component/shop/checkout"
	notes := root.Object("metadata").Object("annotations")
	for _, key := range []string{"managed-by-location", "managed-by-origin-location"} {
		if got := notes.String("backstage.io/" + key); got != "url:"+page {
			t.Errorf("%s is %s", key, got)
		}
	}
	if got := root.Object("metadata").String("name"); got != "Checkout" {
		t.Errorf("the name became %q", got)
	}
	if got := root.Object("metadata").String("title"); got != "caf\u00e9 \u0085 \u2028 \U0001F600 \"x\"" {
		t.Errorf("the title became %q", got)
	}
	weights := string(entity.AppendJSON(nil, root.Object("spec").List("weights")))
	if weights != `[1,0.5,1e+21,true,null,"1","yes","null"]` {
		t.Errorf("the weights became %s", weights)
	}
	if def := got["api:shop/pay"].Entity.Root.Object("spec").String("definition"); def != "openapi: 3.0.0\ninfo:\n  title: x\n\ttab\n" {
		t.Errorf("the definition became %q", def)
	}
	if !slices.ContainsFunc(checkout.Edges, func(e entity.Edge) bool { return strings.Contains(fmt.Sprint(e), "api:shop/pay") }) {
		t.Errorf("edges: %v", checkout.Edges)
	}
	view := got["group:default/team-a"].Entity.Root.Object("metadata").Object("annotations").String("backstage.io/view-url")
	if view != "https://git.example.com/acme/org/src/org.yaml" {
		t.Errorf("the author's view-url became %q", view)
	}
}

func TestOnlyWhatChangedIsFetched(t *testing.T) {
	var docs []string
	for i := range 1203 {
		docs = append(docs, component(fmt.Sprintf("c%04d", i), "old"))
	}
	d := newDoor(t, docs...)
	src := d.source()
	first := readAll(t, src, "")
	if n := len(d.asked()); n != len(docs) {
		t.Fatalf("%d entities were asked for, want each once: %d", n, len(docs))
	}
	docs[7], docs[1100] = component("c0007", "new"), component("c1100", "new")
	d.serve(docs[:1200]...)
	readAll(t, src, first)
	if got := d.asked(); !slices.Equal(got, []string{"component:default/c0007", "component:default/c1100"}) {
		t.Errorf("asked for %q", got)
	}
}

// readAll reads what changed since a revision, and gives the one read.
func readAll(t *testing.T, src ingest.Source, since ingest.Revision) ingest.Revision {
	t.Helper()
	rev, err := src.Observe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	tree, err := src.Open(t.Context(), rev)
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	changes, incremental, err := tree.Changes(t.Context(), since)
	if err != nil || incremental != (since != "") {
		t.Fatalf("incremental %v, %v", incremental, err)
	}
	var wg sync.WaitGroup
	for part := range slices.Chunk(changes, 100) {
		wg.Go(func() {
			for _, c := range part {
				if c.Gone {
					continue
				}
				if _, err := tree.Read(t.Context(), c.Path); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	return rev
}
