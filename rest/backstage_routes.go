package rest

import (
	"bytes"
	"io"
	"mime"
	"net/http"
	"strings"

	"github.com/fairlead-dev/fairlead/internal/fault"
)

// backstageBase is where Backstage's catalog API is mounted.
const backstageBase = "/api/catalog"

// backstageRoute is a method and path of Backstage's catalog API, what its
// query and body may hold, and what answers it.
type backstageRoute struct {
	pattern string
	query   []shapeKey
	body    *shape // nil where nothing reads one
	do      serve
}

// backstage mounts what the clients of a Backstage back end call.
func (d *door) backstage() {
	for _, rt := range append(readingRoutes(), otherRoutes()...) {
		method, path, _ := strings.Cut(rt.pattern, " ")
		d.handle(method+" "+backstageBase+path, backstageErrors, rt.checked())
	}
	d.handle(backstageBase+"/", backstageErrors, d.missing)
	d.open("/api/", backstageErrors, func(c *call) (answer, error) {
		return answer{}, fault.New(fault.NotFound, "there is nothing at %s", c.URL.Path).
			WithFix("Of Backstage's APIs the catalog's is served, at /api/catalog.")
	})
}

// checked holds a request against its description before it is answered.
func (rt backstageRoute) checked() serve {
	query := shape{kind: "object", keys: rt.query, closed: true}
	return func(c *call) (answer, error) {
		values, order, err := queryValues(c.URL.RawQuery)
		if err != nil {
			return answer{}, err
		}
		if err := query.queryFault(values, order); err != nil {
			return answer{}, err
		}
		c.query = values
		if rt.body != nil {
			if c.body, err = checkBody(c.Request, rt.body); err != nil {
				return answer{}, err
			}
		}
		return rt.do(c)
	}
}

// checkBody reads the body, checks it, and leaves it to be read again.
func checkBody(r *http.Request, s *shape) (map[string]any, error) {
	data, err := read(r)
	if err != nil {
		return nil, err
	}
	data = bytes.TrimSpace(data)
	if kind := r.Header.Get("Content-Type"); kind != "" && len(data) > 0 {
		if media, _, err := mime.ParseMediaType(kind); err != nil || media != "application/json" {
			return nil, fault.New(fault.Invalid, "unsupported media type %s", strings.TrimSpace(clipped(kind))).WithFix("Send JSON with Content-Type: application/json.")
		}
	}
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(data)), int64(len(data))
	return s.body(data)
}

// clipped shortens a text that is shown again as it is.
func clipped(s string) string {
	if r := []rune(s); len(r) > 60 {
		return string(r[:60]) + "…"
	}
	return s
}

func listKey(name string) shapeKey { return shapeKey{name: name, shape: texts()} }

func textKey(name string, among ...string) shapeKey {
	return shapeKey{name: name, shape: shape{kind: "string", among: among}}
}

func kindKey(name, kind string) shapeKey { return shapeKey{name: name, shape: shape{kind: kind}} }

func must(k shapeKey) shapeKey { k.required = true; return k }

func body(keys ...shapeKey) *shape { return &shape{kind: "object", keys: keys} }

// readingRoutes read entities.
func readingRoutes() []backstageRoute {
	const name = "/entities/by-name/{kind}/{namespace}/{name}"
	filter, fields := listKey("filter"), listKey("fields")
	limit, offset := kindKey("limit", "integer"), kindKey("offset", "integer")
	predicate, totals := kindKey("query", "object"), textKey("totalItems", "include", "exclude")
	order := shape{kind: "object", keys: []shapeKey{must(textKey("field")), must(textKey("order", "asc", "desc"))}}
	text := shapeKey{name: "fullTextFilter", shape: *body(textKey("term"), fields)}
	return []backstageRoute{
		{pattern: "GET /entities", query: []shapeKey{fields, limit, filter, offset, textKey("after"), listKey("order")}, do: listEntities},
		{pattern: "GET /entities/by-query", do: queryByGet,
			query: []shapeKey{fields, limit, offset, listKey("orderField"), textKey("cursor"), filter, totals, textKey("fullTextFilterTerm"), listKey("fullTextFilterFields")}},
		{pattern: "POST /entities/by-query", do: queryByPost,
			body: body(textKey("cursor"), kindKey("limit", "number"), kindKey("offset", "number"),
				shapeKey{name: "orderBy", shape: shape{kind: "array", each: &order}}, text, fields, totals, predicate)},
		{pattern: "POST /entities/by-refs", query: []shapeKey{filter}, body: body(must(listKey("entityRefs")), fields, predicate), do: byRefs},
		{pattern: "GET /entities/by-uid/{uid}", do: byUID},
		{pattern: "GET " + name, do: byName},
		{pattern: "GET " + name + "/ancestry", do: ancestry},
		{pattern: "GET /entity-facets", query: []shapeKey{must(listKey("facet")), filter}, do: facetsByGet},
		{pattern: "POST /entity-facets", body: body(must(listKey("facets")), predicate), do: facetsByPost},
	}
}

// otherRoutes are about where entities come from.
func otherRoutes() []backstageRoute {
	at := shape{kind: "object", closed: true, keys: []shapeKey{must(textKey("type")), must(textKey("target"))}}
	return []backstageRoute{
		{pattern: "GET /locations", do: locations},
		{pattern: "GET /locations/{id}", do: locationByID},
		{pattern: "GET /locations/by-entity/{kind}/{namespace}/{name}", do: locationByEntity},
		{pattern: "POST /locations/by-query", body: body(textKey("cursor"), kindKey("limit", "number"), kindKey("query", "object")), do: locationsByQuery},
		{pattern: "POST /locations", query: []shapeKey{textKey("dryRun"), textKey("onConflict", "refresh", "reject")}, do: registerLocation,
			body: body(must(textKey("target")), must(textKey("type")), textKey("presence", "required", "optional"))},
		{pattern: "PUT /locations/{id}", do: moveLocation, body: &at},
		{pattern: "DELETE /locations/{id}", do: unregisterLocation},
		{pattern: "DELETE /entities/by-uid/{uid}", do: fromGit},
		{pattern: "POST /refresh", do: refresh,
			body: &shape{kind: "object", closed: true, keys: []shapeKey{textKey("authorizationToken"), must(textKey("entityRef"))}}},
		{pattern: "POST /analyze-location", do: analyzeLocation,
			body: body(textKey("catalogFileName"), shapeKey{name: "location", required: true, shape: at})},
		{pattern: "POST /validate-entity", do: validateEntity, body: body(must(textKey("location")), must(kindKey("entity", "object")))},
	}
}
