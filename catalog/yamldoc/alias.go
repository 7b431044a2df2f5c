package yamldoc

import (
	"gopkg.in/yaml.v3"

	"github.com/fairlead-dev/fairlead/catalog/entity"
)

const (
	// maxAliases is the count at which the reference parser refuses aliases.
	maxAliases = 100
	// maxCopied is how many values the aliases of a document may add up to; text
	// counts once more for every textUnit bytes.
	maxCopied = 1 << 20
	textUnit  = 64
)

// anchor is how often a node is used: 1 for itself and 1 for each alias, times
// its weight, the largest such product among the aliases within it.
type anchor struct {
	count, weight int
	weighed, open bool
	value         entity.Value
	size          int // values within value
}

func (b *builder) anchored(n *yaml.Node) entity.Value {
	if b.anchors == nil {
		b.anchors = map[*yaml.Node]*anchor{}
	}
	a := &anchor{count: 1, open: true}
	b.anchors[n] = a
	a.value = b.bare(n)
	a.open = false
	return a.value
}

func (b *builder) alias(n *yaml.Node) entity.Value {
	a := b.anchors[n.Alias]
	if a == nil || a.open {
		b.report(n, "Write the value out.", "the alias %s refers to the value that it is part of", quote("*"+b.anchorName(n.Value)))
		return nil
	}
	a.count++
	if !a.weighed {
		a.weight, a.size, a.weighed = b.weight(n.Alias), size(a.value), true
	}
	if a.count*a.weight > maxAliases {
		b.fail(n, fewerAliases, "the anchor %s is used too often, which Backstage takes for an attack", quote("&"+b.anchorName(n.Value)))
		return nil
	}
	if b.copied += a.size; b.copied > maxCopied {
		b.fail(n, fewerAliases, "the aliases of the document add up to more than %d values", maxCopied)
		return nil
	}
	return entity.Clone(a.value)
}

const fewerAliases = "Write the values out, or use fewer aliases."

// fail makes the file unreadable from here on.
func (b *builder) fail(n *yaml.Node, fix, format string, args ...any) {
	if b.fatal == nil {
		p := problemAt(b.at(n), fix, format, args...)
		b.fatal = &p
	}
}

// weight is the largest use of an alias within the node; 1 where there is
// none, 0 for empty collections.
func (b *builder) weight(n *yaml.Node) int {
	switch n.Kind {
	case yaml.ScalarNode:
		return 1
	case yaml.AliasNode:
		if a := b.anchors[n.Alias]; a != nil {
			return a.count * a.weight
		}
		return 0
	}
	most := 0
	for _, c := range n.Content {
		most = max(most, b.weight(c))
	}
	return most
}

func size(v entity.Value) int {
	total := 1
	switch v := v.(type) {
	case string:
		total += len(v) / textUnit
	case *entity.Object:
		for i := range v.Members {
			total += len(v.Members[i].Key) / textUnit
			total += size(v.Members[i].Value)
		}
	case entity.List:
		for i := range v {
			total += size(v[i].Value)
		}
	}
	return total
}
