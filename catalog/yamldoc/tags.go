package yamldoc

import (
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/fairlead-dev/fairlead/catalog/entity"
)

// tagged is what a scalar with a tag means. A tag that does not fit the text,
// or that is not known, makes it a string.
func (b *builder) tagged(n *yaml.Node, tag, text string) entity.Value {
	name, core := strings.CutPrefix(tag, coreTag)
	if !core {
		return text
	}
	switch name {
	case "null", "bool", "int", "float":
		return b.fitting(name, text)
	case "binary":
		return b.binary(n, text)
	case "timestamp":
		if s, ok := timestamp(text); ok {
			return s
		}
		b.report(n, "Write it as 2006-01-02T15:04:05Z.", "%s is no timestamp", quote(text))
	}
	return text
}

// fitting resolves the text like an unquoted one and keeps what is of the kind
// that the tag names.
func (b *builder) fitting(name, text string) entity.Value {
	var v entity.Value
	whole := false
	if b.old {
		v, whole = plain11(text), isInteger11(text)
	} else {
		v, whole = plain(text), isInteger(text)
	}
	fits := false
	switch v.(type) {
	case nil:
		fits = name == "null"
	case bool:
		fits = name == "bool"
	case float64:
		fits = name == "int" && whole || name == "float" && !whole
	}
	if fits {
		return v
	}
	return text
}

// isInteger says whether a number of the core schema is an integer by its form.
func isInteger(s string) bool {
	if strings.HasPrefix(s, "0x") || strings.HasPrefix(s, "0o") {
		return true
	}
	return !strings.ContainsAny(s, ".eE")
}

// maxBinary is how long the text of a binary value may be: every byte becomes
// a number in a list.
const maxBinary = 1 << 20

// binary decodes base64 into what JavaScript writes for bytes.
func (b *builder) binary(n *yaml.Node, text string) entity.Value {
	if len(text) > maxBinary {
		b.report(n, "Keep the bytes in a file of their own.", "a binary value is longer than %d characters", maxBinary)
		return nil
	}
	data := fromBase64(text)
	l := make(entity.List, len(data))
	for i, c := range data {
		l[i] = entity.Item{Value: float64(c), At: b.at(n)}
	}
	return entity.Obj("type", "Buffer", "data", l)
}

// fromBase64 decodes both alphabets and passes over everything else, up to a "=".
func fromBase64(s string) []byte {
	out := make([]byte, 0, len(s)*3/4)
	bits, n := uint32(0), 0
	for i := 0; i < len(s) && s[i] != '='; i++ {
		d, ok := base64Digit(s[i])
		if !ok {
			continue
		}
		bits, n = bits<<6|d, n+6
		if n >= 8 {
			n -= 8
			out = append(out, byte(bits>>n))
		}
	}
	return out
}

func base64Digit(c byte) (uint32, bool) {
	switch {
	case c >= 'A' && c <= 'Z':
		return uint32(c - 'A'), true
	case c >= 'a' && c <= 'z':
		return uint32(c-'a') + 26, true
	case c >= '0' && c <= '9':
		return uint32(c-'0') + 52, true
	case c == '+' || c == '-':
		return 62, true
	case c == '/' || c == '_':
		return 63, true
	}
	return 0, false
}

// taggedCollection is what a list or mapping with a tag is: sets and ordered
// maps are {} in JSON, pairs are mappings of one key; other tags change
// nothing.
func (b *builder) taggedCollection(n *yaml.Node, tag string) entity.Value {
	isList := n.Kind == yaml.SequenceNode
	switch {
	case tag == coreTag+"set" && !isList:
		return b.set(n)
	case tag == coreTag+"omap" && isList:
		return b.ordered(n)
	case tag == coreTag+"pairs" && isList:
		return b.pairs(n)
	}
	return b.collection(n)
}

func (b *builder) set(n *yaml.Node) entity.Value {
	o, _ := b.object(n).(*entity.Object)
	for i := 1; i < len(n.Content); i += 2 {
		if v := n.Content[i]; v.Kind != yaml.ScalarNode || b.scalar(v) != nil {
			b.report(v, "Leave the value out.", "an item of a set has no value")
			return nil
		}
	}
	return &entity.Object{At: o.At}
}

func (b *builder) ordered(n *yaml.Node) entity.Value {
	b.pairs(n)
	seen := map[key]int{}
	for i, it := range n.Content {
		if it.Kind == yaml.MappingNode && len(it.Content) > 0 {
			it = it.Content[0]
		}
		k, ok := b.keyOf(it)
		if j, twice := seen[k]; ok && twice {
			b.report(it, "Remove one of the two.", "the key %s is in the ordered map twice, first on line %d", quote(b.written(it)), b.at(n.Content[j]).Line)
		}
		seen[k] = i
	}
	return &entity.Object{At: b.at(n)}
}

func (b *builder) pairs(n *yaml.Node) entity.Value {
	l := make(entity.List, len(n.Content))
	for i, it := range n.Content {
		l[i] = entity.Item{Value: b.pair(it), At: b.at(it)}
	}
	return l
}

// pair is one item of ordered pairs: a mapping with one key, or a key alone.
func (b *builder) pair(n *yaml.Node) entity.Value {
	if n.Kind == yaml.MappingNode && len(n.Content) > 0 {
		if len(n.Content) > 2 {
			b.report(n, `Put a "- " before each pair.`, "an item of ordered pairs has one key, this one has %d", len(n.Content)/2)
		}
		return b.value(n)
	}
	name := ""
	if n.Kind != yaml.MappingNode {
		name, _ = b.name(n)
	}
	return &entity.Object{At: b.at(n), Members: []entity.Member{{Key: name, At: b.at(n)}}}
}
