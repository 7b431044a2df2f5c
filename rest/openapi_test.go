package rest_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/fairlead-dev/fairlead/internal/realtest"
)

// document is an OpenAPI document as a client reads it.
type document struct {
	OpenAPI    string
	Paths      map[string]map[string]describedOperation
	Components struct {
		Schemas   map[string]json.RawMessage
		Responses map[string]describedAnswer
	}
}

type describedOperation struct {
	OperationID string
	RequestBody struct{ Content map[string]describedMedia }
	Parameters  []struct {
		Name   string
		Schema json.RawMessage
	}
	Responses map[string]describedAnswer
}

type describedAnswer struct {
	Ref     string `json:"$ref"`
	Content map[string]describedMedia
}

type describedMedia struct{ Schema, Example json.RawMessage }

// check holds a value to a schema of the document; other properties than those
// described are defects, too, where the schema describes any.
func (d *document) check(t *testing.T, what string, sch json.RawMessage, value string) {
	t.Helper()
	root := map[string]any{"$defs": d.Components.Schemas, "allOf": []any{sch}}
	text, err := json.Marshal(root)
	if err != nil {
		t.Fatal(err)
	}
	var s jsonschema.Schema
	if err := json.Unmarshal([]byte(strings.ReplaceAll(string(text), "#/components/schemas/", "#/$defs/")), &s); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	for _, def := range s.Defs {
		if def.AdditionalProperties == nil && def.Properties != nil {
			def.AdditionalProperties = &jsonschema.Schema{Not: &jsonschema.Schema{}}
		}
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	var v any
	if err := json.Unmarshal([]byte(value), &v); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if err := resolved.Validate(v); err != nil {
		t.Errorf("%s: %v\n%.500s", what, err, value)
	}
}

// answer is how an operation's answer of a status is described.
func (d *document) answer(t *testing.T, op describedOperation, status string) json.RawMessage {
	t.Helper()
	a, ok := op.Responses[status]
	if !ok {
		t.Errorf("%s: %s is not described", op.OperationID, status)
	}
	if a.Ref != "" {
		a = d.Components.Responses[strings.TrimPrefix(a.Ref, "#/components/responses/")]
	}
	return a.Content["application/json"].Schema
}

func readDocument(t *testing.T, c *client) *document {
	t.Helper()
	var d document
	c.get("/api/v1/openapi.json").into(t, &d)
	return &d
}

// asked are requests that every operation is asked with.
func asked() []struct{ op, method, path, body, status string } {
	return []struct{ op, method, path, body, status string }{
		{"whoami", "GET", "/api/v1/whoami", "", "200"},
		{"list_entities", "GET", "/api/v1/entities?limit=2", "", "200"},
		{"list_entities", "GET", "/api/v1/entities?limit=2&fields=metadata.name", "", "200"},
		{"list_entities", "GET", "/api/v1/entities?limit=ten", "", "400"},
		{"list_entities_by_post", "POST", "/api/v1/entities/by-query", `{"query":{"kind":"component"}}`, "200"},
		{"get_entities_by_post", "POST", "/api/v1/entities/by-refs", `{"entityRefs":["component:default/checkout","component:default/none"]}`, "200"},
		{"get_entity", "GET", "/api/v1/entities/component:default%2Fcheckout", "", "200"},
		{"get_entity", "GET", "/api/v1/entities/none", "", "404"},
		{"search_catalog", "GET", "/api/v1/search?query=check", "", "200"},
		{"search_catalog_by_post", "POST", "/api/v1/search", `{"query":"check"}`, "200"},
		{"search_catalog_by_post", "POST", "/api/v1/search", strings.Repeat(" ", 5<<20), "413"},
		{"list_facets", "GET", "/api/v1/facets?facets=kind", "", "200"},
		{"list_facets_by_post", "POST", "/api/v1/facets", `{"facets":["kind"]}`, "200"},
		{"get_dependencies", "GET", "/api/v1/dependencies/checkout?direction=both", "", "200"},
		{"get_ancestry", "GET", "/api/v1/ancestry/component:default/checkout", "", "200"},
		{"get_service_brief", "GET", "/api/v1/brief?service=checkout", "", "200"},
		{"get_coverage", "GET", "/api/v1/coverage?missing=any", "", "200"},
		{"search_knowledge", "GET", "/api/v1/knowledge?query=restart+checkout&service=checkout", "", "200"},
		{"search_knowledge", "GET", "/api/v1/knowledge?query=%3F", "", "400"},
		{"search_code", "GET", "/api/v1/code?query=Restart&service=checkout&regexp=true", "", "200"},
		{"search_code", "GET", "/api/v1/code?query=r", "", "400"},
		{"search_code", "GET", "/api/v1/code?query=restart&repository=nothing", "", "404"},
		{"get_document", "GET", "/api/v1/document?handle=doc://test/docs/runbooks/slow.md", "", "200"},
		{"get_document", "GET", "/api/v1/document?handle=doc://test/none.md", "", "404"},
		{"find_runbook", "GET", "/api/v1/runbooks?alert=CheckoutSlow", "", "200"},
		{"list_ingestion_errors", "GET", "/api/v1/errors", "", "200"},
		{"get_catalog_health", "GET", "/api/v1/catalog/health", "", "200"},
		{"list_broken_relations", "GET", "/api/v1/catalog/broken-relations?type=ownedBy", "", "200"},
		{"list_stale_entities", "GET", "/api/v1/catalog/stale-entities?limit=1", "", "200"},
		{"list_sources", "GET", "/api/v1/sources", "", "200"},
		{"list_locations", "GET", "/api/v1/locations", "", "200"},
		{"register_location", "POST", "/api/v1/locations", `{"target":"https://git.example.com/x"}`, "403"},
		{"unregister_location", "DELETE", "/api/v1/locations/1a", "", "403"},
		{"refresh_entity", "POST", "/api/v1/refresh", `{"entityRef":"component:default/checkout"}`, "200"},
		{"list_approvals", "GET", "/api/v1/approvals?state=pending", "", "200"},
		{"get_approval", "GET", "/api/v1/approvals/none", "", "404"},
		{"grant_approval", "POST", "/api/v1/approvals/none/grant", `{}`, "404"},
		{"deny_approval", "POST", "/api/v1/approvals/none/deny", `{"reason":"no"}`, "404"},
		{"get_deployment_health", "GET", "/api/v1/deployments/health?service=checkout&environment=production", "", "422"},
		{"get_ci_status", "GET", "/api/v1/checks?service=checkout&revision=main", "", "422"},
		{"list_forge_links", "GET", "/api/v1/forge-links", "", "200"},
		{"start_forge_link", "POST", "/api/v1/forge-links", `{"forge":"acme"}`, "422"},
		{"finish_forge_link", "POST", "/api/v1/forge-links/none/finish", `{}`, "422"},
		{"unlink_forge", "DELETE", "/api/v1/forge-links/acme", "", "422"},
		{"list_proposals", "GET", "/api/v1/proposals?service=checkout", "", "422"},
		{"propose_change", "POST", "/api/v1/proposals", `{"service":"checkout","environment":"staging","change":{"replicas":3},"reason":"load"}`, "422"},
		{"get_change_figures", "GET", "/api/v1/changes/figures?period=168h&service=checkout", "", "422"},
		{"propose_rollback", "POST", "/api/v1/rollbacks", `{"service":"checkout","environment":"staging","reason":"orders fail"}`, "422"},
		{"get_proposal", "GET", "/api/v1/proposals/none", "", "422"},
		{"list_fleets", "GET", "/api/v1/fleets?state=running", "", "422"},
		{"plan_fleet", "POST", "/api/v1/fleets", `{"query":["kind=component"],"environment":"staging","change":{"replicas":3},"reason":"load"}`, "422"},
		{"get_fleet", "GET", "/api/v1/fleets/none", "", "422"},
		{"start_fleet", "POST", "/api/v1/fleets/none/start", `{}`, "422"},
		{"stop_fleet", "POST", "/api/v1/fleets/none/stop", `{"cancel":true}`, "422"},
		{"propose_answer", "POST", "/api/v1/knowledge/answers", `{"question":"How is checkout restarted?","answer":"By hand.","appliesTo":["checkout"]}`, "422"},
		{"search_external", "POST", "/api/v1/knowledge/external", `{"query":"restart"}`, "422"},
		{"promote_answer", "POST", "/api/v1/knowledge/skills", `{"handle":"doc://checkout/docs/answers/restart.md"}`, "422"},
		{"list_preview_environments", "GET", "/api/v1/previews?service=checkout", "", "422"},
		{"get_preview_environment", "GET", "/api/v1/previews/none", "", "422"},
		{"get_preview_logs", "GET", "/api/v1/previews/none/logs?tail=1", "", "422"},
		{"create_preview_environment", "POST", "/api/v1/previews", `{"service":"checkout"}`, "422"},
		{"extend_preview_environment", "POST", "/api/v1/previews/none/extend", `{"ttl":"1h"}`, "422"},
		{"delete_preview_environment", "DELETE", "/api/v1/previews/none", "", "422"},
		{"list_revisions", "GET", "/api/v1/previews/revisions?service=checkout&query=main", "", "422"},
		{"list_preview_resources", "GET", "/api/v1/previews/top", "", "422"},
		{"get_preview_usage", "GET", "/api/v1/previews/usage", "", "422"},
		{"list_preview_strays", "GET", "/api/v1/previews/strays", "", "422"},
		{"sweep_preview_strays", "POST", "/api/v1/previews/sweep", `{"ids":["a"]}`, "422"},
		{"force_remove_preview_environment", "POST", "/api/v1/previews/none/force-removal", `{"why":"x"}`, "422"},
		{"list_credentials", "GET", "/api/v1/credentials?service=checkout", "", "422"},
		{"request_credentials", "POST", "/api/v1/credentials", `{"service":"checkout","name":"db-readonly"}`, "422"},
		{"revoke_all_credentials", "POST", "/api/v1/credentials/revoke-all", `{"agent":"claude"}`, "422"},
		{"get_credentials", "GET", "/api/v1/credentials/none", "", "422"},
		{"revoke_credentials", "DELETE", "/api/v1/credentials/none", "", "422"},
		{"renew_credentials", "POST", "/api/v1/credentials/none/renew", `{"ttl":"10m"}`, "422"},
		{"collect_credentials", "POST", "/api/v1/credentials/none/wrap", `{}`, "422"},
		{"confirm_credentials", "POST", "/api/v1/credentials/none/opened", `{}`, "422"},
		{"report_credentials", "POST", "/api/v1/credentials/none/alarm", `{}`, "422"},
		{"beat_credentials_by_post", "POST", "/api/v1/credentials/none/beat", `{}`, "422"},
		{"reveal_credentials", "POST", "/api/v1/credentials/none/plain", `{}`, "422"},
		{"list_audit", "GET", "/api/v1/audit", "", "200"},
		{"list_agents", "GET", "/api/v1/agents", "", "200"},
		{"get_openapi", "GET", "/api/v1/openapi.json", "", "200"},
	}
}

func TestAnswersAreAsDescribed(t *testing.T) {
	c := serve(t, []string{shop})
	d := readDocument(t, c)
	operations := map[string]describedOperation{}
	for path, methods := range d.Paths {
		for method, op := range methods {
			if operations[op.OperationID].OperationID != "" {
				t.Errorf("two operations are called %s", op.OperationID)
			}
			operations[op.OperationID] = op
			if _, ok := op.Responses["401"]; !ok {
				t.Errorf("%s %s does not tell of 401", method, path)
			}
		}
	}
	tried := map[string]bool{}
	for _, a := range asked() {
		op, ok := operations[a.op]
		if !ok {
			t.Errorf("%s is not described", a.op)
			continue
		}
		tried[a.op] = true
		got := c.send(a.method, a.path, a.body)
		if status := http.StatusText(got.status); !strings.HasPrefix(a.status, string('0'+rune(got.status/100))) {
			t.Errorf("%s: %d %s %s", a.path, got.status, status, got.raw)
			continue
		}
		d.check(t, a.method+" "+a.path[:min(len(a.path), 80)], d.answer(t, op, a.status), got.raw)
	}
	for id := range operations {
		if !tried[id] {
			t.Errorf("no answer of %s is held to its description", id)
		}
	}
	refused := c.as("").get("/api/v1/whoami")
	d.check(t, "without a token", d.answer(t, operations["whoami"], "401"), refused.raw)
}

func TestExamplesAreAsDescribed(t *testing.T) {
	d := readDocument(t, serve(t, []string{shop}))
	examples := 0
	hold := func(what string, media map[string]describedMedia) {
		if m := media["application/json"]; m.Example != nil {
			examples++
			d.check(t, what, m.Schema, string(m.Example))
		}
	}
	for _, methods := range d.Paths {
		for _, op := range methods {
			hold("body of "+op.OperationID, op.RequestBody.Content)
			for status, a := range op.Responses {
				hold(status+" of "+op.OperationID, a.Content)
				if name := strings.TrimPrefix(a.Ref, "#/components/responses/"); a.Ref != "" && d.Components.Responses[name].Content == nil {
					t.Errorf("%s: there is no answer %s", op.OperationID, name)
				}
			}
			for _, p := range op.Parameters {
				if p.Name == "" {
					t.Errorf("%s has a parameter without a name", op.OperationID)
				}
			}
		}
	}
	for name, a := range d.Components.Responses {
		hold(name, a.Content)
	}
	if examples < 15 {
		t.Errorf("only %d examples", examples)
	}
}

func TestRealOpenAPILinter(t *testing.T) {
	tools := realtest.OpenAPITools(t)
	c := serve(t, []string{shop})
	file := filepath.Join(t.TempDir(), "openapi.json")
	write(t, file, c.get("/api/v1/openapi.json").raw)
	config := filepath.Join(filepath.Dir(file), "redocly.yaml")
	write(t, config, "extends: [recommended-strict]\nrules:\n  info-license: off\n  no-ambiguous-paths: off\n")
	tools.Run(t, []string{"REDOCLY_TELEMETRY=off"}, filepath.Join(tools.Dir, "node_modules/@redocly/cli/bin/cli.js"), "lint", "--config", config, file)
}

// TestRealGeneratedClient generates a client from the document, compiles it
// with a program that uses it, and has that call the door.
func TestRealGeneratedClient(t *testing.T) {
	tools := realtest.OpenAPITools(t)
	c := serve(t, []string{shop})
	dir := t.TempDir()
	if err := os.Symlink(filepath.Join(tools.Dir, "node_modules"), filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile("testdata/client.ts")
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "client.ts"), string(program))
	write(t, filepath.Join(dir, "package.json"), `{"type": "module"}`)
	write(t, filepath.Join(dir, "openapi.json"), c.get("/api/v1/openapi.json").raw)
	module := func(path string) string { return filepath.Join(tools.Dir, "node_modules", path) }
	tools.Run(t, nil, module("openapi-typescript/bin/cli.js"), filepath.Join(dir, "openapi.json"), "-o", filepath.Join(dir, "api.d.ts"))
	tools.Run(t, nil, module("typescript/bin/tsc"), "--strict", "--target", "es2022", "--module", "nodenext", "--lib", "es2022,dom", "--noEmitOnError", "--outDir", dir, filepath.Join(dir, "client.ts"))
	out := tools.Run(t, []string{"FAIRLEAD_SERVER=" + c.URL, "FAIRLEAD_TOKEN=owner"}, filepath.Join(dir, "client.js"))
	const want = `{"subject":"user:default/olga","title":"Checkout","owner":"group:default/payments","pages":["Website","checkout","ledger"],` +
		`"batch":["checkout",null],"edges":2,"kinds":["Component","Group","Resource","System"],"refreshed":"test","missing":"not_found","allowed":"GET, HEAD"}` + "\n"
	if out != want {
		t.Errorf("got  %swant %s", out, want)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
