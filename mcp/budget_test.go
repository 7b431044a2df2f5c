package mcp_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
)

const budgets = "testdata/budgets.golden"

// measured are the sizes of what agents read most, in tokens of four bytes,
// beside what they may be.
func measured(t *testing.T) (names []string, size, most map[string]int) {
	docs := []string{shop}
	for i := range 60 {
		docs = append(docs, fmt.Sprintf("kind: Component\nmetadata: {name: payment-worker-%03d, title: Payment worker %d, description: Settles the payments of region %d every night and reports what it could not settle}\nspec: {type: service, lifecycle: production, owner: payments, system: shop}", i, i, i))
	}
	c := serveWith(t, docs, troubled(t, 100)).open("2025-11-25")
	size, most = map[string]int{}, map[string]int{}
	add := func(name string, bytes, limit int) {
		names, size[name], most[name] = append(names, name), (bytes+3)/4, limit
	}
	_, list := c.list()
	add("tools/list", len(list), 6_000)
	add("prompts/list", len(c.call("prompts/list", nil).Result), 500)
	add("resources/templates/list", len(c.call("resources/templates/list", nil).Result), 500)
	add("resources/list, a page", len(c.call("resources/list", nil).Result), 8_000)
	brief := c.tool("get_service_brief", map[string]any{"service": "checkout"})
	add("get_service_brief, content", len(brief.text()), 1_200)
	add("get_service_brief, structured", len(brief.StructuredContent), 2_400)
	for _, call := range []struct {
		name, tool string
		args       map[string]any
		most       int
	}{
		{"search_catalog, a page of 20", "search_catalog", map[string]any{"query": "payment", "limit": 20}, 3_000},
		{"search_catalog, a page of 100", "search_catalog", map[string]any{"query": "", "limit": 100}, 8_000},
		{"get_entity", "get_entity", map[string]any{"ref": "checkout"}, 8_000},
		{"get_dependencies", "get_dependencies", map[string]any{"ref": "payments", "direction": "both", "depth": 5}, 8_000},
		{"list_ingestion_errors", "list_ingestion_errors", map[string]any{}, 8_000},
		{"list_sources", "list_sources", map[string]any{}, 8_000},
		{"whoami", "whoami", map[string]any{}, 500},
	} {
		a := c.call("tools/call", map[string]any{"name": call.tool, "arguments": call.args})
		add(call.name, len(a.Result), call.most)
	}
	return names, size, most
}

// TestBudgets holds what an agent reads to the budgets that others rely on,
// and to what it was: a twentieth more is for somebody to decide.
func TestBudgets(t *testing.T) {
	names, size, most := measured(t)
	var now strings.Builder
	for _, name := range names {
		fmt.Fprintf(&now, "%-32s %5d of %d tokens\n", name, size[name], most[name])
		if size[name] > most[name] {
			t.Errorf("%s takes %d tokens, more than %d", name, size[name], most[name])
		}
	}
	if os.Getenv("FAIRLEAD_UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(budgets, []byte(now.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	golden, err := os.ReadFile(budgets)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(golden)) {
		var was int
		name := strings.TrimSpace(line[:32])
		if _, err := fmt.Sscan(line[32:], &was); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if got := size[name]; got == 0 || got > was+was/20+1 {
			t.Errorf("%s took %d tokens and takes %d; run make golden if it should", name, was, got)
		}
	}
}

// TestTextsAreForReading: texts are lines for a reader, and shorter than what
// programs get. What an entity's own spec nests is shown as it is.
func TestTextsAreForReading(t *testing.T) {
	c := serve(t, []string{shop}).open("2025-11-25")
	for tool, args := range map[string]map[string]any{"search_catalog": {"query": "checkout"}, "get_entity": {"ref": "checkout"}, "get_service_brief": {"service": "checkout"},
		"get_dependencies": {"ref": "checkout"}, "whoami": {}, "list_sources": {}} {
		r := c.tool(tool, args)
		if text := r.text(); json.Valid([]byte(text)) || tool != "get_entity" && strings.Contains(text, `{"`) || len(text) >= len(r.StructuredContent)+40 {
			t.Errorf("%s: %s", tool, text)
		}
	}
}
