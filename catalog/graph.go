package catalog

import (
	"context"
	"slices"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// Bounds of a walk through the graph.
const (
	maxDependencyDepth = 5
	maxDependencyNodes = 500
)

// need is a relation that means that one entity needs another.
type need struct {
	relation string // as the entity walked from shows it
	edge     string // as the edge reads from the one that needs
	part     bool   // between an API and its provider, which is no step of its own
}

// needs are the relations followed: what an entity needs, or what needs it.
// An API needs whoever provides it.
func needs(in bool) []need {
	if in {
		return []need{{"dependencyOf", "dependsOn", false}, {"apiConsumedBy", "consumesApi", false}, {"providesApi", "apiProvidedBy", true}}
	}
	return []need{{"dependsOn", "dependsOn", false}, {"consumesApi", "consumesApi", false}, {"apiProvidedBy", "apiProvidedBy", true}}
}

// GetDependencies walks from an entity to what it needs, to what needs it, or
// both ways. Edges read from the entity that needs to the one that is needed:
// dependsOn, consumesApi, and apiProvidedBy for what an API needs.
func (s *Service) GetDependencies(_ context.Context, who access.Caller, in GetDependenciesInput) (*DependencyGraph, error) {
	depth, err := between("depth", in.Depth, 1, maxDependencyDepth)
	if err != nil {
		return nil, err
	}
	if !slices.Contains([]string{"", "out", "in", "both"}, in.Direction) {
		return nil, fault.New(fault.Invalid, "direction is %q, not out, in or both", in.Direction).WithFix("Give one of them, or leave it out for out.")
	}
	r := s.reading(who)
	root, err := r.find(in.Ref)
	if err != nil {
		return nil, err
	}
	w := walk{reading: r, graph: &DependencyGraph{Root: root.Ref.String(), Edges: []DependencyEdge{}}, at: map[string]int{}, edges: map[DependencyEdge]bool{}}
	w.visit(root.Ref.String(), 0)
	if in.Direction != "in" {
		w.follow(needs(false), depth, false)
	}
	if in.Direction == "in" || in.Direction == "both" {
		w.follow(needs(true), depth, true)
	}
	slices.SortStableFunc(w.graph.Nodes, func(a, b DependencyNode) int { return a.Depth - b.Depth })
	return w.graph, nil
}

// walk collects a graph, breadth first.
type walk struct {
	reading
	graph *DependencyGraph
	at    map[string]int // ref to its place among the nodes
	edges map[DependencyEdge]bool
}

// visit adds a node, unless it is there or there are too many; it tells
// whether the node is there now.
func (w *walk) visit(ref string, depth int) bool {
	if i, ok := w.at[ref]; ok {
		w.graph.Nodes[i].Depth = min(w.graph.Nodes[i].Depth, depth)
		return true
	}
	if len(w.graph.Nodes) == maxDependencyNodes {
		w.graph.Truncated = true
		return false
	}
	n := DependencyNode{Ref: ref, Depth: depth}
	if e := w.Get(w.scope, ref); e != nil {
		n.Title, n.Type, n.Owner = e.Title(), e.Type(), e.Owner()
	} else {
		n.Missing = true
	}
	w.at[ref] = len(w.graph.Nodes)
	w.graph.Nodes = append(w.graph.Nodes, n)
	return true
}

// follow walks some relations from the root. An API and its provider are one
// step: whoever consumes the API of a component needs the component.
func (w *walk) follow(needs []need, depth int, in bool) {
	seen := map[string]bool{w.graph.Root: true}
	level := []string{w.graph.Root}
	for d := 0; d <= depth && len(level) > 0; d++ {
		if d < depth || !in {
			level = append(level, w.step(level, needs, true, max(d, 1), in, seen)...)
		}
		if d < depth {
			level = w.step(level, needs, false, d+1, in, seen)
		}
	}
}

// step follows the relations that are parts, or those that are not, from some
// entities and gives what was not seen before.
func (w *walk) step(from []string, needs []need, parts bool, depth int, in bool, seen map[string]bool) []string {
	var out []string
	for _, ref := range from {
		e := w.Get(w.scope, ref)
		if e == nil {
			continue
		}
		for _, n := range needs {
			if n.part != parts {
				continue
			}
			for _, to := range e.Targets(n.relation) {
				if w.add(ref, n, to, depth, in) && !seen[to] {
					seen[to] = true
					out = append(out, to)
				}
			}
		}
	}
	return out
}

// add adds an edge and the node that it leads to, unless there are too many.
func (w *walk) add(ref string, n need, to string, depth int, in bool) bool {
	if !w.visit(to, depth) {
		return false
	}
	edge := DependencyEdge{From: ref, Type: n.edge, To: to}
	if in {
		edge.From, edge.To = to, ref
	}
	if !w.edges[edge] {
		w.edges[edge] = true
		w.graph.Edges = append(w.graph.Edges, edge)
	}
	return true
}

// GetAncestry tells which entities emitted an entity, and which emitted
// those, up to the ones that a source holds itself. What is out of scope is
// not there, nor is what lies beyond it.
func (s *Service) GetAncestry(_ context.Context, who access.Caller, in GetAncestryInput) (*Ancestry, error) {
	r := s.reading(who)
	root, err := r.find(in.Ref)
	if err != nil {
		return nil, err
	}
	out := &Ancestry{RootEntityRef: root.Ref.String()}
	seen := map[string]bool{out.RootEntityRef: true}
	for todo := []*Entity{root}; len(todo) > 0; {
		e := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		item := AncestryItem{Entity: e, ParentEntityRefs: notNil(r.Parents(r.scope, e.Ref.String()))}
		for _, p := range item.ParentEntityRefs {
			if !seen[p] {
				seen[p] = true
				todo = append(todo, r.Get(r.scope, p))
			}
		}
		out.Items = append(out.Items, item)
	}
	return out, nil
}
