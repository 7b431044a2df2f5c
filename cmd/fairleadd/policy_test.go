package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestPolicyTest(t *testing.T) {
	for name, c := range map[string]struct {
		policy, tests, want string
		fails               bool
	}{
		"passes":   {"deny contains \"no\" if input.plan.bad", "test_no if \"no\" in fairlead.deny with input.plan.bad as true", "pass fairlead_test.test_no", false},
		"fails":    {"deny contains \"no\" if input.plan.bad", "test_no if \"no\" in fairlead.deny with input.plan.bad as false", "a_test.rego:5: is not true\n1 tests, 1 failed", true},
		"no tests": {"deny contains \"no\" if input.plan.bad", "x := fairlead.deny", "0 tests, 0 failed", false},
		"wrong":    {"deny contains x if true", "", "a.rego:3:", true},
	} {
		dir := t.TempDir()
		for file, text := range map[string]string{"a.rego": "package fairlead\n\n" + c.policy + "\n", "a_test.rego": "package fairlead_test\n\nimport data.fairlead\n\n" + c.tests + "\n"} {
			if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		var out strings.Builder
		err := testPolicies(t.Context(), dir, &out)
		said := out.String()
		if err != nil {
			said += err.Error()
		}
		if (err != nil) != c.fails || !strings.Contains(said, c.want) {
			t.Errorf("%s: %s", name, said)
		}
	}
}
