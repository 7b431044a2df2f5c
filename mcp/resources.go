package mcp

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	mcpgo "github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// The URIs of resources.
const (
	entityTemplate = "catalog://{kind}/{namespace}/{name}"
	briefTemplate  = "brief://{namespace}/{name}"
)

// resources are what can be read by URI.
func (d *door) resources() []server.ServerResourceTemplate {
	return []server.ServerResourceTemplate{
		resource(entityTemplate, "entity", "Catalog entity", "A catalog entity as Backstage has it.", "application/json", d.readEntity),
		resource(briefTemplate, "brief", "Service brief", "What to know before touching a component: owner, commands, deployment, dependencies, each with its source.", "text/plain", d.readBrief),
	}
}

// resource makes a template whose URIs are read by read, which gets the parts
// of the path.
func resource(template, name, title, description, media string, read func(context.Context, []string) (string, error)) server.ServerResourceTemplate {
	t := mcpgo.NewResourceTemplate(template, name, mcpgo.WithTemplateDescription(description), mcpgo.WithTemplateMIMEType(media))
	t.Title = title
	scheme, path, _ := strings.Cut(template, "://")
	handler := func(ctx context.Context, r mcpgo.ReadResourceRequest) ([]mcpgo.ResourceContents, error) {
		parts, err := partsOf(r.Params.URI, scheme, strings.Count(path, "/")+1)
		if err != nil {
			return nil, noted(ctx, err)
		}
		text, err := read(ctx, parts)
		if err != nil {
			return nil, noted(ctx, err)
		}
		return []mcpgo.ResourceContents{mcpgo.TextResourceContents{URI: r.Params.URI, MIMEType: media, Text: text}}, nil
	}
	return server.ServerResourceTemplate{Template: t, Handler: handler}
}

// noted leaves a fault for the answer: the library would make an internal
// error of it.
func noted(ctx context.Context, err error) error {
	f := fault.From(err)
	requestOf(ctx).fault = f
	return f
}

// partsOf are the n parts of a URI after its scheme.
func partsOf(uri, scheme string, n int) ([]string, error) {
	parts := strings.Split(strings.TrimPrefix(uri, scheme+"://"), "/")
	if len(parts) != n {
		return nil, fault.New(fault.Invalid, "the URI %.120q does not have %d parts", uri, n).WithFix("Write it as %s.", map[int]string{3: entityTemplate, 2: briefTemplate}[n])
	}
	for i, p := range parts {
		plain, err := url.PathUnescape(p)
		if err != nil || plain == "" {
			return nil, fault.New(fault.Invalid, "the URI %.120q has an empty or malformed part", uri).WithFix("Percent-encode what is no letter, digit, dot, dash or underscore.")
		}
		parts[i] = plain
	}
	return parts, nil
}

func (d *door) readEntity(ctx context.Context, p []string) (string, error) {
	in := catalog.GetEntityInput{Ref: fmt.Sprintf("%s:%s/%s", p[0], p[1], p[2])}
	e, err := invoke(ctx, d, "get_entity", access.ReadCatalog, in, d.Catalog.GetEntity)
	if err != nil {
		return "", err
	}
	if body := e.AppendJSON(nil); len(body) <= maxAnswer {
		return string(body), nil
	}
	if e = trimEntity(e); e == nil {
		return "", fault.New(fault.FailedPrecondition, "the entity is larger than 8,000 tokens").WithFix("Get it by GET /api/v1/entities/%s.", in.Ref)
	}
	return string(e.AppendJSON(nil)), nil
}

func (d *door) readBrief(ctx context.Context, p []string) (string, error) {
	b, err := d.brief(ctx, catalog.GetServiceBriefInput{Service: fmt.Sprintf("component:%s/%s", p[0], p[1])})
	if err != nil {
		return "", err
	}
	return b.Text(), nil
}

func (d *door) brief(ctx context.Context, in catalog.GetServiceBriefInput) (*catalog.Brief, error) {
	return invoke(ctx, d, "get_service_brief", access.ReadCatalog, in, d.Catalog.GetServiceBrief)
}
