package mcp

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/url"
	"strings"
	"time"

	mcpgo "github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/catalog/entity"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/fault/beside"
	"github.com/fairlead-dev/fairlead/mcp/front"
)

// The URIs of resources.
const (
	entityTemplate = "catalog://{kind}/{namespace}/{name}"
	briefTemplate  = "brief://{namespace}/{name}"
)

// resource is a template of URIs that can be read and subscribed to.
type resource struct {
	uri      string
	template mcpgo.ResourceTemplate
	handle   server.ResourceTemplateHandlerFunc
	// look reads without a record, for subscriptions: nobody has asked just now.
	look reader
	// about is the entity that a change of changes the resource, "" for any.
	about func(parts []string) string
}

// reader reads a resource by the parts of its URI, as a caller sees it.
type reader func(ctx context.Context, who access.Caller, parts []string) (string, error)

// resources are what can be read by URI.
func (d *door) resources() []resource {
	entityAbout := func(p []string) string { return entity.Lower(p[0] + ":" + p[1] + "/" + p[2]) }
	return append([]resource{
		d.resource(entityTemplate, "entity", "Catalog entity", "A catalog entity as Backstage has it.", "application/json", "get_entity", d.readEntity, entityAbout),
		d.resource(briefTemplate, "brief", "Service brief", "What to know before touching a component: owner, commands, deployment, dependencies, each with its source.", "text/plain", "get_service_brief", d.readBrief,
			func([]string) string { return "" }),
	}, d.documents()...)
}

// resource makes a template whose URIs are read by read, which gets the parts
// of the path; operation is what the record calls it.
func (d *door) resource(uri, name, title, description, media, operation string, read reader, about func([]string) string) resource {
	t := mcpgo.NewResourceTemplate(uri, name, mcpgo.WithTemplateDescription(description), mcpgo.WithTemplateMIMEType(media))
	t.Title = title
	handler := func(ctx context.Context, r mcpgo.ReadResourceRequest) ([]mcpgo.ResourceContents, error) {
		req := front.RequestOf(ctx)
		parts, err := partsOf(r.Params.URI, uri)
		if err != nil {
			return nil, req.Noted(err)
		}
		call := access.Call{Door: "mcp", Operation: operation, Action: access.ReadCatalog, Who: req.Who, Target: r.Params.URI}
		text, err := access.Invoke(ctx, d.Recorder, call, parts, func(ctx context.Context, who access.Caller, parts []string) (*string, error) {
			text, err := read(ctx, who, parts)
			return &text, err
		})
		if err != nil {
			return nil, req.Noted(err)
		}
		return []mcpgo.ResourceContents{mcpgo.TextResourceContents{URI: r.Params.URI, MIMEType: media, Text: *text}}, nil
	}
	return resource{uri, t, handler, read, about}
}

// uris are the templates of what can be read.
func (d *door) uris() []string {
	var out []string
	for _, r := range d.templates {
		out = append(out, r.uri)
	}
	return out
}

// find is the template of a URI, with the URI's parts.
func (d *door) find(uri string) (*resource, []string, error) {
	for i := range d.templates {
		scheme, _, _ := strings.Cut(d.templates[i].uri, "://")
		if strings.HasPrefix(uri, scheme+"://") {
			parts, err := partsOf(uri, d.templates[i].uri)
			return &d.templates[i], parts, err
		}
	}
	return nil, nil, fault.New(fault.NotFound, "there is no resource %.120q", uri).WithFix("There are: %s.", strings.Join(d.uris(), ", "))
}

// partsOf are the parts of a URI after its scheme, as many as the template's.
func partsOf(uri, template string) ([]string, error) {
	if template == documentTemplate {
		return opaque(uri)
	}
	scheme, path, _ := strings.Cut(template, "://")
	parts, n := strings.Split(strings.TrimPrefix(uri, scheme+"://"), "/"), strings.Count(path, "/")+1
	if len(parts) != n {
		return nil, fault.New(fault.Invalid, "the URI %.120q does not have %d parts", uri, n).WithFix("Write it as %s.", template)
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

func (d *door) readEntity(ctx context.Context, who access.Caller, p []string) (string, error) {
	in := catalog.GetEntityInput{Ref: fmt.Sprintf("%s:%s/%s", p[0], p[1], p[2])}
	e, err := d.Catalog.GetEntity(ctx, who, in)
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

func (d *door) readBrief(ctx context.Context, who access.Caller, p []string) (string, error) {
	b, err := d.Catalog.GetServiceBrief(ctx, who, catalog.GetServiceBriefInput{Service: fmt.Sprintf("component:%s/%s", p[0], p[1])})
	if err != nil {
		return "", err
	}
	return b.Text(), nil
}

func (d *door) brief(ctx context.Context, in catalog.GetServiceBriefInput) (*catalog.Brief, error) {
	return invoke(ctx, d, "get_service_brief", access.ReadCatalog, in, d.Catalog.GetServiceBrief)
}

// pageOfResources is how many resources a page of their list holds.
const pageOfResources = 50

// cursorOfResources reads the page of briefs that a list of resources asks
// for: what there is to read follows the catalog and the caller, which the
// library's own list does not. A cursor that is none fails in the library.
func (d *door) cursorOfResources(ctx context.Context, _ any, r *mcpgo.ListResourcesRequest) {
	req, limit := front.RequestOf(ctx), pageOfResources
	in := catalog.ListEntitiesInput{Filter: []string{"kind=component"}, OrderBy: []catalog.OrderField{{Field: "metadata.name"}}, Limit: &limit,
		Cursor: string(r.Params.Cursor), TotalItems: "exclude"}
	page, err := invoke(ctx, d, "list_entities", access.ReadCatalog, in, d.Catalog.ListEntities)
	if err != nil {
		if r.Params.Cursor = "?"; fault.CodeOf(err) != fault.Invalid {
			_ = req.Noted(err) // it is what the client gets to read
		}
		return
	}
	req.Stash, r.Params.Cursor = page, ""
}

// listResources adds the briefs to a list of resources.
func (d *door) listResources(ctx context.Context, _ any, _ *mcpgo.ListResourcesRequest, result *mcpgo.ListResourcesResult) {
	page, ok := front.RequestOf(ctx).Stash.(*catalog.EntityPage)
	if !ok {
		return
	}
	if page.PageInfo.PrevCursor != "" {
		result.Resources = nil // they were on the first page
	}
	for _, e := range page.Items {
		r := mcpgo.NewResource("brief://"+url.PathEscape(e.Namespace())+"/"+url.PathEscape(e.Name()), e.Name(), mcpgo.WithMIMEType("text/plain"))
		if e.Namespace() != entity.DefaultNamespace {
			r.Name = e.Namespace() + "/" + e.Name()
		}
		r.Title, r.Description = oneLine(e.Title()), clip(oneLine(e.Description()), 160)
		result.Resources = append(result.Resources, r)
	}
	result.NextCursor = mcpgo.Cursor(page.PageInfo.NextCursor)
}

// clip cuts a text to so many characters.
func clip(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}

// room is what subscriptions are about.
type room struct{ *door }

// Print marks a resource by what its text is.
func (r room) Print(ctx context.Context, who access.Caller, uri string) (_ string, err error) {
	defer fault.Catch(&err, "reading resource %s", uri)
	at, parts, err := r.find(uri)
	if err != nil {
		return "", err
	}
	text, err := at.look(ctx, who, parts)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(text))
	return string(sum[:]), nil
}

// Watch tells a caller of changes of the catalog.
func (r room) Watch(ctx context.Context, who access.Caller, before time.Duration) <-chan front.Changes {
	in, out := r.Catalog.WatchFor(ctx, who, catalog.WatchInput{Recent: before}), make(chan front.Changes)
	beside.Go(ctx, r.Logger, "telling of changes of resources in MCP", func() {
		defer close(out)
		for c := range in {
			select {
			case out <- front.Changes{Touches: func(uri string) bool { return r.touches(c, uri) }, Listed: c.Many || len(c.Added)+len(c.Removed) > 0}:
			case <-ctx.Done():
			}
		}
	})
	return out
}

// touches tells whether changes may have changed a resource.
func (r room) touches(c catalog.Changes, uri string) bool {
	at, parts, err := r.find(uri)
	if err != nil {
		return false
	}
	ref := at.about(parts)
	return c.Many || ref == "" || c.Names(ref)
}
