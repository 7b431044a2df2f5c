package rest

import (
	"context"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/fairlead-dev/fairlead/access"
)

// route is an operation at a path of Fairlead's own API.
type route struct {
	method, pattern string
	operation       string
	summary         string
	action          access.Action
	params          []param
	out             reflect.Type
	serve           serve
}

// native are the routes of Fairlead's own API.
func (d *door) native() []route {
	c, a, k := d.Catalog, d.Access, d.Knowledge
	return append([]route{
		at("GET /api/v1/whoami", "whoami", "Who you are taken for and what you may do", access.ReadSelf, a.Whoami),
		at("GET /api/v1/entities", "list_entities", "A page of entities", access.ReadCatalog, c.ListEntities),
		at("POST /api/v1/entities/by-query", "list_entities", "A page of entities, asked for by a predicate", access.ReadCatalog, c.ListEntities),
		at("POST /api/v1/entities/by-refs", "get_entities", "Several entities by reference, null where there is none", access.ReadCatalog, c.GetEntities),
		at("GET /api/v1/entities/{ref...}", "get_entity", "One entity, and where it was read", access.ReadCatalog, c.DescribeEntity),
		at("GET /api/v1/search", "search_catalog", "Entities found by words, best first", access.ReadCatalog, c.SearchCatalog),
		at("POST /api/v1/search", "search_catalog", "Entities found by words, best first", access.ReadCatalog, c.SearchCatalog),
		at("GET /api/v1/facets", "list_facets", "The values that keys take, and how often", access.ReadCatalog, c.ListFacets),
		at("POST /api/v1/facets", "list_facets", "The values that keys take, and how often", access.ReadCatalog, c.ListFacets),
		at("GET /api/v1/dependencies/{ref...}", "get_dependencies", "What an entity needs, or what needs it", access.ReadCatalog, c.GetDependencies),
		at("GET /api/v1/ancestry/{ref...}", "get_ancestry", "What emitted an entity, up to the roots", access.ReadCatalog, c.GetAncestry),
		at("GET /api/v1/brief", "get_service_brief", "What one needs to know before touching a service", access.ReadCatalog, c.GetServiceBrief),
		at("GET /api/v1/coverage", "get_coverage", "What is known of services and what is missing, by team, with the lines to add", access.ReadCatalog, c.GetCoverage),
		at("GET /api/v1/knowledge", "search_knowledge", "Runbooks, documentation, decisions and answers found by words, best first", access.ReadCatalog, k.SearchKnowledge),
		at("GET /api/v1/code", "search_code", "Lines of code found by a text or a regular expression", access.ReadCatalog, k.SearchCode),
		at("GET /api/v1/document", "get_document", "One section of a document, or its outline and the first one", access.ReadCatalog, k.GetDocument),
		at("GET /api/v1/runbooks", "find_runbook", "The runbooks for an alert, with their services and owners", access.ReadCatalog, k.FindRunbook),
		at("GET /api/v1/errors", "list_ingestion_errors", "Problems of catalog files and sources", access.ReadCatalog, c.ListProblems),
		at("GET /api/v1/catalog/health", "get_catalog_health", "How much is wrong with the catalog: problems, conflicts, stale entities and broken relations, by owner", access.ReadCatalog, c.GetCatalogHealth),
		at("GET /api/v1/catalog/broken-relations", "list_broken_relations", "Relations to what the catalog does not hold, with where they are written", access.ReadCatalog, c.ListBrokenRelations),
		at("GET /api/v1/catalog/stale-entities", "list_stale_entities", "Entities that are served as they were, with why and since when", access.ReadCatalog, c.ListStaleEntities),
		at("GET /api/v1/sources", "list_sources", "How each source is doing", access.ReadCatalog, c.ListSources),
		at("GET /api/v1/locations", "list_locations", "The registered locations and the configured roots, as Backstage names them", access.ReadCatalog, c.ListLocations),
		at("POST /api/v1/locations", "register_location", "Have a catalog file read from now on, or try what it would give", access.RegisterCatalog, c.RegisterLocation),
		at("DELETE /api/v1/locations/{id...}", "unregister_location", "Take back a registered location and what only it gave", access.UnregisterCatalog, c.UnregisterLocation),
		at("POST /api/v1/refresh", "refresh_entity", "Read a source again now", access.RefreshCatalog, c.RefreshEntity),
		at("GET /api/v1/approvals", "list_approvals", "Requests for approval that you may see, newest first", access.ReadApprovals, a.ListApprovals),
		at("GET /api/v1/approvals/{id...}", "get_approval", "One request for approval, and how far it has come", access.ReadApprovals, a.GetApproval),
		at("POST /api/v1/approvals/{id}/grant", "grant_approval", "Let an act be done, once, by who asked", access.DecideApprovals, a.GrantApproval),
		at("POST /api/v1/approvals/{id}/deny", "deny_approval", "Keep an act from being done", access.DecideApprovals, a.DenyApproval),
		at("GET /api/v1/audit", "list_audit", "Recorded acts, newest first", access.ReadAudit, a.ListAudit),
		at("GET /api/v1/agents", "list_agents", "The agents that acted, those that did so last first, and what is on record of each", access.ReadAudit, a.ListAgents),
	}, slices.Concat(d.previews(), d.credentials(), d.proposals(), d.fleets())...)
}

// previews are the routes of previews.
func (d *door) previews() []route {
	p := d.Previews
	return []route{
		at("GET /api/v1/previews", "list_preview_environments", "The previews that you may see, newest first", access.ReadPreviews, p.List),
		at("POST /api/v1/previews", "create_preview_environment", "Have a service run at a revision for a while", access.CreatePreview, p.Create),
		at("GET /api/v1/previews/{id}", "get_preview_environment", "One preview, and what happened to it", access.ReadPreviews, p.Get),
		at("POST /api/v1/previews/{id}/extend", "extend_preview_environment", "Have a preview live longer", access.ExtendPreview, p.Extend),
		at("DELETE /api/v1/previews/{id}", "delete_preview_environment", "Have a preview removed now", access.DeletePreview, p.Delete),
		at("POST /api/v1/previews/{id}/force-removal", "force_remove_preview_environment", "Remove by force what keeps a preview from going", access.ForcePreview, p.ForceRemove),
		at("GET /api/v1/previews/{id}/logs", "get_preview_logs", "The last lines that a preview wrote", access.ReadPreviews, p.Logs),
		at("GET /api/v1/previews/revisions", "list_revisions", "The branches, tags and last commits that a preview of a service can be made of", access.ReadPreviews, p.ListRevisions),
		at("GET /api/v1/previews/top", "list_preview_resources", "The previews that are there, and what each takes", access.ReadPreviews, p.ListResources),
		at("GET /api/v1/previews/usage", "get_preview_usage", "What previews took in a period, by team, person and agent", access.ReadPreviews, p.Usage),
		at("GET /api/v1/previews/strays", "list_preview_strays", "What there is of previews that are not known any more", access.ReadStrays, p.ListStrays),
		at("POST /api/v1/previews/sweep", "sweep_preview_strays", "Remove for good what is left of such previews", access.SweepPreviews, p.SweepStrays),
	}
}

// proposals are the routes of changes that are proposed.
func (d *door) proposals() []route {
	g, k := d.Gitops, d.Knowledge
	return []route{
		at("GET /api/v1/deployments/health", "get_deployment_health", "How a service is doing where it is deployed, and on what grounds", access.ReadHealth, d.Health.GetDeploymentHealth),
		at("GET /api/v1/checks", "get_ci_status", "How the checks of a commit of a service's own repository went", access.ReadChecks, d.CI.GetCIStatus),
		at("GET /api/v1/forge-links", "list_forge_links", "The forges there are, and which of your accounts are linked there", access.ReadSelf, d.Links.ListForgeLinks),
		at("POST /api/v1/forge-links", "start_forge_link", "Begin to link your account at a forge", access.LinkForge, d.Links.StartForgeLink),
		at("POST /api/v1/forge-links/{id}/finish", "finish_forge_link", "Keep an account that you have agreed and confirmed to link", access.LinkForge, d.Links.FinishForgeLink),
		at("DELETE /api/v1/forge-links/{forge}", "unlink_forge", "Forget your account at a forge", access.LinkForge, d.Links.UnlinkForge),
		at("GET /api/v1/proposals", "list_proposals", "The proposals that you may see, newest first, without their diffs", access.ReadProposals, g.ListProposals),
		at("POST /api/v1/proposals", "propose_change", "Propose a change to what is deployed by pull request", access.ProposeChange, g.ProposeChange),
		at("GET /api/v1/changes/figures", "get_change_figures", "How often is deployed, how long changes take, how many fail, and what agents took, by team, service and agent", access.ReadProposals, g.GetChangeFigures),
		at("POST /api/v1/rollbacks", "propose_rollback", "Propose to take an environment back to the newest earlier revision that was healthy", access.ProposeChange, g.ProposeRollback),
		at("GET /api/v1/proposals/{id}", "get_proposal", "One proposal, and what has become of it", access.ReadProposals, g.GetProposal),
		at("POST /api/v1/knowledge/answers", "propose_answer", "Propose a question and its answer by pull request", access.ProposeChange, k.ProposeAnswer),
		at("POST /api/v1/knowledge/external", "search_external", "What a configured provider outside finds; the query leaves", access.SearchExternal, k.SearchExternal),
		at("POST /api/v1/knowledge/skills", "promote_answer", "Propose a skill made of a verified answer by pull request", access.ProposeChange, k.PromoteAnswer),
	}
}

// fleets are the routes of changes of many services.
func (d *door) fleets() []route {
	g := d.Gitops
	return []route{
		at("GET /api/v1/fleets", "list_fleets", "The changes of many services that you may see, newest first, without their members", access.ReadProposals, g.ListFleets),
		at("POST /api/v1/fleets", "plan_fleet", "Work out what one change means for many services; nothing is proposed", access.RunFleet, g.PlanFleet),
		at("GET /api/v1/fleets/{id}", "get_fleet", "One change of many services, and what has become of it, with a page of its members", access.ReadProposals, g.GetFleet),
		at("POST /api/v1/fleets/{id}/start", "start_fleet", "Have a planned change of many services be proposed wave by wave, or go on", access.RunFleet, g.StartFleet),
		at("POST /api/v1/fleets/{id}/stop", "stop_fleet", "Pause a change of many services, or end it", access.RunFleet, g.StopFleet),
	}
}

// at makes a route: the operation's input comes from the path and the query,
// or for a POST from a JSON body, by the input's own field names.
func at[I, O any](where, operation, summary string, action access.Action, do func(context.Context, access.Caller, I) (*O, error)) route {
	method, pattern, _ := strings.Cut(where, " ")
	rt := route{method: method, pattern: pattern, operation: operation, summary: summary, action: action,
		params: paramsOf(reflect.TypeFor[I](), method, pattern), out: reflect.TypeFor[O]()}
	rt.serve = func(c *call) (answer, error) {
		var in I
		v := reflect.ValueOf(&in).Elem()
		if err := bind(c.Request, rt.params, v); err != nil {
			return answer{}, err
		}
		return answerOf(invoke(c, operation, action, access.Target(v), in, do))
	}
	return rt
}

// place is where a parameter stands in a request.
type place string

const (
	inPath  place = "path"
	inQuery place = "query"
	inBody  place = "body"
)

// param is one field of an operation's input.
type param struct {
	name        string
	description string
	index       []int
	typ         reflect.Type
	in          place
	required    bool
}

// paramsOf are the fields of an input type that a request may set.
func paramsOf(t reflect.Type, method, pattern string) []param {
	var out []param
	for _, f := range reflect.VisibleFields(t) {
		name, opts, _ := strings.Cut(f.Tag.Get("json"), ",")
		description := f.Tag.Get("jsonschema")
		if name == "" || name == "-" || description == "-" {
			continue
		}
		p := param{name: name, description: description, index: f.Index, typ: f.Type, in: inQuery, required: !strings.Contains(opts, "omitempty")}
		switch {
		case strings.Contains(pattern, "{"+name+"...}"), strings.Contains(pattern, "{"+name+"}"):
			p.in = inPath
		case method == http.MethodPost:
			p.in = inBody
		}
		out = append(out, p)
	}
	return out
}
