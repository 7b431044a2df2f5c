package graphql_test

import (
	"bytes"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/formatter"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/gitops"
	"github.com/fairlead-dev/fairlead/graphql"
	"github.com/fairlead-dev/fairlead/graphql/limit"
	"github.com/fairlead-dev/fairlead/knowledge"
	"github.com/fairlead-dev/fairlead/knowledge/code"
)

func schema(t *testing.T) *ast.Schema {
	t.Helper()
	text, err := os.ReadFile("schema.graphql")
	if err != nil {
		t.Fatal(err)
	}
	s, err := gqlparser.LoadSchema(&ast.Source{Name: "schema.graphql", Input: string(text)})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestSchemaGolden holds what clients rely on: a line that goes from the
// golden breaks somebody.
func TestSchemaGolden(t *testing.T) {
	var got bytes.Buffer
	formatter.NewFormatter(&got, formatter.WithoutDescription(), formatter.WithIndent("  ")).FormatSchema(schema(t))
	const file = "testdata/schema.golden.graphql"
	if os.Getenv("FAIRLEAD_UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(file, got.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got.String()); d != "" {
		t.Errorf("-golden +schema (FAIRLEAD_UPDATE_GOLDEN=1 rewrites it)\n%s", d)
	}
}

// TestSchemaIsDescribed: GraphiQL shows the descriptions as documentation, so
// everything has one.
func TestSchemaIsDescribed(t *testing.T) {
	for name, def := range schema(t).Types {
		if def.BuiltIn || strings.HasPrefix(name, "__") {
			continue
		}
		described(t, name, def.Description)
		for _, f := range def.Fields {
			if strings.HasPrefix(f.Name, "__") {
				continue
			}
			described(t, name+"."+f.Name, f.Description)
			for _, a := range f.Arguments {
				described(t, name+"."+f.Name+"("+a.Name+")", a.Description)
			}
		}
		for _, v := range def.EnumValues {
			described(t, name+"."+v.Name, v.Description)
		}
	}
}

func described(t *testing.T, what, description string) {
	t.Helper()
	if description == "" || !strings.HasSuffix(description, ".") && !strings.HasSuffix(description, "…") {
		t.Errorf("%s has no description that is a sentence: %q", what, description)
	}
}

// TestSchemaHoldsTheRooms: a field that a room adds to an answer or a question
// is to be found in GraphQL too.
func TestSchemaHoldsTheRooms(t *testing.T) {
	types := schema(t).Types
	for name, v := range map[string]any{
		"Brief": catalog.Brief{}, "Fact": catalog.Fact{}, "FactSource": catalog.FactSource{}, "Commands": catalog.Commands{},
		"SearchResults": catalog.SearchResults{}, "SearchHit": catalog.SearchHit{}, "FacetValue": catalog.FacetValue{},
		"DependencyGraph": catalog.DependencyGraph{}, "DependencyNode": catalog.DependencyNode{}, "DependencyEdge": catalog.DependencyEdge{},
		"IngestionErrors": catalog.IngestionErrors{}, "IngestionError": catalog.IngestionError{}, "Sighting": catalog.Sighting{},
		"CatalogHealth": catalog.CatalogHealth{}, "BrokenRelations": catalog.BrokenRelations{}, "BrokenRelation": catalog.BrokenRelation{}, "StaleEntities": catalog.StaleEntities{}, "StaleEntity": catalog.StaleEntity{},
		"Sources": catalog.Sources{}, "SourceStatus": catalog.SourceStatus{}, "RefreshResult": catalog.RefreshResult{}, "Provenance": catalog.Origin{},
		"Coverage": catalog.Coverage{}, "CoverageTotal": catalog.CoverageTotal{}, "ServiceCoverage": catalog.ServiceCoverage{}, "CoverageThing": catalog.CoverageThing{}, "CoverageAddition": catalog.Addition{},
		"Ancestry": catalog.Ancestry{}, "AncestryItem": catalog.AncestryItem{}, "Locations": catalog.Locations{}, "Location": catalog.LocationItem{},
		"RegisteredLocation": catalog.RegisteredLocation{}, "UnregisteredLocation": catalog.UnregisteredLocation{},
		"Identity": access.Identity{}, "Permission": access.Permission{}, "AuditPage": access.AuditPage{}, "AuditEntry": access.Entry{},
		"KnowledgeHits": knowledge.KnowledgeHits{}, "KnowledgeHit": knowledge.KnowledgeHit{}, "KnowledgeDocument": knowledge.KnowledgeDocument{}, "OutlineItem": knowledge.OutlineItem{},
		"ExternalHits": knowledge.ExternalHits{}, "ExternalHit": knowledge.ExternalHit{}, "ExternalProvider": knowledge.ExternalProvider{}, "CodeHits": knowledge.CodeHits{}, "CodeHit": knowledge.CodeHit{}, "CodeExcerpt": code.Excerpt{},
		"TextSource": knowledge.TextSource{}, "Runbooks": knowledge.Runbooks{}, "RunbookItem": knowledge.RunbookItem{},
		"DeploymentHealth": gitops.DeploymentHealth{}, "DeployedState": gitops.DeployedState{}, "DeployedImage": gitops.DeployedImage{}, "SyncState": gitops.SyncState{}, "UnwellResource": gitops.UnwellResource{},
		"DeploymentOperation": gitops.Operation{}, "PastDeployment": gitops.PastDeployment{}, "ObjectiveState": gitops.ObjectiveState{}, "FiringAlert": gitops.FiringAlert{},
		"AgentPage": access.AgentsPage{}, "ActingAgent": access.ActingAgent{}, "ApprovalPage": access.ApprovalPage{}, "Approval": access.Approval{},
	} {
		for _, field := range jsonNames(v) {
			if types[name].Fields.ForName(field) == nil {
				t.Errorf("type %s has no field %s", name, field)
			}
		}
	}
	renamed := map[string]string{"limit": "first", "cursor": "after", "max_tokens": "maxTokens", "facets": "keys", "fullTextFilter": "fullText"}
	for name, v := range map[string]any{
		"deploymentHealth": gitops.GetDeploymentHealthInput{}, "ciStatus": gitops.GetCIStatusInput{}, "coverage": catalog.GetCoverageInput{}, "serviceBrief": catalog.GetServiceBriefInput{}, "search": catalog.SearchCatalogInput{}, "facets": catalog.ListFacetsInput{},
		"brokenRelations": catalog.ListBrokenRelationsInput{}, "staleEntities": catalog.ListStaleEntitiesInput{}, "dependencies": catalog.GetDependenciesInput{}, "ingestionErrors": catalog.ListIngestionErrorsInput{}, "refresh": catalog.RefreshEntityInput{},
		"registerLocation": catalog.RegisterLocationInput{}, "moveLocation": catalog.MoveLocationInput{}, "unregisterLocation": catalog.UnregisterLocationInput{},
		"ancestry": catalog.GetAncestryInput{}, "locations": catalog.ListLocationsInput{}, "entities": catalog.ListEntitiesInput{}, "audit": access.ListAuditInput{}, "agents": access.ListAgentsInput{},
		"searchExternal": knowledge.SearchExternalInput{}, "searchCode": knowledge.SearchCodeInput{}, "searchKnowledge": knowledge.SearchKnowledgeInput{}, "document": knowledge.GetDocumentInput{}, "runbook": knowledge.FindRunbookInput{},
		"approvals": access.ListApprovalsInput{}, "approval": access.GetApprovalInput{}, "grantApproval": access.GrantApprovalInput{}, "denyApproval": access.DenyApprovalInput{},
	} {
		f := types["Query"].Fields.ForName(name)
		if f == nil {
			f = types["Mutation"].Fields.ForName(name)
		}
		for _, arg := range jsonNames(v) {
			if other, ok := renamed[arg]; ok {
				arg = other
			}
			// What GraphQL has a way of its own for.
			if slices.Contains([]string{"fields", "offset", "totalItems"}, arg) {
				continue
			}
			if f.Arguments.ForName(arg) == nil {
				t.Errorf("field %s has no argument %s", name, arg)
			}
		}
	}
}

func jsonNames(v any) []string {
	var out []string
	for _, f := range reflect.VisibleFields(reflect.TypeOf(v)) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !f.Anonymous && f.IsExported() && name != "-" {
			out = append(out, name)
		}
	}
	return out
}

// TestEveryOperationIsReached runs each field of Query and Mutation over HTTP,
// with all that it answers, and sees that it is the operation it says it is.
func TestEveryOperationIsReached(t *testing.T) {
	s := serveRules(t, ingestion{}, func(c *graphql.Config) { c.Limits = limit.Limits{Selections: 10_000, Cost: 1_000_000} })
	s.registration()
	s.asks(1)
	s.asks(2)
	types := schema(t)
	operations := map[string]struct{ args, operation string }{
		"whoami":          {"", "whoami"},
		"entity":          {`(ref: "checkout")`, "get_entity"},
		"entities":        {"(first: 1)", "list_entities"},
		"search":          {`(query: "checkout", first: 1)`, "search_catalog"},
		"facets":          {`(keys: ["kind"])`, "list_facets"},
		"dependencies":    {`(ref: "checkout", direction: both, depth: 2)`, "get_dependencies"},
		"serviceBrief":    {`(service: "checkout", maxTokens: 4000)`, "get_service_brief"},
		"ingestionErrors": {`(source: "test", owner: "group:default/payments", severity: "error", class: "InputError", first: 1)`, "list_ingestion_errors"},
		"catalogHealth":   {"(first: 10)", "get_catalog_health"},
		"brokenRelations": {`(owner: "group:default/payments", source: "test", type: "ownedBy", first: 1)`, "list_broken_relations"},
		"staleEntities":   {`(owner: "group:default/payments", source: "test", first: 1)`, "list_stale_entities"},
		"coverage":        {`(owner: "payments", type: "service", missing: "any", first: 1)`, "get_coverage"},
		"sources":         {"", "list_sources"},
		"ancestry":        {`(ref: "checkout")`, "get_ancestry"},
		"locations":       {"", "list_locations"},
		"audit":           {`(action: "catalog.refresh", since: "1h", first: 1)`, "list_audit"},
		"agents":          {`(agent: "claude", first: 1)`, "list_agents"},
		"refresh":         {`(source: "test")`, "refresh_entity"},
		"searchKnowledge": {`(query: "checkout", service: "checkout", kind: "runbook", first: 1)`, "search_knowledge"},
		"searchCode":      {`(query: "restart", regexp: true, service: "checkout", repository: "test", path: "docs", language: "markdown", first: 1)`, "search_code"},
		"document":        {`(handle: "doc://test/docs/runbooks/slow.md", section: "mitigation", maxTokens: 400)`, "get_document"},
		"runbook":         {`(alert: "CheckoutSlow", service: "checkout")`, "find_runbook"},
		"approvals":       {`(state: "pending", mine: true, first: 1)`, "list_approvals"},
		"approval":        {`(id: "00000001")`, "get_approval"},
		"grantApproval":   {`(id: "00000001", reason: "fine")`, "grant_approval"},
		"denyApproval":    {`(id: "00000002", reason: "not now")`, "deny_approval"},

		"previewEnvironments":           {`(service: "checkout", first: 1)`, "list_preview_environments"},
		"previewEnvironment":            {`(id: "a")`, "get_preview_environment"},
		"previewLogs":                   {`(id: "a", tail: 1)`, "get_preview_logs"},
		"credentials":                   {`(service: "checkout", first: 1)`, "list_credentials"},
		"credential":                    {`(lease: "a")`, "get_credentials"},
		"requestCredentials":            {`(service: "checkout", name: "db", ttl: "10m", environment: "staging", purpose: "test", task: "t", boundTo: "session", new: true, key: "k")`, "request_credentials"},
		"renewCredentials":              {`(lease: "a", ttl: "10m")`, "renew_credentials"},
		"revokeCredentials":             {`(lease: "a")`, "revoke_credentials"},
		"revokeAllCredentials":          {`(agent: "a", reason: "b")`, "revoke_all_credentials"},
		"ciStatus":                      {`(service: "checkout", revision: "main")`, "get_ci_status"},
		"deploymentHealth":              {`(service: "checkout", environment: "production", revision: "0123456789")`, "get_deployment_health"},
		"proposals":                     {`(service: "checkout", first: 1)`, "list_proposals"},
		"proposal":                      {`(id: "a")`, "get_proposal"},
		"changeFigures":                 {`(period: "1h", service: "checkout", environment: "staging")`, "get_change_figures"},
		"proposeRollback":               {`(service: "checkout", environment: "staging", reason: "why", evidence: null, usage: {tokens: 50000000000, cost: 0.5})`, "propose_rollback"},
		"proposeChange":                 {`(service: "checkout", environment: "staging", change: {set: [{path: "a.b", value: 3}], file: null}, reason: "why")`, "propose_change"},
		"fleets":                        {`(state: "running", first: 1)`, "list_fleets"},
		"fleet":                         {`(id: "a", state: "failed", first: 1)`, "get_fleet"},
		"planFleet":                     {`(query: ["kind=component"], environment: "staging", change: {replicas: 3}, reason: "why", waves: ["1"], until: "merged", maxFailures: 1)`, "plan_fleet"},
		"startFleet":                    {`(id: "a", planHash: "b", maxFailures: 1)`, "start_fleet"},
		"stopFleet":                     {`(id: "a", cancel: true, reason: "b")`, "stop_fleet"},
		"proposeAnswer":                 {`(question: "Why?", answer: "So.", appliesTo: ["checkout"])`, "propose_answer"},
		"searchExternal":                {`(query: "restart", provider: "docs")`, "search_external"},
		"promoteAnswer":                 {`(handle: "doc://a/b.md")`, "promote_answer"},
		"createPreviewEnvironment":      {`(service: "checkout", revision: "main", ttl: "1h", key: "k", wait: "1s")`, "create_preview_environment"},
		"extendPreviewEnvironment":      {`(id: "a", ttl: "1h")`, "extend_preview_environment"},
		"deletePreviewEnvironment":      {`(id: "a")`, "delete_preview_environment"},
		"revisions":                     {`(service: "checkout", query: "main", first: 1)`, "list_revisions"},
		"previewResources":              {`(service: "checkout", first: 1)`, "list_preview_resources"},
		"previewUsage":                  {`(period: "1h", service: "checkout")`, "get_preview_usage"},
		"previewStrays":                 {`(deployer: "local")`, "list_preview_strays"},
		"sweepPreviewStrays":            {`(ids: ["a"])`, "sweep_preview_strays"},
		"forceRemovePreviewEnvironment": {`(id: "a", why: "b")`, "force_remove_preview_environment"},

		"registerLocation":   {`(target: "https://git.example.com/a.yaml")`, "register_location"},
		"moveLocation":       {`(id: "the-id", target: "https://git.example.com/b.yaml")`, "move_location"},
		"unregisterLocation": {`(id: "the-id")`, "unregister_location"},
	}
	for kind, root := range map[string]*ast.Definition{"query": types.Query, "mutation": types.Mutation} {
		for _, f := range root.Fields { // in the order of the schema
			if strings.HasPrefix(f.Name, "__") {
				continue
			}
			op, ok := operations[f.Name]
			if !ok {
				t.Errorf("%s is not tried", f.Name)
				continue
			}
			s.recorder.take()
			token := "admin"
			if strings.HasSuffix(f.Name, "Approval") {
				token = "boss" // the admin is an agent
			}
			if query := kind + " {" + f.Name + op.args + " " + everything(types, f.Type.Name(), 2) + "}"; strings.Contains(strings.ToLower(f.Name), "preview") || f.Name == "revisions" || f.Name == "changeFigures" || strings.Contains(strings.ToLower(f.Name), "credential") || strings.HasPrefix(f.Name, "pro") || strings.Contains(strings.ToLower(f.Name), "fleet") || f.Name == "searchExternal" || f.Name == "deploymentHealth" || f.Name == "ciStatus" {
				s.post(token, query, nil) // there is no room for previews, credentials, proposals, checks and deployments here and nobody outside, and it says so
			} else {
				s.data(token, query, nil)
			}
			if calls := s.recorder.take(); len(calls) == 0 || calls[0] != op.operation {
				t.Errorf("%s ran %v, not %s", f.Name, calls, op.operation)
			}
		}
	}
}

// everything selects all fields of a type that need no argument, and what
// they hold, but no entities within entities within entities.
func everything(types *ast.Schema, name string, entities int) string {
	def := types.Types[name]
	if def.IsLeafType() {
		return ""
	}
	if name == "Entity" {
		entities--
	}
	var out []string
	for _, f := range def.Fields {
		kind := f.Type.Name()
		needs := slices.ContainsFunc(f.Arguments, func(a *ast.ArgumentDefinition) bool { return a.Type.NonNull })
		if needs || entities == 0 && (kind == "Entity" || kind == "Relation") || strings.HasPrefix(f.Name, "__") {
			continue
		}
		args := ""
		if f.Arguments.ForName("first") != nil {
			args = "(first: 1)"
		}
		out = append(out, f.Name+args+everything(types, kind, entities))
	}
	return "{" + strings.Join(append(out, "__typename"), " ") + "}"
}
