package catalog

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/catalog/entity"
	"github.com/fairlead-dev/fairlead/catalog/index"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// MaxRefs is how many entities one GetEntities may name.
const MaxRefs = 10_000

// where reads the two ways of saying which entities are meant.
func where(filter []string, query json.RawMessage) (*index.Predicate, error) {
	f, err := index.ParseFilter(filter)
	if err != nil {
		return nil, err
	}
	q, err := index.ParsePredicate("query", query)
	if err != nil {
		return nil, err
	}
	return index.All(f, q), nil
}

// GetEntity is one entity. A bare name means a component in the default
// namespace, or else the only entity of that name. Faults: invalid, not_found,
// and conflict where several entities have a bare name.
func (s *Service) GetEntity(_ context.Context, who access.Caller, in GetEntityInput) (*Entity, error) {
	r := s.reading(who)
	if in.UID != "" {
		if e := r.ByUID(r.scope, in.UID); e != nil {
			return e, nil
		}
		return nil, fault.New(fault.NotFound, "no entity with uid %s", in.UID)
	}
	return r.find(in.Ref)
}

// find is the entity that a ref as people write it means.
func (r reading) find(text string) (*Entity, error) {
	text = strings.TrimSpace(text)
	ref, err := entity.ParseRef(text, "component", entity.DefaultNamespace)
	if err != nil {
		return nil, fault.New(fault.Invalid, "%s", err.Error()).WithFix("Write kind:namespace/name, for example component:default/checkout.")
	}
	if e := r.Get(r.scope, ref.String()); e != nil {
		return e, nil
	}
	named := r.Named(r.scope, ref.Name)
	bare := !strings.ContainsAny(text, ":/")
	if bare && len(named) == 1 {
		return named[0], nil
	}
	if bare && len(named) > 1 {
		return nil, fault.New(fault.Conflict, "%d entities are named %s: %s", len(named), text, refsOf(named)).WithFix("Give the full reference of one of them.")
	}
	missing := fault.New(fault.NotFound, "no entity %s", ref)
	if len(named) > 0 {
		return nil, missing.WithFix("There is %s.", refsOf(named))
	}
	return nil, missing.WithFix("Search for it by name: it may be of another kind, or not be in the catalog yet.")
}

// refsOf names a few entities.
func refsOf(es []*Entity) string {
	var names []string
	for _, e := range es[:min(len(es), 10)] {
		names = append(names, e.Ref.String())
	}
	if len(es) > len(names) {
		names = append(names, "…")
	}
	return strings.Join(names, ", ")
}

// GetEntities are the entities of several references, nil where there is
// none, or none that the filter and query keep.
func (s *Service) GetEntities(_ context.Context, who access.Caller, in GetEntitiesInput) (*EntityBatch, error) {
	if len(in.EntityRefs) > MaxRefs {
		return nil, fault.New(fault.Invalid, "%d references are asked for at once; the limit is %d", len(in.EntityRefs), MaxRefs).WithFix("Ask in parts.")
	}
	p, err := where(in.Filter, in.Query)
	if err != nil {
		return nil, err
	}
	fields, err := index.NewProjection(in.Fields)
	if err != nil {
		return nil, err
	}
	refs := make([]string, len(in.EntityRefs))
	for i, ref := range in.EntityRefs {
		refs[i] = entity.Lower(ref)
	}
	r := s.reading(who)
	out := &EntityBatch{Items: r.Batch(r.scope, refs, p)}
	for i, e := range out.Items {
		out.Items[i] = fields.Apply(e)
	}
	return out, nil
}

// ListEntities is a page of entities as Backstage's by-query answers it. A
// nil Limit is no limit.
func (s *Service) ListEntities(_ context.Context, who access.Caller, in ListEntitiesInput) (*EntityPage, error) {
	fields, err := index.NewProjection(in.Fields)
	if err != nil {
		return nil, err
	}
	limit, err := limitOf(in)
	if err != nil {
		return nil, err
	}
	c, err := cursorOf(in)
	if err != nil {
		return nil, err
	}
	q, err := queryOf(c)
	if err != nil {
		return nil, err
	}
	w := index.Window{Limit: limit, Back: c.IsPrevious, Count: c.TotalItems == nil && in.TotalItems != "exclude"}
	if in.Cursor == "" {
		w.Offset = in.Offset
	} else {
		m := c.Mark()
		w.From = &m
	}
	r := s.reading(who)
	l := r.List(r.scope, q, w)
	if c.TotalItems != nil {
		l.Total = *c.TotalItems
	}
	for i, e := range l.Entities {
		l.Entities[i] = fields.Apply(e)
	}
	page := &EntityPage{Items: notNil(l.Entities), TotalItems: l.Total, PageInfo: pageInfo(c, l, limit), More: l.More}
	if in.Cursors {
		page.Cursors = cursors(c, l)
	}
	return page, nil
}

func notNil[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

// limitOf is the page size, -1 for none, after the simple checks.
func limitOf(in ListEntitiesInput) (int, error) {
	switch {
	case in.Offset < 0:
		return 0, fault.New(fault.Invalid, "invalid offset %d: it must be zero or greater", in.Offset)
	case in.TotalItems != "" && in.TotalItems != "include" && in.TotalItems != "exclude":
		return 0, fault.New(fault.Invalid, "invalid totalItems %q: it must be include or exclude", in.TotalItems)
	case in.Limit == nil:
		return -1, nil
	case *in.Limit < 0:
		return 0, fault.New(fault.Invalid, "invalid limit %d: it must be zero or greater", *in.Limit)
	default:
		return *in.Limit, nil
	}
}

// cursorOf is the cursor given, or what a first page asks in its form.
func cursorOf(in ListEntitiesInput) (*index.Cursor, error) {
	if in.Cursor != "" {
		return index.DecodeCursor(in.Cursor)
	}
	p, err := where(in.Filter, in.Query)
	if err != nil {
		return nil, err
	}
	c := &index.Cursor{Query: index.MarshalQuery(p), OrderFields: []index.Sort{}}
	for _, o := range in.OrderBy {
		if o.Order == "" {
			o.Order = "asc"
		}
		if o.Order != "asc" && o.Order != "desc" {
			return nil, fault.New(fault.Invalid, "Invalid order field order, must be asc or desc").WithFix("Order %q by asc or desc, not by %q.", o.Field, o.Order)
		}
		if o.Field == "" {
			return nil, fault.New(fault.Invalid, "an order needs a field").WithFix("Name a field such as metadata.name.")
		}
		c.OrderFields = append(c.OrderFields, index.Sort(o))
	}
	if in.FullText != nil && in.FullText.Term != "" {
		c.FullText = (*index.TermFilter)(in.FullText)
	}
	return c, nil
}

// queryOf is what a cursor asks.
func queryOf(c *index.Cursor) (q index.Query, err error) {
	if q.Where, err = index.ParsePredicate("query", c.Query); err != nil {
		return q, err
	}
	if len(c.OrderFields) > 0 {
		q.Order, q.Descending = c.OrderFields[0].Field, c.OrderFields[0].Order == "desc"
	}
	if c.FullText != nil {
		q.Text, err = index.NewTextFilter(c.FullText.Term, c.FullText.Fields, q.Order)
	}
	return q, err
}

// pageInfo makes the cursors around a page, by Backstage's rules.
func pageInfo(c *index.Cursor, l index.Listing, limit int) PageInfo {
	var info PageInfo
	if len(l.Entities) == 0 {
		return info
	}
	ordered := len(c.OrderFields) > 0
	first := l.First.Values(ordered)
	began := c.FirstSortFieldValues
	c.TotalItems = &l.Total
	if began == nil {
		c.FirstSortFieldValues = first
	}
	if l.More || c.IsPrevious {
		next := *c
		next.OrderFieldValues, next.IsPrevious = l.Last.Values(ordered), false
		info.NextCursor = next.Encode()
	}
	if began != nil && limit != 0 && !slices.Equal(began, first) {
		prev := *c
		prev.OrderFieldValues, prev.IsPrevious = first, true
		info.PrevCursor = prev.Encode()
	}
	return info
}

// ListFacets counts the values of search keys among the entities meant.
func (s *Service) ListFacets(_ context.Context, who access.Caller, in ListFacetsInput) (*Facets, error) {
	facets := slices.DeleteFunc(slices.Clone(in.Facets), func(f string) bool { return f == "" })
	if len(facets) == 0 {
		return nil, fault.New(fault.Invalid, "no facet is asked for").WithFix("Name at least one, for example kind or spec.type.")
	}
	if len(facets) > maxFacets {
		return nil, fault.New(fault.Invalid, "%d facets are asked for at once; the limit is %d", len(facets), maxFacets).WithFix("Ask in parts.")
	}
	p, err := where(in.Filter, in.Query)
	if err != nil {
		return nil, err
	}
	r := s.reading(who)
	out := &Facets{Facets: make(map[string][]FacetValue, len(facets))}
	for i, counts := range r.Facets(r.scope, facets, p) {
		values := make([]FacetValue, len(counts))
		for j, c := range counts {
			values[j] = FacetValue(c)
		}
		out.Facets[facets[i]] = values
	}
	return out, nil
}

// maxFacets is how many keys one ListFacets may name.
const maxFacets = 100
