package mcp_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

func TestToolErrors(t *testing.T) {
	c := serve(t, []string{shop}).open("2025-11-25")
	for _, tc := range []struct {
		tool  string
		args  any
		code  fault.Code
		parts []string
	}{
		{"get_entity", map[string]any{"reff": "x"}, fault.Invalid, []string{`unknown argument "reff"`, "Known arguments: ref."}},
		{"get_entity", map[string]any{}, fault.Invalid, []string{"the argument ref is not given", "for example component:default/checkout"}},
		{"get_entity", map[string]any{"ref": nil}, fault.Invalid, []string{"the argument ref is not given"}},
		{"get_entity", map[string]any{"ref": 5}, fault.Invalid, []string{"ref must be a text, not 5"}},
		{"get_entity", map[string]any{"ref": "no-such"}, fault.NotFound, []string{"no entity component:default/no-such", "Search for it"}},
		{"get_entity", []int{1}, fault.Invalid, []string{"the arguments are no JSON object"}},
		{"whoami", map[string]any{"x": 1}, fault.Invalid, []string{"takes no arguments"}},
		{"search_catalog", map[string]any{"query": "x", "limit": "ten"}, fault.Invalid, []string{`limit must be a whole number, not "ten"`}},
		{"search_catalog", map[string]any{"query": "x", "limit": 1.5}, fault.Invalid, []string{`limit must be a whole number, not 1.5`}},
		{"search_catalog", map[string]any{"query": "x", "limit": 1000}, fault.Invalid, []string{"not between 1 and 100"}},
		{"search_catalog", map[string]any{"query": "x", "filter": []int{1}}, fault.Invalid, []string{"filter must be", "not [1]"}},
		{"search_catalog", map[string]any{"query": "x", "cursor": "zzz"}, fault.Invalid, []string{"cursor"}},
		{"get_dependencies", map[string]any{"ref": "checkout", "direction": "up"}, fault.Invalid, []string{"direction"}},
		{"get_service_brief", map[string]any{}, fault.Invalid, []string{"neither service nor repository"}},
		{"get_service_brief", map[string]any{"service": "checkout", "maxTokens": 100}, fault.Invalid, []string{"maxTokens", "max_tokens"}},
	} {
		r := c.tool(tc.tool, tc.args)
		f := r.fault(t)
		if !r.IsError || f.Code != tc.code {
			t.Errorf("%s %v: %v %s", tc.tool, tc.args, r.IsError, r.StructuredContent)
		}
		contains(t, r.text(), append(tc.parts, string(tc.code))...)
		contains(t, f.Message+" "+f.Fix, tc.parts...)
		if strings.Contains(r.text(), "json:") || strings.Contains(r.text(), "Go ") {
			t.Errorf("the text of a library shows: %s", r.text())
		}
	}
}

func TestTextsOfLinesKeepThem(t *testing.T) {
	c := serve(t, []string{"kind: API\nmetadata: {name: pay, description: \"two\\nlines\"}\nspec:\n  type: openapi\n  lifecycle: production\n  owner: payments\n  definition: |\n    openapi: 3.1.0\n    info:\n      title: Pay\n"}).open("2025-11-25")
	contains(t, c.tool("get_entity", map[string]any{"ref": "api:pay"}).text(), "description: two lines\n", "spec.definition:\nopenapi: 3.1.0\ninfo:\n  title: Pay\n")
}

func TestCallsAreRecorded(t *testing.T) {
	c := serve(t, []string{shop}).open("2025-11-25")
	c.tool("get_entity", map[string]any{"ref": "checkout"})
	got := c.recorder.last()
	if got.Door != "mcp" || got.Operation != "get_entity" || got.Action != access.ReadCatalog || got.Target != "checkout" || got.Who.Agent() != "claude" {
		t.Errorf("%+v", got)
	}
}

func TestATextCountsAsAListOfOne(t *testing.T) {
	c := serve(t, []string{shop}).open("2025-11-25")
	contains(t, c.tool("search_catalog", map[string]any{"query": "", "filter": "kind=resource"}).text(), "1 of 1", "resource:default/db")
}

func TestListsHoldWhatTheCallerMayUse(t *testing.T) {
	c := serve(t, []string{shop})
	const reads = "get_dependencies get_document get_entity get_service_brief list_ingestion_errors list_sources search_catalog search_code search_knowledge whoami"
	all := strings.Replace(reads, "search", "refresh_entity search", 1)
	for _, tc := range []struct{ token, path, want string }{
		{"owner", "/mcp", all},
		{"reader", "/mcp/readonly", reads},
		{"reader", "/mcp", reads},
		{"stranger", "/mcp", "whoami"},
		{"owner", "/mcp?toolsets=catalog,previews", all},
		{"owner", "/mcp?toolsets=previews", ""},
		{"owner", "/mcp/readonly?toolsets=catalog", reads},
	} {
		caller := c.as(tc.token)
		caller.path = tc.path
		list, _ := caller.open("2025-11-25").list()
		if got := list.names(); got != tc.want {
			t.Errorf("%s at %s is offered %q, not %q", tc.token, tc.path, got, tc.want)
		}
	}
	caller := c.as("owner")
	caller.path = "/mcp?toolsets=previews"
	a := caller.open("2025-11-25").call("tools/call", map[string]any{"name": "whoami", "arguments": map[string]any{}})
	if a.Error == nil {
		t.Errorf("a tool outside the toolset is called: %s", a.raw)
	}
	caller.path = "/mcp?toolsets=weapons"
	if a := caller.send(http.MethodPost, `{}`); a.status != http.StatusBadRequest {
		t.Errorf("%d %s", a.status, a.raw)
	} else {
		contains(t, a.raw, "weapons", "catalog, previews, secrets, gitops")
	}
}

// TestCallersSeeTheirOwn holds the door to the rooms' rules: what one may not
// see is not there.
func TestCallersSeeTheirOwn(t *testing.T) {
	c := serve(t, []string{shop})
	for token, want := range map[string]fault.Code{"owner": "", "reader": "", "stranger": fault.NotFound} {
		r := c.as(token).open("2025-11-25").tool("get_entity", map[string]any{"ref": "checkout"})
		var got fault.Code
		if r.IsError {
			got = r.fault(t).Code
		}
		if got != want {
			t.Errorf("%s gets %q, not %q", token, got, want)
		}
	}
	r := c.as("stranger").open("2025-11-25").tool("search_catalog", map[string]any{"query": ""})
	contains(t, r.text(), "0 of 0")
}

// many are documents of components that depend on one another.
func many(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "---\nkind: Component\nmetadata: {name: service-%04d, title: The service with the number %04d, description: %q}\nspec: {type: service, lifecycle: production, owner: payments, dependsOn: [\"component:service-%04d\", \"resource:a-database-with-a-long-name-%04d\"]}\n",
			i, i, strings.Repeat("takes a lot of words to say what it does ", 6), (i+1)%n, i)
	}
	return b.String()
}

const maxAnswer = 8_000 * 4

func TestAnswersAreBounded(t *testing.T) {
	hub := "kind: Component\nmetadata: {name: hub}\nspec: {type: service, lifecycle: production, owner: payments, dependsOn: ["
	for i := range 400 {
		hub += fmt.Sprintf("\"component:service-%04d\", ", i)
	}
	api := "kind: API\nmetadata: {name: big}\nspec: {type: openapi, lifecycle: production, owner: payments, definition: \"" + strings.Repeat("x", 300_000) + "\"}"
	c := serve(t, []string{many(400), hub + "]}", api}).open("2025-11-25")
	for _, tc := range []struct {
		tool  string
		args  map[string]any
		parts []string
	}{
		{"search_catalog", map[string]any{"query": "service", "limit": 100}, []string{"next_cursor"}},
		{"get_entity", map[string]any{"ref": "hub"}, []string{"omitted: "}},
		{"get_entity", map[string]any{"ref": "api:big"}, []string{"spec.definition: cut, 300000 characters in all", "GET /api/v1/entities/api:default/big"}},
		{"get_dependencies", map[string]any{"ref": "hub", "depth": 5}, []string{"truncated"}},
		{"get_service_brief", map[string]any{"service": "hub", "max_tokens": 8000}, nil},
	} {
		r := c.tool(tc.tool, tc.args)
		size := len(r.text()) + len(r.StructuredContent)
		if tc.tool == "get_service_brief" {
			size = len(r.text())
		}
		if r.IsError || size > maxAnswer {
			t.Errorf("%s %v: %v, %d bytes", tc.tool, tc.args, r.IsError, size)
		}
		contains(t, r.text(), tc.parts...)
	}
	a := c.call("resources/read", map[string]any{"uri": "catalog://api/default/big"})
	if len(a.raw) > maxAnswer {
		t.Errorf("a resource of %d bytes", len(a.raw))
	}
	contains(t, a.raw, "300000 characters in all")
}

func TestSearchPagesReachEverything(t *testing.T) {
	c := serve(t, []string{many(150)}).open("2025-11-25")
	seen := map[string]bool{}
	args := map[string]any{"query": "service", "limit": 100}
	for pages := 0; ; pages++ {
		var page catalog.SearchResults
		if err := json.Unmarshal(c.tool("search_catalog", args).StructuredContent, &page); err != nil || pages > 20 {
			t.Fatal(err, pages)
		}
		for _, h := range page.Hits {
			seen[h.Ref] = true
		}
		if page.NextCursor == "" {
			break
		}
		args["cursor"] = page.NextCursor
	}
	if len(seen) != 150 {
		t.Errorf("%d of 150 were reached", len(seen))
	}
}

func TestBriefsAreOfTheSizeAskedFor(t *testing.T) {
	c := serve(t, []string{shop, many(50)}).open("2025-11-25")
	for _, tokens := range []int{0, 100, 300, 8000} {
		args, limit := map[string]any{"service": "checkout"}, 1200
		if tokens > 0 {
			args["max_tokens"], limit = tokens, tokens
		}
		r := c.tool("get_service_brief", args)
		if len(r.text()) > 4*limit || len(r.StructuredContent) > 8*limit {
			t.Errorf("max_tokens %d: %d bytes of text, %d of structured content", tokens, len(r.text()), len(r.StructuredContent))
		}
	}
}
