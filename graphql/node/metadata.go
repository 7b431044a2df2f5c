package node

import (
	"github.com/fairlead-dev/fairlead/catalog/entity"
	"github.com/fairlead-dev/fairlead/graphql/engine"
	"github.com/fairlead-dev/fairlead/graphql/scalar"
)

// metadata resolves the type EntityMetadata.
type metadata struct {
	Name, Namespace               string
	Title, Description, UID, Etag *string
	Tags                          []string

	o       *entity.Object
	request *engine.Request
	texts   struct{ title, description, uid, etag string } // what the pointers point at
}

func newMetadata(o *entity.Object, r *engine.Request) *metadata {
	m := &metadata{o: o, request: r, Name: o.String("name"), Namespace: o.String("namespace"), Tags: o.Strings("tags")}
	t := &m.texts
	t.title, t.description, t.uid, t.etag = o.String("title"), o.String("description"), o.String("uid"), o.String("etag")
	m.Title, m.Description, m.UID, m.Etag = some(&t.title), some(&t.description), some(&t.uid), some(&t.etag)
	if m.Namespace == "" {
		m.Namespace = entity.DefaultNamespace
	}
	size := len(m.Name) + len(m.Namespace) + len(t.title) + len(t.description) + len(t.uid) + len(t.etag)
	for _, tag := range m.Tags {
		size += len(tag)
	}
	r.ChargeCopies(size)
	return m
}

// Labels are all labels.
func (m *metadata) Labels() scalar.JSON { return m.all("labels") }

// Annotations are all annotations.
func (m *metadata) Annotations() scalar.JSON { return m.all("annotations") }

// Label is the value of one label.
func (m *metadata) Label(args struct{ Key string }) *string { return m.one("labels", args.Key) }

// Annotation is the value of one annotation.
func (m *metadata) Annotation(args struct{ Key string }) *string {
	return m.one("annotations", args.Key)
}

func (m *metadata) all(key string) scalar.JSON {
	j := scalar.Of(m.o.Object(key))
	if j == nil {
		j = &scalar.JSON{Raw: []byte("{}")}
	}
	m.request.Charge(len(j.Raw))
	return *j
}

func (m *metadata) one(key, name string) *string {
	v, ok := m.o.Object(key).Get(name).(string)
	if !ok {
		return nil
	}
	m.request.Charge(len(v))
	return &v
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
		o, ok := item.Value.(*entity.Object)
		if !ok {
			continue
		}
		url, title, icon, typ := o.String("url"), o.String("title"), o.String("icon"), o.String("type")
		m.request.ChargeCopies(len(url) + len(title) + len(icon) + len(typ))
		out = append(out, &link{url, some(&title), some(&icon), some(&typ)})
	}
	return out
}
