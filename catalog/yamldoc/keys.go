package yamldoc

import (
	"math"

	"gopkg.in/yaml.v3"

	"github.com/fairlead-dev/fairlead/catalog/entity"
)

// key is what makes two scalar keys the same: kind and value.
type key struct {
	kind   byte
	text   string
	number float64
}

// name is a key as JavaScript would have it; simple says that it was a string,
// so that only an equal key has the same name.
func (b *builder) name(n *yaml.Node) (name string, simple bool) {
	v := b.value(n)
	if s, ok := v.(string); ok {
		return s, n.Kind == yaml.ScalarNode
	}
	switch v := v.(type) {
	case nil:
		return "", false
	case bool:
		if v {
			return "true", false
		}
		return "false", false
	case float64:
		return entity.FormatNumber(v), false
	}
	return b.stringify(n), false
}

func (b *builder) stringify(n *yaml.Node) string { return flowText(n) }

// collapse leaves of members with the same name the last value at the first
// place.
func collapse(o *entity.Object) {
	at := make(map[string]int, len(o.Members))
	kept := o.Members[:0]
	for _, m := range o.Members {
		if i, ok := at[m.Key]; ok {
			kept[i].Value, kept[i].At = m.Value, m.At
			continue
		}
		at[m.Key] = len(kept)
		kept = append(kept, m)
	}
	o.Members = kept
}

// fewKeys is up to how many keys comparing each with each is quickest.
const fewKeys = 12

// checkKeys finds keys written twice.
func (b *builder) checkKeys(n *yaml.Node) {
	if len(n.Content) <= 2*fewKeys {
		for i := 2; i < len(n.Content); i += 2 {
			for j := 0; j < i; j += 2 {
				if sameKey(n.Content[i], n.Content[j]) {
					b.reportTwice(n.Content[j], n.Content[i])
					break
				}
			}
		}
		return
	}
	if b.seen == nil {
		b.seen = make(map[key]int, len(n.Content)/2)
	}
	clear(b.seen)
	for i := 0; i < len(n.Content); i += 2 {
		k, ok := keyOf(n.Content[i])
		if !ok {
			continue
		}
		if j, twice := b.seen[k]; twice {
			b.reportTwice(n.Content[j], n.Content[i])
			continue
		}
		b.seen[k] = i
	}
}

func (b *builder) reportTwice(first, second *yaml.Node) {
	b.report(second, "Remove one of the two, or merge them.", "the key %s is written twice, first on line %d", quote(second.Value), b.at(first).Line)
}

func sameKey(a, c *yaml.Node) bool {
	if a.Value == c.Value && a.Style == c.Style && a.Kind == yaml.ScalarNode && c.Kind == yaml.ScalarNode && a.Tag == c.Tag {
		return true
	}
	if a.Style != 0 && c.Style != 0 && a.Value != c.Value {
		return false
	}
	ka, ok := keyOf(a)
	if !ok {
		return false
	}
	kc, ok := keyOf(c)
	return ok && ka == kc
}

// keyOf is what a scalar key is; false for collections and aliases, which are
// never the same, and for what is not even equal to itself.
func keyOf(n *yaml.Node) (key, bool) {
	if n.Kind != yaml.ScalarNode {
		return key{}, false
	}
	if n.Style != 0 {
		return key{kind: 's', text: n.Value}, true
	}
	switch v := plain(n.Value).(type) {
	case string:
		return key{kind: 's', text: v}, true
	case bool:
		if v {
			return key{kind: 't'}, true
		}
		return key{kind: 'f'}, true
	case float64:
		return key{kind: 'n', number: v}, !math.IsNaN(v)
	}
	return key{kind: '0'}, true
}
