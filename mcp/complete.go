package mcp

import (
	"context"
	"strings"

	mcpgo "github.com/mark3labs/mcp-go/mcp"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/catalog/entity"
	"github.com/fairlead-dev/fairlead/mcp/front"
)

// maxCompletions is the most values that the protocol allows at once.
const maxCompletions = 100

// completer completes what is typed for arguments of prompts and resources.
type completer struct{ d *door }

// CompletePromptArgument completes services and their environments.
func (c completer) CompletePromptArgument(ctx context.Context, _ string, arg mcpgo.CompleteArgument, given mcpgo.CompleteContext) (*mcpgo.Completion, error) {
	switch arg.Name {
	case "service":
		return c.names(ctx, "component", "", arg.Value)
	case "environment":
		service := given.Arguments["service"]
		if service == "" {
			return &mcpgo.Completion{}, nil
		}
		b, err := c.d.brief(ctx, catalog.GetServiceBriefInput{Service: service, Sections: []string{"deploy"}, MaxTokens: 8000})
		if err != nil {
			return &mcpgo.Completion{}, nil //nolint:nilerr // what is not there completes to nothing
		}
		var names []string
		for _, e := range b.Environments {
			names = append(names, e.Name)
		}
		return starting(names, arg.Value), nil
	default:
		return &mcpgo.Completion{}, nil
	}
}

// CompleteResourceArgument completes the parts of a resource's URI.
func (c completer) CompleteResourceArgument(ctx context.Context, uri string, arg mcpgo.CompleteArgument, given mcpgo.CompleteContext) (*mcpgo.Completion, error) {
	kind := given.Arguments["kind"]
	if strings.HasPrefix(uri, "brief:") {
		kind = "component"
	}
	switch arg.Name {
	case "kind":
		return c.values(ctx, "kind", nil, arg.Value)
	case "namespace":
		return c.values(ctx, "metadata.namespace", filter("kind", kind), arg.Value)
	case "name":
		return c.names(ctx, kind, given.Arguments["namespace"], arg.Value)
	default:
		return &mcpgo.Completion{}, nil
	}
}

// filter keeps entities by a key, all of them where the value is "" or could
// be read as more than a value.
func filter(key, value string) []string {
	if value == "" || strings.ContainsAny(value, ",=") {
		return nil
	}
	return []string{key + "=" + value}
}

// values are those that a key takes.
func (c completer) values(ctx context.Context, key string, filter []string, typed string) (*mcpgo.Completion, error) {
	in := catalog.ListFacetsInput{Facets: []string{key}, Filter: filter}
	f, err := invoke(ctx, c.d, "list_facets", access.ReadCatalog, in, c.d.Catalog.ListFacets)
	if err != nil {
		return nil, front.RequestOf(ctx).Noted(err)
	}
	var out []string
	for _, v := range f.Facets[key] {
		out = append(out, entity.Lower(v.Value))
	}
	return starting(out, typed), nil
}

// names are those of entities, as the catalog lists them; without a namespace
// asked for, names outside the default one carry theirs.
func (c completer) names(ctx context.Context, kind, namespace, typed string) (*mcpgo.Completion, error) {
	conditions := append(filter("kind", kind), filter("metadata.namespace", namespace)...)
	limit := maxCompletions
	in := catalog.ListEntitiesInput{OrderBy: []catalog.OrderField{{Field: "metadata.name"}}, Limit: &limit}
	if len(conditions) > 0 {
		in.Filter = []string{strings.Join(conditions, ",")}
	}
	if typed != "" {
		in.Query = mustMarshal(map[string]any{"metadata.name": map[string]any{"$hasPrefix": typed}})
	}
	page, err := invoke(ctx, c.d, "list_entities", access.ReadCatalog, in, c.d.Catalog.ListEntities)
	if err != nil {
		return nil, front.RequestOf(ctx).Noted(err)
	}
	out := &mcpgo.Completion{Total: page.TotalItems, HasMore: page.TotalItems > len(page.Items)}
	for _, e := range page.Items {
		name := e.Name()
		if namespace == "" && e.Namespace() != entity.DefaultNamespace {
			name = e.Namespace() + "/" + name
		}
		out.Values = append(out.Values, name)
	}
	return out, nil
}

// starting keeps the values that begin with what is typed.
func starting(values []string, typed string) *mcpgo.Completion {
	out := &mcpgo.Completion{}
	for _, v := range values {
		if !strings.HasPrefix(strings.ToLower(v), strings.ToLower(typed)) {
			continue
		}
		if out.Total++; len(out.Values) < maxCompletions {
			out.Values = append(out.Values, v)
		}
	}
	out.HasMore = out.Total > len(out.Values)
	return out
}
