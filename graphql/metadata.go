package graphql

import (
	"context"

	"github.com/fairlead-dev/fairlead/catalog/entity"
	"github.com/fairlead-dev/fairlead/graphql/scalar"
)

// metadata resolves the type EntityMetadata.
type metadata struct{ o *entity.Object }

func (m *metadata) Name() string         { return m.o.String("name") }
func (m *metadata) Title() *string       { return some(m.o.String("title")) }
func (m *metadata) Description() *string { return some(m.o.String("description")) }
func (m *metadata) UID() *string         { return some(m.o.String("uid")) }
func (m *metadata) Etag() *string        { return some(m.o.String("etag")) }
func (m *metadata) Tags() []string       { return m.o.Strings("tags") }

// Labels are all labels.
func (m *metadata) Labels(ctx context.Context) (scalar.JSON, error) { return m.all(ctx, "labels") }

// Annotations are all annotations.
func (m *metadata) Annotations(ctx context.Context) (scalar.JSON, error) {
	return m.all(ctx, "annotations")
}

// Namespace is "default" where none is written.
func (m *metadata) Namespace() string {
	if ns := m.o.String("namespace"); ns != "" {
		return ns
	}
	return entity.DefaultNamespace
}

// Label is the value of one label.
func (m *metadata) Label(args struct{ Key string }) *string { return m.one("labels", args.Key) }

// Annotation is the value of one annotation.
func (m *metadata) Annotation(args struct{ Key string }) *string {
	return m.one("annotations", args.Key)
}

func (m *metadata) all(ctx context.Context, key string) (scalar.JSON, error) {
	j := scalar.Of(m.o.Object(key))
	if j == nil {
		j = &scalar.JSON{Raw: []byte("{}")}
	}
	j, err := paid(ctx, j)
	return *j, err
}

func (m *metadata) one(key, name string) *string {
	if v, ok := m.o.Object(key).Get(name).(string); ok {
		return &v
	}
	return nil
}

// link resolves the type Link.
type link struct {
	URL               string
	Title, Icon, Type *string
}

// Links are the links that are whole.
func (m *metadata) Links() []*link {
	out := []*link{}
	for _, item := range m.o.List("links") {
		if o, ok := item.Value.(*entity.Object); ok {
			out = append(out, &link{o.String("url"), some(o.String("title")), some(o.String("icon")), some(o.String("type"))})
		}
	}
	return out
}
