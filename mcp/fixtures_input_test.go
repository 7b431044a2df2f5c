package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	mcpgo "github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/mcp/front"
)

// ask is a tool that asks for something and tells what it got.
func ask(id string, params mcpgo.ElicitationParams, say string) toolHandler {
	return func(ctx context.Context, r mcpgo.CallToolRequest) (*mcpgo.CallToolResult, error) {
		a := server.ElicitationResponse(r.Params.InputResponses, id)
		switch {
		case a != nil && a.Action != "":
			content, err := json.Marshal(a.Content)
			return mcpgo.NewToolResultText(fmt.Sprintf(say, a.Action, content)), err
		case !asks(ctx):
			return failed(fault.New(fault.FailedPrecondition, "the client offers no elicitation")), nil
		default:
			return new(server.InputRequestBuilder).Elicit(id, params).ToolResult(), nil
		}
	}
}

// inputFixtures are the suite's tools that ask the client for something.
func inputFixtures(d *door) []fixture {
	name := question("What is your name?", `{"name":{"type":"string"}}`, "name")
	confirm := question("Please confirm", `{"ok":{"type":"boolean"}}`, "ok")
	return []fixture{
		{"test_elicitation", `{"type":"object","properties":{"message":{"type":"string"}},"required":["message"]}`, func(ctx context.Context, r mcpgo.CallToolRequest) (*mcpgo.CallToolResult, error) {
			form := question(r.GetString("message", ""), `{"username":{"type":"string","description":"User's response"},"email":{"type":"string","description":"User's email address"}}`, "username", "email")
			return ask("user", form, "User response: action=%s, content=%s")(ctx, r)
		}},
		{"test_elicitation_sep1034_defaults", "", ask("user", question("Defaults", `{"name":{"type":"string","default":"John Doe"},"age":{"type":"integer","default":30},"score":{"type":"number","default":95.5},
			"status":{"type":"string","enum":["active","inactive","pending"],"default":"active"},"verified":{"type":"boolean","default":true}}`, "name"), "Elicitation completed: action=%s, content=%s")},
		{"test_elicitation_sep1330_enums", "", ask("user", question("Enums", `{"untitledSingle":{"type":"string","enum":["option1","option2","option3"]},
			"titledSingle":{"type":"string","oneOf":[{"const":"value1","title":"First Option"},{"const":"value2","title":"Second Option"},{"const":"value3","title":"Third Option"}]},
			"legacyEnum":{"type":"string","enum":["opt1","opt2","opt3"],"enumNames":["Option One","Option Two","Option Three"]},
			"untitledMulti":{"type":"array","items":{"type":"string","enum":["option1","option2","option3"]}},
			"titledMulti":{"type":"array","items":{"anyOf":[{"const":"value1","title":"First Choice"},{"const":"value2","title":"Second Choice"},{"const":"value3","title":"Third Choice"}]}}}`, "untitledSingle"), "Elicitation completed: action=%s, content=%s")},
		{"test_streaming_elicitation", "", ask("user_name", name, "%s %s")},
		{"test_input_required_result_elicitation", "", ask("user_name", name, "Hello: %s %s")},
		{"test_sampling", `{"type":"object","properties":{"prompt":{"type":"string"}},"required":["prompt"]}`, sampling("answer", "")},
		{"test_input_required_result_sampling", "", sampling("capital_question", "What is the capital of France?")},
		{"test_input_required_result_capabilities", "", sampling("capital_question", "What is the capital of France?")},
		{"test_input_required_result_list_roots", "", func(_ context.Context, r mcpgo.CallToolRequest) (*mcpgo.CallToolResult, error) {
			if roots := server.RootsResponse(r.Params.InputResponses, "client_roots"); roots != nil {
				return mcpgo.NewToolResultText(fmt.Sprint(roots.Roots)), nil
			}
			return new(server.InputRequestBuilder).Roots("client_roots").ToolResult(), nil
		}},
		{"test_input_required_result_request_state", "", d.sealed("confirm", confirm)},
		{"test_input_required_result_tampered_state", "", d.sealed("confirm", confirm)},
		{"test_input_required_result_multiple_inputs", "", d.manyInputs},
		{"test_input_required_result_multi_round", "", d.rounds},
	}
}

func prompt100(text string, tokens int) mcpgo.CreateMessageParams {
	return mcpgo.CreateMessageParams{MaxTokens: tokens, Messages: []mcpgo.SamplingMessage{{Role: mcpgo.RoleUser, Content: mcpgo.NewTextContent(text)}}}
}

// sampling is a tool that asks the client's model.
func sampling(id, text string) toolHandler {
	return func(ctx context.Context, r mcpgo.CallToolRequest) (*mcpgo.CallToolResult, error) {
		if a := server.SamplingResponse(r.Params.InputResponses, id); a != nil {
			content, err := json.Marshal(a.Content)
			return mcpgo.NewToolResultText("LLM response: " + string(content)), err
		}
		if capabilities(ctx).Sampling == nil {
			return failed(fault.New(fault.FailedPrecondition, "the client offers no sampling")), nil
		}
		params := prompt100(r.GetString("prompt", text), 100)
		if req := front.RequestOf(ctx); !req.Modern { // the library's own requests wait for a stream that is the front's
			raw, err := req.Ask(ctx, string(mcpgo.MethodSamplingCreateMessage), params)
			return mcpgo.NewToolResultText("LLM response: " + string(raw)), err
		}
		return new(server.InputRequestBuilder).Sample(id, params).ToolResult(), nil
	}
}

// sealed is a tool that carries a state of its own.
func (d *door) sealed(id string, params mcpgo.ElicitationParams) toolHandler {
	return func(ctx context.Context, r mcpgo.CallToolRequest) (*mcpgo.CallToolResult, error) {
		req := front.RequestOf(ctx)
		about := aboutCall(req, r.Params.Name, nil)
		if server.ElicitationResponse(r.Params.InputResponses, id) == nil {
			return server.NewInputRequestBuilder(d.seal.close(about, time.Now().Add(time.Minute))).Elicit(id, params).ToolResult(), nil
		}
		if err := d.seal.open(r.Params.RequestState, about); err != nil {
			return nil, req.Noted(err)
		}
		return mcpgo.NewToolResultText("state-ok"), nil
	}
}

func (d *door) manyInputs(_ context.Context, r mcpgo.CallToolRequest) (*mcpgo.CallToolResult, error) {
	if len(r.Params.InputResponses) < 3 {
		return server.NewInputRequestBuilder("many").Elicit("user_name", question("What is your name?", `{"name":{"type":"string"}}`, "name")).
			Sample("greeting", prompt100("Generate a greeting", 50)).Roots("client_roots").ToolResult(), nil
	}
	return mcpgo.NewToolResultText("done"), nil
}

// rounds asks twice; the state tells how often it has asked.
func (d *door) rounds(_ context.Context, r mcpgo.CallToolRequest) (*mcpgo.CallToolResult, error) {
	switch r.Params.RequestState {
	case "":
		return server.NewInputRequestBuilder("one").Elicit("step1", question("Step 1: What is your name?", `{"name":{"type":"string"}}`, "name")).ToolResult(), nil
	case "one":
		return server.NewInputRequestBuilder("two").Elicit("step2", question("Step 2: What is your favorite color?", `{"color":{"type":"string"}}`, "color")).ToolResult(), nil
	default:
		return mcpgo.NewToolResultText("done"), nil
	}
}
