package mcp

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"time"

	mcpgo "github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/mcp/front"
)

// silent records nothing.
type silent struct{}

func (silent) Begin(ctx context.Context, _ access.Call) (context.Context, func(error)) {
	return ctx, func(error) {}
}

type toolHandler = func(context.Context, mcpgo.CallToolRequest) (*mcpgo.CallToolResult, error)

// fixture is a tool of the conformance suite.
type fixture struct {
	name, schema string
	handle       toolHandler
}

// image is the smallest PNG there is.
const image = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

func fixtures(d *door) []fixture {
	gives := func(content ...mcpgo.Content) toolHandler {
		return func(context.Context, mcpgo.CallToolRequest) (*mcpgo.CallToolResult, error) {
			return &mcpgo.CallToolResult{Content: content}, nil
		}
	}
	text := mcpgo.NewTextContent("This is a text.")
	embedded := mcpgo.NewEmbeddedResource(mcpgo.TextResourceContents{URI: "test://embedded-resource", MIMEType: "text/plain", Text: "An embedded resource."})
	return append(inputFixtures(d),
		fixture{"test_simple_text", "", gives(text)},
		fixture{"test_image_content", "", gives(mcpgo.NewImageContent(image, "image/png"))},
		fixture{"test_audio_content", "", gives(mcpgo.NewAudioContent(base64.StdEncoding.EncodeToString([]byte("RIFF")), "audio/wav"))},
		fixture{"test_embedded_resource", "", gives(embedded)},
		fixture{"test_multiple_content_types", "", gives(text, mcpgo.NewImageContent(image, "image/png"), embedded)},
		fixture{"test_error_handling", "", func(context.Context, mcpgo.CallToolRequest) (*mcpgo.CallToolResult, error) {
			return failed(errors.New("on purpose")), nil
		}},
		fixture{"json_schema_2020_12_tool", schema2020, gives(text)},
		fixture{"test_headers", `{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"},"query":{"type":"string"}},"required":["region"]}`, gives(text)},
		fixture{"test_tool_with_progress", "", withProgress},
		fixture{"test_tool_with_logging", "", d.withLogging},
		fixture{"test_logging_tool", "", d.withLogging},
		fixture{"test_missing_capability", "", missingCapability},
		fixture{"test_trigger_tool_change", "", func(context.Context, mcpgo.CallToolRequest) (*mcpgo.CallToolResult, error) {
			d.protocol.SendNotificationToAllClients(mcpgo.MethodNotificationToolsListChanged, nil)
			return mcpgo.NewToolResultText("told"), nil
		}},
		fixture{"test_trigger_prompt_change", "", func(context.Context, mcpgo.CallToolRequest) (*mcpgo.CallToolResult, error) {
			d.protocol.SendNotificationToAllClients(mcpgo.MethodNotificationPromptsListChanged, nil)
			return mcpgo.NewToolResultText("told"), nil
		}},
	)
}

const schema2020 = `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object",
"$defs":{"address":{"$anchor":"addressDef","type":"object","properties":{"street":{"type":"string"},"city":{"type":"string"}}}},
"properties":{"name":{"type":"string"},"address":{"$ref":"#/$defs/address"},"contactMethod":{"type":"string","enum":["phone","email"]},"phone":{"type":"string"},"email":{"type":"string"}},
"allOf":[{"anyOf":[{"required":["phone"]},{"required":["email"]}]}],
"if":{"properties":{"contactMethod":{"const":"phone"}},"required":["contactMethod"]},"then":{"required":["phone"]},"else":{"required":["email"]},"additionalProperties":false}`

// withProgress reports three times and returns at once.
func withProgress(ctx context.Context, r mcpgo.CallToolRequest) (*mcpgo.CallToolResult, error) {
	ctx = progressing(ctx, r.Params.Meta)
	for _, at := range []float64{0, 50, 100} {
		access.Report(ctx, access.Progress{Done: at, Total: 100})
		time.Sleep(progressPause)
	}
	return mcpgo.NewToolResultText("done"), nil
}

// withLogging sends messages where the client wants them.
func (d *door) withLogging(ctx context.Context, r mcpgo.CallToolRequest) (*mcpgo.CallToolResult, error) {
	req := front.RequestOf(ctx)
	wanted := !req.Modern || r.Params.Meta != nil && r.Params.Meta.AdditionalFields["io.modelcontextprotocol/logLevel"] != nil
	for _, text := range []string{"Tool execution started", "Tool processing data", "Tool execution completed"} {
		if !wanted {
			break
		}
		if err := req.Send(front.Notification("notifications/message", map[string]any{"level": "info", "data": text})); err != nil {
			return nil, err
		}
	}
	return mcpgo.NewToolResultText("done"), nil
}

func missingCapability(ctx context.Context, _ mcpgo.CallToolRequest) (*mcpgo.CallToolResult, error) {
	if capabilities(ctx).Sampling != nil {
		return mcpgo.NewToolResultText("done"), nil
	}
	return nil, front.RequestOf(ctx).Noted(fault.New(fault.FailedPrecondition, "the client offers no sampling").WithDetail(front.Required, map[string]any{"sampling": map[string]any{}}))
}

func capabilities(ctx context.Context) mcpgo.ClientCapabilities {
	if s, ok := server.ClientSessionFromContext(ctx).(server.SessionWithClientInfo); ok {
		return s.GetClientCapabilities()
	}
	return mcpgo.ClientCapabilities{}
}

// addResources adds the suite's resources.
func addResources(d *door) {
	static := func(uri, media string, c mcpgo.ResourceContents) {
		d.protocol.AddResource(mcpgo.Resource{URI: uri, Name: uri, MIMEType: media}, func(context.Context, mcpgo.ReadResourceRequest) ([]mcpgo.ResourceContents, error) {
			return []mcpgo.ResourceContents{c}, nil
		})
	}
	static("test://static-text", "text/plain", mcpgo.TextResourceContents{URI: "test://static-text", MIMEType: "text/plain", Text: "A text."})
	static("test://static-binary", "image/png", mcpgo.BlobResourceContents{URI: "test://static-binary", MIMEType: "image/png", Blob: image})
	d.protocol.AddResourceTemplate(mcpgo.NewResourceTemplate("test://template/{id}/data", "template"), func(_ context.Context, r mcpgo.ReadResourceRequest) ([]mcpgo.ResourceContents, error) {
		return []mcpgo.ResourceContents{mcpgo.TextResourceContents{URI: r.Params.URI, MIMEType: "application/json", Text: `{"id":"123"}`}}, nil
	})
	d.templates = append(d.templates, d.resource("test://{name}", "watched", "Watched", "A fixture.", "text/plain", "get_entity",
		func(context.Context, access.Caller, []string) (string, error) { return "A text.", nil }, func([]string) string { return "" }))
}

// addPrompts adds the suite's prompts.
func addPrompts(d *door) {
	say := func(name string, args []string, content func(map[string]string) []mcpgo.Content) {
		p := mcpgo.Prompt{Name: name, Description: "A fixture."}
		for _, a := range args {
			p.Arguments = append(p.Arguments, mcpgo.PromptArgument{Name: a, Required: true})
		}
		d.protocol.AddPrompt(p, func(_ context.Context, r mcpgo.GetPromptRequest) (*mcpgo.GetPromptResult, error) {
			out := &mcpgo.GetPromptResult{}
			for _, c := range content(r.Params.Arguments) {
				out.Messages = append(out.Messages, mcpgo.PromptMessage{Role: mcpgo.RoleUser, Content: c})
			}
			return out, nil
		})
	}
	say("test_simple_prompt", nil, func(map[string]string) []mcpgo.Content {
		return []mcpgo.Content{mcpgo.NewTextContent("A prompt.")}
	})
	say("test_prompt_with_arguments", []string{"arg1", "arg2"}, func(a map[string]string) []mcpgo.Content {
		return []mcpgo.Content{mcpgo.NewTextContent("arg1='" + a["arg1"] + "', arg2='" + a["arg2"] + "'")}
	})
	say("test_prompt_with_embedded_resource", []string{"resourceUri"}, func(a map[string]string) []mcpgo.Content {
		return []mcpgo.Content{mcpgo.NewEmbeddedResource(mcpgo.TextResourceContents{URI: a["resourceUri"], MIMEType: "text/plain", Text: "A resource."}), mcpgo.NewTextContent("Read it.")}
	})
	say("test_prompt_with_image", nil, func(map[string]string) []mcpgo.Content {
		return []mcpgo.Content{mcpgo.NewImageContent(image, "image/png"), mcpgo.NewTextContent("Look at it.")}
	})
	d.protocol.AddPrompt(mcpgo.Prompt{Name: "test_input_required_result_prompt", Description: "A fixture."}, func(_ context.Context, r mcpgo.GetPromptRequest) (*mcpgo.GetPromptResult, error) {
		if server.ElicitationResponse(r.Params.InputResponses, "user_context") == nil {
			return new(server.InputRequestBuilder).Elicit("user_context", question("What context should the prompt use?", `{"context":{"type":"string"}}`, "context")).PromptResult(), nil
		}
		return &mcpgo.GetPromptResult{Messages: []mcpgo.PromptMessage{{Role: mcpgo.RoleUser, Content: mcpgo.NewTextContent("A prompt.")}}}, nil
	})
}

// question is a form with properties of which some are required.
func question(message, properties string, required ...string) mcpgo.ElicitationParams {
	return mcpgo.ElicitationParams{Message: message, RequestedSchema: map[string]any{"type": "object", "properties": json.RawMessage(properties), "required": required}}
}
