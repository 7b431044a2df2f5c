package index

import (
	"cmp"
	"slices"

	"github.com/tidwall/btree"

	"github.com/fairlead-dev/fairlead/catalog/entity"
)

// edgeCount is an edge of one source and how many emit it.
type edgeCount struct {
	entity.Relation
	n int
}

func compareEdges(a, b edgeCount) int {
	return cmp.Or(cmp.Compare(a.Type, b.Type), cmp.Compare(a.TargetRef, b.TargetRef))
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
	slices.SortFunc(d, compareEdges)
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
func (d edgeDeltas) apply(tree *btree.Map[string, []edgeCount]) []string {
	var changed []string
	for source, delta := range d {
		if delta = settle(delta); len(delta) == 0 {
			continue
		}
		old, _ := tree.Get(source)
		next, differs := mergeEdges(old, delta)
		if len(next) == 0 {
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

func mergeEdges(old, delta []edgeCount) (next []edgeCount, differs bool) {
	next = make([]edgeCount, 0, len(old)+len(delta))
	for len(old) > 0 || len(delta) > 0 {
		c := -1
		switch {
		case len(old) == 0:
			c = 1
		case len(delta) > 0:
			c = compareEdges(old[0], delta[0])
		}
		switch {
		case c < 0:
			next, old = append(next, old[0]), old[1:]
		case c > 0:
			next, delta, differs = append(next, delta[0]), delta[1:], true
		default:
			sum := old[0]
			if sum.n += delta[0].n; sum.n > 0 {
				next = append(next, sum)
			} else {
				differs = true
			}
			old, delta = old[1:], delta[1:]
		}
	}
	return next, differs
}

func relationsOf(edges []edgeCount) []entity.Relation {
	out := make([]entity.Relation, len(edges))
	for i, e := range edges {
		out[i] = e.Relation
	}
	return out
}
