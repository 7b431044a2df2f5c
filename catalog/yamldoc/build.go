package yamldoc

import (
	"strconv"

	"gopkg.in/yaml.v3"

	"github.com/fairlead-dev/fairlead/catalog/entity"
)

// maxDepth is how deep collections may be nested.
const maxDepth = 1000

// maxProblems is how many problems are told of one document.
const maxProblems = 20

// builder makes values of the nodes of one document.
type builder struct {
	scanner  *scanner
	old      bool // YAML 1.1
	problems []entity.Problem
	fatal    *entity.Problem
	depth    int
	anchors  map[*yaml.Node]*anchor
	copied   int // nodes made by aliases
	seen     map[string]int
}

func (b *builder) document(root *yaml.Node) entity.Value {
	if root == nil {
		return nil
	}
	return b.value(root)
}

// at is where a node stands in the file.
func (b *builder) at(n *yaml.Node) entity.Position {
	if sc := b.source(n); sc != nil {
		return sc.at
	}
	return b.scanner.locate(n.Line, n.Column)
}

// source is the scalar that a node refers to; nil for an empty one and for all
// that are no scalars.
func (b *builder) source(n *yaml.Node) *scalar {
	if n.Kind != yaml.ScalarNode || n.Value == "" {
		return nil
	}
	// The scanner wrote it.
	if i, err := strconv.Atoi(n.Value); err == nil && i < len(b.scanner.scalars) {
		return &b.scanner.scalars[i]
	}
	return nil
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
	if tag := b.tag(n); tag != "" {
		return b.taggedCollection(n, tag)
	}
	return b.collection(n)
}

func (b *builder) collection(n *yaml.Node) entity.Value {
	if n.Kind == yaml.SequenceNode {
		return b.list(n)
	}
	return b.object(n)
}

// tag is the full name of a node's tag, "" where it has none.
func (b *builder) tag(n *yaml.Node) string {
	if n.Style&yaml.TaggedStyle == 0 {
		return ""
	}
	i, _ := strconv.Atoi(n.Tag[1:]) // the scanner wrote it
	return b.scanner.tags[i]
}

func (b *builder) scalar(n *yaml.Node) entity.Value {
	sc := b.source(n)
	if n.Style&yaml.TaggedStyle != 0 {
		text := ""
		if sc != nil {
			text = sc.text
		}
		return b.tagged(n, b.tag(n), text)
	}
	switch {
	case sc == nil:
		return nil
	case sc.style != ' ':
		return sc.text
	case b.old:
		return plain11(sc.text)
	}
	return plain(sc.text)
}

func (b *builder) list(n *yaml.Node) entity.Value {
	l := make(entity.List, len(n.Content))
	for i, c := range n.Content {
		l[i] = entity.Item{Value: b.value(c), At: b.at(c)}
	}
	return l
}

func (b *builder) object(n *yaml.Node) entity.Value {
	o := &entity.Object{At: b.at(n), Members: make([]entity.Member, len(n.Content)/2)}
	mixed, merges := false, false
	for i := range o.Members {
		k := n.Content[2*i]
		name, simple := b.name(k)
		o.Members[i].Key, o.Members[i].At = name, b.at(k)
		mixed = mixed || !simple
		merges = merges || name == mergeKey && b.isMerge(k)
		o.Members[i].Value = b.value(n.Content[2*i+1])
	}
	if mixed || merges {
		b.checkMixed(n)
	} else {
		b.checkNames(n, o)
	}
	if merges {
		return b.merge(n, o)
	}
	if mixed {
		collapse(o)
	}
	return o
}
