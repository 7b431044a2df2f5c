package app

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// knows waits until every door finds a text by a query, or no longer does.
func (s *server) knows(query, text string, want bool) {
	s.t.Helper()
	s.await(query+" finds "+text, func() bool {
		for _, body := range s.searches(query) {
			if strings.Contains(body, text) != want {
				return false
			}
		}
		return true
	})
}

// searches are what the doors answer to a query.
func (s *server) searches(query string) map[string]string {
	s.t.Helper()
	return map[string]string{
		"rest":    s.send("developer", http.MethodGet, "/api/v1/knowledge?query="+url.QueryEscape(query), "").body,
		"graphql": s.graph("developer", `{ searchKnowledge(query: "`+query+`") { hits { handle passage owner services source { path line commit } } } }`).body,
		"mcp":     string(s.tool("agent", "search_knowledge", map[string]any{"query": query}).StructuredContent),
	}
}

// TestStoryRunbook follows a runbook of a real repository through pushes, as
// every door tells it.
func TestStoryRunbook(t *testing.T) {
	s := startDemo(t)
	s.commit("cart", "docs/runbooks/cart-melts.md", "---\nowner: group:default/storefront\nlastVerified: 2026-11-01\n---\n# CartMelts\n\n## Meaning\nThe cart is too hot.\n\n## Mitigation\nUnplug the samovar.\n")
	s.reread("cart")
	s.knows("CartMelts samovar", "doc://cart/docs/runbooks/cart-melts.md#mitigation", true)
	for door, body := range s.searches("CartMelts") {
		if !strings.Contains(body, "component:default/cart") || !strings.Contains(body, "group:default/storefront") {
			t.Errorf("%s says %s", door, body)
		}
	}
	handle := "doc://cart/docs/runbooks/cart-melts.md"
	for door, body := range map[string]string{
		"rest":    s.send("developer", http.MethodGet, "/api/v1/document?section=mitigation&handle="+url.QueryEscape(handle), "").body,
		"graphql": s.graph("developer", `{ document(handle: "`+handle+`", section: "mitigation") { text owner } runbook(alert: "CartMelts") { items { handle owner services mitigation } } }`).body,
		"mcp":     s.tool("agent", "get_document", map[string]any{"handle": handle, "section": "mitigation"}).raw,
	} {
		if !strings.Contains(body, "Unplug the samovar.") || strings.Contains(body, "too hot") {
			t.Errorf("%s says %s", door, body)
		}
	}
	s.commit("cart", "docs/runbooks/cart-melts.md", "# CartMelts\n\n## Mitigation\nOpen a window.\n")
	s.reread("cart")
	s.knows("CartMelts", "Open a window", true)
	s.knows("samovar", "cart-melts", false)
	s.git("cart", "rm", "-q", "docs/runbooks/cart-melts.md")
	s.git("cart", "commit", "-qm", "Remove the runbook")
	s.reread("cart")
	s.knows("CartMelts", "cart-melts.md", false)
}

// TestDocumentsSurviveARestart serves what was read before, at once.
func TestDocumentsSurviveARestart(t *testing.T) {
	s := startDemo(t)
	s.knows("checkout slow runbook", "doc://checkout/docs/runbooks/slow.md", true)
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	s.start(s.dir + "/fairlead.yaml")
	for door, body := range s.searches("checkout slow runbook") {
		if !strings.Contains(body, "doc://checkout/docs/runbooks/slow.md") {
			t.Errorf("%s says %s", door, body)
		}
	}
}
