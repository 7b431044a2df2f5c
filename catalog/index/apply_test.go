package index

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fairlead-dev/fairlead/catalog/entity"
)

// dump is all that a snapshot holds, free of numbers.
type dump struct {
	Entities map[string]string
	Errors   map[string]string
	Columns  map[string][]string
	Edges    map[string]string
}

func dumpOf(t *testing.T, s *Snapshot) dump {
	t.Helper()
	d := dump{map[string]string{}, map[string]string{}, map[string][]string{}, map[string]string{}}
	s.ids.Scan(func(ref string, id uint32) bool {
		sl := s.slots.get(id)
		if sl.ref != ref || sl.uid != UID(ref) {
			t.Errorf("slot of %s is %s %s", ref, sl.ref, sl.uid)
		}
		if s.live.has(id) != (sl.entity != nil) {
			t.Errorf("%s: live is %v", ref, s.live.has(id))
		}
		if sl.err != nil {
			d.Errors[ref] = sl.err.Error()
			return true
		}
		b, _ := sl.entity.MarshalJSON()
		d.Entities[ref] = string(b)
		return true
	})
	if s.Len() != len(d.Entities) {
		t.Errorf("%d are live of %d", s.Len(), len(d.Entities))
	}
	s.columns.Scan(func(key string, c *column) bool {
		d.Columns[key] = dumpColumn(t, s, key, c)
		return true
	})
	s.edges.Scan(func(source string, es *edgeSet) bool {
		counts := make([]int, len(es.relations))
		for i := range counts {
			counts[i] = es.count(i)
		}
		d.Edges[source] = fmt.Sprint(es.relations, counts)
		return true
	})
	return d
}

func dumpColumn(t *testing.T, s *Snapshot, key string, c *column) (rows []string) {
	t.Helper()
	n := 0
	for _, ch := range c.chunks {
		if len(ch.ids) == 0 || len(ch.ids) > chunkMax || len(ch.values) != len(ch.ids) || ch.origs != nil && len(ch.origs) != len(ch.ids) {
			t.Errorf("%q has a chunk of %d", key, len(ch.ids))
		}
		n += len(ch.ids)
		for i, id := range ch.ids {
			rows = append(rows, ch.values[i]+"\x00"+s.uid(id)+"\x00"+ch.orig(i))
		}
	}
	if n != c.n || n+len(c.nulls) == 0 {
		t.Errorf("%q counts %d of %d rows", key, c.n, n)
	}
	if !slices.IsSorted(rows) {
		t.Errorf("%q is out of order", key)
	}
	var nulls []string
	for _, id := range c.nulls {
		nulls = append(nulls, "null "+s.uid(id))
	}
	slices.Sort(nulls)
	return append(rows, nulls...)
}

// randomRecord makes one version of the i-th entity of a small world.
func randomRecord(r *rand.Rand, i int) Change {
	kinds, teams := []string{"Component", "API", "Group"}, []string{"a", "B", "c"}
	kind := kinds[i%3]
	ref := entity.Ref{Kind: kind, Namespace: "default", Name: fmt.Sprintf("n%d", i)}.Canonical()
	md := entity.Obj("name", ref.Name, "namespace", "default", "description", strings.Repeat("Word ", r.IntN(60)), "tags", list([]string{"x", "Y", "z"}[:r.IntN(4)]...))
	spec := entity.Obj("type", teams[r.IntN(3)], "lifecycle", []any{nil, "prod", "PROD", 7.0, true}[r.IntN(5)], "owner", teams[r.IntN(3)])
	if r.IntN(12) == 0 {
		spec.Set("Owner", "x") // never becomes visible
	}
	rec := &Record{Entity: &entity.Entity{Ref: ref, Root: entity.Obj("apiVersion", "v1", "kind", kind, "metadata", md, "spec", spec)}}
	for range r.IntN(4) {
		other := fmt.Sprintf("component:default/n%d", 3*r.IntN(40))
		rec.Edges = append(rec.Edges, entity.Edge{Source: ref.String(), Type: "dependsOn", Target: other}, entity.Edge{Source: other, Type: "dependencyOf", Target: ref.String()})
	}
	return Change{Ref: ref.String(), Record: rec}
}

// TestApplyEqualsBuilding holds what comes of random changes against a
// snapshot that is built at once, and the old snapshot against what it was.
func TestApplyEqualsBuilding(t *testing.T) {
	for seed := range uint64(3) {
		r := rand.New(rand.NewPCG(seed, 7))
		s, state := Empty(), map[string]Change{}
		for step := range 12 {
			before, size := dumpOf(t, s), []int{1, 3, 40, 900}[r.IntN(4)]
			var changes []Change
			for range size {
				c := randomRecord(r, r.IntN(900))
				if r.IntN(3) == 0 {
					c.Record = nil
				}
				changes = append(changes, c)
				state[c.Ref] = c
				if c.Record == nil {
					delete(state, c.Ref)
				}
			}
			next := s.Apply(changes)
			want := Empty().Apply(slices.Collect(maps.Values(state)))
			after := dumpOf(t, next)
			if built := dumpOf(t, want); !reflect.DeepEqual(built, after) {
				t.Fatalf("seed %d, step %d, %d changes (-built +applied):\n%.4000s", seed, step, size, cmp.Diff(built, after))
			}
			if again := dumpOf(t, s); !reflect.DeepEqual(before, again) {
				t.Fatalf("seed %d, step %d: the old snapshot changed:\n%.2000s", seed, step, cmp.Diff(before, again))
			}
			checkTouched(t, before, after, next.Touched())
			s = next
		}
	}
}

func checkTouched(t *testing.T, before, after dump, touched []string) {
	t.Helper()
	want := map[string]bool{}
	for ref, json := range before.Entities {
		if after.Entities[ref] != json {
			want[ref] = true
		}
	}
	for ref := range after.Entities {
		if _, ok := before.Entities[ref]; !ok {
			want[ref] = true
		}
	}
	if d := cmp.Diff(slices.Sorted(maps.Keys(want)), slices.Sorted(slices.Values(touched))); d != "" {
		t.Errorf("touched: %s", d)
	}
}

// TestColumnsStayDense removes most of a large column one by one.
func TestColumnsStayDense(t *testing.T) {
	changes := generate(1_500)
	s := Empty().Apply(changes)
	for i := range changes {
		changes[i].Record = nil
	}
	for len(changes) > 600 {
		n := min(50, len(changes)-600)
		s = s.Apply(changes[:n])
		changes = changes[n:]
	}
	c := s.column("metadata.name")
	if c.n != 600 || len(c.chunks) > 3+4*600/chunkSize {
		t.Errorf("%d rows stand in %d chunks", c.n, len(c.chunks))
	}
	if s = s.Apply(changes); s.Len() != 0 || s.columns.Len() != 0 || s.edges.Len() != 0 || s.ids.Len() != 0 {
		t.Errorf("of nothing remain %d entities, %d columns, %d edges, %d ids", s.Len(), s.columns.Len(), s.edges.Len(), s.ids.Len())
	}
}

// TestConcurrentUse reads old and new snapshots while changes are applied.
func TestConcurrentUse(t *testing.T) {
	s := Empty().Apply(generate(300))
	all := everything()
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(w), 1))
			mine := s
			for range 40 {
				mine = mine.Apply([]Change{randomRecord(r, r.IntN(50))})
				s.Apply([]Change{randomRecord(r, r.IntN(50))})
				if n := len(s.List(all, Query{Where: Equals("kind", "component")}, Window{Limit: -1}).Entities); n != 300 {
					t.Errorf("the first snapshot now holds %d components", n)
				}
				mine.Facets(all, []string{"kind"}, nil)
			}
		})
	}
	wg.Wait()
}

func TestLastChangeOfARefCounts(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	a, b := randomRecord(r, 0), randomRecord(r, 0)
	if d := cmp.Diff(dumpOf(t, Empty().Apply([]Change{b})), dumpOf(t, Empty().Apply([]Change{a, {Ref: a.Ref}, b}))); d != "" {
		t.Error(d)
	}
}
