package rest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/access/accesstest"
	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/catalog/catalogtest"
)

// pageOf is a page of n entities.
func pageOf(t testing.TB, n int) *catalog.EntityPage {
	t.Helper()
	var docs strings.Builder
	for i := range n {
		fmt.Fprintf(&docs, "---\nkind: Component\nmetadata: {name: service-%d, description: %q, tags: [a, b, c], annotations: {a/b: c, d/e: f}}\nspec: {type: service, lifecycle: production, owner: payments, dependsOn: [\"component:service-%d\"]}\n", i, strings.Repeat("what it does ", 20), (i+1)%n)
	}
	p, err := catalogtest.New(t, docs.String()).ListEntities(context.Background(), accesstest.As("user:default/olga"), catalog.ListEntitiesInput{})
	if err != nil || len(p.Items) != n {
		t.Fatal(err, len(p.Items))
	}
	return p
}

func TestPagesAreWhatMarshallingMakes(t *testing.T) {
	p := pageOf(t, 300)
	p.PageInfo.NextCursor = "next<>"
	batch := &catalog.EntityBatch{Items: []*catalog.Entity{p.Items[0], nil}}
	up := &catalog.Ancestry{RootEntityRef: "component:default/a", Items: []catalog.AncestryItem{{Entity: p.Items[0], ParentEntityRefs: []string{"a", "b"}}, {Entity: p.Items[1], ParentEntityRefs: []string{}}}}
	for _, v := range []any{p, batch, up, p.Items[3], p.Items, []*catalog.Entity{}} {
		w := httptest.NewRecorder()
		s := &sink{w: w, status: http.StatusOK}
		if err := s.put(v); err != nil {
			t.Fatal(err)
		}
		s.finish()
		want, err := marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		if got := w.Body.Bytes(); !bytes.Equal(got, want) {
			t.Errorf("%T:\n%s\n%s", v, got, want)
		}
	}
}

// BenchmarkPage shows what serving a page of 500 entities costs: about one
// copy of its bytes.
func BenchmarkPage(b *testing.B) {
	p := pageOf(b, 500)
	b.Run("copied", func(b *testing.B) {
		b.ReportAllocs()
		d, w, r := &door{}, &counter{header: http.Header{}}, httptest.NewRequestWithContext(b.Context(), http.MethodGet, "/", nil)
		for b.Loop() {
			w.n = 0
			d.give(w, r, nativeErrors, answer{value: p})
			b.SetBytes(w.n)
		}
	})
	b.Run("marshalled", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			body, err := json.Marshal(p)
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(body)))
		}
	})
}

// counter counts what is written to it.
type counter struct {
	header http.Header
	n      int64
}

func (c *counter) Header() http.Header         { return c.header }
func (c *counter) WriteHeader(int)             {}
func (c *counter) Write(p []byte) (int, error) { c.n += int64(len(p)); return len(p), nil }

func FuzzBinding(f *testing.F) {
	f.Add("limit=5&filter=kind%3Dcomponent", `{"limit":5}`)
	f.Add("query={}", `{"query":{},"orderBy":[{"field":"a"}]}`)
	f.Fuzz(func(t *testing.T, query, body string) { fuzzBinding(t, query, body) })
}
