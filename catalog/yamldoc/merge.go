package yamldoc

import (
	"gopkg.in/yaml.v3"

	"github.com/fairlead-dev/fairlead/catalog/entity"
)

// mergeKey is the key that merges mappings in YAML 1.1.
const mergeKey = "<<"

// isMerge says whether a key merges: "<<" without quotes in YAML 1.1, or what
// has the tag for it.
func (b *builder) isMerge(n *yaml.Node) bool {
	sc := b.source(n)
	switch {
	case n.Kind != yaml.ScalarNode || sc == nil:
		return false
	case n.Style&yaml.TaggedStyle != 0:
		return b.tag(n) == coreTag+"merge"
	}
	return b.old && sc.style == ' ' && sc.text == mergeKey
}

// merge puts the members of merged mappings into an object: where a key is
// there already it stays, and one written later in the object itself wins.
func (b *builder) merge(n *yaml.Node, o *entity.Object) entity.Value {
	m := merging{at: map[string]int{}}
	for i, member := range o.Members {
		if !b.isMerge(n.Content[2*i]) {
			m.set(member)
			continue
		}
		sources := []entity.Value{member.Value}
		if l, ok := member.Value.(entity.List); ok {
			sources = sources[:0]
			for _, it := range l {
				sources = append(sources, it.Value)
			}
		}
		for _, v := range sources {
			source, ok := v.(*entity.Object)
			if !ok {
				b.fail(n.Content[2*i], "Give it a mapping or a list of mappings.", `"<<" merges mappings, and this is none`)
				return nil
			}
			m.add(source)
		}
	}
	o.Members = m.members
	return o
}

type merging struct {
	members []entity.Member
	at      map[string]int
}

func (m *merging) set(member entity.Member) {
	if i, ok := m.at[member.Key]; ok {
		m.members[i] = member
		return
	}
	m.at[member.Key] = len(m.members)
	m.members = append(m.members, member)
}

func (m *merging) add(source *entity.Object) {
	for _, member := range source.Members {
		if _, there := m.at[member.Key]; !there {
			m.set(member)
		}
	}
}
