package mcp

import (
	"context"
	"errors"
	"net/http"
	"strings"

	mcpgo "github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/mcp/front"
)

// listPage is how many items a page of a list holds.
const listPage = 100

// library makes the protocol's server with everything that it offers.
func (d *door) library(extra ...server.ServerOption) *server.MCPServer {
	const listsStay = 5 * 60 * 1000
	hooks := &server.Hooks{}
	hooks.AddBeforeSubscriptionsListen(d.listen)
	hooks.AddBeforeListResources(d.cursorOfResources)
	hooks.AddAfterListResources(d.listResources)
	options := []server.ServerOption{
		server.WithTitle("Fairlead"), server.WithInstructions(instructions), server.WithHooks(hooks), server.WithPaginationLimit(listPage),
		server.WithToolCapabilities(false), server.WithResourceCapabilities(true, true), server.WithPromptCapabilities(false),
		server.WithCompletions(), server.WithPromptCompletionProvider(completer{d}), server.WithResourceCompletionProvider(completer{d}),
		server.WithToolFilter(d.visible),
		server.WithCacheHints(0, mcpgo.CacheScopePrivate),
		server.WithMethodCacheHints(mcpgo.MethodToolsList, listsStay, mcpgo.CacheScopePrivate),
		server.WithMethodCacheHints(mcpgo.MethodPromptsList, listsStay, mcpgo.CacheScopePrivate),
		server.WithMethodCacheHints(mcpgo.MethodResourcesTemplatesList, listsStay, mcpgo.CacheScopePrivate),
	}
	s := server.NewMCPServer("fairlead", d.Version, append(options, extra...)...)
	for _, t := range d.tools {
		s.AddTool(t.tool, t.handle)
	}
	for _, r := range d.templates {
		s.AddResourceTemplate(r.template, r.handle)
	}
	s.AddPrompts(d.prompts()...)
	return s
}

// transport speaks streamable HTTP. Streams that clients listen to, and the
// guard against rebinding, are the front's.
func (d *door) transport() *server.StreamableHTTPServer {
	return server.NewStreamableHTTPServer(d.protocol,
		server.WithSessionIdManagerResolver(resolver{d.front.Sessions()}),
		server.WithDisableStreaming(true),
		server.WithDisableLocalhostProtection(true),
		server.WithStreamableHTTPLogger(d.Logger))
}

// listen subscribes for a stream of revision 2026-07-28: the library tells of
// lists alone. The acknowledgement names what is left in the request.
func (d *door) listen(ctx context.Context, _ any, r *mcpgo.SubscriptionsListenRequest) {
	want := &r.Params.Notifications
	kept, err := front.RequestOf(ctx).Listen(ctx, want.ResourceSubscriptions, want.ResourcesListChanged)
	if err == nil {
		want.ResourceSubscriptions = kept
	}
}

// resolver gives the library the sessions of a request's caller.
type resolver struct{ all *front.Sessions }

// ResolveSessionIdManager gives the manager for the caller of a request.
func (s resolver) ResolveSessionIdManager(r *http.Request) server.SessionIdManager {
	owner := ""
	if r != nil {
		owner = front.OwnerOf(front.RequestOf(r.Context()).Who)
	}
	return &callersSessions{s.all, owner}
}

// callersSessions are the sessions of one caller.
type callersSessions struct {
	all   *front.Sessions
	owner string
}

// Generate opens a session.
func (c *callersSessions) Generate() string { return c.all.Begin(c.owner) }

// Validate refuses sessions that are not open or another's; none at all is
// well.
func (c *callersSessions) Validate(id string) (bool, error) {
	if id != "" && !c.all.Holds(id, c.owner) {
		return false, errors.New("no such session")
	}
	return false, nil
}

// Terminate ends a session.
func (c *callersSessions) Terminate(id string) (bool, error) {
	c.all.End(id)
	return false, nil
}

// nowhere takes an answer that nobody waits for.
type nowhere struct{ header http.Header }

func (n nowhere) Header() http.Header         { return n.header }
func (n nowhere) WriteHeader(int)             {}
func (n nowhere) Write(p []byte) (int, error) { return len(p), nil }
func (n nowhere) Flush()                      {}
func (n nowhere) CanStream() bool             { return false }

// forget makes the library drop what it holds of a session, in the one way
// that it offers.
func (d *door) forget(id string) {
	d.stream.Handle(nowhere{http.Header{}}, &server.HTTPRequest{Method: http.MethodDelete, Header: http.Header{server.HeaderKeySessionID: {id}}})
}

// explain puts an error of the library's as a fault, nil where the library says
// it well.
func (d *door) explain(req *front.Request, code int, message string) (int, *fault.Error) {
	switch {
	case code == front.CodeInternal:
		return code, fault.From(errors.New(message))
	case req.Method == string(mcpgo.MethodToolsCall) && code == front.CodeInvalidParams:
		return code, fault.New(fault.NotFound, "there is no tool %.60q", req.Name).WithFix("There are: %s.", strings.Join(d.names(req), ", "))
	case req.Method == string(mcpgo.MethodPromptsGet) && code == front.CodeInvalidParams:
		return code, fault.New(fault.NotFound, "there is no prompt %.60q", req.Name).WithFix("There are: start_work, investigate_incident.")
	case req.Method == string(mcpgo.MethodResourcesRead) && (code == front.CodeNotFound || code == front.CodeInvalidParams):
		return code, fault.New(fault.NotFound, "there is no resource %.120q", req.URI).WithFix("There are: %s.", strings.Join(d.uris(), ", "))
	case strings.HasSuffix(req.Method, "/list") && code == front.CodeInvalidParams:
		return code, fault.New(fault.Invalid, "the cursor of %.60q is none that this server gave", req.Method).WithFix("Leave it out to begin with the first page.")
	case strings.Contains(message, "json: ") || strings.Contains(message, "unmarshal"):
		return code, fault.New(fault.Invalid, "the params of %.60q are not of the types that the protocol gives them", req.Method)
	default:
		return code, nil
	}
}
