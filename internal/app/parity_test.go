package app

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/gitops/gitopstest"
	"github.com/fairlead-dev/fairlead/internal/demo"
	"github.com/fairlead-dev/fairlead/previews"
	"github.com/fairlead-dev/fairlead/previews/previewstest"
	"github.com/fairlead-dev/fairlead/secrets/secretstest"
)

// operation is one operation as each door offers it. What is compared are the
// values at paths of the answer, such as hits[].ref.
type operation struct {
	name  string
	paths []string
	// rest is the method, path and body of the native REST door.
	method, rest, body string
	// graph is a GraphQL field with its selection; field its name.
	graph, field string
	// graphPaths are the paths in GraphQL where they are others.
	graphPaths []string
	// tool and args are MCP's; "" where it has none.
	tool string
	args map[string]any
}

// slowRunbook is a document of the demo.
const slowRunbook = "doc://checkout/docs/runbooks/slow.md"

// noRequest is the id of no request for approval.
const noRequest = "019ad0f1-6f0e-7c3a-9b52-2f7e5c1d8a40"

func operations() []operation {
	ref := url.PathEscape("component:default/checkout")
	return []operation{
		{name: "whoami", paths: []string{"subject", "agent", "groups[]", "roles[]", "actions[].action", "actions[].on"},
			method: "GET", rest: "/api/v1/whoami", field: "whoami", graph: "whoami { subject agent groups roles actions { action on } }", tool: "whoami"},
		{name: "get_entity", paths: []string{"kind", "metadata.name", "metadata.uid", "metadata.etag", "spec.owner"},
			method: "GET", rest: "/api/v1/entities/" + ref, field: "entity", graph: `entity(ref: "component:default/checkout") { kind metadata { name uid etag } spec }`,
			tool: "get_entity", args: map[string]any{"ref": "component:default/checkout"}},
		{name: "get_entity", paths: []string{"metadata.name"},
			method: "GET", rest: "/api/v1/entities/component:default/nobody", field: "entity", graph: `entity(ref: "component:default/nobody") { metadata { name } }`,
			tool: "get_entity", args: map[string]any{"ref": "component:default/nobody"}},
		{name: "list_entities", paths: []string{"items[].metadata.name", "items[].metadata.uid", "items[].spec.owner"},
			graphPaths: []string{"edges[].node.metadata.name", "edges[].node.metadata.uid", "edges[].node.spec.owner"},
			method:     "POST", rest: "/api/v1/entities/by-query", body: `{"filter":["kind=component"],"orderBy":[{"field":"metadata.name"}],"limit":5}`, field: "entities",
			graph: `entities(first: 5, filter: {kind: "component"}, orderBy: {field: "metadata.name"}) { edges { node { metadata { name uid } spec } } }`},
		{name: "search_catalog", paths: []string{"total", "hits[].ref", "hits[].owner", "hits[].title"},
			method: "GET", rest: "/api/v1/search?query=payments", field: "search", graph: `search(query: "payments") { total hits { ref owner title } }`,
			tool: "search_catalog", args: map[string]any{"query": "payments"}},
		{name: "get_dependencies", paths: []string{"root", "nodes[].ref", "edges[].from", "edges[].type", "edges[].to"},
			method: "GET", rest: "/api/v1/dependencies/" + ref + "?direction=both&depth=2", field: "dependencies",
			graph: `dependencies(ref: "component:default/checkout", direction: both, depth: 2) { root nodes { ref } edges { from type to } }`,
			tool:  "get_dependencies", args: map[string]any{"ref": "component:default/checkout", "direction": "both", "depth": 2}},
		{name: "get_service_brief", paths: []string{"ref", "owner.value", "owner.source.line", "owner.source.commit", "commands.test.value", "environments[].name", "dependsOn[].value", "runbooks[].value", "slos[].value"},
			method: "GET", rest: "/api/v1/brief?service=checkout", field: "serviceBrief",
			graph: `serviceBrief(service: "checkout") { ref owner { value source { line commit } } commands { test { value } } environments { name } dependsOn { value } runbooks { value } slos { value } }`,
			tool:  "get_service_brief", args: map[string]any{"service": "checkout"}},
		{name: "get_service_brief", paths: []string{"ref"}, method: "GET", rest: "/api/v1/brief?service=checkout&max_tokens=1", field: "serviceBrief",
			graph: `serviceBrief(service: "checkout", maxTokens: 1) { ref }`, tool: "get_service_brief", args: map[string]any{"service": "checkout", "max_tokens": 1}},
		{name: "search_knowledge", paths: []string{"total", "hits[].handle", "hits[].kind", "hits[].title", "hits[].passage", "hits[].owner", "hits[].services[]", "hits[].source.line", "hits[].source.commit"},
			method: "GET", rest: "/api/v1/knowledge?query=checkout+slow&service=checkout&kind=runbook&limit=3", field: "searchKnowledge",
			graph: `searchKnowledge(query: "checkout slow", service: "checkout", kind: "runbook", first: 3) { total hits { handle kind title passage owner services source { line commit } } }`,
			tool:  "search_knowledge", args: map[string]any{"query": "checkout slow", "service": "checkout", "kind": "runbook", "limit": 3}},
		{name: "search_code", paths: []string{"searched", "hits[].source.path", "hits[].source.commit", "hits[].source.line", "hits[].language", "hits[].owner", "hits[].services[]", "hits[].matches", "hits[].excerpts[].line", "hits[].excerpts[].lines[]", "hits[].excerpts[].text"},
			method: "GET", rest: "/api/v1/code?query=checkout&service=checkout&limit=3", field: "searchCode",
			graph: `searchCode(query: "checkout", service: "checkout", first: 3) { searched hits { source { path commit line } language owner services matches excerpts { line lines text } } }`,
			tool:  "search_code", args: map[string]any{"query": "checkout", "service": "checkout", "limit": 3}},
		{name: "search_code", paths: []string{"searched"}, method: "GET", rest: "/api/v1/code?query=ab", field: "searchCode", graph: `searchCode(query: "ab") { searched }`,
			tool: "search_code", args: map[string]any{"query": "ab"}},
		{name: "get_document", paths: []string{"handle", "heading", "role", "kind", "owner", "text", "source.path", "source.line"},
			method: "GET", rest: "/api/v1/document?section=mitigation&handle=" + url.QueryEscape(slowRunbook), field: "document",
			graph: `document(handle: "` + slowRunbook + `", section: "mitigation") { handle heading role kind owner text source { path line } }`,
			tool:  "get_document", args: map[string]any{"handle": slowRunbook, "section": "mitigation"}},
		{name: "get_document", paths: []string{"handle"}, method: "GET", rest: "/api/v1/document?handle=" + url.QueryEscape("doc://checkout/none.md"), field: "document",
			graph: `document(handle: "doc://checkout/none.md") { handle }`, tool: "get_document", args: map[string]any{"handle": "doc://checkout/none.md"}},
		{name: "find_runbook", paths: []string{"alert", "items[].handle", "items[].owner", "items[].services[]", "items[].mitigation"},
			method: "GET", rest: "/api/v1/runbooks?alert=slow&service=checkout", field: "runbook",
			graph: `runbook(alert: "slow", service: "checkout") { alert items { handle owner services mitigation } }`},
		{name: "list_facets", paths: []string{"facets.kind[].value", "facets.kind[].count"}, method: "GET", rest: "/api/v1/facets?facets=kind",
			field: "facets", graph: `facets(keys: ["kind"]) { key values { value count } }`},
		{name: "list_ingestion_errors", paths: []string{"total", "items[].message", "items[].file", "items[].line", "items[].owner", "items[].firstSeen.commit"},
			method: "GET", rest: "/api/v1/errors", field: "ingestionErrors", graph: "ingestionErrors { total items { message file line owner firstSeen { commit } } }", tool: "list_ingestion_errors"},
		{name: "list_ingestion_errors", paths: []string{"total", "items[].name"}, method: "GET", rest: "/api/v1/errors?severity=error&class=InputError", field: "ingestionErrors",
			graph: `ingestionErrors(severity: "error", class: "InputError") { total items { name } }`},
		{name: "get_catalog_health", paths: []string{"entities", "sources", "errors", "conflicts", "broken", "owners[].owner", "owners[].errors", "classes[].class", "classes[].count"}, method: "GET", rest: "/api/v1/catalog/health?limit=5", field: "catalogHealth",
			graph: "catalogHealth(first: 5) { entities sources errors conflicts broken owners { owner errors } classes { class count } }"},
		{name: "list_broken_relations", paths: []string{"total", "items[].ref", "items[].target", "items[].line"}, method: "GET", rest: "/api/v1/catalog/broken-relations?limit=5", field: "brokenRelations",
			graph: "brokenRelations(first: 5) { total items { ref target line } }"},
		{name: "list_stale_entities", paths: []string{"total", "items[].ref", "items[].reason", "items[].message", "items[].since", "items[].file"}, method: "GET", rest: "/api/v1/catalog/stale-entities?limit=5", field: "staleEntities",
			graph: "staleEntities(first: 5) { total items { ref reason message since file } }"},
		{name: "list_sources", paths: []string{"items[].name", "items[].state", "items[].commit", "items[].entities"},
			method: "GET", rest: "/api/v1/sources", field: "sources", graph: "sources { items { name state commit entities } }", tool: "list_sources"},
		{name: "get_ancestry", paths: []string{"rootEntityRef", "items[].entity.metadata.name", "items[].parentEntityRefs"},
			method: "GET", rest: "/api/v1/ancestry/" + url.PathEscape("group:default/payments"), field: "ancestry",
			graph: `ancestry(ref: "group:default/payments") { rootEntityRef items { entity { metadata { name } } parentEntityRefs } }`},
		{name: "get_ancestry", paths: []string{"rootEntityRef"}, method: "GET", rest: "/api/v1/ancestry/component:default/nobody", field: "ancestry",
			graph: `ancestry(ref: "component:default/nobody") { rootEntityRef }`},
		{name: "list_locations", paths: []string{"items[].id", "items[].type", "items[].target", "items[].entityRef"},
			method: "GET", rest: "/api/v1/locations", field: "locations", graph: "locations { items { id type target entityRef } }"},
		// The demo has no catalog.locations.
		{name: "register_location", paths: []string{"location.target"}, method: "POST", rest: "/api/v1/locations", body: `{"target":"https://git.example.com/a.yaml","dryRun":true}`,
			field: "registerLocation", graph: `mutation { registerLocation(target: "https://git.example.com/a.yaml", dryRun: true) { location { target } } }`},
		{name: "unregister_location", paths: []string{"removed"}, method: "DELETE", rest: "/api/v1/locations/none",
			field: "unregisterLocation", graph: `mutation { unregisterLocation(id: "none") { removed } }`},
		{name: "get_coverage", paths: []string{"total", "items[].ref", "items[].things[].name", "items[].things[].state", "all.services"},
			method: "GET", rest: "/api/v1/coverage?limit=20", field: "coverage", graph: "coverage(first: 20) { total all { services } items { ref things { name state } } }"},
		// What the owner may do the reader has to ask for.
		{name: "create_preview_environment", paths: []string{"id", "service", "owner", "person", "agent", "expiresAt"}, method: "POST", rest: "/api/v1/previews",
			body: `{"service":"checkout","ttl":"1h","key":"parity"}`, field: "createPreviewEnvironment",
			graph: `mutation { createPreviewEnvironment(service: "checkout", ttl: "1h", key: "parity") { id service owner person agent expiresAt } }`,
			tool:  "create_preview_environment", args: map[string]any{"service": "checkout", "ttl": "1h", "key": "parity"}},
		{name: "list_approvals", paths: []string{"items[].id", "items[].state", "items[].planHash", "items[].subject"}, method: "GET", rest: "/api/v1/approvals", field: "approvals", graph: "approvals { items { id state planHash subject } }"},
		{name: "get_approval", paths: []string{"id"}, method: "GET", rest: "/api/v1/approvals/" + noRequest, field: "approval", graph: `approval(id: "` + noRequest + `") { id }`},
		{name: "grant_approval", paths: []string{"state"}, method: "POST", rest: "/api/v1/approvals/" + noRequest + "/grant", body: `{"reason":"because"}`,
			field: "grantApproval", graph: `mutation { grantApproval(id: "` + noRequest + `", reason: "because") { state } }`},
		{name: "deny_approval", paths: []string{"state"}, method: "POST", rest: "/api/v1/approvals/" + noRequest + "/deny", body: `{"reason":"because"}`,
			field: "denyApproval", graph: `mutation { denyApproval(id: "` + noRequest + `", reason: "because") { state } }`},
		{name: "list_preview_environments", paths: []string{"items[].id", "items[].service", "items[].commit"}, method: "GET", rest: "/api/v1/previews", field: "previewEnvironments",
			graph: "previewEnvironments { items { id service commit } }", tool: "list_preview_environments"},
		{name: "get_preview_environment", paths: []string{"id"}, method: "GET", rest: "/api/v1/previews/none", field: "previewEnvironment",
			graph: `previewEnvironment(id: "none") { id }`, tool: "get_preview_environment", args: map[string]any{"id": "none"}},
		{name: "create_preview_environment", paths: []string{"id"}, method: "POST", rest: "/api/v1/previews", body: `{"service":"nobody","ttl":"1m"}`,
			field: "createPreviewEnvironment", graph: `mutation { createPreviewEnvironment(service: "nobody", ttl: "1m") { id } }`,
			tool: "create_preview_environment", args: map[string]any{"service": "nobody", "ttl": "1m"}},
		{name: "extend_preview_environment", paths: []string{"id"}, method: "POST", rest: "/api/v1/previews/none/extend", body: `{"ttl":"1m"}`,
			field: "extendPreviewEnvironment", graph: `mutation { extendPreviewEnvironment(id: "none", ttl: "1m") { id } }`,
			tool: "extend_preview_environment", args: map[string]any{"id": "none", "ttl": "1m"}},
		{name: "delete_preview_environment", paths: []string{"id"}, method: "DELETE", rest: "/api/v1/previews/none",
			field: "deletePreviewEnvironment", graph: `mutation { deletePreviewEnvironment(id: "none") { id } }`,
			tool: "delete_preview_environment", args: map[string]any{"id": "none"}},
		{name: "force_remove_preview_environment", paths: []string{"id"}, method: "POST", rest: "/api/v1/previews/none/force-removal", body: `{"why":"parity"}`,
			field: "forceRemovePreviewEnvironment", graph: `mutation { forceRemovePreviewEnvironment(id: "none", why: "parity") { id } }`},
		{name: "get_preview_logs", paths: []string{"id"}, method: "GET", rest: "/api/v1/previews/none/logs", field: "previewLogs",
			graph: `previewLogs(id: "none") { id }`, tool: "get_preview_logs", args: map[string]any{"id": "none"}},
		{name: "list_revisions", paths: []string{"branches.items[].name", "branches.items[].commit", "branches.more", "tags.items[].name", "commits.items[].title", "commits.more", "defaultBranch", "service"},
			method: "GET", rest: "/api/v1/previews/revisions?service=checkout&limit=5", field: "revisions",
			graph: `revisions(service: "checkout", first: 5) { service defaultBranch branches { more items { name commit } } tags { items { name } } commits { more items { title } } }`},
		{name: "list_revisions", paths: []string{"service"}, method: "GET", rest: "/api/v1/previews/revisions?service=nobody", field: "revisions", graph: `revisions(service: "nobody") { service }`},
		{name: "list_preview_resources", paths: []string{"items[].preview.id", "items[].preview.service"}, method: "GET", rest: "/api/v1/previews/top?limit=5", field: "previewResources",
			graph: "previewResources(first: 5) { items { preview { id service } } }"},
		{name: "get_preview_usage", paths: []string{"total.now", "teams[].name", "people[].name", "agents[].created"}, method: "GET", rest: "/api/v1/previews/usage?period=2h", field: "previewUsage",
			graph: `previewUsage(period: "2h") { total { now } teams { name } people { name } agents { created } }`},
		{name: "list_preview_strays", paths: []string{"items[].id"}, method: "GET", rest: "/api/v1/previews/strays", field: "previewStrays", graph: "previewStrays { items { id } }"},
		{name: "sweep_preview_strays", paths: []string{"skipped[]"}, method: "POST", rest: "/api/v1/previews/sweep", body: `{"ids":["none"]}`,
			field: "sweepPreviewStrays", graph: `mutation { sweepPreviewStrays(ids: ["none"]) { skipped } }`},
		{name: "list_audit", paths: []string{"items[].action"}, method: "GET", rest: "/api/v1/audit?limit=5&until=2020-01-01T00:00:00Z", field: "audit",
			graph: `audit(first: 5, until: "2020-01-01T00:00:00Z") { items { action } }`},
		{name: "list_agents", paths: []string{"items[].agent", "nextCursor"}, method: "GET", rest: "/api/v1/agents?limit=5", field: "agents",
			graph: "agents(first: 5) { items { agent acts subjects } nextCursor }"},
		{name: "refresh_entity", paths: []string{"source", "changed"}, method: "POST", rest: "/api/v1/refresh", body: `{"entityRef":"component:default/checkout"}`,
			field: "refresh", graph: `mutation { refresh(entityRef: "component:default/checkout") { source changed } }`,
			tool: "refresh_entity", args: map[string]any{"entity_ref": "component:default/checkout"}},
	}
}

// said is what a door answered: a fault code, or the values at the paths.
type said struct {
	Code   string
	Values map[string][]any
}

func TestDoorsAgree(t *testing.T) {
	s := startParity(t)
	for _, op := range slices.Concat(operations(), credentialOperations(), proposalOperations(), fleetOperations(), healthOperations(), []operation{externalOperation()}) {
		for _, role := range []string{"owner", "reader", "stranger", "nobody"} {
			t.Run(op.name+"/"+role, func(t *testing.T) {
				want := s.askREST(t, op, role)
				if got := s.askGraph(t, op, role); !reflect.DeepEqual(got, want) {
					t.Errorf("graphql says %+v, rest %+v", got, want)
				}
				if op.tool != "" {
					if got := s.askTool(t, op, role); !reflect.DeepEqual(got, want) {
						t.Errorf("mcp says %+v, rest %+v", got, want)
					}
				}
				if role == "owner" && want.Code == "" && len(want.Values[op.paths[0]]) == 0 && op.name != "list_audit" {
					t.Errorf("nothing was compared: %+v", want)
				}
			})
		}
	}
	checkRequestLog(t, s)
	checkAudit(t, s)
	checkToolsFit(t, s)
}

const parityRules = `rules:
  - {name: read, effect: allow, who: {roles: [owner, reader]}, actions: [catalog.read, self.read, audit.read]}
  - {name: act, effect: allow, who: {roles: [owner]}, actions: ["*"], on: {owners: [own]}}
  - {name: decide, effect: allow, who: {roles: [owner]}, actions: [approvals.read, secrets.read, previews.read, previews.strays, previews.sweep, gitops.read, gitops.health, gitops.checks, knowledge.external]}
  - {name: ask, effect: allow, who: {roles: [reader]}, actions: [previews.create], on: {owners: [own]}}
  - {name: wait, effect: approval, who: {roles: [reader]}, actions: [previews.create], approval: {by: {owners: true}}}
  - {name: self, effect: allow, who: {roles: [stranger]}, actions: [self.read]}
`

func startParity(t *testing.T) *server {
	t.Helper()
	dir := t.TempDir()
	set, err := demo.Prepare(t.Context(), dir, "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f := &previewstest.Fake{}
	stray(t, f, "lost-1")
	s := &server{t: t, dir: dir, tokens: map[string]string{"nobody": "token-that-nobody-has-0123456789"}, deployers: map[string]previews.Deployer{"local": f}, lender: &secretstest.Fake{},
		argo: fakeArgo(gitopstest.NewFake("checkout", strings.Repeat("a", 40), "checkout:1")), ci: fakeCI}
	config := withoutPreviews(readFile(t, set.Config))
	tokens := "  tokens:\n"
	for _, role := range []string{"owner", "reader", "stranger"} {
		s.tokens[role] = "token-of-the-" + role + "-0123456789"
		write(t, filepath.Join(dir, "tokens", role), s.tokens[role])
		tokens += fmt.Sprintf("    - {name: %s, tokenFile: ./tokens/%s, subject: user:default/%s, agent: tester, groups: [group:default/storefront], roles: [%s]}\n", role, role, role, role)
	}
	config = strings.Replace(config, "  tokens:\n", tokens, 1) + argoSection + "policy: {rules: ./rules.yaml, limits: {catalog.refresh: 1000/m}}\npreviews: {}\nproposals: {}\n" + startOutside(t).section()
	config = strings.Replace(config, "refresh: 2s", "refresh: 1h", 1)
	write(t, filepath.Join(dir, "rules.yaml"), parityRules)
	if err := os.WriteFile(set.Config, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	s.start(set.Config)
	s.awaitFollowed() // what is read beside the catalog must not arrive between two doors
	return s
}

func (s *server) askREST(t *testing.T, op operation, role string) said {
	a := s.send(role, op.method, op.rest, op.body)
	var body map[string]any
	a.decode(t, &body)
	if e, failed := body["error"].(map[string]any); failed {
		return said{Code: fmt.Sprint(e["code"])}
	}
	return pick(op.paths, body)
}

func (s *server) askGraph(t *testing.T, op operation, role string) said {
	query := op.graph
	if !strings.HasPrefix(query, "mutation") {
		query = "{ " + query + " }"
	}
	a := s.graph(role, query)
	var body struct {
		Data   map[string]any
		Errors []struct {
			Message    string
			Extensions struct{ Code string }
		}
	}
	a.decode(t, &body)
	if len(body.Errors) > 0 {
		return said{Code: body.Errors[0].Extensions.Code}
	}
	data := body.Data[op.field]
	if op.name == "list_facets" { // a list of keys here, a mapping elsewhere
		facets := map[string]any{}
		for _, f := range data.([]any) {
			facets[f.(map[string]any)["key"].(string)] = f.(map[string]any)["values"]
		}
		data = map[string]any{"facets": facets}
	}
	if data == nil {
		return said{Code: "not_found"}
	}
	if op.graphPaths == nil {
		return pick(op.paths, data)
	}
	out, there := said{Values: map[string][]any{}}, pick(op.graphPaths, data)
	for i, p := range op.paths {
		out.Values[p] = there.Values[op.graphPaths[i]]
	}
	return out
}

func (s *server) askTool(t *testing.T, op operation, role string) said {
	r := s.tool(role, op.tool, op.args)
	if r.status == http.StatusUnauthorized {
		return said{Code: "unauthenticated"}
	}
	if len(r.StructuredContent) == 0 {
		t.Fatalf("no structured content: %s", r.raw)
	}
	var body map[string]any
	if err := json.Unmarshal(r.StructuredContent, &body); err != nil {
		t.Fatal(err)
	}
	if r.IsError {
		return said{Code: fmt.Sprint(body["code"])}
	}
	return pick(op.paths, body)
}

// pick gives the values at paths; what is empty and what is not there are the
// same.
func pick(paths []string, v any) said {
	out := said{Values: map[string][]any{}}
	for _, p := range paths {
		out.Values[p] = at(v, strings.Split(p, "."))
	}
	return out
}

// checkRequestLog holds the doors to one record of a call, but for the door.
func checkRequestLog(t *testing.T, s *server) {
	byCall := map[string]map[string]bool{}
	for _, l := range s.logs.lines(t) {
		if l["msg"] != "call" || l["operation"] == "list_entities" {
			continue
		}
		call := fmt.Sprintf("%v by %v: %v", l["operation"], l["subject"], l["action"])
		if byCall[call] == nil {
			byCall[call] = map[string]bool{}
		}
		door, record := l["door"].(string), map[string]any{}
		for _, k := range []string{"agent", "token", "action", "target", "outcome"} {
			record[k] = l[k]
		}
		byCall[call][fmt.Sprintf("%s %v", door, record)] = true
	}
	for call, records := range byCall {
		doors := map[string][]string{}
		for r := range maps.Keys(records) {
			door, record, _ := strings.Cut(r, " ")
			doors[door] = append(doors[door], record)
		}
		for _, d := range doors {
			slices.Sort(d)
		}
		for door, d := range doors {
			if !reflect.DeepEqual(d, doors["rest"]) {
				t.Errorf("%s: %s logs %q, rest %q", call, door, d, doors["rest"])
			}
		}
	}
	if len(byCall) < 15 {
		t.Errorf("only %d calls are in the log", len(byCall))
	}
}

// checkAudit holds the doors to one line for an act.
func checkAudit(t *testing.T, s *server) {
	var page struct {
		Items []map[string]any
	}
	s.send("owner", http.MethodGet, "/api/v1/audit?limit=500", "").decode(t, &page)
	lines := map[string]int{}
	for _, e := range page.Items {
		for _, k := range []string{"id", "time", "duration", "took"} {
			delete(e, k)
		}
		line, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		lines[string(line)]++
	}
	for line, n := range lines {
		doors := 2
		switch {
		case strings.Contains(line, `\"wrapped\":true`):
			doors = 1 // what opens a credential is given at one door
		case strings.Contains(line, `"code":"approval_required"`):
			doors = 1 // to ask again at any door is to look how far the request has come
			if n != 1 {
				t.Errorf("%d times recorded: %s", n, line)
			}
		case strings.Contains(line, `"operation":"request_credentials"`) && strings.Contains(line, `"status":"ok"`): // beside the one above
		case strings.Contains(line, `"operation":"request_credentials"`), strings.Contains(line, `"operation":"refresh_entity"`), strings.Contains(line, `"operation":"create_preview_environment"`), strings.Contains(line, `"operation":"propose_answer"`), strings.Contains(line, `"operation":"propose_change"`), strings.Contains(line, `"operation":"search_external"`):
			doors = 3
		}
		if n%doors != 0 {
			t.Errorf("%d of the %d doors recorded %s", n, doors, line)
		}
	}
	if len(lines) < 2 {
		t.Errorf("only %d lines are in the audit: %v", len(lines), lines)
	}
}
