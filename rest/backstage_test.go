package rest_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

func TestBackstageByQuery(t *testing.T) {
	c := serve(t, []string{shop})
	for path, want := range map[string]string{
		"?filter=kind=component&orderField=metadata.name,asc":                                                "checkout ledger Website",
		"?filter=kind=component&orderField=metadata.name,desc":                                               "Website ledger checkout",
		"?filter=kind=component&orderField=metadata.name":                                                    "checkout ledger Website",
		"?filter=kind=Component,spec.lifecycle=production&orderField=metadata.name":                          "checkout Website",
		"?filter=kind=resource&filter=kind=group&orderField=metadata.name":                                   "db payments",
		"?fullTextFilterTerm=LED&fullTextFilterFields=metadata.name,metadata.title&orderField=metadata.name": "ledger",
		"?filter=metadata.tags.go":                                                                           "checkout",
		"?orderField=metadata.title":                                                                         "checkout payments",
	} {
		var p page
		c.get("/api/catalog/entities/by-query"+path).into(t, &p)
		if got := names(p.Items); got != want || p.TotalItems != len(strings.Fields(want)) {
			t.Errorf("%s: %q of %d, not %q", path, got, p.TotalItems, want)
		}
	}
	var p page
	c.get("/api/catalog/entities/by-query?limit=0").into(t, &p)
	if len(p.Items) != 0 || p.Items == nil || p.TotalItems != 6 {
		t.Errorf("%+v", p)
	}
	c.get("/api/catalog/entities/by-query?totalItems=exclude").into(t, &p)
	if len(p.Items) != 6 || p.TotalItems != 0 {
		t.Errorf("%+v", p)
	}
	a := c.get("/api/catalog/entities/by-query?filter=metadata.name=checkout&fields=kind,metadata.annotations.backstage.io/techdocs-ref")
	if want := `{"items":[{"kind":"Component","metadata":{"annotations":{"backstage.io/techdocs-ref":"dir:."}}}],"totalItems":1,"pageInfo":{}}`; a.raw != want {
		t.Errorf("%s", a.raw)
	}
	c.post("/api/catalog/entities/by-query", `{"query":{"kind":"component","spec.type":{"$in":["service"]}},"orderBy":[{"field":"metadata.name","order":"asc"}],"fullTextFilter":{"term":"e"},"limit":5,"offset":1,"fields":["metadata.name"],"unheard":true}`).into(t, &p)
	if got := names(p.Items); got != "ledger" {
		t.Errorf("%q", got)
	}
}

// TestBackstageCursors follows pages as the client does: a cursor whose JSON
// has a query goes by POST, any other by GET.
func TestBackstageCursors(t *testing.T) {
	c := serve(t, []string{shop})
	for name, follow := range map[string]func(cursor string) *answer{
		"GET": func(cursor string) *answer {
			return c.get("/api/catalog/entities/by-query?limit=2&cursor=" + url.QueryEscape(cursor))
		},
		"POST": func(cursor string) *answer {
			body, err := json.Marshal(map[string]any{"cursor": cursor, "limit": 2})
			if err != nil {
				t.Fatal(err)
			}
			return c.post("/api/catalog/entities/by-query", string(body))
		},
	} {
		var p page
		c.get("/api/catalog/entities/by-query?limit=2&orderField=metadata.name,asc").into(t, &p)
		got := names(p.Items)
		for p.PageInfo.NextCursor != "" {
			cursor := p.PageInfo.NextCursor
			p = page{}
			follow(cursor).into(t, &p)
			got += " | " + names(p.Items)
			if p.TotalItems != 6 || p.PageInfo.PrevCursor == "" {
				t.Errorf("%s: %+v", name, p)
			}
		}
		if want := "checkout db | ledger payments | shop Website"; got != want {
			t.Errorf("%s: %q, not %q", name, got, want)
		}
		prev := p.PageInfo.PrevCursor
		p = page{}
		follow(prev).into(t, &p)
		if got := names(p.Items); got != "ledger payments" {
			t.Errorf("%s: back to %q", name, got)
		}
	}
}

func TestBackstageByRefsAndNames(t *testing.T) {
	c := serve(t, []string{shop})
	var p page
	c.post("/api/catalog/entities/by-refs", `{"entityRefs":["Component:default/Checkout","component:default/none","resource:default/db","component:default/website"],"fields":["metadata.name"]}`).into(t, &p)
	if got := names(p.Items); got != "checkout - db Website" {
		t.Errorf("%q", got)
	}
	c.post("/api/catalog/entities/by-refs?filter=kind=resource", `{"entityRefs":["component:default/checkout","resource:default/db"]}`).into(t, &p)
	if got := names(p.Items); got != "- db" {
		t.Errorf("%q", got)
	}
	var one, same item
	c.get("/api/catalog/entities/by-name/Component/default/CHECKOUT").into(t, &one)
	if one.Metadata.Name != "checkout" {
		t.Errorf("%+v", one)
	}
	c.get("/api/catalog/entities/by-uid/"+one.Metadata.UID).into(t, &same)
	if same != one {
		t.Errorf("%+v", same)
	}
	var up struct {
		RootEntityRef string
		Items         []struct {
			Entity           *item
			ParentEntityRefs []string
		}
	}
	c.get("/api/catalog/entities/by-name/component/default/checkout/ancestry").into(t, &up)
	if up.RootEntityRef != "component:default/checkout" || len(up.Items) != 1 || up.Items[0].ParentEntityRefs == nil || up.Items[0].Entity.Metadata.Name != "checkout" {
		t.Errorf("%+v", up)
	}
	c.get("/api/catalog/entities/by-name/component/default/checkout/").into(t, &same)
	if a := c.send(http.MethodHead, "/api/catalog/entities/by-name/component/default/checkout", ""); a.status != http.StatusOK || a.raw != "" {
		t.Errorf("HEAD: %d", a.status)
	}
}

func TestBackstageEntities(t *testing.T) {
	c := serve(t, []string{shop})
	for path, want := range map[string]string{
		"?filter=kind=component&order=asc:metadata.name":             "checkout ledger Website",
		"?order=desc:metadata.title":                                 "payments checkout",                        // all of them: without the field left out
		"?limit=3&order=desc:metadata.title":                         "payments checkout *",                      // pages: without the field come last
		"?limit=10":                                                  "checkout ledger Website payments db shop", // by reference
		"?offset=4&limit=10":                                         "db shop",
		"?limit=4&order=asc:spec.lifecycle&order=desc:metadata.name": "ledger Website checkout *",
	} {
		var items []*item
		c.get("/api/catalog/entities"+path).into(t, &items)
		if want, open := strings.CutSuffix(want, " *"); open {
			if got := names(items); !strings.HasPrefix(got, want+" ") {
				t.Errorf("%s: %q", path, got)
			}
		} else if got := names(items); got != want {
			t.Errorf("%s: %q, not %q", path, got, want)
		}
	}
	path, got := "/entities?limit=4&fields=metadata.name", []*item{}
	for path != "" {
		a := c.get("/api/catalog" + path)
		var items []*item
		a.into(t, &items)
		got = append(got, items...)
		path, _, _ = strings.Cut(strings.TrimPrefix(a.header.Get("Link"), "<"), ">")
	}
	if len(got) != 6 {
		t.Errorf("by its links: %s", names(got))
	}
	if a := c.get("/api/catalog/entities?filter=kind=nothing"); a.raw != "[]" {
		t.Errorf("%s", a.raw)
	}
}

func TestBackstageFacets(t *testing.T) {
	c := serve(t, []string{shop})
	want := `{"facets":{"kind":[{"value":"Component","count":3},{"value":"Group","count":1},{"value":"Resource","count":1},{"value":"System","count":1}],"metadata.tags":[{"value":"go","count":1}]}}`
	for _, a := range []*answer{
		c.get("/api/catalog/entity-facets?facet=kind&facet=metadata.tags"),
		c.post("/api/catalog/entity-facets", `{"facets":["kind","metadata.tags"]}`),
	} {
		if a.raw != want {
			t.Errorf("%s", a.raw)
		}
	}
	contains(t, c.get("/api/catalog/entity-facets?facet=spec.type&filter=kind=component").raw, `{"value":"service","count":2}`, `{"value":"website","count":1}`)
	contains(t, c.post("/api/catalog/entity-facets", `{"facets":["spec.type"],"query":{"kind":"resource"}}`).raw, `[{"value":"database","count":1}]`)
}

func TestBackstageLocationsAndRefresh(t *testing.T) {
	c := serve(t, []string{shop})
	contains(t, c.get("/api/catalog/locations").raw, `[{"data":{"id":"1a","type":"url","target":"https://git.example.com/acme/catalog/catalog-info.yaml","entityRef":"location:default/generated-1"}},{"data":{`)
	contains(t, c.get("/api/catalog/locations/2b").raw, `{"id":"2b","type":"url"`)
	contains(t, c.get("/api/catalog/locations/by-entity/component/default/checkout").raw, `{"id":"1a"`)
	contains(t, c.post("/api/catalog/locations/by-query", `{}`).raw, `"totalItems":2`, `"pageInfo":{}`)
	var p struct {
		Items      []struct{ ID string }
		TotalItems int
		PageInfo   struct{ NextCursor string }
	}
	c.post("/api/catalog/locations/by-query", `{"limit":1}`).into(t, &p)
	body, err := json.Marshal(map[string]any{"cursor": p.PageInfo.NextCursor})
	if err != nil {
		t.Fatal(err)
	}
	c.post("/api/catalog/locations/by-query", string(body)).into(t, &p)
	if len(p.Items) != 1 || p.Items[0].ID != "2b" || p.TotalItems != 2 {
		t.Errorf("%+v", p)
	}
	contains(t, c.post("/api/catalog/locations/by-query", `{"query":{"target":"https://git.example.com/acme/other/catalog-info.yaml"}}`).raw, `"totalItems":1`)
	a := c.post("/api/catalog/refresh", `{"entityRef":"component:default/checkout","authorizationToken":"x"}`)
	if a.status != http.StatusOK || a.raw != "" || len(c.sources.refreshed) != 1 {
		t.Errorf("%d %q %v", a.status, a.raw, c.sources.refreshed)
	}
}

func TestBackstageErrors(t *testing.T) {
	c := serve(t, []string{shop})
	for _, tc := range []struct {
		token, method, path, body string
		status                    int
		name                      string
		parts                     []string
	}{
		{"", "GET", "/api/catalog/entities", "", 401, "AuthenticationError", nil},
		{"owner", "GET", "/api/catalog/entities/by-name/component/default/none", "", 404, "NotFoundError", []string{"No entity named 'none' found, with kind 'component' in namespace 'default'"}},
		{"stranger", "GET", "/api/catalog/entities/by-name/component/default/checkout", "", 404, "NotFoundError", nil},
		{"owner", "GET", "/api/catalog/entities/by-uid/none", "", 404, "NotFoundError", nil},
		{"owner", "GET", "/api/catalog/entities/by-name/component/default/none/ancestry", "", 404, "NotFoundError", nil},
		{"owner", "GET", "/api/catalog/locations/none", "", 404, "NotFoundError", []string{"Found no location with ID none"}},
		{"owner", "GET", "/api/catalog/entities/by-query?limit=x", "", 400, "InputError", nil},
		{"owner", "GET", "/api/catalog/entities/by-query?orderField=a,up", "", 400, "InputError", nil},
		{"owner", "GET", "/api/catalog/entities/by-query?cursor=zzz", "", 400, "InputError", nil},
		{"owner", "GET", "/api/catalog/entities/by-query?filter==x", "", 400, "InputError", nil},
		{"owner", "GET", "/api/catalog/entities/by-query?fields=a[0]", "", 400, "InputError", nil},
		{"owner", "GET", "/api/catalog/entities?limit=0", "", 400, "InputError", nil},
		{"owner", "GET", "/api/catalog/entities?order=name", "", 400, "InputError", nil},
		{"owner", "GET", "/api/catalog/entities?limit=5&after=zz", "", 400, "InputError", nil},
		{"owner", "GET", "/api/catalog/entity-facets", "", 400, "InputError", nil},
		{"owner", "POST", "/api/catalog/entity-facets", "{}", 400, "InputError", nil},
		{"owner", "POST", "/api/catalog/entities/by-query", `{"cursor":""}`, 400, "InputError", nil},
		{"owner", "POST", "/api/catalog/entities/by-query", `{"query":{"$or":[]}}`, 400, "InputError", nil},
		{"owner", "POST", "/api/catalog/entities/by-query", `{"limit":"5"}`, 400, "InputError", nil},
		{"owner", "POST", "/api/catalog/entities/by-refs", `{}`, 400, "InputError", nil},
		{"owner", "POST", "/api/catalog/entities/by-refs", `{"entityRefs":[5]}`, 400, "InputError", nil},
		{"owner", "POST", "/api/catalog/entities/by-refs", `{"entityRefs":["` + strings.Repeat("x", 5<<20) + `"]}`, 413, "InputError", nil},
		{"reader", "POST", "/api/catalog/refresh", `{"entityRef":"component:default/checkout"}`, 403, "NotAllowedError", nil},
		{"owner", "POST", "/api/catalog/locations", `{"type":"url","target":"https://x"}`, 403, "NotAllowedError", []string{"comes from Git"}},
		{"owner", "DELETE", "/api/catalog/locations/1a", "", 403, "NotAllowedError", nil},
		{"owner", "DELETE", "/api/catalog/entities/by-uid/x", "", 403, "NotAllowedError", nil},
		{"owner", "POST", "/api/catalog/analyze-location", `{}`, 400, "InputError", []string{"request/body must have required property 'location'"}},
		{"owner", "PUT", "/api/catalog/entities", "", 405, "InputError", nil},
		{"owner", "GET", "/api/catalog/else", "", 404, "NotFoundError", nil},
		{"", "GET", "/api/auth/guest/refresh", "", 404, "NotFoundError", nil},
		{"", "POST", "/api/permission/authorize", "{}", 404, "NotFoundError", nil},
	} {
		a := c.as(tc.token).send(tc.method, tc.path, tc.body)
		var e struct {
			Error    struct{ Name, Message string }
			Request  struct{ Method, URL string }
			Response struct{ StatusCode int }
		}
		if err := json.Unmarshal([]byte(a.raw), &e); err != nil || a.status != tc.status || e.Error.Name != tc.name || e.Error.Message == "" {
			t.Errorf("%s %s as %q: %d %.300s", tc.method, tc.path, tc.token, a.status, a.raw)
		}
		if e.Request.Method != tc.method || e.Request.URL != strings.TrimPrefix(tc.path, "/api/catalog") || e.Response.StatusCode != tc.status {
			t.Errorf("%s %s: %.300s", tc.method, tc.path, a.raw)
		}
		contains(t, a.raw, tc.parts...)
	}
}

func TestCORS(t *testing.T) {
	c := serve(t, []string{shop})
	origin := func(o string) func(http.Header) { return func(h http.Header) { h.Set("Origin", o) } }
	a := c.as("").send(http.MethodOptions, "/api/catalog/entities/by-query", "", origin("https://backstage.example.com"))
	if a.status != http.StatusNoContent || a.header.Get("Access-Control-Allow-Origin") != "https://backstage.example.com" {
		t.Errorf("%d %v", a.status, a.header)
	}
	contains(t, a.header.Get("Access-Control-Allow-Headers"), "Authorization", "Content-Type")
	a = c.send(http.MethodGet, "/api/catalog/entities", "", origin("https://backstage.example.com"))
	if a.status != http.StatusOK || a.header.Get("Access-Control-Allow-Origin") == "" {
		t.Errorf("%d %v", a.status, a.header)
	}
	for _, o := range []string{"https://evil.example.com", "null", ""} {
		for _, method := range []string{http.MethodGet, http.MethodOptions} {
			if a := c.send(method, "/api/catalog/entities", "", origin(o)); a.header.Get("Access-Control-Allow-Origin") != "" {
				t.Errorf("%s %q: %v", method, o, a.header)
			}
		}
	}
}

func TestBackstageGolden(t *testing.T) {
	c := serve(t, []string{shop})
	var out strings.Builder
	for _, path := range []string{
		"/entities/by-query?filter=kind=component&orderField=metadata.name,asc&limit=1", "/entities/by-name/component/default/checkout",
		"/entities/by-name/component/default/checkout/ancestry", "/entity-facets?facet=spec.lifecycle", "/entities?filter=kind=group", "/entities/by-name/component/default/none",
	} {
		out.WriteString("GET " + path + "\n" + c.get("/api/catalog"+path).raw + "\n\n")
	}
	golden(t, "testdata/backstage.golden.txt", out.String())
}
