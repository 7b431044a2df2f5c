package index

import (
	"cmp"
	"slices"

	"github.com/tidwall/btree"

	"github.com/fairlead-dev/fairlead/catalog/entity"
)

// edgeSet are the edges of one source, sorted by type and target. It is never
// changed; the relations are also those that the entity shows.
type edgeSet struct {
	relations []entity.Relation
	counts    []int // how many emit each; nil where it is one each
}

func (s *edgeSet) count(i int) int {
	if s.counts == nil {
		return 1
	}
	return s.counts[i]
}

// shown are the relations, never nil.
func (s *edgeSet) shown() []entity.Relation {
	if s == nil {
		return []entity.Relation{}
	}
	return s.relations
}

// edgeCount is an edge and by how many more, or fewer, it is emitted.
type edgeCount struct {
	entity.Relation
	n int
}

func compareEdges(a, b entity.Relation) int {
	if c := cmp.Compare(a.Type, b.Type); c != 0 {
		return c
	}
	return cmp.Compare(a.TargetRef, b.TargetRef)
}

// edgeDeltas collects what happens to the edges of each source.
type edgeDeltas map[string][]edgeCount

func (d edgeDeltas) add(edges []entity.Edge, n int) {
	for _, e := range edges {
		d[e.Source] = append(d[e.Source], edgeCount{entity.Relation{Type: e.Type, TargetRef: e.Target}, n})
	}
}

// settle sorts a source's deltas and sums those of one edge.
func settle(d []edgeCount) []edgeCount {
	slices.SortFunc(d, func(a, b edgeCount) int { return compareEdges(a.Relation, b.Relation) })
	out := d[:0]
	for _, e := range d {
		if n := len(out); n > 0 && out[n-1].Relation == e.Relation {
			out[n-1].n += e.n
			continue
		}
		out = append(out, e)
	}
	return slices.DeleteFunc(out, func(e edgeCount) bool { return e.n == 0 })
}

// apply works the deltas into a tree of edges by source, and gives the
// sources whose set of edges changed.
func (d edgeDeltas) apply(tree *btree.Map[string, *edgeSet]) []string {
	var changed []string
	for source, delta := range d {
		if delta = settle(delta); len(delta) == 0 {
			continue
		}
		old, _ := tree.Get(source)
		if old == nil {
			old = &edgeSet{}
		}
		next, differs := old.with(delta)
		if len(next.relations) == 0 {
			tree.Delete(source)
		} else {
			tree.Set(source, next)
		}
		if differs {
			changed = append(changed, source)
		}
	}
	return changed
}

// with is the set after settled deltas, and whether other edges are in it.
func (s *edgeSet) with(delta []edgeCount) (next *edgeSet, differs bool) {
	next = &edgeSet{relations: make([]entity.Relation, 0, len(s.relations)+len(delta))}
	for i := 0; i < len(s.relations) || len(delta) > 0; {
		c := -1
		switch {
		case i == len(s.relations):
			c = 1
		case len(delta) > 0:
			c = compareEdges(s.relations[i], delta[0].Relation)
		}
		switch {
		case c < 0:
			next.append(s.relations[i], s.count(i))
			i++
		case c > 0:
			next.append(delta[0].Relation, delta[0].n)
			delta, differs = delta[1:], true
		default:
			n := s.count(i) + delta[0].n
			next.append(s.relations[i], n)
			differs = differs || n == 0
			i, delta = i+1, delta[1:]
		}
	}
	return next, differs
}

// append adds an edge that n emit.
func (s *edgeSet) append(r entity.Relation, n int) {
	if n == 0 {
		return
	}
	if n != 1 && s.counts == nil {
		s.counts = make([]int, len(s.relations), cap(s.relations))
		for i := range s.counts {
			s.counts[i] = 1
		}
	}
	s.relations = append(s.relations, r)
	if s.counts != nil {
		s.counts = append(s.counts, n)
	}
}
