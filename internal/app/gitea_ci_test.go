package app

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/gitops"
	"github.com/fairlead-dev/fairlead/internal/realtest"
)

// TestGiteaCIStatus tells by MCP how the checks at a real Gitea went, of what a
// service's own repository holds, and so much when its token does not hold any
// more.
func TestGiteaCIStatus(t *testing.T) {
	f := realtest.Gitea(t)
	s := startWithGitea(t, f, "cistatus")
	s.await("the service is read", func() bool {
		return s.send("developer", http.MethodGet, "/api/v1/entities/component:default/shop", "").status == http.StatusOK
	})
	api := "/repos/cistatus/shop"
	var head struct{ Commit struct{ ID string } }
	f.API(t, http.MethodGet, api+"/branches/main", nil, &head)
	commit := head.Commit.ID
	ask := func(revision string) (out gitops.CIStatus, text string) {
		a := s.tool("agent", "get_ci_status", map[string]any{"service": "shop", "revision": revision})
		if err := json.Unmarshal(a.StructuredContent, &out); err != nil {
			t.Fatalf("%s: %v", a.raw, err)
		}
		return out, a.raw
	}
	f.API(t, http.MethodPost, api+"/branch_protections", map[string]any{"rule_name": "main", "enable_status_check": true, "status_check_contexts": []string{"un*"}}, nil)
	if out, raw := ask(commit); out.State != "pending" || out.Repository != "cistatus/shop" || out.Commit != commit {
		t.Errorf("before anything ran: %s", raw)
	}
	for context, state := range map[string]string{"lint": "success", "unit": "failure"} {
		f.API(t, http.MethodPost, api+"/statuses/"+commit, map[string]any{"state": state, "context": context, "description": "3 of 7 failed", "target_url": "https://ci.example.com/" + context}, nil)
	}
	out, raw := ask("") // the default branch, which nobody has asked about yet
	if out.State != "failed" || out.Commit != commit || out.Revision != "main" || len(out.Checks) != 2 || out.URL != "https://ci.example.com/unit" || out.Checks[0].Name != "unit" || out.Checks[0].Detail[0] != "3 of 7 failed" || !out.Checks[0].Required || out.Checks[1].Required {
		t.Errorf("failed: %s", raw)
	}
	if a := s.tool("agent", "get_ci_status", map[string]any{"service": "shop", "revision": "no-such-branch"}); !a.IsError || !strings.Contains(a.raw, "not_found") {
		t.Errorf("a branch that is not there: %s", a.raw)
	}
	write(t, s.dir+"/writing", "revoked-and-gone-0123456789")
	if out, raw = ask(commit[:12]); out.State != "unknown" || !strings.Contains(out.Grounds[0], "refuses the token") || strings.Contains(raw, "revoked-and-gone") {
		t.Errorf("with a token that does not hold: %s", raw)
	}
}
