package render

import (
	"strings"

	"github.com/fairlead-dev/fairlead/catalog"
)

// graph draws a dependency graph as a tree.
type graph struct {
	p     *Page
	nodes map[string]catalog.DependencyNode
	edges map[string][]branch
	drawn map[catalog.DependencyEdge]bool
	seen  map[string]bool
}

// branch is an edge seen from one of its ends.
type branch struct {
	edge catalog.DependencyEdge
	to   string
	back bool // the edge points at the end that it is seen from
}

// Graph writes what an entity depends on, or what depends on it, as a tree.
// An entity that is reached twice is spread out once.
func (p *Page) Graph(g *catalog.DependencyGraph) {
	d := &graph{p: p, nodes: map[string]catalog.DependencyNode{}, edges: map[string][]branch{}, drawn: map[catalog.DependencyEdge]bool{}, seen: map[string]bool{}}
	for _, n := range g.Nodes {
		d.nodes[n.Ref] = n
	}
	for _, e := range g.Edges {
		d.edges[e.From] = append(d.edges[e.From], branch{e, e.To, false})
		if e.From != e.To {
			d.edges[e.To] = append(d.edges[e.To], branch{e, e.From, true})
		}
	}
	p.Line(p.Bold(Clean(g.Root)), d.about(g.Root))
	if len(g.Edges) == 0 {
		p.Line(p.Dim("no dependencies are known"))
	}
	d.below(g.Root, "", 0)
	if g.Truncated {
		p.Line()
		p.Line(p.Warn("the graph goes on: what is shown is the nearest part; ask again from one of its ends"))
	}
}

// maxTree bounds how deep the drawing nests.
const maxTree = 32

func (d *graph) below(ref, prefix string, depth int) {
	d.seen[ref] = true
	var todo []branch
	for _, b := range d.edges[ref] {
		if !d.drawn[b.edge] {
			d.drawn[b.edge] = true
			todo = append(todo, b)
		}
	}
	for i, b := range todo {
		tee, next := "├─ ", "│  "
		if i == len(todo)-1 {
			tee, next = "└─ ", "   "
		}
		label := b.edge.Type
		if b.back {
			label = "← " + label
		}
		more := ""
		again := d.seen[b.to]
		if again && len(d.edges[b.to]) > 1 {
			more = d.p.Dim("  (see above)")
		}
		d.p.Line(d.p.Dim(prefix+tee+Clean(label)), " ", Clean(b.to), d.about(b.to), more)
		if !again && depth < maxTree {
			d.below(b.to, prefix+next, depth+1)
		}
	}
}

// about is what else is known of a node.
func (d *graph) about(ref string) string {
	n, ok := d.nodes[ref]
	if !ok {
		return ""
	}
	if n.Missing {
		return gap + d.p.Bad("not in the catalog")
	}
	var parts []string
	for _, s := range []string{n.Type, n.Owner} {
		if s != "" {
			parts = append(parts, Clean(s))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return gap + d.p.Dim(strings.Join(parts, gap))
}
