package catalogtest

import (
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/catalog/entity"
	"github.com/fairlead-dev/fairlead/catalog/index"
)

// New makes a service over YAML documents, one or several to a string, that
// everybody may read.
func New(t testing.TB, docs ...string) *catalog.Service {
	t.Helper()
	return NewWith(t, docs)
}

// NewWith makes a service over YAML documents, with options.
func NewWith(t testing.TB, docs []string, options ...Option) *catalog.Service {
	t.Helper()
	s := NewEmpty(t, options...)
	s.Publish(Changes(t, docs...))
	return s
}

// Changes are what publishes YAML documents.
func Changes(t testing.TB, docs ...string) []index.Change {
	t.Helper()
	var out []index.Change
	for _, d := range docs {
		dec := yaml.NewDecoder(stringReader(d))
		for {
			var n yaml.Node
			if err := dec.Decode(&n); err != nil {
				break
			}
			root, ok := value(n.Content[0]).(*entity.Object)
			if !ok {
				t.Fatalf("a document is no mapping: %s", d)
			}
			out = append(out, changeOf(root))
		}
	}
	return out
}
