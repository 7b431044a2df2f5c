package graphql_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/access/accesstest"
	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/catalog/catalogtest"
	"github.com/fairlead-dev/fairlead/graphql"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/knowledge/knowledgetest"
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

// take gives the operations called since it was last asked.
func (r *recorder) take() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []string
	for _, c := range r.calls {
		out = append(out, c.Operation)
	}
	r.calls = nil
	return out
}

// callers are who the tests come as, by token.
func callers() map[string]access.Caller {
	return map[string]access.Caller{
		"owner":    accesstest.As("user:default/olga", accesstest.Groups("group:default/payments"), accesstest.Roles("developer")),
		"reader":   accesstest.As("user:default/rolf", accesstest.Roles("reader")),
		"boss":     accesstest.As("user:default/bea", accesstest.Roles("admin")),
		"stranger": accesstest.As("user:default/stan", accesstest.Roles("stranger")),
		"admin":    accesstest.As("user:default/ada", accesstest.Agent("claude"), accesstest.Roles("admin", "sre")),
	}
}

func authenticate(r *http.Request) (access.Caller, error) {
	c := access.CredentialOf(r)
	if who, ok := callers()[c.Bearer]; ok {
		return who, nil
	}
	if c.Bearer == "" && r.Header.Get("X-Let-In") != "" {
		return accesstest.Anonymous(), nil
	}
	return access.Caller{}, fault.New(fault.Unauthenticated, "the request carries no token").WithFix("Send one.")
}

// shop is a small catalog.
const shop = `
kind: Domain
metadata: {name: commerce}
spec: {owner: payments}
---
kind: System
metadata: {name: shop, title: The shop}
spec: {owner: payments, domain: commerce}
---
kind: Group
metadata: {name: payments}
spec: {type: team, children: []}
---
kind: User
metadata: {name: olga}
spec: {memberOf: [payments], profile: {displayName: Olga}}
---
kind: Component
metadata: {name: checkout, title: Checkout, description: Takes the money, tags: [go, pay], labels: {tier: "1"}, annotations: {a/b: c}, links: [{url: "https://example.com/runbook", title: Runbook}]}
spec: {type: service, lifecycle: production, owner: payments, system: shop, dependsOn: ["component:ledger", "resource:db", "component:ghost"], providesApis: [pay]}
---
kind: Component
metadata: {name: ledger}
spec: {type: service, lifecycle: experimental, owner: payments, system: shop, dependsOn: ["resource:db"]}
---
kind: Component
metadata: {name: secret-plan}
spec: {type: website, lifecycle: production, owner: board}
---
kind: Resource
metadata: {name: db}
spec: {type: database, owner: payments, system: shop}
---
kind: API
metadata: {name: pay}
spec: {type: openapi, lifecycle: production, owner: payments, system: shop, definition: "x: 1"}
`

// docs completes documents that leave out what all of them say.
func docs(text string) string {
	return strings.ReplaceAll("\n"+text, "\nkind:", "\napiVersion: backstage.io/v1alpha1\nkind:")
}

// server is the door over HTTP.
type server struct {
	*httptest.Server
	t        testing.TB
	recorder *recorder
	guard    *access.Guard // of those that serveRules makes
	catalog  *catalog.Service
	log      *accesstest.Log
	stop     context.CancelFunc // ends the server's base context
}

func serve(t testing.TB, c *catalog.Service, set ...func(*graphql.Config)) *server {
	t.Helper()
	s := &server{t: t, recorder: &recorder{}, catalog: c, log: accesstest.NewLog()}
	cfg := graphql.Config{Catalog: c, Access: accesstest.Service(t, nil, s.log), Authenticate: authenticate, Recorder: s.recorder,
		Knowledge: knowledgetest.New(t, c, map[string]string{"docs/runbooks/slow.md": "# CheckoutSlow\n\n## Mitigation\nRestart checkout.\n"})}
	for _, f := range set {
		f(&cfg)
	}
	h, err := graphql.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	base, cancel := context.WithCancel(context.Background())
	s.stop = cancel
	s.Server = httptest.NewUnstartedServer(h)
	s.Config.BaseContext = func(net.Listener) context.Context { return base }
	s.Start()
	t.Cleanup(func() { cancel(); s.Close() })
	return s
}

func serveShop(t testing.TB, set ...func(*graphql.Config)) *server {
	t.Helper()
	return serve(t, catalogtest.New(t, docs(shop)), set...)
}

// answer is what came back.
type answer struct {
	status int
	header http.Header
	raw    string
	Data   json.RawMessage
	Errors []struct {
		Message    string
		Path       []any
		Locations  []struct{ Line, Column int }
		Extensions struct {
			Code, Fix string
			Details   map[string]any
		}
	}
}

func (s *server) post(token, query string, vars map[string]any) *answer {
	s.t.Helper()
	body, err := json.Marshal(map[string]any{"query": query, "variables": vars})
	if err != nil {
		s.t.Fatal(err)
	}
	return s.send(http.MethodPost, "", token, "application/graphql-response+json", string(body))
}

func (s *server) send(method, query, token, accept, body string) *answer {
	s.t.Helper()
	header := http.Header{}
	if accept != "" {
		header.Set("Accept", accept)
	}
	if token != "" {
		header.Set("Authorization", "Bearer "+token)
	}
	if method == http.MethodPost {
		header.Set("Content-Type", "application/json")
	}
	return s.do(method, query, header, body)
}

func (s *server) do(method, query string, header http.Header, body string) *answer {
	s.t.Helper()
	req, err := http.NewRequest(method, s.URL+"/graphql"+query, bytes.NewBufferString(body))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header = header
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	a := &answer{status: resp.StatusCode, header: resp.Header, raw: string(raw)}
	_ = json.Unmarshal(raw, a)
	return a
}

// data fails the test unless the answer has data and no errors.
func (s *server) data(token, query string, vars map[string]any) string {
	s.t.Helper()
	a := s.post(token, query, vars)
	if a.status != http.StatusOK || len(a.Errors) > 0 {
		s.t.Fatalf("%s\n%d %s", query, a.status, a.raw)
	}
	return string(a.Data)
}
