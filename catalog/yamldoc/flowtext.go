package yamldoc

import (
	"strings"

	"gopkg.in/yaml.v3"
)

// flowText writes a collection that stands as a key on one line, as it becomes
// the name of the key.
func flowText(n *yaml.Node) string {
	switch n.Kind {
	case yaml.ScalarNode:
		return n.Value
	case yaml.AliasNode:
		return "*" + n.Value
	}
	parts := make([]string, 0, len(n.Content))
	for i := 0; i < len(n.Content); i++ {
		s := flowText(n.Content[i])
		if n.Kind == yaml.MappingNode {
			if i++; n.Content[i].Value != "" || n.Content[i].Kind != yaml.ScalarNode {
				s += ": " + flowText(n.Content[i])
			}
		}
		parts = append(parts, s)
	}
	if n.Kind == yaml.SequenceNode {
		return "[ " + strings.Join(parts, ", ") + " ]"
	}
	return "{ " + strings.Join(parts, ", ") + " }"
}
