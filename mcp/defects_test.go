package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	mcpgo "github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/fairlead-dev/fairlead/access"
)

// held is a call that hangs until it is let go or cancelled.
type held struct {
	entered chan struct{}
	leave   chan struct{}
	ended   chan error
}

func (h *held) handle(ctx context.Context, _ mcpgo.CallToolRequest) (*mcpgo.CallToolResult, error) {
	h.entered <- struct{}{}
	select {
	case <-ctx.Done():
	case <-h.leave:
	}
	h.ended <- ctx.Err()
	return mcpgo.NewToolResultText("done"), nil
}

// bare is the library as it comes, with tools, a prompt and a template.
func bare(t *testing.T) (string, *held) {
	t.Helper()
	h := &held{make(chan struct{}), make(chan struct{}), make(chan error, 1)}
	s := server.NewMCPServer("bare", "1", server.WithTaskCapabilities(true, true, true))
	s.AddTool(mcpgo.NewTool("hang"), h.handle)
	s.AddTool(mcpgo.NewTool("report"), func(ctx context.Context, r mcpgo.CallToolRequest) (*mcpgo.CallToolResult, error) {
		for at := range 3 {
			if err := s.SendNotificationToClient(ctx, "notifications/progress", map[string]any{"progressToken": r.Params.Meta.ProgressToken, "progress": at}); err != nil {
				return nil, err
			}
		}
		return mcpgo.NewToolResultText("done"), nil
	})
	s.AddTool(mcpgo.NewTool("fail"), func(context.Context, mcpgo.CallToolRequest) (*mcpgo.CallToolResult, error) {
		return nil, errors.New("dial tcp 10.0.0.7: the secret of the house")
	})
	type lists struct {
		Names []string `json:"names"`
	}
	s.AddTool(mcpgo.NewTool("lists", mcpgo.WithInputSchema[lists]()), h.handle)
	s.AddPrompt(mcpgo.NewPrompt("start_work", mcpgo.WithArgument("task", mcpgo.RequiredArgument())), func(context.Context, mcpgo.GetPromptRequest) (*mcpgo.GetPromptResult, error) {
		return &mcpgo.GetPromptResult{Messages: []mcpgo.PromptMessage{}}, nil
	})
	s.AddResourceTemplate(mcpgo.NewResourceTemplate("catalog://{kind}/{namespace}/{name}", "x"), func(context.Context, mcpgo.ReadResourceRequest) ([]mcpgo.ResourceContents, error) {
		return nil, errors.New("not found")
	})
	srv := httptest.NewServer(server.NewStreamableHTTPServer(s))
	t.Cleanup(srv.Close)
	return srv.URL + "/mcp", h
}

// ours is the door with the same tools.
func ours(t *testing.T) (string, *held) {
	t.Helper()
	h := &held{make(chan struct{}), make(chan struct{}), make(chan error, 1)}
	d := standing(t)
	d.fixture(fixture{name: "hang", handle: h.handle})
	d.fixture(fixture{name: "report", handle: func(ctx context.Context, r mcpgo.CallToolRequest) (*mcpgo.CallToolResult, error) {
		ctx = progressing(ctx, r.Params.Meta)
		for at := range 3 {
			access.Report(ctx, access.Progress{Done: float64(at)})
		}
		return mcpgo.NewToolResultText("done"), nil
	}})
	d.fixture(fixture{name: "fail", handle: func(context.Context, mcpgo.CallToolRequest) (*mcpgo.CallToolResult, error) {
		return nil, errors.New("dial tcp 10.0.0.7: the secret of the house")
	}})
	srv := httptest.NewServer(d.front)
	t.Cleanup(srv.Close)
	return srv.URL + "/mcp", h
}

// say posts a message and gives the status and what came back.
func say(t testing.TB, url, body string, header ...string) (int, string, http.Header) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	return do(t, req, header...)
}

func do(t testing.TB, req *http.Request, header ...string) (int, string, http.Header) {
	t.Helper()
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Error(err)
		return 0, "", nil
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Error(err)
	}
	return res.StatusCode, string(body), res.Header
}

func request(id int, method, params string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, id, method, params)
}

func opened(t testing.TB, url string) string {
	t.Helper()
	_, _, h := say(t, url, request(1, "initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}`))
	return h.Get("Mcp-Session-Id")
}

// defects are what the library does and the door must not. Each tells whether
// it is seen at a server.
func defects() map[string]func(t *testing.T, url string, h *held) bool {
	return map[string]func(t *testing.T, url string, h *held) bool{
		"D1 the last report of a call is lost":             lostReport,
		"D2 a stranger cancels by a request's id":          crossCancelled,
		"D3 tasks are offered that die with their request": mortalTasks,
		"D4 bodies are unbounded": func(t *testing.T, url string, _ *held) bool {
			status, _, _ := say(t, url, request(1, "ping", `{"x":"`+strings.Repeat("x", 5<<20)+`"}`))
			return status != http.StatusRequestEntityTooLarge
		},
		"D5 a resource that is not there is an internal error": func(t *testing.T, url string, _ *held) bool {
			_, body, _ := say(t, url, request(1, "resources/read", `{"uri":"catalog://component/default/nobody"}`), "Mcp-Session-Id", opened(t, url))
			return !strings.Contains(body, "-32002")
		},
		"D6 texts of internal errors are sent": func(t *testing.T, url string, _ *held) bool {
			_, body, _ := say(t, url, request(1, "tools/call", `{"name":"fail"}`), "Mcp-Session-Id", opened(t, url))
			return strings.Contains(body, "secret")
		},
		"D7 made-up sessions are taken": func(t *testing.T, url string, _ *held) bool {
			status, _, _ := say(t, url, request(1, "tools/list", `{}`), "Mcp-Session-Id", "mcp-session-7f2c8f0e-5e0f-4b0e-9d53-0a4b8d9a1a11")
			return status == http.StatusOK
		},
		"D7 a deleted session still answers": func(t *testing.T, url string, _ *held) bool {
			id := opened(t, url)
			req, err := http.NewRequestWithContext(t.Context(), http.MethodDelete, url, nil)
			if err != nil {
				t.Fatal(err)
			}
			do(t, req, "Mcp-Session-Id", id)
			status, _, _ := say(t, url, request(1, "tools/list", `{}`), "Mcp-Session-Id", id)
			return status == http.StatusOK
		},
		"pages of foreign origins may call": func(t *testing.T, url string, _ *held) bool {
			status, _, _ := say(t, url, request(1, "tools/list", `{}`), "Origin", "https://evil.example.com", "Mcp-Session-Id", opened(t, url))
			return status != http.StatusForbidden
		},
		"required arguments of prompts are not asked for": func(t *testing.T, url string, _ *held) bool {
			_, body, _ := say(t, url, request(1, "prompts/get", `{"name":"start_work","arguments":{}}`), "Mcp-Session-Id", opened(t, url))
			return !strings.Contains(body, "-32602")
		},
		"lists may be null, and tools have an open world": func(t *testing.T, url string, _ *held) bool {
			_, body, _ := say(t, url, request(1, "tools/list", `{}`), "Mcp-Session-Id", opened(t, url))
			return strings.Contains(body, `"null"`) || strings.Contains(body, `"openWorldHint":true`)
		},
		"reports of one call are told on the stream of another": strayReports,
	}
}

// TestDefectsOfTheLibraryEndAtTheDoor shows each defect on the bare library,
// so that it is known when a newer one has lost it, and not at the door.
func TestDefectsOfTheLibraryEndAtTheDoor(t *testing.T) {
	for name, shown := range defects() {
		t.Run(name, func(t *testing.T) {
			url, h := bare(t)
			if !shown(t, url, h) {
				t.Error("the bare library does not show it any more")
			}
			url, h = ours(t)
			if shown(t, url, h) {
				t.Error("the door shows it")
			}
		})
	}
}

// lostReport calls a tool that returns as soon as it has reported.
func lostReport(t *testing.T, url string, _ *held) bool {
	session := opened(t, url)
	for i := range 1500 {
		_, body, _ := say(t, url, request(i+1, "tools/call", fmt.Sprintf(`{"name":"report","_meta":{"progressToken":%d}}`, i)), "Mcp-Session-Id", session)
		last := strings.Index(body, `"progress":2`)
		if last < 0 || last > strings.Index(body, "done") {
			return true
		}
	}
	return false
}

// crossCancelled cancels the call of another by its id, in the revision that
// has no sessions.
func crossCancelled(t *testing.T, url string, h *held) bool {
	meta := `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`
	done := make(chan struct{})
	go func() {
		defer close(done)
		say(t, url, request(7, "tools/call", `{"name":"hang",`+meta+`}`), "Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "hang", "Authorization", "Bearer mine")
	}()
	<-h.entered
	say(t, url, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7,`+meta+`}}`,
		"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "notifications/cancelled", "Authorization", "Bearer another")
	close(h.leave)
	<-done
	return <-h.ended != nil
}

// mortalTasks tells whether tasks are offered.
func mortalTasks(t *testing.T, url string, _ *held) bool {
	_, body, _ := say(t, url, request(1, "initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}`))
	var r struct {
		Result struct{ Capabilities map[string]json.RawMessage }
	}
	if err := json.Unmarshal([]byte(body), &r); err != nil {
		t.Fatal(err)
	}
	return r.Result.Capabilities["tasks"] != nil
}

// strayReports runs calls of one session side by side.
func strayReports(t *testing.T, url string, _ *held) bool {
	session := opened(t, url)
	deadline := time.Now().Add(10 * time.Second)
	for round := 0; round < 400 && time.Now().Before(deadline); round++ {
		stray := make(chan bool)
		for i := range 4 {
			go func() {
				token := fmt.Sprintf("token-%d-%d-", round, i)
				_, body, _ := say(t, url, request(round*4+i+1, "tools/call", `{"name":"report","_meta":{"progressToken":"`+token+`"}}`), "Mcp-Session-Id", session)
				stray <- strings.Count(body, `"progressToken":"token-`) != strings.Count(body, token)
			}()
		}
		seen := false
		for range 4 {
			seen = <-stray || seen
		}
		if seen {
			return true
		}
	}
	return false
}
