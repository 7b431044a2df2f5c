package rest_test

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
	"github.com/fairlead-dev/fairlead/rest"
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
		"owner":    accesstest.As("user:default/olga", accesstest.Groups("payments"), accesstest.Roles("developer")),
		"reader":   accesstest.As("user:default/rolf", accesstest.Roles("reader")),
		"stranger": accesstest.As("user:default/stan"),
	}
}

const rules = `
rules:
  - {name: read, effect: allow, who: {roles: [developer, reader]}, actions: [catalog.read]}
  - {name: refresh, effect: allow, who: {roles: [developer]}, actions: [catalog.refresh]}
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
metadata: {name: checkout, title: Checkout, description: "Takes the money <&>", tags: [go], annotations: {backstage.io/techdocs-ref: "dir:."}}
spec: {type: service, lifecycle: production, owner: payments, system: shop, dependsOn: ["component:ledger", "resource:db"]}
---
kind: Component
metadata: {name: ledger}
spec: {type: service, lifecycle: experimental, owner: payments, system: shop}
---
kind: Component
metadata: {name: Website}
spec: {type: website, lifecycle: production, owner: payments}
---
kind: Resource
metadata: {name: db}
spec: {type: database, owner: payments, system: shop}
`

// ingestion is what the tests' catalog says of its sources.
type ingestion struct{ refreshed []string }

func (i *ingestion) Sources() []catalog.SourceStatus {
	return []catalog.SourceStatus{{Name: "test", Type: "git", URL: "https://git.example.com/acme/catalog", State: "ok", Entities: 6}}
}

func (i *ingestion) Problems() []catalog.IngestionError { return nil }

func (i *ingestion) Refresh(_ context.Context, source string) (*catalog.RefreshResult, error) {
	i.refreshed = append(i.refreshed, source)
	return &catalog.RefreshResult{Source: source, Changed: 1}, nil
}

func (i *ingestion) Locations() []catalog.LocationItem {
	return []catalog.LocationItem{
		{ID: "1a", Type: "url", Target: "https://git.example.com/acme/catalog/catalog-info.yaml", EntityRef: "location:default/generated-1"},
		{ID: "2b", Type: "url", Target: "https://git.example.com/acme/other/catalog-info.yaml"},
	}
}

// client speaks to the door over HTTP.
type client struct {
	*httptest.Server
	t        testing.TB
	token    string
	recorder *recorder
	sources  *ingestion
}

func serve(t testing.TB, docs []string, set ...func(*rest.Config)) *client {
	t.Helper()
	policy := accesstest.Policy(t, rules)
	guard, service, _ := accesstest.Lock(t, policy)
	c := &client{t: t, token: "owner", recorder: &recorder{}, sources: &ingestion{}}
	cfg := rest.Config{
		Catalog: catalogtest.NewWith(t, docs, catalogtest.WithPolicy(policy), catalogtest.WithGuard(guard), catalogtest.WithIngestion(c.sources)),
		Access:  service, Authenticate: authenticate, Recorder: c.recorder, Origins: []string{"https://backstage.example.com"},
	}
	cfg.Knowledge = knowledgetest.New(t, cfg.Catalog, map[string]string{"docs/runbooks/slow.md": "# CheckoutSlow\n\n## Mitigation\nRestart checkout.\n"})
	for _, f := range set {
		f(&cfg)
	}
	h, err := rest.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	c.Server = httptest.NewServer(h)
	t.Cleanup(c.Close)
	return c
}

func (c *client) as(token string) *client {
	other := *c
	other.token = token
	return &other
}

// answer is what came back.
type answer struct {
	status int
	header http.Header
	raw    string
}

func (c *client) send(method, path, body string, set ...func(http.Header)) *answer {
	c.t.Helper()
	req, err := http.NewRequestWithContext(c.t.Context(), method, c.URL+path, bytes.NewBufferString(body))
	if err != nil {
		c.t.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
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
	return &answer{resp.StatusCode, resp.Header, string(raw)}
}

func (c *client) get(path string) *answer { c.t.Helper(); return c.send(http.MethodGet, path, "") }

func (c *client) post(path, body string) *answer {
	c.t.Helper()
	return c.send(http.MethodPost, path, body)
}

// into reads an answer that succeeded.
func (a *answer) into(t testing.TB, v any) {
	t.Helper()
	if a.status != http.StatusOK {
		t.Fatalf("%d %s", a.status, a.raw)
	}
	if got := a.header.Get("Content-Type"); got != "application/json; charset=utf-8" {
		t.Errorf("content type %q", got)
	}
	if err := json.Unmarshal([]byte(a.raw), v); err != nil {
		t.Fatalf("%v: %s", err, a.raw)
	}
}

// page is a page of entities as a client reads it.
type page struct {
	Items      []*item
	TotalItems int
	PageInfo   struct{ NextCursor, PrevCursor string }
}

type item struct {
	Kind     string
	Metadata struct{ Name, Namespace, UID string }
}

// names are the names of entities, - for none.
func names(items []*item) string {
	var out []string
	for _, i := range items {
		if i == nil {
			out = append(out, "-")
			continue
		}
		out = append(out, i.Metadata.Name)
	}
	return strings.Join(out, " ")
}

func contains(t testing.TB, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("there is no %q in\n%s", p, text)
		}
	}
}
