package rego_test

import (
	"path/filepath"
	"testing"

	"github.com/fairlead-dev/fairlead/access/rego"
)

// TestStarterPolicies holds the policies that the documentation gives to their
// own tests.
func TestStarterPolicies(t *testing.T) {
	out, err := rego.Test(t.Context(), filepath.Join("..", "..", "docs", "policy"))
	if err != nil || len(out) < 10 {
		t.Fatalf("%d tests, %v", len(out), err)
	}
	for _, o := range out {
		if !o.Passed {
			t.Errorf("%s:%d: %s %s", o.File, o.Line, o.Name, o.Message)
		}
	}
}
