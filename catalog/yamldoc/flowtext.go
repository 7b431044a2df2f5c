package yamldoc

import (
	"regexp"
	"strings"
	"unicode/utf16"

	"gopkg.in/yaml.v3"

	"github.com/fairlead-dev/fairlead/catalog/entity"
)

// lineWidth is from which length on a collection is written on several lines.
const lineWidth = 80

// flowText writes a collection that stands as a key as the reference parser
// does, which is what becomes the name of the key.
func (b *builder) flowText(n *yaml.Node) string {
	if b.length(n) > maxKeyText {
		b.report(n, "Use a short name as the key.", "a key is a collection that is longer than %d characters", maxKeyText)
		return ""
	}
	if n.Kind == yaml.AliasNode {
		return b.flowNode(n, "")
	}
	return b.flowCollection(n, "")
}

func (b *builder) flowNode(n *yaml.Node, indent string) string {
	props := ""
	if n.Anchor != "" {
		props = "&" + b.anchorName(n.Anchor) + " "
	}
	if tag := b.tag(n); tag != "" {
		props += b.tagText(tag) + " "
	}
	switch n.Kind {
	case yaml.AliasNode:
		return "*" + b.anchorName(n.Value)
	case yaml.ScalarNode:
		return props + b.flowScalar(n)
	}
	return props + b.flowCollection(n, indent)
}

// maxKeyText is how long a collection may be that is a key.
const maxKeyText = 1 << 14

// length is about how long the text of a node is.
func (b *builder) length(n *yaml.Node) int {
	total := 4 + len(b.written(n))
	for _, c := range n.Content {
		if total > maxKeyText {
			break
		}
		total += b.length(c)
	}
	return total
}

// tagText is a tag as it is written.
func (b *builder) tagText(tag string) string {
	if name, ok := strings.CutPrefix(tag, coreTag); ok {
		return "!!" + name
	}
	if tag[0] == '!' {
		return tag
	}
	return "!<" + tag + ">"
}

func (b *builder) flowCollection(n *yaml.Node, indent string) string {
	parts := make([]string, 0, len(n.Content))
	for i := 0; i < len(n.Content); i++ {
		part := b.flowNode(n.Content[i], indent+"  ")
		if n.Kind == yaml.MappingNode {
			i++
			part = b.flowPair(n.Content[i-1], n.Content[i], part, indent+"  ")
		}
		parts = append(parts, part)
	}
	brackets := "[]"
	if n.Kind == yaml.MappingNode {
		brackets = "{}"
	}
	return joinFlow(brackets, parts, indent)
}

func (b *builder) flowPair(k, v *yaml.Node, text, indent string) string {
	collection := k.Kind == yaml.MappingNode || k.Kind == yaml.SequenceNode
	if collection {
		text = "? " + text
	}
	if v.Kind == yaml.ScalarNode && v.Value == "" && v.Style&yaml.TaggedStyle == 0 && v.Anchor == "" {
		switch sc := b.source(k); {
		case sc != nil && sc.colon:
			return text + ":"
		case text == "":
			return "?"
		}
		return text
	}
	if collection {
		return text + "\n" + indent + ": " + b.flowNode(v, indent+"  ")
	}
	return text + ": " + b.flowNode(v, indent+"  ")
}

// joinFlow writes the parts on one line, or one below the other if that is too
// long.
func joinFlow(brackets string, parts []string, indent string) string {
	if len(parts) == 0 {
		return brackets
	}
	length, lines := 2, false
	for _, p := range parts {
		length += len(utf16.Encode([]rune(p))) + 3
		lines = lines || strings.Contains(p, "\n")
	}
	if length-1 > lineWidth || lines {
		sep := "\n  " + indent
		return brackets[:1] + sep + strings.Join(parts, ","+sep) + "\n" + indent + brackets[1:]
	}
	return brackets[:1] + " " + strings.Join(parts, ", ") + " " + brackets[1:]
}

// unsafePlain finds what cannot be written without quotes.
var unsafePlain = regexp.MustCompile("^[\n\t ,\\[\\]{}#&*!|>'\"%@`]|^[?-]$|^[?-][ \t]|[\n:][ \t]|[ \t]\n|[\n\t ]#|[\n\t :]$|[\\[\\]{},]|\n")

func (b *builder) flowScalar(n *yaml.Node) string {
	sc := b.source(n)
	switch {
	case sc == nil:
		return ""
	case sc.style == ' ' && !unsafePlain.MatchString(sc.text):
		return sc.text
	case sc.style == '\'' && !strings.Contains(sc.text, "\n"):
		return "'" + strings.ReplaceAll(sc.text, "'", "''") + "'"
	case sc.style != '"' && strings.Contains(sc.text, `"`) && !strings.ContainsAny(sc.text, "'\n"):
		return "'" + sc.text + "'"
	}
	return string(entity.AppendString(nil, sc.text))
}

// anchorName is the name in the file of an anchor in the output.
func (b *builder) anchorName(number string) string {
	i := 0
	for _, c := range number {
		i = i*10 + int(c-'0')
	}
	return b.scanner.names[i]
}
