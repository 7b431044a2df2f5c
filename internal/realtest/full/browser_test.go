package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/internal/realtest"
)

// seen has a browser look at pages while Alice commits and her agent works.
func seen(t *testing.T, w *world) {
	t.Helper()
	got := realtest.Walk(t, w.url(), filepath.Join("testdata", "story.cjs"), map[string]string{
		"gitea": w.gitea.URL, "organization": organization, "alice": w.accounts["alice"].token, "agent": w.set.Tokens["agent"],
	})
	var after struct {
		Committed, Preview, Asked int // milliseconds
		Pull                      string
	}
	if err := json.Unmarshal(got.Out, &after); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(after.Pull, w.gitea.URL) {
		t.Errorf("the pull request is %q", after.Pull)
	}
	t.Logf("seen in open pages: a commit after %d ms, a preview after %d ms, a request for approval after %d ms", after.Committed, after.Preview, after.Asked)
}
