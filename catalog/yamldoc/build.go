package yamldoc

import (
	"gopkg.in/yaml.v3"

	"github.com/fairlead-dev/fairlead/catalog/entity"
)

// maxDepth is how deep collections may be nested.
const maxDepth = 1000

// maxProblems is how many problems are told of one document.
const maxProblems = 20

// builder makes values of the nodes of one document.
type builder struct {
	chunk    *chunk
	problems []entity.Problem
	fatal    *entity.Problem
	depth    int
	anchors  map[*yaml.Node]*anchor
	copied   int // nodes made by aliases
	seen     map[key]int
}

func (b *builder) document(root *yaml.Node) entity.Value {
	if root == nil {
		return nil
	}
	return b.value(root)
}

func (b *builder) at(n *yaml.Node) entity.Position {
	return b.chunk.position(n.Line, n.Column)
}

func (c *chunk) position(line, column int) entity.Position {
	p := entity.Position{Line: c.line + uint32(line) - 1, Column: uint32(column)}
	if line == 1 {
		p.Column += c.shift
	}
	return p
}

func (b *builder) report(n *yaml.Node, fix, format string, args ...any) {
	if len(b.problems) < maxProblems {
		b.problems = append(b.problems, problemAt(b.at(n), fix, format, args...))
	}
}

func (b *builder) value(n *yaml.Node) entity.Value {
	if n.Anchor != "" {
		return b.anchored(n)
	}
	return b.bare(n)
}

// bare is the value of a node whatever its anchor.
func (b *builder) bare(n *yaml.Node) entity.Value {
	switch n.Kind {
	case yaml.ScalarNode:
		return b.scalar(n)
	case yaml.AliasNode:
		return b.alias(n)
	}
	if b.depth++; b.depth > maxDepth {
		b.report(n, "Nest less deeply.", "collections are nested deeper than %d levels", maxDepth)
		b.depth--
		return nil
	}
	defer func() { b.depth-- }()
	if n.Kind == yaml.SequenceNode {
		return b.list(n)
	}
	return b.object(n)
}

func (b *builder) scalar(n *yaml.Node) entity.Value {
	if n.Style == 0 {
		return plain(n.Value)
	}
	return n.Value
}

func (b *builder) list(n *yaml.Node) entity.Value {
	l := make(entity.List, len(n.Content))
	for i, c := range n.Content {
		l[i] = entity.Item{Value: b.value(c), At: b.at(c)}
	}
	return l
}

func (b *builder) object(n *yaml.Node) entity.Value {
	o := &entity.Object{At: b.at(n), Members: make([]entity.Member, 0, len(n.Content)/2)}
	mixed := false
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		name, simple := b.name(k)
		mixed = mixed || !simple
		o.Members = append(o.Members, entity.Member{Key: name, At: b.at(k), Value: b.value(v)})
	}
	b.checkKeys(n)
	if mixed {
		collapse(o)
	}
	return o
}
