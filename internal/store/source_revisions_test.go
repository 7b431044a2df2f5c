package store_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/fairlead-dev/fairlead/internal/store"
)

func TestSourceRevisions(t *testing.T) {
	engines(t, func(t *testing.T, dsn func(testing.TB) string) {
		name := dsn(t)
		one, other := open(t, name), open(t, name) // two replicas
		after := func(n int64) []store.SourceRevision {
			t.Helper()
			all, err := other.SourceRevisionsAfter(t.Context(), n)
			if err != nil {
				t.Fatal(err)
			}
			return all
		}
		last := func() int64 {
			t.Helper()
			n, err := other.LastSourceRevision(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		note := func(by *store.Store, read map[string]string) {
			t.Helper()
			if err := by.NoteSourceRevisions(t.Context(), read); err != nil {
				t.Fatal(err)
			}
		}
		if got := after(0); len(got) != 0 || last() != 0 {
			t.Errorf("a new database holds %v", got)
		}
		note(one, map[string]string{"b": "1", "a": "1"})
		note(other, map[string]string{"a": "2"})
		if got := fmt.Sprint(after(0)); got != "[{b 1 1} {a 2 2}]" || last() != 2 {
			t.Errorf("%s, and the last is %d", got, last())
		}
		if got := fmt.Sprint(after(1)); got != "[{a 2 2}]" || len(after(2)) != 0 {
			t.Errorf("since the first: %s", got)
		}
	})
}

// TestSourceRevisionsAtOnce has replicas write at once while one looks: none
// comes with a number that was passed already.
func TestSourceRevisionsAtOnce(t *testing.T) {
	engines(t, func(t *testing.T, dsn func(testing.TB) string) {
		name := dsn(t)
		reader := open(t, name)
		var writers sync.WaitGroup
		for i := range 3 {
			by := open(t, name)
			writers.Go(func() {
				for j := range 20 {
					if err := by.NoteSourceRevisions(t.Context(), map[string]string{fmt.Sprintf("s%d-%d", i, j): "x"}); err != nil {
						t.Error(err)
					}
				}
			})
		}
		ended := make(chan struct{})
		go func() { writers.Wait(); close(ended) }()
		var seen []string
		for n, more := int64(0), true; more; {
			select {
			case <-ended:
				more = false // one look more
			default:
			}
			news, err := reader.SourceRevisionsAfter(t.Context(), n)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range news {
				n, seen = r.N, append(seen, r.Source)
			}
		}
		if slices.Sort(seen); len(slices.Compact(seen)) != 60 {
			t.Errorf("%d of 60 were seen: %v", len(seen), seen)
		}
	})
}
