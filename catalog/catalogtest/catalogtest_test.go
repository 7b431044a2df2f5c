package catalogtest_test

import (
	"context"
	"testing"

	"github.com/fairlead-dev/fairlead/access/accesstest"
	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/catalog/catalogtest"
)

func TestNewServesDocuments(t *testing.T) {
	s := catalogtest.New(t, `
apiVersion: backstage.io/v1alpha1
kind: Component
metadata: {name: checkout, tags: [go]}
spec: {type: service, lifecycle: production, owner: payments}
---
apiVersion: backstage.io/v1alpha1
kind: Group
metadata: {name: payments}
spec: {type: team, children: []}
`)
	e, err := s.GetEntity(context.Background(), accesstest.As("user:default/alice"), catalog.GetEntityInput{Ref: "checkout"})
	if err != nil {
		t.Fatal(err)
	}
	if e.Owner() != "group:default/payments" {
		t.Errorf("owner is %q", e.Owner())
	}
}
