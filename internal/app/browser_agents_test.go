package app

import (
	"encoding/json"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/access"
)

// TestBrowserDecides has an agent ask for changes of production, and somebody
// on call approve one and deny another in a page that was open before.
func TestBrowserDecides(t *testing.T) {
	s := startBrowsedAs(t, "sre")
	got := browse(t, s.url, "agents.cjs", map[string]string{"token": s.tokens["agent"]})
	var took struct{ Appeared int }
	if err := json.Unmarshal(got.Out, &took); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d ms from asking to the open page", took.Appeared)
	if limit := 15 * time.Second; time.Duration(took.Appeared)*time.Millisecond > limit {
		t.Errorf("a request was there after %d ms", took.Appeared)
	}
	var page access.AuditPage
	s.send("sre", http.MethodGet, "/api/v1/audit?"+url.Values{"action": {"approvals.decide"}}.Encode(), "").decode(t, &page)
	if len(page.Items) != 2 || page.Items[0].Subject != "user:default/sam" {
		t.Errorf("who decided: %+v", page.Items)
	}
	s.send("sre", http.MethodGet, "/api/v1/audit?"+url.Values{"action": {"gitops.propose"}, "status": {"ok"}, "agent": {access.AnyAgent}}.Encode(), "").decode(t, &page)
	if len(page.Items) != 1 || page.Items[0].Subject != "user:default/alice" || page.Items[0].Agent != "claude-code" || page.Items[0].Approval == "" {
		t.Errorf("what was proposed: %+v", page.Items)
	}
}
