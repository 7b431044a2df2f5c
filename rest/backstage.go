package rest

import (
	"context"
	"encoding/json"
	"math"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/catalog/entity"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// defaultPage is how many entities Backstage's by-query gives when not told.
const defaultPage = 200

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
	q := c.query
	in := catalog.ListEntitiesInput{Filter: q["filter"], Fields: q["fields"], Cursor: q.Get("cursor"), TotalItems: q.Get("totalItems")}
	for _, o := range q["orderField"] {
		field, order, _ := strings.Cut(o, ",")
		in.OrderBy = append(in.OrderBy, catalog.OrderField{Field: field, Order: order})
	}
	if term := q.Get("fullTextFilterTerm"); term != "" {
		in.FullText = &catalog.FullTextFilter{Term: term, Fields: list("fullTextFilterFields", q["fullTextFilterFields"])}
	}
	var err error
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
	limit, err := whole(c.body, "limit")
	if err != nil {
		return answer{}, err
	}
	in := catalog.ListEntitiesInput{Limit: limit}
	if c.body["fields"] != nil {
		in.Fields = textsOf(c.body["fields"])
	}
	if cursor, ok := c.body["cursor"].(string); ok {
		if in.Cursor = cursor; cursor == "" {
			return answer{}, fault.New(fault.Invalid, "Cursor cannot be empty").WithFix("Leave it out to begin at the first page.")
		}
		return query(c, in)
	}
	offset, err := whole(c.body, "offset")
	if err != nil {
		return answer{}, err
	}
	if offset != nil {
		in.Offset = *offset
	}
	var more struct {
		Query json.RawMessage `json:"query"`
	}
	if c.body["query"] != nil {
		if err := decode(c, &more); err != nil {
			return answer{}, err
		}
	}
	in.Query, in.OrderBy, in.FullText = more.Query, ordersIn(c.body["orderBy"]), filterIn(c.body["fullTextFilter"])
	in.TotalItems, _ = c.body["totalItems"].(string)
	return query(c, in)
}

// whole reads a whole number of a body that has been checked, nil where it is
// not given.
func whole(body map[string]any, name string) (*int, error) {
	v, there := body[name].(float64)
	if !there {
		return nil, nil //nolint:nilnil // nothing is asked for
	}
	if v != math.Trunc(v) || math.Abs(v) > math.MaxInt32 {
		return nil, fault.New(fault.Invalid, "%s must be a whole number, not %v", name, v)
	}
	n := int(v)
	return &n, nil
}

// ordersIn are the orders of a body that has been checked.
func ordersIn(v any) []catalog.OrderField {
	var out []catalog.OrderField
	l, _ := v.([]any)
	for _, item := range l {
		o, _ := item.(map[string]any)
		field, _ := o["field"].(string)
		order, _ := o["order"].(string)
		out = append(out, catalog.OrderField{Field: field, Order: order})
	}
	return out
}

// filterIn is the text filter of a body that has been checked.
func filterIn(v any) *catalog.FullTextFilter {
	o, ok := v.(map[string]any)
	if !ok {
		return nil
	}
	f := &catalog.FullTextFilter{}
	f.Term, _ = o["term"].(string)
	if o["fields"] != nil {
		f.Fields = textsOf(o["fields"])
	}
	return f
}

func query(c *call, in catalog.ListEntitiesInput) (answer, error) {
	if in.Limit == nil {
		limit := defaultPage
		in.Limit = &limit
	}
	return answerOf(listed(c, "list_entities", "", in, c.door.Catalog.ListEntities))
}

func byRefs(c *call) (answer, error) {
	var more struct {
		Query json.RawMessage `json:"query"`
	}
	if c.body["query"] != nil {
		if err := decode(c, &more); err != nil {
			return answer{}, err
		}
	}
	in := catalog.GetEntitiesInput{EntityRefs: textsOf(c.body["entityRefs"]), Fields: textsOf(c.body["fields"]), Filter: c.query["filter"], Query: more.Query}
	return answerOf(listed(c, "get_entities", "", in, c.door.Catalog.GetEntities))
}

func byUID(c *call) (answer, error) {
	uid := c.PathValue("uid")
	e, err := listed(c, "get_entity", "", catalog.GetEntityInput{UID: uid}, c.door.Catalog.GetEntity)
	return answerOf(e, unfound(err, "No entity with uid %s", uid))
}

// unfound says in Backstage's words that there is nothing.
func unfound(err error, format string, args ...any) error {
	if fault.CodeOf(err) != fault.NotFound {
		return err
	}
	return fault.New(fault.NotFound, format, args...).WithFix("%s", fault.From(err).Fix)
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
	return e, unfound(err, "No entity named '%s' found, with kind '%s' in namespace '%s'", c.PathValue("name"), c.PathValue("kind"), c.PathValue("namespace"))
}

func ancestry(c *call) (answer, error) {
	ref := pathRef(c)
	a, err := listed(c, "get_ancestry", ref, catalog.GetAncestryInput{Ref: ref}, c.door.Catalog.GetAncestry)
	return answerOf(a, unfound(err, "No such entity %s", entity.Lower(ref)))
}

func facetsByGet(c *call) (answer, error) {
	if !slices.ContainsFunc(c.query["facet"], func(f string) bool { return f != "" }) {
		return answer{}, fault.New(fault.Invalid, "Missing facet parameter").WithFix("Name at least one, for example facet=kind.")
	}
	return facets(c, catalog.ListFacetsInput{Facets: c.query["facet"], Filter: c.query["filter"]})
}

func facetsByPost(c *call) (answer, error) {
	var in catalog.ListFacetsInput
	if err := decode(c, &in); err != nil {
		return answer{}, err
	}
	if !slices.ContainsFunc(in.Facets, func(f string) bool { return f != "" }) {
		return answer{}, fault.New(fault.Invalid, "Missing or empty facets parameter").WithFix("Name at least one, for example kind.")
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
	return answer{}, unfound(err, "Entity %s not found", in.EntityRef)
}

// fromGit refuses what would change the catalog other than by its files.
func fromGit(*call) (answer, error) {
	return answer{}, fault.New(fault.Forbidden, "the catalog's content comes from Git alone: it is not registered, changed or removed through this API").
		WithFix("Add, change or remove the catalog-info.yaml in a repository that a source reads, or add the repository to the configured sources.")
}
