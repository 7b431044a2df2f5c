package catalog_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/access/accesstest"
	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/catalog/catalogtest"
	"github.com/fairlead-dev/fairlead/catalog/entity"
)

// TestLastChangeIsToldOnceKnown shows an entity before and after it is known
// when its file was changed last.
func TestLastChangeIsToldOnceKnown(t *testing.T) {
	s, alice := catalogtest.New(t, neighbours()...), accesstest.As("user:default/alice")
	whole, err := s.GetEntity(t.Context(), alice, catalog.GetEntityInput{Ref: "checkout"})
	if err != nil {
		t.Fatal(err)
	}
	h := &entity.History{}
	e := *whole
	e.From.History = h
	if o := s.Origin(&e); !o.ChangedAt.IsZero() || o.ChangedIn != "" || o.Path == "" || o.VerifiedAt.IsZero() {
		t.Errorf("before it is known: %+v", o)
	}
	at := time.Date(2025, 3, 1, 12, 0, 0, 0, time.UTC)
	h.Know(entity.LastChange{Commit: "abc", At: at})
	if o := s.Origin(&e); !o.ChangedAt.Equal(at) || o.ChangedIn != "abc" {
		t.Errorf("once it is known: %+v", o)
	}
	h.Doubt()
	if o := s.Origin(&e); !o.ChangedAt.IsZero() {
		t.Errorf("while it is doubted: %+v", o)
	}
}

// TestDescribeEntity adds one member to what Backstage's clients see.
func TestDescribeEntity(t *testing.T) {
	s, alice := catalogtest.New(t, neighbours()...), accesstest.As("user:default/alice")
	plain, err := s.GetEntity(t.Context(), alice, catalog.GetEntityInput{Ref: "checkout"})
	if err != nil {
		t.Fatal(err)
	}
	described := describe(t, s, "checkout")
	want, err := plain.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(described, strings.TrimSuffix(string(want), "}")+`,"source":{`) {
		t.Errorf("%s is described as %s", want, described)
	}
	var body struct{ Source catalog.Origin }
	if err := json.Unmarshal([]byte(described), &body); err != nil || body.Source.Path == "" {
		t.Errorf("source is %+v, %v", body.Source, err)
	}
}

func describe(t *testing.T, s *catalog.Service, ref string) string {
	t.Helper()
	e, err := s.DescribeEntity(t.Context(), accesstest.As("user:default/alice"), catalog.DescribeEntityInput{Ref: ref})
	if err != nil {
		t.Fatal(err)
	}
	text, err := e.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
