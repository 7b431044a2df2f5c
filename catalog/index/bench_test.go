package index

import (
	"fmt"
	"runtime"
	"slices"
	"testing"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/access/accesstest"
)

// everything is a scope that holds all.
func everything() access.Scope {
	return accesstest.OpenPolicy().Scope(accesstest.As("user:default/alice"), access.ReadCatalog)
}

func limit(n int) Window { return Window{Limit: n, Count: true} }

func where(tb testing.TB, filter ...string) *Predicate {
	tb.Helper()
	p, err := ParseFilter(filter)
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

func BenchmarkRead(b *testing.B) {
	s := Empty().Apply(generate(10_000))
	all := everything()
	refs := make([]string, 0, 100)
	s.ids.Scan(func(ref string, id uint32) bool {
		if id%180 == 0 {
			refs = append(refs, ref)
		}
		return true
	})
	components := where(b, "kind=component,spec.type=service")
	text, _ := NewTextFilter("checkout", []string{"metadata.name", "metadata.title", "spec.profile.displayName"}, "metadata.name")
	for name, f := range map[string]func(){
		"get":     func() { s.Get(all, refs[7]) },
		"query":   func() { s.List(all, Query{Where: components}, limit(20)) },
		"ordered": func() { s.List(all, Query{Where: components, Order: "metadata.name"}, limit(20)) },
		"text":    func() { s.List(all, Query{Where: components, Text: text, Order: "metadata.name"}, limit(20)) },
		"kinds":   func() { s.Facets(all, []string{"kind"}, nil) },
		"facets":  func() { s.Facets(all, []string{"spec.type", "metadata.tags"}, components) },
		"owners":  func() { s.Facets(all, []string{"relations.ownedBy"}, components) },
		"refs":    func() { s.Batch(all, refs, nil) },
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				f()
			}
		})
	}
}

func BenchmarkBuild(b *testing.B) {
	changes := generate(10_000)
	b.ReportMetric(float64(len(changes)), "entities")
	for b.Loop() {
		if Empty().Apply(changes).Len() == 0 {
			b.Fatal("nothing")
		}
	}
}

func BenchmarkMemory(b *testing.B) {
	for b.Loop() {
		before := heap()
		s := Empty().Apply(generate(10_000))
		b.ReportMetric(float64(heap()-before)/1e6, "MB")
		b.ReportMetric(float64(s.columns.Len()), "keys")
		rows := 0
		s.columns.Scan(func(_ string, c *column) bool { rows += c.n + len(c.nulls); return true })
		b.ReportMetric(float64(rows), "rows")
		runtime.KeepAlive(s)
	}
}

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func BenchmarkApplyOne(b *testing.B) {
	for _, n := range []int{1_000, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			changes := generate(n)
			s := Empty().Apply(changes)
			c := changes[len(changes)-1]
			for i := 0; b.Loop(); i++ {
				rec := *c.Record
				root := shallow(rec.Entity.Root)
				md := shallow(root.Object("metadata"))
				md.Set("description", fmt.Sprint("Edited ", i))
				root.Set("metadata", md)
				e := *rec.Entity
				e.Root = root
				rec.Entity = &e
				s = s.Apply([]Change{{Ref: c.Ref, Record: &rec}})
			}
		})
	}
}

// BenchmarkGrow adds the entities of a catalog a few at a time, as a first
// reading of many small repositories does.
func BenchmarkGrow(b *testing.B) {
	changes := generate(1_000)
	for b.Loop() {
		s := Empty()
		for few := range slices.Chunk(changes, 2) {
			s = s.Apply(few)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*len(changes)/2), "µs/Apply")
}
