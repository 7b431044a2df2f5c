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

// name is a key as JavaScript would have it; simple says that it was written as
// a string, so that only an equal key has the same name.
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
	return b.flowText(n), false
}

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

// checkNames finds names written twice among keys that are all strings.
func (b *builder) checkNames(n *yaml.Node, o *entity.Object) {
	if len(o.Members) <= fewKeys {
		for i := range o.Members {
			for j := range i {
				if o.Members[i].Key == o.Members[j].Key {
					b.reportTwice(n, j, i)
					break
				}
			}
		}
		return
	}
	if b.seen == nil {
		b.seen = make(map[string]int, len(o.Members))
	}
	clear(b.seen)
	for i := range o.Members {
		if j, twice := b.seen[o.Members[i].Key]; twice {
			b.reportTwice(n, j, i)
			continue
		}
		b.seen[o.Members[i].Key] = i
	}
}

// checkMixed finds keys written twice among keys of any kind.
func (b *builder) checkMixed(n *yaml.Node) {
	seen := make(map[key]int, len(n.Content)/2)
	for i := range len(n.Content) / 2 {
		k, ok := b.keyOf(n.Content[2*i])
		if !ok {
			continue
		}
		if j, twice := seen[k]; twice {
			b.reportTwice(n, j, i)
			continue
		}
		seen[k] = i
	}
}

func (b *builder) reportTwice(n *yaml.Node, first, second int) {
	was, is := n.Content[2*first], n.Content[2*second]
	b.report(is, "Remove one of the two, or merge them.", "the key %s is written twice, first on line %d", quote(b.written(is)), b.at(was).Line)
}

// written is the text of a scalar in the file, "" for an empty one.
func (b *builder) written(n *yaml.Node) string {
	if sc := b.source(n); sc != nil {
		return sc.text
	}
	return ""
}

// keyOf is what a scalar key is; false for collections and aliases, which are
// never the same, and for what is not even equal to itself.
func (b *builder) keyOf(n *yaml.Node) (key, bool) {
	if n.Kind != yaml.ScalarNode || b.isMerge(n) {
		return key{}, false
	}
	switch v := b.scalar(n).(type) {
	case nil:
		return key{kind: '0'}, true
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
	return key{}, false
}
