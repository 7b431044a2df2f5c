package graphql

import (
	"context"
	"reflect"
	"time"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/graphql/bind"
	"github.com/fairlead-dev/fairlead/graphql/engine"
	"github.com/fairlead-dev/fairlead/graphql/filter"
	"github.com/fairlead-dev/fairlead/graphql/node"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/fault/beside"
	"github.com/fairlead-dev/fairlead/previews"
)

// root resolves the schema: its operations by name.
type root struct{ d *door }

// Query resolves the type Query.
func (r *root) Query() any {
	b, c, k := r.d.binder(), r.d.catalog, r.d.knowledge
	return bind.Resolver(map[string]any{
		"entity":              r.d.entity,
		"entities":            r.d.list,
		"facets":              r.d.facets,
		"search":              bind.Operation(b, "search_catalog", access.ReadCatalog, c.SearchCatalog),
		"dependencies":        bind.Operation(b, "get_dependencies", access.ReadCatalog, c.GetDependencies),
		"ancestry":            bind.Operation(b, "get_ancestry", access.ReadCatalog, c.GetAncestry),
		"locations":           bind.Operation(b, "list_locations", access.ReadCatalog, c.ListLocations),
		"serviceBrief":        bind.Operation(b, "get_service_brief", access.ReadCatalog, c.GetServiceBrief),
		"coverage":            bind.Operation(b, "get_coverage", access.ReadCatalog, c.GetCoverage),
		"searchKnowledge":     bind.Operation(b, "search_knowledge", access.ReadCatalog, k.SearchKnowledge),
		"searchCode":          bind.Operation(b, "search_code", access.ReadCatalog, k.SearchCode),
		"document":            bind.Operation(b, "get_document", access.ReadCatalog, k.GetDocument),
		"runbook":             bind.Operation(b, "find_runbook", access.ReadCatalog, k.FindRunbook),
		"ingestionErrors":     bind.Operation(b, "list_ingestion_errors", access.ReadCatalog, c.ListProblems),
		"catalogHealth":       bind.Operation(b, "get_catalog_health", access.ReadCatalog, c.GetCatalogHealth),
		"brokenRelations":     bind.Operation(b, "list_broken_relations", access.ReadCatalog, c.ListBrokenRelations),
		"staleEntities":       bind.Operation(b, "list_stale_entities", access.ReadCatalog, c.ListStaleEntities),
		"sources":             bind.Operation(b, "list_sources", access.ReadCatalog, c.ListSources),
		"whoami":              bind.Operation(b, "whoami", access.ReadSelf, r.d.access.Whoami),
		"approvals":           bind.Operation(b, "list_approvals", access.ReadApprovals, r.d.access.ListApprovals),
		"approval":            bind.Operation(b, "get_approval", access.ReadApprovals, r.d.access.GetApproval),
		"previewEnvironments": bind.Operation(b, "list_preview_environments", access.ReadPreviews, r.d.previews.List),
		"previewEnvironment":  bind.Operation(b, "get_preview_environment", access.ReadPreviews, r.d.previews.Get),
		"previewLogs":         bind.Operation(b, "get_preview_logs", access.ReadPreviews, r.d.previews.Logs),
		"revisions":           bind.Operation(b, "list_revisions", access.ReadPreviews, r.d.previews.ListRevisions),
		"previewResources":    bind.Operation(b, "list_preview_resources", access.ReadPreviews, r.d.previews.ListResources),
		"previewUsage":        bind.Operation(b, "get_preview_usage", access.ReadPreviews, r.d.previews.Usage),
		"previewStrays":       bind.Operation(b, "list_preview_strays", access.ReadStrays, r.d.previews.ListStrays),
		"credentials":         bind.Operation(b, "list_credentials", access.ReadCredentials, r.d.secrets.List),
		"credential":          bind.Operation(b, "get_credentials", access.ReadCredentials, r.d.secrets.Get),
		"deploymentHealth":    bind.Operation(b, "get_deployment_health", access.ReadHealth, r.d.health.GetDeploymentHealth),
		"ciStatus":            bind.Operation(b, "get_ci_status", access.ReadChecks, r.d.ci.GetCIStatus),
		"changeFigures":       bind.Operation(b, "get_change_figures", access.ReadProposals, r.d.gitops.GetChangeFigures),
		"proposals":           bind.Operation(b, "list_proposals", access.ReadProposals, r.d.gitops.ListProposals),
		"proposal":            bind.Operation(b, "get_proposal", access.ReadProposals, r.d.gitops.GetProposal),
		"fleets":              bind.Operation(b, "list_fleets", access.ReadProposals, r.d.gitops.ListFleets),
		"fleet":               bind.Operation(b, "get_fleet", access.ReadProposals, r.d.gitops.GetFleet),
		"audit":               bind.Operation(b, "list_audit", access.ReadAudit, r.d.access.ListAudit),
		"agents":              bind.Operation(b, "list_agents", access.ReadAudit, r.d.access.ListAgents),
	})
}

// binder binds operations; references in their answers lead to entities.
func (d *door) binder() *bind.Binder {
	return &bind.Binder{
		Recorder: d.recorder, Link: reflect.TypeFor[func(context.Context) (*node.Node, error)](), Node: reflect.TypeFor[*node.Node](),
		Near: func(ctx context.Context) (bind.Near, func()) {
			b := d.nodes.Batch(ctx)
			return b, b.Charge
		},
	}
}

// Mutation resolves the type Mutation.
func (r *root) Mutation() any {
	b, c := r.d.binder(), r.d.catalog
	return bind.Resolver(map[string]any{
		"refresh":                       bind.Operation(b, "refresh_entity", access.RefreshCatalog, c.RefreshEntity),
		"createPreviewEnvironment":      bind.Operation(b, "create_preview_environment", access.CreatePreview, r.d.previews.Create),
		"extendPreviewEnvironment":      bind.Operation(b, "extend_preview_environment", access.ExtendPreview, r.d.previews.Extend),
		"deletePreviewEnvironment":      bind.Operation(b, "delete_preview_environment", access.DeletePreview, r.d.previews.Delete),
		"forceRemovePreviewEnvironment": bind.Operation(b, "force_remove_preview_environment", access.ForcePreview, r.d.previews.ForceRemove),
		"sweepPreviewStrays":            bind.Operation(b, "sweep_preview_strays", access.SweepPreviews, r.d.previews.SweepStrays),
		"requestCredentials":            bind.Operation(b, "request_credentials", access.RequestCredentials, r.d.secrets.Request),
		"renewCredentials":              bind.Operation(b, "renew_credentials", access.RenewCredentials, r.d.secrets.Renew),
		"revokeCredentials":             bind.Operation(b, "revoke_credentials", access.RevokeCredentials, r.d.secrets.Revoke),
		"revokeAllCredentials":          bind.Operation(b, "revoke_all_credentials", access.RevokeCredentials, r.d.secrets.RevokeAll),
		"proposeChange":                 bind.Operation(b, "propose_change", access.ProposeChange, r.d.gitops.ProposeChange),
		"planFleet":                     bind.Operation(b, "plan_fleet", access.RunFleet, r.d.gitops.PlanFleet),
		"startFleet":                    bind.Operation(b, "start_fleet", access.RunFleet, r.d.gitops.StartFleet),
		"stopFleet":                     bind.Operation(b, "stop_fleet", access.RunFleet, r.d.gitops.StopFleet),
		"proposeRollback":               bind.Operation(b, "propose_rollback", access.ProposeChange, r.d.gitops.ProposeRollback),
		"proposeAnswer":                 bind.Operation(b, "propose_answer", access.ProposeChange, r.d.knowledge.ProposeAnswer),
		"searchExternal":                bind.Operation(b, "search_external", access.SearchExternal, r.d.knowledge.SearchExternal),
		"promoteAnswer":                 bind.Operation(b, "promote_answer", access.ProposeChange, r.d.knowledge.PromoteAnswer),
		"registerLocation":              bind.Operation(b, "register_location", access.RegisterCatalog, c.RegisterLocation),
		"moveLocation":                  bind.Operation(b, "move_location", access.UnregisterCatalog, c.MoveLocation),
		"unregisterLocation":            bind.Operation(b, "unregister_location", access.UnregisterCatalog, c.UnregisterLocation),
		"grantApproval":                 bind.Operation(b, "grant_approval", access.DecideApprovals, r.d.access.GrantApproval),
		"denyApproval":                  bind.Operation(b, "deny_approval", access.DecideApprovals, r.d.access.DenyApproval),
	})
}

// Subscription resolves the type Subscription, for which graphql-go wants a
// method.
func (r *root) Subscription() any { return &subscription{r.d} }

func (d *door) entity(ctx context.Context, args struct{ Ref string }) (*node.Node, error) {
	e, err := bind.Invoke(ctx, d.recorder, "get_entity", access.ReadCatalog, args.Ref, catalog.GetEntityInput{Ref: args.Ref}, d.catalog.GetEntity)
	if err != nil {
		return nil, err
	}
	return d.nodes.Nodes(ctx, []*catalog.Entity{e})[0], nil
}

// facet resolves the type Facet.
type facet struct {
	Key    string
	Values []facetValue
}

// facetValue resolves the type FacetValue.
type facetValue struct {
	Value string
	Count int32
}

type facetArgs struct {
	Keys []string
	filter.Conditions
}

func (d *door) facets(ctx context.Context, args facetArgs) (*[]facet, error) {
	in := catalog.ListFacetsInput{Facets: args.Keys}
	var err error
	if in.Filter, in.Query, _, err = args.Read(); err != nil {
		return nil, err
	}
	out, err := bind.Invoke(ctx, d.recorder, "list_facets", access.ReadCatalog, "", in, d.catalog.ListFacets)
	if err != nil {
		return nil, err
	}
	answer := make([]facet, 0, len(args.Keys))
	for _, key := range args.Keys {
		f := facet{Key: key, Values: []facetValue{}}
		for _, v := range out.Facets[key] {
			f.Values = append(f.Values, facetValue{v.Value, int32(min(v.Count, 1<<30))}) //nolint:gosec // cannot overflow
		}
		answer = append(answer, f)
	}
	return &answer, nil
}

// subscription resolves the type Subscription.
type subscription struct{ d *door }

// change resolves the type CatalogChange.
type change struct {
	Changed, Added, Removed []string
	Many                    bool
	batch                   *node.Batch
}

// Entities are the entities added or changed that are still there.
func (c *change) Entities(ctx context.Context) ([]*node.Node, error) {
	out := []*node.Node{}
	for _, ref := range c.Changed {
		n, err := c.batch.Get(ctx, c.batch.Add(ref))
		if err != nil {
			return nil, err
		}
		if n != nil {
			out = append(out, n)
		}
	}
	return out, nil
}

type catalogChangedArgs struct {
	Kinds  *[]string
	Recent *int32
}

// CatalogChanged tells of changes until ctx ends.
func (s *subscription) CatalogChanged(ctx context.Context, args catalogChangedArgs) (<-chan *change, error) {
	var which catalog.WatchInput
	if args.Kinds != nil {
		which.Kinds = *args.Kinds
	}
	if args.Recent != nil {
		if *args.Recent < 0 {
			return nil, fault.New(fault.Invalid, "recent is %d, and no number of seconds", *args.Recent).WithFix("Give how many seconds ago what you know was read, or leave recent out.")
		}
		which.Recent = time.Duration(*args.Recent) * time.Second
	}
	in := s.d.catalog.WatchFor(ctx, engine.RequestOf(ctx).Who(), which)
	return watch(ctx, s.d, "watch_catalog", access.ReadCatalog, in, s.d.change), nil
}

// approvalChange resolves the type ApprovalChange.
type approvalChange struct {
	ID, State, Action, Summary, Subject, Agent string
	MayDecide                                  bool
}

// ApprovalChanged tells of requests for approval until ctx ends.
func (s *subscription) ApprovalChanged(ctx context.Context, args struct{ Mine *bool }) (<-chan *approvalChange, error) {
	in := s.d.access.WatchApprovals(ctx, engine.RequestOf(ctx).Who(), args.Mine != nil && *args.Mine)
	return watch(ctx, s.d, "watch_approvals", access.ReadApprovals, in, func(_ context.Context, a access.Approval) *approvalChange {
		return &approvalChange{a.ID, string(a.State), string(a.Action), a.Summary, a.Subject, a.Agent, a.MayDecide}
	}), nil
}

// previewChange resolves the type PreviewChange.
type previewChange struct {
	ID, Service, Revision, Commit, Phase, Reason, URL, Since, ExpiresAt, Owner, Person, Agent string
	EndsSoon                                                                                  bool
}

type previewChangedArgs struct{ ID, Service *string }

// PreviewChanged tells of previews until ctx ends.
func (s *subscription) PreviewChanged(ctx context.Context, args previewChangedArgs) (<-chan *previewChange, error) {
	var which previews.WatchInput
	if args.ID != nil {
		which.ID = *args.ID
	}
	if args.Service != nil {
		which.Service = *args.Service
	}
	in := s.d.previews.Watch(ctx, engine.RequestOf(ctx).Who(), which)
	return watch(ctx, s.d, "watch_previews", access.ReadPreviews, in, func(_ context.Context, p previews.Preview) *previewChange {
		return &previewChange{p.ID, p.Service, p.Revision, p.Commit, string(p.Phase), p.Reason, p.URL, p.Since, p.ExpiresAt, p.Owner, p.Person, p.Agent, p.EndsSoon}
	}), nil
}

func (d *door) change(ctx context.Context, c catalog.Changes) *change {
	told := &change{Changed: c.Changed, Added: c.Added, Removed: c.Removed, Many: c.Many, batch: d.nodes.Batch(ctx)}
	for _, ref := range c.Changed {
		told.batch.Add(ref)
	}
	return told
}

// watch makes a subscription of what a room tells until ctx ends: each event
// becomes what the schema knows it as, and counts for itself.
func watch[T, E any](ctx context.Context, d *door, op string, action access.Action, in <-chan T, view func(context.Context, T) E) <-chan E {
	r := engine.RequestOf(ctx)
	ctx, end := d.recorder.Begin(ctx, access.Call{Door: "graphql", Operation: op, Action: action, Who: r.Who()})
	out := make(chan E)
	beside.Go(ctx, d.logger, "telling of changes in GraphQL by "+op, func() {
		defer end(nil)
		defer close(out)
		for event := range in {
			r.Refill()
			select {
			case out <- view(ctx, event):
			case <-ctx.Done():
			}
		}
	})
	return out
}
