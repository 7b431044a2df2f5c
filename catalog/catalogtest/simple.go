package catalogtest

import (
	"io"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/fairlead-dev/fairlead/catalog/entity"
	"github.com/fairlead-dev/fairlead/catalog/index"
)

func stringReader(s string) io.Reader { return strings.NewReader(s) }

func value(n *yaml.Node) entity.Value {
	switch n.Kind {
	case yaml.MappingNode:
		o := &entity.Object{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			o.Set(n.Content[i].Value, value(n.Content[i+1]))
		}
		return o
	case yaml.SequenceNode:
		l := entity.List{}
		for _, c := range n.Content {
			l = append(l, entity.Item{Value: value(c)})
		}
		return l
	default:
		var v any
		if n.Decode(&v) != nil {
			return n.Value
		}
		switch v := v.(type) {
		case nil, bool, float64, string:
			return v
		case int:
			return float64(v)
		default:
			return n.Value
		}
	}
}

var fields = []struct{ field, kind, typ, back string }{
	{"owner", "group", "ownedBy", "ownerOf"},
	{"system", "system", "partOf", "hasPart"},
	{"domain", "domain", "partOf", "hasPart"},
	{"subcomponentOf", "component", "partOf", "hasPart"},
	{"dependsOn", "component", "dependsOn", "dependencyOf"},
	{"providesApis", "api", "providesApi", "apiProvidedBy"},
	{"consumesApis", "api", "consumesApi", "apiConsumedBy"},
	{"memberOf", "group", "memberOf", "hasMember"},
	{"parent", "group", "childOf", "parentOf"},
}

func changeOf(root *entity.Object) index.Change {
	md := root.Object("metadata")
	if md.String("namespace") == "" {
		md.Set("namespace", entity.DefaultNamespace)
	}
	e := &entity.Entity{Root: root}
	e.Ref = entity.Ref{Kind: e.Kind(), Namespace: e.Namespace(), Name: e.Name()}.Canonical()
	e.From = entity.Provenance{Source: "test", Path: "catalog-info.yaml", Line: 1, VerifiedAt: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	rec := &index.Record{Entity: e}
	for _, f := range fields {
		names := e.Spec().Strings(f.field)
		if s := e.Spec().String(f.field); s != "" {
			names = []string{s}
		}
		for _, n := range names {
			ref, err := entity.ParseRef(n, f.kind, e.Namespace())
			if err != nil {
				continue
			}
			rec.Edges = append(rec.Edges,
				entity.Edge{Source: e.Ref.String(), Type: f.typ, Target: ref.String()},
				entity.Edge{Source: ref.String(), Type: f.back, Target: e.Ref.String()})
		}
	}
	return index.Change{Ref: e.Ref.String(), Record: rec}
}
