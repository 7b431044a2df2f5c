package rest

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"reflect"
	"strconv"
	"strings"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// defaultPage is how many entities Backstage's by-query gives when not told.
const defaultPage = 200

// backstage mounts what the clients of a Backstage back end call.
func (d *door) backstage() {
	const base = "/api/catalog"
	for pattern, do := range map[string]serve{
		"GET /entities":                                            listEntities,
		"GET /entities/by-query":                                   queryByGet,
		"POST /entities/by-query":                                  queryByPost,
		"POST /entities/by-refs":                                   byRefs,
		"GET /entities/by-uid/{uid}":                               byUID,
		"GET /entities/by-name/{kind}/{namespace}/{name}":          byName,
		"GET /entities/by-name/{kind}/{namespace}/{name}/ancestry": ancestry,
		"GET /entity-facets":                                       facetsByGet,
		"POST /entity-facets":                                      facetsByPost,
		"GET /locations":                                           locations,
		"GET /locations/{id}":                                      locationByID,
		"GET /locations/by-entity/{kind}/{namespace}/{name}":       locationByEntity,
		"POST /locations/by-query":                                 locationsByQuery,
		"POST /refresh":                                            refresh,
		"POST /locations":                                          registerLocation,
		"PUT /locations/{id}":                                      moveLocation,
		"DELETE /locations/{id}":                                   unregisterLocation,
		"DELETE /entities/by-uid/{uid}":                            fromGit,
		"POST /analyze-location":                                   notOffered,
		"POST /validate-entity":                                    notOffered,
	} {
		method, path, _ := strings.Cut(pattern, " ")
		d.handle(method+" "+base+path, backstageErrors, do)
	}
	d.handle(base+"/", backstageErrors, d.missing)
	d.open("/api/", backstageErrors, func(c *call) (answer, error) {
		return answer{}, fault.New(fault.NotFound, "there is nothing at %s", c.URL.Path).
			WithFix("Of Backstage's APIs the catalog's is served, at /api/catalog.")
	})
}

// verb is an operation of the catalog.
type verb[I, O any] = func(context.Context, access.Caller, I) (*O, error)

// listed runs an operation that reads the catalog.
func listed[I, O any](c *call, op, target string, in I, do verb[I, O]) (*O, error) {
	return invoke(c, op, access.ReadCatalog, target, in, do)
}

// answerOf is the answer of what an operation gave.
func answerOf[T any](v T, err error) (answer, error) {
	if err != nil {
		return answer{}, err
	}
	return answer{value: v}, nil
}

// number reads a whole number of the query, nil where it is not given.
func number(q url.Values, name string) (*int, error) {
	if !q.Has(name) {
		return nil, nil
	}
	n, err := strconv.Atoi(q.Get(name))
	if err != nil {
		return nil, fault.New(fault.Invalid, "%s must be a whole number, not %s", name, clip(q.Get(name)))
	}
	return &n, nil
}

// decode reads a JSON body; keys that into does not have are let be, as
// Backstage's clients may send more.
func decode(c *call, into any) error {
	body, err := object(c.Request)
	if err != nil {
		return err
	}
	v := reflect.ValueOf(into).Elem()
	for _, f := range reflect.VisibleFields(v.Type()) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		raw, ok := body[name]
		if !ok {
			continue
		}
		if err := fromJSON(name, raw, v.FieldByIndex(f.Index)); err != nil {
			return err
		}
	}
	return nil
}

func queryByGet(c *call) (answer, error) {
	q, err := queryOf(c.Request)
	if err != nil {
		return answer{}, err
	}
	in := catalog.ListEntitiesInput{Filter: q["filter"], Fields: q["fields"], Cursor: q.Get("cursor"), TotalItems: q.Get("totalItems")}
	for _, o := range q["orderField"] {
		field, order, _ := strings.Cut(o, ",")
		in.OrderBy = append(in.OrderBy, catalog.OrderField{Field: field, Order: order})
	}
	if term := q.Get("fullTextFilterTerm"); term != "" {
		in.FullText = &catalog.FullTextFilter{Term: term, Fields: list("fullTextFilterFields", q["fullTextFilterFields"])}
	}
	if in.Limit, err = number(q, "limit"); err != nil {
		return answer{}, err
	}
	offset, err := number(q, "offset")
	if err != nil {
		return answer{}, err
	}
	if offset != nil {
		in.Offset = *offset
	}
	return query(c, in)
}

func queryByPost(c *call) (answer, error) {
	var body struct {
		Cursor     *string                 `json:"cursor"`
		Query      json.RawMessage         `json:"query"`
		OrderBy    []catalog.OrderField    `json:"orderBy"`
		FullText   *catalog.FullTextFilter `json:"fullTextFilter"`
		Fields     []string                `json:"fields"`
		Limit      *int                    `json:"limit"`
		Offset     int                     `json:"offset"`
		TotalItems string                  `json:"totalItems"`
	}
	if err := decode(c, &body); err != nil {
		return answer{}, err
	}
	if body.Cursor != nil {
		if *body.Cursor == "" {
			return answer{}, fault.New(fault.Invalid, "the cursor is empty").WithFix("Leave it out to begin at the first page.")
		}
		return query(c, catalog.ListEntitiesInput{Cursor: *body.Cursor, Fields: body.Fields, Limit: body.Limit})
	}
	return query(c, catalog.ListEntitiesInput{Query: body.Query, OrderBy: body.OrderBy, FullText: body.FullText,
		Fields: body.Fields, Limit: body.Limit, Offset: body.Offset, TotalItems: body.TotalItems})
}

func query(c *call, in catalog.ListEntitiesInput) (answer, error) {
	if in.Limit == nil {
		limit := defaultPage
		in.Limit = &limit
	}
	return answerOf(listed(c, "list_entities", "", in, c.door.Catalog.ListEntities))
}

func byRefs(c *call) (answer, error) {
	q, err := queryOf(c.Request)
	if err != nil {
		return answer{}, err
	}
	in := catalog.GetEntitiesInput{}
	if err := decode(c, &in); err != nil {
		return answer{}, err
	}
	if in.EntityRefs == nil {
		return answer{}, fault.New(fault.Invalid, "entityRefs is not given").WithFix("Send {\"entityRefs\": [\"component:default/checkout\"]} as application/json.")
	}
	in.Filter, in.Fields = q["filter"], append(in.Fields, q["fields"]...)
	return answerOf(listed(c, "get_entities", "", in, c.door.Catalog.GetEntities))
}

func byUID(c *call) (answer, error) {
	return answerOf(listed(c, "get_entity", "", catalog.GetEntityInput{UID: c.PathValue("uid")}, c.door.Catalog.GetEntity))
}

// pathRef is the reference in a path of kind, namespace and name.
func pathRef(c *call) string {
	return catalog.Ref{Kind: c.PathValue("kind"), Namespace: c.PathValue("namespace"), Name: c.PathValue("name")}.String()
}

func byName(c *call) (answer, error) {
	e, err := named(c)
	return answerOf(e, err)
}

// named is the entity that a path names.
func named(c *call) (*catalog.Entity, error) {
	ref := pathRef(c)
	e, err := listed(c, "get_entity", ref, catalog.GetEntityInput{Ref: ref}, c.door.Catalog.GetEntity)
	if fault.CodeOf(err) == fault.NotFound {
		return nil, fault.New(fault.NotFound, "No entity named '%s' found, with kind '%s' in namespace '%s'", c.PathValue("name"), c.PathValue("kind"), c.PathValue("namespace")).
			WithFix("%s", fault.From(err).Fix)
	}
	return e, err
}

func ancestry(c *call) (answer, error) {
	ref := pathRef(c)
	return answerOf(listed(c, "get_ancestry", ref, catalog.GetAncestryInput{Ref: ref}, c.door.Catalog.GetAncestry))
}

func facetsByGet(c *call) (answer, error) {
	q, err := queryOf(c.Request)
	if err != nil {
		return answer{}, err
	}
	return facets(c, catalog.ListFacetsInput{Facets: q["facet"], Filter: q["filter"]})
}

func facetsByPost(c *call) (answer, error) {
	var in catalog.ListFacetsInput
	if err := decode(c, &in); err != nil {
		return answer{}, err
	}
	in.Filter = nil // Backstage takes filters by GET alone
	return facets(c, in)
}

func facets(c *call, in catalog.ListFacetsInput) (answer, error) {
	return answerOf(listed(c, "list_facets", "", in, c.door.Catalog.ListFacets))
}

func refresh(c *call) (answer, error) {
	var in catalog.RefreshEntityInput
	if err := decode(c, &in); err != nil {
		return answer{}, err
	}
	in.Source = ""
	_, err := invoke(c, "refresh_entity", access.RefreshCatalog, in.EntityRef, in, c.door.Catalog.RefreshEntity)
	return answer{}, err
}

// fromGit refuses what would change the catalog other than by its files.
func fromGit(*call) (answer, error) {
	return answer{}, fault.New(fault.Forbidden, "the catalog's content comes from Git alone: it is not registered, changed or removed through this API").
		WithFix("Add, change or remove the catalog-info.yaml in a repository that a source reads, or add the repository to the configured sources.")
}

// notOffered answers for what helps with registering by hand.
func notOffered(c *call) (answer, error) {
	return answer{}, &httpFault{status: http.StatusNotImplemented,
		fault: fault.New(fault.FailedPrecondition, "%s is not offered: the catalog's content comes from Git", c.URL.Path).
			WithFix("Check catalog files with fairlead catalog check before they are merged.")}
}
