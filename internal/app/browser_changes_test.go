package app

import (
	"encoding/json"
	"net/http"
	"slices"
	"testing"

	"github.com/fairlead-dev/fairlead/gitops"
)

// TestBrowserProposesAChange proposes a change in the page of a component, and
// finds it there as it comes along.
func TestBrowserProposesAChange(t *testing.T) {
	s := startBrowsed(t)
	var out struct{ Steps []string }
	if err := json.Unmarshal(browse(t, s.url, "changes.cjs", nil).Out, &out); err != nil {
		t.Fatal(err)
	}
	if want := []string{"Proposed", "Merged now", "Synced", "Healthy"}; !slices.Equal(out.Steps, want) {
		t.Errorf("the steps are %q", out.Steps)
	}
	var page struct{ Items []gitops.Proposal }
	s.send("developer", http.MethodGet, "/api/v1/proposals?service=checkout", "").decode(t, &page)
	if len(page.Items) != 1 || page.Items[0].State != gitops.Pushed || page.Items[0].Reason != "the fix for orders" || page.Items[0].Agent != "" {
		t.Errorf("%+v", page.Items)
	}
}
