package rest_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

func TestNativeRoutes(t *testing.T) {
	c := serve(t, []string{shop})
	for path, parts := range map[string][]string{
		"/api/v1/whoami":   {`"subject":"user:default/olga"`, `"catalog.refresh"`},
		"/api/v1/entities": {`"totalItems":6`, `"name":"checkout"`},
		"/api/v1/entities?filter=kind=component,spec.type=service&limit=1&fields=metadata.name": {`"totalItems":2`, `"nextCursor"`, `{"metadata":{"name":"`},
		"/api/v1/entities?limit=0": {`"items":[]`, `"totalItems":6`},
		"/api/v1/entities?orderBy=" + url.QueryEscape(`[{"field":"metadata.name","order":"desc"}]`) + "&limit=1&fields=metadata.name": {`"Website"`},
		"/api/v1/entities?query=" + url.QueryEscape(`{"kind":"resource"}`):                                                            {`"totalItems":1`, `"db"`},
		"/api/v1/entities/checkout":                              {`"title":"Checkout"`, "Takes the money <&>"},
		"/api/v1/entities/component:default/checkout":            {`"title":"Checkout"`},
		"/api/v1/entities/component:default%2Fcheckout":          {`"title":"Checkout"`},
		"/api/v1/search?query=check":                             {`"ref":"component:default/checkout"`, `"total":1`},
		"/api/v1/facets?facets=kind,spec.type":                   {`"kind":[{"value":"Component","count":3}`, `"spec.type":[`},
		"/api/v1/facets?facets=kind&facets=spec.lifecycle":       {`"spec.lifecycle":[`},
		"/api/v1/dependencies/checkout?direction=both&depth=2":   {`"dependsOn"`, `"resource:default/db"`},
		"/api/v1/ancestry/component:default/checkout":            {`"rootEntityRef":"component:default/checkout"`},
		"/api/v1/brief?service=checkout&sections=owner,commands": {`"group:default/payments"`},
		"/api/v1/brief?service=checkout&max_tokens=100":          {`"ref":"component:default/checkout"`},
		"/api/v1/errors":    {`"items":[]`, `"total":0`},
		"/api/v1/sources":   {`"name":"test"`, `"state":"ok"`},
		"/api/v1/locations": {`"id":"1a"`},
		"/api/v1/audit":     {`"items":[]`},
	} {
		a := c.get(path)
		if a.status != http.StatusOK {
			t.Errorf("%s: %d %s", path, a.status, a.raw)
		}
		contains(t, a.raw, parts...)
		if !json.Valid([]byte(a.raw)) {
			t.Errorf("%s: no JSON", path)
		}
		head := c.send(http.MethodHead, path, "")
		if head.status != http.StatusOK || head.raw != "" || head.header.Get("Content-Length") == "0" {
			t.Errorf("HEAD %s: %d %q", path, head.status, head.raw)
		}
	}
	for path, tc := range map[string]struct {
		body  string
		parts []string
	}{
		"/api/v1/entities/by-query": {`{"query":{"kind":"component"},"limit":1,"orderBy":[{"field":"metadata.name"}]}`, []string{`"totalItems":3`, `"checkout"`}},
		"/api/v1/entities/by-refs":  {`{"entityRefs":["component:default/checkout","component:default/none"]}`, []string{`"checkout"`, `,null]`}},
		"/api/v1/search":            {`{"query":"check","filter":["kind=component"]}`, []string{`"total":1`}},
		"/api/v1/facets":            {`{"facets":["kind"]}`, []string{`"Component"`}},
		"/api/v1/refresh":           {`{"entityRef":"component:default/checkout"}`, []string{`"source":"test"`, `"changed":1`}},
	} {
		a := c.post(path, tc.body)
		if a.status != http.StatusOK {
			t.Errorf("%s: %d %s", path, a.status, a.raw)
		}
		contains(t, a.raw, tc.parts...)
	}
	if got := c.get("/api/v1/audit"); !strings.Contains(got.raw, `"catalog.refresh"`) {
		t.Errorf("the refresh is not in the audit: %s", got.raw)
	}
}

func TestNativeRecordsCalls(t *testing.T) {
	c := serve(t, []string{shop})
	c.get("/api/v1/entities/checkout")
	got := c.recorder.last()
	if got.Door != "rest" || got.Operation != "get_entity" || got.Action != access.ReadCatalog || got.Target != "checkout" || got.Who.Subject() != "user:default/olga" {
		t.Errorf("%+v", got)
	}
}

// native is an error in Fairlead's own shape.
type native struct{ Error fault.Error }

func TestNativeErrors(t *testing.T) {
	c := serve(t, []string{shop})
	for _, tc := range []struct {
		token, method, path, body string
		status                    int
		code                      fault.Code
		parts                     []string
	}{
		{"", "GET", "/api/v1/whoami", "", 401, fault.Unauthenticated, []string{"Send one."}},
		{"owner", "GET", "/api/v1/entities/none", "", 404, fault.NotFound, []string{"no entity component:default/none"}},
		{"stranger", "GET", "/api/v1/entities/checkout", "", 404, fault.NotFound, nil},
		{"reader", "POST", "/api/v1/refresh", `{"source":"test"}`, 403, fault.Forbidden, nil},
		{"owner", "GET", "/api/v1/entities?limt=5", "", 400, fault.Invalid, []string{`no query parameter \"limt\"`, "Did you mean limit?"}},
		{"owner", "GET", "/api/v1/whoami?x=1", "", 400, fault.Invalid, []string{"there are none here"}},
		{"owner", "GET", "/api/v1/search?query=a&zzzzzz=1", "", 400, fault.Invalid, []string{"There are: query, filter, limit, cursor."}},
		{"owner", "GET", "/api/v1/entities?limit=ten", "", 400, fault.Invalid, []string{`limit must be a whole number, not \"ten\"`}},
		{"owner", "GET", "/api/v1/entities?limit=5]", "", 400, fault.Invalid, []string{`limit must be a whole number, not \"5]\"`}},
		{"owner", "GET", "/api/v1/entities?limit=1&limit=2", "", 400, fault.Invalid, []string{"limit is given 2 times"}},
		{"owner", "GET", "/api/v1/entities?limit=-1", "", 400, fault.Invalid, []string{"limit"}},
		{"owner", "GET", "/api/v1/entities?query=%7B", "", 400, fault.Invalid, []string{"query is not valid JSON"}},
		{"owner", "GET", "/api/v1/entities?cursor=zzz", "", 400, fault.Invalid, []string{"cursor"}},
		{"owner", "GET", "/api/v1/entities?filter=%zz", "", 400, fault.Invalid, []string{"malformed"}},
		{"owner", "GET", "/api/v1/facets", "", 400, fault.Invalid, []string{"facets is not given"}},
		{"owner", "GET", "/api/v1/brief", "", 400, fault.Invalid, []string{"neither service nor repository"}},
		{"owner", "GET", "/api/v1/brief?service=checkout&max_token=5", "", 400, fault.Invalid, []string{"Did you mean max_tokens?"}},
		{"owner", "POST", "/api/v1/search", `{"query":5}`, 400, fault.Invalid, []string{"query must be a text, not \\\"5\\\""}},
		{"owner", "POST", "/api/v1/search", `{"quary":"x"}`, 400, fault.Invalid, []string{"Did you mean query?"}},
		{"owner", "POST", "/api/v1/search?query=x", `{}`, 400, fault.Invalid, []string{"no query parameter"}},
		{"owner", "POST", "/api/v1/entities/by-query", `{"orderBy":[{"feld":"x"}]}`, 400, fault.Invalid, []string{`orderBy has no field \"feld\"`}},
		{"owner", "POST", "/api/v1/entities/by-query", `{"limit":1e99}`, 400, fault.Invalid, []string{"limit must be a whole number"}},
		{"owner", "POST", "/api/v1/search", `[]`, 400, fault.Invalid, []string{"no JSON object"}},
		{"owner", "POST", "/api/v1/search", `{"query":`, 400, fault.Invalid, []string{"not valid JSON"}},
		{"owner", "POST", "/api/v1/search", `{"query":"` + strings.Repeat("x", 5<<20) + `"}`, 413, fault.Invalid, []string{"larger than 4194304 bytes"}},
		{"owner", "DELETE", "/api/v1/whoami", "", 405, fault.Invalid, []string{"It takes GET, HEAD."}},
		{"owner", "GET", "/api/v1/nothing", "", 404, fault.NotFound, []string{"openapi.json"}},
		{"stranger", "GET", "/api/v1/audit?subject=user:default/olga", "", 403, fault.Forbidden, nil},
	} {
		a := c.as(tc.token).send(tc.method, tc.path, tc.body)
		var e native
		if err := json.Unmarshal([]byte(a.raw), &e); err != nil || a.status != tc.status || e.Error.Code != tc.code || e.Error.Message == "" {
			t.Errorf("%s %s as %q: %d %s", tc.method, tc.path, tc.token, a.status, a.raw)
		}
		contains(t, a.raw, tc.parts...)
		if strings.Contains(a.raw, "json: ") || strings.Contains(a.raw, "strconv") {
			t.Errorf("the text of a library shows: %s", a.raw)
		}
		if (a.status == http.StatusUnauthorized) != (a.header.Get("WWW-Authenticate") == "Bearer") {
			t.Errorf("%d with WWW-Authenticate %q", a.status, a.header.Get("WWW-Authenticate"))
		}
	}
	if a := c.send("POST", "/api/v1/search", `{}`, func(h http.Header) { h.Set("Content-Type", "text/plain") }); a.status != http.StatusUnsupportedMediaType {
		t.Errorf("a body of text: %d", a.status)
	}
	if a := c.send("DELETE", "/api/v1/whoami", ""); a.header.Get("Allow") != "GET, HEAD" {
		t.Errorf("Allow: %q", a.header.Get("Allow"))
	}
}

func TestLongBodiesOfUnknownLength(t *testing.T) {
	c := serve(t, []string{shop})
	for _, path := range []string{"/api/v1/search", "/api/catalog/entities/by-query"} {
		body := io.MultiReader(strings.NewReader(`{"query":"`), io.LimitReader(endless{}, 64<<20))
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, c.URL+path, body)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer owner")
		resp, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			continue // the server hung up while the body was still on its way
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusRequestEntityTooLarge {
			t.Errorf("%s: %d", path, resp.StatusCode)
		}
	}
}

// endless gives one letter for ever.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

func TestQuotasSayWhenToTryAgain(t *testing.T) {
	c := serve(t, []string{shop})
	for range 1000 {
		a := c.post("/api/v1/refresh", `{"source":"test"}`)
		if a.status == http.StatusOK {
			continue
		}
		if a.status != http.StatusTooManyRequests || a.header.Get("Retry-After") == "" || a.header.Get("Retry-After") == "0" {
			t.Errorf("%d %v %s", a.status, a.header, a.raw)
		}
		contains(t, a.raw, `"quota_exceeded"`, `"retryAfter"`)
		return
	}
	t.Error("a thousand refreshes are within the quota")
}

func TestNativeCursors(t *testing.T) {
	c := serve(t, []string{shop})
	var got []*item
	for cursor := ""; ; {
		var p page
		c.get("/api/v1/entities?limit=2&cursor="+url.QueryEscape(cursor)).into(t, &p)
		got = append(got, p.Items...)
		if cursor = p.PageInfo.NextCursor; cursor == "" {
			break
		}
	}
	if len(got) != 6 {
		t.Errorf("%d entities: %s", len(got), names(got))
	}
}

const goldenAPI = "testdata/openapi.golden.json"

func TestOpenAPI(t *testing.T) {
	c := serve(t, []string{shop})
	a := c.get("/api/v1/openapi.json")
	var doc struct {
		OpenAPI    string
		Paths      map[string]map[string]any
		Components struct{ Schemas map[string]any }
	}
	a.into(t, &doc)
	if doc.OpenAPI != "3.1.0" || doc.Paths["/api/v1/entities/{ref}"]["get"] == nil || doc.Components.Schemas["Brief"] == nil {
		t.Errorf("%.500s", a.raw)
	}
	for _, at := range strings.Split(a.raw, `"$ref":"#/components/schemas/`)[1:] {
		if name, _, _ := strings.Cut(at, `"`); doc.Components.Schemas[name] == nil {
			t.Errorf("the schema %s is not there", name)
		}
	}
	var pretty map[string]any
	a.into(t, &pretty)
	got, err := json.MarshalIndent(pretty, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, goldenAPI, string(got)+"\n")
}

// golden compares with a file, or writes it.
func golden(t *testing.T, path, got string) {
	t.Helper()
	if os.Getenv("FAIRLEAD_UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("%s changed; run make golden if it should:\n%s", path, d)
	}
}

func TestNativeAnswersAreTheRoomsOwn(t *testing.T) {
	c := serve(t, []string{shop})
	var g catalog.DependencyGraph
	c.get("/api/v1/dependencies/checkout").into(t, &g)
	if g.Root != "component:default/checkout" || len(g.Edges) != 2 {
		t.Errorf("%+v", g)
	}
}
