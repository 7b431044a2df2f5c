package mcp_test

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"
)

const (
	golden      = "testdata/tools.golden.json"
	tokenBudget = 6_000
)

// tools is what tools/list says.
type tools struct {
	Tools []struct {
		Name, Title, Description string
		InputSchema              json.RawMessage
		OutputSchema             json.RawMessage
		Annotations              map[string]*bool
	}
}

func (c *client) list() (tools, []byte) {
	c.t.Helper()
	a := c.call("tools/list", map[string]any{})
	var out tools
	if a.Error != nil || json.Unmarshal(a.Result, &out) != nil {
		c.t.Fatal(a.raw)
	}
	return out, a.Result
}

func (ts tools) names() string {
	var out []string
	for _, t := range ts.Tools {
		out = append(out, t.Name)
	}
	return strings.Join(out, " ")
}

func TestToolsList(t *testing.T) {
	c := serve(t, []string{shop}).open("2025-11-25")
	_, raw := c.list()
	if n := (len(raw) + 3) / 4; n > tokenBudget {
		t.Errorf("tools/list takes %d tokens, more than %d", n, tokenBudget)
	}
	var got bytes.Buffer
	if err := json.Indent(&got, raw, "", "  "); err != nil {
		t.Fatal(err)
	}
	got.WriteByte('\n')
	if os.Getenv("FAIRLEAD_UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(golden, got.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got.String()); d != "" {
		t.Errorf("tools/list changed; run make golden if it should:\n%s", d)
	}
}

func TestEveryToolIsWellDescribed(t *testing.T) {
	c := serve(t, []string{shop}).open("2025-11-25")
	list, _ := c.list()
	for _, tool := range list.Tools {
		if tool.Title == "" || tool.Description == "" {
			t.Errorf("%s has no title or description", tool.Name)
		}
		says := func(hint string) string {
			if v := tool.Annotations[hint]; v != nil {
				return strconv.FormatBool(*v)
			}
			return ""
		}
		want := []string{"true", "", "", "false"}
		if tool.Name == "refresh_entity" {
			want = []string{"false", "false", "true", "false"}
		}
		if got := []string{says("readOnlyHint"), says("destructiveHint"), says("idempotentHint"), says("openWorldHint")}; !slices.Equal(got, want) {
			t.Errorf("%s: its hints are %q, not %q", tool.Name, got, want)
		}
		for _, schema := range []json.RawMessage{tool.InputSchema, tool.OutputSchema} {
			if bytes.Contains(schema, []byte(`"null"`)) {
				t.Errorf("%s: a schema allows null: %s", tool.Name, schema)
			}
			if !resolved(t, schema) {
				t.Errorf("%s: %s is no schema", tool.Name, schema)
			}
		}
		contains(t, string(tool.InputSchema), `"additionalProperties":false`)
	}
}

func resolved(t *testing.T, schema []byte) bool {
	t.Helper()
	var s jsonschema.Schema
	if json.Unmarshal(schema, &s) != nil {
		return false
	}
	_, err := s.Resolve(nil)
	return err == nil
}

// TestAnswersFollowTheirSchemas validates structured content as a client does.
func TestAnswersFollowTheirSchemas(t *testing.T) {
	c := serve(t, []string{shop}).open("2025-11-25")
	list, _ := c.list()
	calls := map[string][]map[string]any{
		"whoami":                {{}},
		"search_catalog":        {{"query": ""}, {"query": "nothing at all"}, {"query": "checkout", "limit": 1}},
		"get_entity":            {{"ref": "checkout"}, {"ref": "group:payments"}},
		"get_service_brief":     {{"service": "checkout"}, {"service": "ledger", "sections": []string{"owner"}}, {"repository": "git@git.example.com:acme/checkout.git"}},
		"list_ingestion_errors": {{}, {"source": "memory", "limit": 1}},
		"list_sources":          {{}},
		"search_knowledge":      {{"query": "restart checkout"}, {"query": "nothing at all"}, {"query": "CheckoutSlow", "service": "checkout", "kind": "runbook", "limit": 1}},
		"search_code":           {{"query": "nothing at all"}, {"query": "Restart", "regexp": true, "service": "checkout", "path": "docs", "limit": 1}},
		"get_document":          {{"handle": slowRunbook}, {"handle": slowRunbook, "section": "mitigation", "max_tokens": 300}},
		"refresh_entity":        {{"source": "memory"}},
		"get_dependencies":      {{"ref": "checkout"}, {"ref": "db", "direction": "in"}, {"ref": "resource:db", "direction": "both", "depth": 5}},
	}
	for _, tool := range list.Tools {
		var s jsonschema.Schema
		if err := json.Unmarshal(tool.OutputSchema, &s); err != nil {
			t.Fatal(err)
		}
		schema, err := s.Resolve(nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(calls[tool.Name]) == 0 {
			t.Errorf("%s is not called", tool.Name)
		}
		for _, args := range calls[tool.Name] {
			r := c.tool(tool.Name, args)
			var v any
			if err := json.Unmarshal(r.StructuredContent, &v); err != nil {
				t.Fatal(err)
			}
			if err := schema.Validate(v); err != nil || r.IsError {
				t.Errorf("%s %v: %v\n%s", tool.Name, args, err, r.StructuredContent)
			}
		}
	}
}
