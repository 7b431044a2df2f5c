package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/access/accesstest"
	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/catalog/catalogtest"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/knowledge/knowledgetest"
	"github.com/fairlead-dev/fairlead/mcp"
)

// recorder keeps what it is told.
type recorder struct {
	mu    sync.Mutex
	calls []access.Call
}

func (r *recorder) Begin(ctx context.Context, call access.Call) (context.Context, func(error)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls = append(r.calls, call)
	return ctx, func(error) {}
}

// last is the call that was told last.
func (r *recorder) last() access.Call {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.calls) == 0 {
		return access.Call{}
	}
	return r.calls[len(r.calls)-1]
}

// callers are who the tests come as, by token.
func callers() map[string]access.Caller {
	return map[string]access.Caller{
		"owner":    accesstest.As("user:default/olga", accesstest.Agent("claude"), accesstest.Groups("payments"), accesstest.Roles("developer"), accesstest.Token("olga")),
		"reader":   accesstest.As("user:default/rolf", accesstest.Roles("reader"), accesstest.Token("rolf")),
		"stranger": accesstest.As("user:default/stan", accesstest.Token("stan")),
	}
}

// rules let the stranger read nothing.
const rules = `
rules:
  - {name: read, effect: allow, who: {roles: [developer, reader]}, actions: [catalog.read]}
  - {name: refresh, effect: allow, who: {roles: [developer]}, actions: [catalog.refresh]}
  - {name: self, effect: allow, who: {subjects: ["*"]}, actions: [self.read]}
`

func authenticate(r *http.Request) (access.Caller, error) {
	if who, ok := callers()[access.CredentialOf(r).Bearer]; ok {
		return who, nil
	}
	return access.Caller{}, fault.New(fault.Unauthenticated, "the request carries no token").WithFix("Send one.")
}

const shop = `
kind: Group
metadata: {name: payments, title: Payments}
spec: {type: team, children: []}
---
kind: System
metadata: {name: shop}
spec: {owner: payments}
---
kind: Component
metadata:
  name: checkout
  title: Checkout
  description: Takes the money
  tags: [go]
  annotations: {backstage.io/source-location: "url:https://git.example.com/acme/checkout"}
spec:
  type: service
  lifecycle: production
  owner: payments
  system: shop
  dependsOn: ["component:ledger", "resource:db"]
  fairlead:
    commands: {build: make build, test: make test}
    environments: [{name: staging, path: apps/checkout}, {name: production, protected: true}]
---
kind: Component
metadata: {name: ledger}
spec: {type: service, lifecycle: experimental, owner: payments, system: shop, dependsOn: ["resource:db"]}
---
kind: Resource
metadata: {name: db}
spec: {type: database, owner: payments, system: shop}
`

// client speaks to the door over HTTP.
type client struct {
	*httptest.Server
	t        testing.TB
	token    string
	session  string
	path     string
	recorder *recorder
	catalog  *catalog.Service
}

func serve(t testing.TB, docs []string, set ...func(*mcp.Config)) *client {
	t.Helper()
	return serveWith(t, docs, troubled(t, 1), set...)
}

func serveWith(t testing.TB, docs []string, in catalog.Ingestion, set ...func(*mcp.Config)) *client {
	t.Helper()
	policy := accesstest.Policy(t, rules)
	guard, _ := accesstest.Guard(t, policy)
	c := &client{t: t, token: "owner", path: "/mcp", recorder: &recorder{}}
	c.catalog = catalogtest.NewWith(t, docs, catalogtest.WithPolicy(policy), catalogtest.WithGuard(guard), catalogtest.WithIngestion(in))
	cfg := mcp.Config{
		Catalog: c.catalog, Access: accesstest.Service(t, policy, accesstest.NewLog()),
		Authenticate: authenticate, Recorder: c.recorder, PublicURL: "https://fairlead.example.com", Origins: []string{"https://ui.example.com"},
	}
	cfg.Knowledge = knowledgetest.New(t, c.catalog, map[string]string{"docs/runbooks/slow.md": "# CheckoutSlow\n\n## Mitigation\nRestart checkout.\n"})
	for _, f := range set {
		f(&cfg)
	}
	h, err := mcp.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	c.Server = httptest.NewServer(h)
	t.Cleanup(c.Close)
	return c
}

// as gives the client of another caller, without a session.
func (c *client) as(token string) *client {
	other := *c
	other.token, other.session = token, ""
	return &other
}

// answer is what came back.
type answer struct {
	status int
	header http.Header
	raw    string
	Result json.RawMessage
	Error  *struct {
		Code    int
		Message string
		Data    json.RawMessage
	}
}

// send sends a body with the client's token and session.
func (c *client) send(method, body string, set ...func(http.Header)) *answer {
	c.t.Helper()
	req, err := http.NewRequestWithContext(c.t.Context(), method, c.URL+c.path, bytes.NewBufferString(body))
	if err != nil {
		c.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	if c.session != "" {
		req.Header.Set("Mcp-Session-Id", c.session)
	}
	for _, f := range set {
		f(req.Header)
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		c.t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	a := &answer{status: resp.StatusCode, header: resp.Header, raw: string(raw)}
	_ = json.Unmarshal(raw, a)
	return a
}

// open opens a session in a revision.
func (c *client) open(revision string) *client {
	c.t.Helper()
	a := c.send(http.MethodPost, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"`+revision+`","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`)
	if a.status != http.StatusOK || a.Error != nil {
		c.t.Fatalf("initialize: %d %s", a.status, a.raw)
	}
	c.session = a.header.Get("Mcp-Session-Id")
	c.send(http.MethodPost, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return c
}

// call sends a request in the client's session.
func (c *client) call(method string, params any) *answer {
	c.t.Helper()
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 7, "method": method, "params": params})
	if err != nil {
		c.t.Fatal(err)
	}
	return c.send(http.MethodPost, string(body))
}

// modern sends a request of revision 2026-07-28.
func (c *client) modern(method, name string, params map[string]any) *answer {
	c.t.Helper()
	params["_meta"] = map[string]any{
		"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientInfo": map[string]any{"name": "test", "version": "1"},
		"io.modelcontextprotocol/clientCapabilities": map[string]any{},
	}
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 7, "method": method, "params": params})
	if err != nil {
		c.t.Fatal(err)
	}
	return c.send(http.MethodPost, string(body), func(h http.Header) {
		h.Set("Mcp-Protocol-Version", "2026-07-28")
		h.Set("Mcp-Method", method)
		if name != "" {
			h.Set("Mcp-Name", name)
		}
	})
}

// result is what a tool gave.
type result struct {
	IsError           bool
	Content           []struct{ Type, Text string }
	StructuredContent json.RawMessage
}

func (r result) text() string { return r.Content[0].Text }

// fault reads the fault of a result.
func (r result) fault(t testing.TB) fault.Error {
	t.Helper()
	var f fault.Error
	if err := json.Unmarshal(r.StructuredContent, &f); err != nil {
		t.Fatal(err)
	}
	return f
}

// tool calls a tool.
func (c *client) tool(name string, args any) result {
	c.t.Helper()
	a := c.call("tools/call", map[string]any{"name": name, "arguments": args})
	if a.Error != nil || a.status != http.StatusOK {
		c.t.Fatalf("%s: %d %s", name, a.status, a.raw)
	}
	var r result
	if err := json.Unmarshal(a.Result, &r); err != nil {
		c.t.Fatal(err)
	}
	if len(r.Content) != 1 || r.Content[0].Type != "text" || len(r.StructuredContent) == 0 {
		c.t.Fatalf("%s: %s", name, a.raw)
	}
	return r
}

func contains(t testing.TB, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("there is no %q in\n%s", p, text)
		}
	}
}

func TestEveryRevisionWorks(t *testing.T) {
	for _, revision := range []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"} {
		t.Run(revision, func(t *testing.T) {
			c := serve(t, []string{shop}).open(revision)
			r := c.tool("get_service_brief", map[string]any{"service": "checkout"})
			contains(t, r.text(), "component:default/checkout", "make test", "group:default/payments")
			var b catalog.Brief
			if err := json.Unmarshal(r.StructuredContent, &b); err != nil || b.Commands.Test.Value != "make test" {
				t.Errorf("%v %s", err, r.StructuredContent)
			}
		})
	}
	t.Run("2026-07-28", func(t *testing.T) {
		c := serve(t, []string{shop})
		a := c.modern("tools/call", "get_entity", map[string]any{"name": "get_entity", "arguments": map[string]any{"ref": "checkout"}})
		if a.Error != nil {
			t.Fatal(a.raw)
		}
		contains(t, a.raw, `"resultType"`, "component:default/checkout", "Takes the money")
		contains(t, c.modern("server/discover", "", map[string]any{}).raw, "2026-07-28", "2024-11-05", "get_service_brief")
		contains(t, c.modern("tools/list", "", map[string]any{}).raw, `"search_catalog"`, `"ttlMs"`, `"private"`)
	})
}
