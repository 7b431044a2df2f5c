package catalogtest

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/catalog/descriptor"
	"github.com/fairlead-dev/fairlead/catalog/entity"
	"github.com/fairlead-dev/fairlead/catalog/index"
)

// Source is the name of the source that all entities come from.
const Source = "test"

// Repository is the URL of the repository that they stand in.
const Repository = "https://git.example.com/acme/catalog"

// New makes a service over YAML documents, one or several to a string, that
// everybody may read. Each string is a file of its own, catalog-info.yaml,
// catalog-info-2.yaml and so
// on. A document that Backstage would not take fails the test; an apiVersion
// may be left out.
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
	p := descriptor.New(descriptor.Options{Template: true})
	var out []index.Change
	for i, text := range docs {
		path := "catalog-info.yaml"
		if i > 0 {
			path = fmt.Sprintf("catalog-info-%d.yaml", i+1)
		}
		at := descriptor.Location{Type: descriptor.TypeURL, Target: Repository + "/" + path}
		f := p.Read(at, []byte(versioned(text)))
		fatal(t, path, f.Problems)
		for _, d := range f.Documents {
			fatal(t, path, d.Problems)
			res := p.Process(context.Background(), f, d, at, nil)
			fatal(t, path, res.Problems)
			out = append(out, changeOf(path, d, res))
		}
	}
	return out
}

// versioned gives documents the apiVersion that they leave out.
func versioned(text string) string {
	docs := strings.Split(text, "\n---\n")
	for i, d := range docs {
		d = "\n" + d
		if strings.Contains(d, "\nkind:") && !strings.Contains(d, "\napiVersion:") {
			docs[i] = strings.Replace(d, "\nkind:", "\napiVersion: backstage.io/v1alpha1\nkind:", 1)[1:]
		}
	}
	return strings.Join(docs, "\n---\n")
}

// fatal ends the test if a problem keeps a document out.
func fatal(t testing.TB, path string, problems []entity.Problem) {
	t.Helper()
	for _, p := range problems {
		if p.Severity == entity.SeverityError {
			p.File = path
			t.Fatal(p.String())
		}
	}
}

func changeOf(path string, d *descriptor.Document, res *descriptor.Result) index.Change {
	return index.Change{Ref: d.Ref.String(), Record: &index.Record{
		Edges: res.Edges,
		Entity: &entity.Entity{Ref: d.Ref, Root: res.Entity, From: entity.Provenance{
			Source: Source, Repository: Repository, Commit: "0123456789abcdef0123456789abcdef01234567",
			Path: path, Line: d.At.Line, VerifiedAt: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
		}},
	}}
}
