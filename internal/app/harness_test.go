package app

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/catalog/ingest"
	"github.com/fairlead-dev/fairlead/gitops"
	"github.com/fairlead-dev/fairlead/internal/demo"
	"github.com/fairlead-dev/fairlead/internal/git"
	"github.com/fairlead-dev/fairlead/previews"
)

// server is a running server over the demo's repositories.
type server struct {
	t      *testing.T
	url    string
	tokens map[string]string
	dir    string
	app    *App
	logs   *logBuffer
	stop   func() error
	hooks  string     // where webhooks are taken, if they are
	before func(*App) // changes the server before it runs

	deployers map[string]previews.Deployer
	pulls     previews.PullForges
	lender    lender
	argo      *ArgoDialer
	ci        func(*gitops.CIConfig)
	render    string // fairlead-render
}

// logBuffer is a log that may be read while it is written.
type logBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

// lines are the JSON lines so far.
func (l *logBuffer) lines(t *testing.T) []map[string]any {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []map[string]any
	for line := range strings.Lines(l.b.String()) {
		var m map[string]any
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Errorf("log line is no JSON: %s", line)
		}
		out = append(out, m)
	}
	return out
}

func (l *logBuffer) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// newDemo makes the demo's repositories, and its configuration to serve them at
// an address. What it gives is to be started.
func newDemo(t *testing.T, at string) (*server, *demo.Set) {
	t.Helper()
	dir := t.TempDir()
	set, err := demo.Prepare(t.Context(), dir, at)
	if err != nil {
		t.Fatal(err)
	}
	return &server{t: t, dir: dir, tokens: set.Tokens}, set
}

// startDemo makes the demo's repositories and serves them.
func startDemo(t *testing.T) *server {
	t.Helper()
	s, set := newDemo(t, "127.0.0.1:0")
	s.start(set.Config)
	return s
}

func (s *server) start(config string) {
	s.t.Helper()
	cfg, err := LoadConfig(config)
	if err != nil {
		s.t.Fatal(err)
	}
	cfg.deployers, cfg.pulls, cfg.lender, cfg.Argo, cfg.ci = s.deployers, s.pulls, s.lender, s.argo, s.ci
	cfg.RenderProgram = s.render
	s.logs = &logBuffer{}
	ctx, cancel := context.WithCancel(context.Background())
	if s.app, err = New(ctx, cfg, s.logs); err != nil {
		cancel()
		s.t.Fatal(err)
	}
	if s.before != nil {
		s.before(s.app)
	}
	done := make(chan error, 1)
	go func() { done <- s.app.Run(ctx) }()
	stop := sync.OnceValue(func() error { cancel(); return <-done })
	s.stop, s.url = stop, s.app.URL()
	s.t.Cleanup(func() {
		if err := stop(); err != nil {
			s.t.Errorf("the server ended with %v", err)
		}
	})
	s.await("every source has been read", s.app.Ready)
}

// await waits for a condition, for longer than a busy machine ever takes.
func (s *server) await(what string, holds func() bool) {
	s.t.Helper()
	deadline := time.After(2 * time.Minute)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-deadline:
			s.t.Fatalf("in vain waited for: %s", what)
		case <-tick.C:
		}
	}
}

// awaitFollowed waits until what is beside the catalog has been read of every
// source, which goes on for a while after all sources have been read.
func (s *server) awaitFollowed() {
	s.t.Helper()
	s.await("every source has been followed", func() bool {
		for _, src := range s.app.ingester.Sources() {
			is := ingest.Description{Name: src.Name, FileBytes: git.DefaultFileBytes}
			if s.app.findings.Followed(is) == "" || s.app.knowledge.Followed(is) == "" || s.app.code.Followed(is) == "" {
				return false
			}
		}
		return true
	})
}

// answer is an HTTP answer that has been read.
type answer struct {
	status int
	header http.Header
	body   string
}

// send makes a request with a token; role "" sends none, and a role that is
// not known is sent as the token itself.
func (s *server) send(role, method, path, body string, header ...string) answer {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.url+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	if role != "" {
		token := role
		if known := s.tokens[role]; known != "" {
			token = known
		}
		req.Header.Set("Authorization", "Bearer "+token)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return answer{res.StatusCode, res.Header, string(data)}
}

// decode reads the answer's JSON.
func (a answer) decode(t *testing.T, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(a.body), into); err != nil {
		t.Fatalf("status %d, body %s: %v", a.status, a.body, err)
	}
}

// tool calls an MCP tool in the stateless revision and gives its result.
func (s *server) tool(role, name string, args map[string]any) toolResult {
	s.t.Helper()
	params := map[string]any{"name": name, "arguments": args, "_meta": map[string]any{
		"io.modelcontextprotocol/protocolVersion": "2026-07-28",
		"io.modelcontextprotocol/clientInfo":      map[string]any{"name": "test", "version": "1"}, "io.modelcontextprotocol/clientCapabilities": map[string]any{},
	}}
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
	if err != nil {
		s.t.Fatal(err)
	}
	a := s.send(role, http.MethodPost, "/mcp", string(body), "Accept", "application/json, text/event-stream",
		"MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", name)
	out := toolResult{status: a.status, raw: a.body}
	for line := range strings.Lines(a.body) {
		line = strings.TrimPrefix(strings.TrimSpace(line), "data: ")
		if strings.HasPrefix(line, "{") {
			var m struct {
				Result toolAnswer      `json:"result"`
				Error  json.RawMessage `json:"error"`
			}
			if err := json.Unmarshal([]byte(line), &m); err != nil {
				s.t.Fatalf("%v in %s", err, line)
			}
			out.toolAnswer = m.Result
			out.rpcError = string(m.Error)
		}
	}
	return out
}

type toolAnswer struct {
	StructuredContent json.RawMessage `json:"structuredContent"`
	IsError           bool            `json:"isError"`
	Content           []struct {
		Text string `json:"text"`
	} `json:"content"`
}

type toolResult struct {
	toolAnswer
	status   int
	raw      string
	rpcError string
}

// graph runs a GraphQL document.
func (s *server) graph(role, query string) answer {
	s.t.Helper()
	body, err := json.Marshal(map[string]string{"query": query})
	if err != nil {
		s.t.Fatal(err)
	}
	return s.send(role, http.MethodPost, "/graphql", string(body))
}

// repo is a file in one of the demo's repositories.
func (s *server) repo(parts ...string) string {
	return filepath.Join(append([]string{s.dir, "repos"}, parts...)...)
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
