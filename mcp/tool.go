package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"slices"

	mcpgo "github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/mcp/front"
)

// maxAnswer is the most that an answer may hold, text and structured content
// together, in bytes: 8,000 tokens of four bytes.
const maxAnswer = 8_000 * 4

// entry is a tool with what decides who sees it.
type entry struct {
	tool    mcpgo.Tool
	toolset string
	action  access.Action
	handle  server.ToolHandlerFunc
}

// traits are what sets a tool apart from others.
type traits[I, O any] struct {
	// toolset is the tool's; "" is catalog.
	toolset string
	// bounded tells that the operation keeps its answer within bounds itself.
	bounded bool
	// less makes the next question for an answer that was too large: one that
	// asks for less. It tells whether there is one.
	less func(in *I, out *O) bool
	// confirm is the question to put to a person before the operation runs;
	// tools that remove or overwrite have one.
	confirm func(in *I) string
	// trim makes a smaller answer of one that was too large, nil if it cannot.
	// It must leave alone what the answer shares with the room.
	trim func(out *O) *O
}

// tool makes a tool of an operation: its arguments from the input's fields in
// snake_case, its hints from the action's effect, its answer as structured
// content and as the text that render makes of it for a model.
func tool[I, O any](d *door, name, title, description string, action access.Action, do func(context.Context, access.Caller, I) (*O, error), render func(*O) string, t traits[I, O]) entry {
	if t.toolset == "" {
		t.toolset = "catalog"
	}
	args, meta := argumentsOf(reflect.TypeFor[I]()), metaOf(reflect.TypeFor[I]())
	e := entry{toolset: t.toolset, action: action, tool: mcpgo.Tool{
		Name: name, Title: title, Description: description, Annotations: hints(action),
		RawInputSchema: inputSchema(args), RawOutputSchema: outputSchema(reflect.TypeFor[O]()),
	}}
	e.handle = func(ctx context.Context, r mcpgo.CallToolRequest) (*mcpgo.CallToolResult, error) {
		var in I
		if err := decode(args, r.Params.RawArguments, reflect.ValueOf(&in).Elem()); err != nil {
			return failed(err), nil
		}
		if err := takeMeta(meta, r.Params.Meta, reflect.ValueOf(&in).Elem()); err != nil {
			return failed(err), nil
		}
		if t.confirm != nil {
			if instead, err := d.confirmed(ctx, r, t.confirm(&in)); instead != nil || err != nil {
				return instead, err
			}
		}
		result, err := answered(progressing(ctx, r.Params.Meta), d, name, action, in, do, render, t)
		if err != nil {
			return d.refusal(ctx, err)
		}
		return result, nil
	}
	return e
}

// refusal answers a fault: as a result, which the model gets to read, or, where
// the token is what lacks, as an error, on which the client asks for another.
func (d *door) refusal(ctx context.Context, err error) (*mcpgo.CallToolResult, error) {
	f := fault.From(err)
	if f.Code == fault.Forbidden && f.Details["scope"] != nil {
		return nil, front.RequestOf(ctx).Noted(f)
	}
	return failed(f), nil
}

// answered runs the operation until its answer is small enough.
func answered[I, O any](ctx context.Context, d *door, name string, action access.Action, in I, do func(context.Context, access.Caller, I) (*O, error), render func(*O) string, t traits[I, O]) (result *mcpgo.CallToolResult, err error) {
	defer func() {
		if p := recover(); p != nil {
			d.Logger.ErrorContext(ctx, "panic in the MCP door", "tool", name, "error", fault.Recovered(p, "answering a call"))
			err = errors.New("panic")
		}
	}()
	out, err := invoke(ctx, d, name, action, in, do)
	for {
		if err != nil {
			return nil, err
		}
		structured, err := json.Marshal(out)
		if err != nil {
			return nil, err
		}
		text := render(out)
		if t.bounded || len(structured)+len(text) <= maxAnswer {
			return resultOf(ctx, text, structured), nil
		}
		switch {
		case t.trim != nil:
			out = t.trim(out)
		case t.less != nil && t.less(&in, out):
			out, err = invoke(ctx, d, name, action, in, do)
		default:
			out = nil
		}
		if out == nil && err == nil {
			return nil, fault.New(fault.FailedPrecondition, "the answer is larger than 8,000 tokens").WithFix("Ask for less at once.")
		}
	}
}

// resultOf is the result of a text and of structured content; the library gets
// to encode no more than their places.
func resultOf(ctx context.Context, text string, structured json.RawMessage) *mcpgo.CallToolResult {
	req := front.RequestOf(ctx)
	if encoded, err := json.Marshal(text); err == nil {
		if _, place, ok := req.Splice(encoded); ok {
			text = place
		}
	}
	if place, _, ok := req.Splice(structured); ok {
		structured = place
	}
	return &mcpgo.CallToolResult{Content: []mcpgo.Content{mcpgo.NewTextContent(text)}, StructuredContent: structured}
}

// invoke runs an operation for the caller of a request.
func invoke[I, O any](ctx context.Context, d *door, name string, action access.Action, in I, do func(context.Context, access.Caller, I) (*O, error)) (*O, error) {
	call := access.Call{Door: "mcp", Operation: name, Action: action, Who: front.RequestOf(ctx).Who, Target: access.Target(reflect.ValueOf(in))}
	return access.Invoke(ctx, d.Recorder, call, in, do)
}

// failed is the result that tells of a fault.
func failed(err error) *mcpgo.CallToolResult {
	f := fault.From(err)
	text := string(f.Code) + ": " + f.Message
	if f.Fix != "" {
		text += "\nfix: " + f.Fix
	}
	if after, ok := f.Details["retryAfter"].(string); ok {
		text += "\nretry after: " + after
	}
	return &mcpgo.CallToolResult{IsError: true, Content: []mcpgo.Content{mcpgo.NewTextContent(text)}, StructuredContent: f}
}

// hints say what a tool does to the world, as policy sees it. Every tool
// works on what Fairlead knows, not on the open world. Of one that only reads
// there is no more to say, by the protocol.
func hints(action access.Action) mcpgo.ToolAnnotation {
	e := action.Effect()
	if e.ReadOnly {
		return mcpgo.ToolAnnotation{ReadOnlyHint: &e.ReadOnly, OpenWorldHint: &e.Open}
	}
	return mcpgo.ToolAnnotation{ReadOnlyHint: &e.ReadOnly, DestructiveHint: &e.Destructive, IdempotentHint: &e.Idempotent, OpenWorldHint: &e.Open}
}

// offered tells whether the endpoint and the query of a request leave a tool
// in.
func (e *entry) offered(req *front.Request) bool {
	return (req.Toolsets == nil || slices.Contains(req.Toolsets, e.toolset)) && (!req.ReadOnly || e.action.Effect().ReadOnly)
}

// names are the tools that a caller may call.
func (d *door) names(req *front.Request) []string {
	var out []string
	for _, t := range d.tools {
		if t.offered(req) {
			out = append(out, t.tool.Name)
		}
	}
	return out
}

// visible keeps the tools that a request may see. A list holds only what the
// caller may use; a call is left to the operation, which knows why not.
func (d *door) visible(ctx context.Context, tools []mcpgo.Tool) []mcpgo.Tool {
	req := front.RequestOf(ctx)
	listing := req.Method == string(mcpgo.MethodToolsList)
	var may map[access.Action]bool
	if listing {
		may = d.actions(ctx, req.Who)
	}
	return slices.DeleteFunc(slices.Clone(tools), func(t mcpgo.Tool) bool {
		i := slices.IndexFunc(d.tools, func(e entry) bool { return e.tool.Name == t.Name })
		return i < 0 || !d.tools[i].offered(req) || listing && !may[d.tools[i].action]
	})
}

// actions are those that policy lets a caller do.
func (d *door) actions(ctx context.Context, who access.Caller) map[access.Action]bool {
	out := map[access.Action]bool{}
	id, err := d.Access.Whoami(ctx, who, access.WhoamiInput{})
	if err != nil {
		return out
	}
	for _, p := range id.Actions {
		out[p.Action] = true
	}
	return out
}
