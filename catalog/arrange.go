package catalog

import (
	"context"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/catalog/index"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// ArrangeEntitiesInput asks for a part of a list of entities in the order that
// Backstage's older GET /entities has: by reference, or by the values of
// fields, where entities without one come last.
type ArrangeEntitiesInput struct {
	// Filter items are alternatives, as those of ListEntitiesInput.
	Filter []string
	// OrderBy are search keys in lower case.
	OrderBy []OrderField
	// Fields narrows each entity to dotted paths; empty means all of it.
	Fields []string
	// Offset skips entities.
	Offset int
	// Limit is the most entities to give; nil is no limit.
	Limit *int
}

// ArrangedEntities are a part of such a list.
type ArrangedEntities struct {
	Items []*Entity
	// More tells that the list goes on.
	More bool
}

// ArrangeEntities is a part of a list of entities by position. Faults: invalid.
func (s *Service) ArrangeEntities(_ context.Context, who access.Caller, in ArrangeEntitiesInput) (*ArrangedEntities, error) {
	p, err := index.ParseFilter(in.Filter)
	if err != nil {
		return nil, err
	}
	fields, err := index.NewProjection(in.Fields)
	if err != nil {
		return nil, err
	}
	a := index.Arrangement{Where: p, Offset: in.Offset, Limit: -1}
	for _, o := range in.OrderBy {
		a.Order = append(a.Order, index.Sort(o))
	}
	if in.Limit != nil {
		a.Limit = *in.Limit
	}
	if a.Offset < 0 || in.Limit != nil && a.Limit < 0 {
		return nil, fault.New(fault.Invalid, "offset and limit must be zero or greater")
	}
	r := s.reading(who)
	items, more, err := r.Arrange(r.scope, a)
	if err != nil {
		return nil, err
	}
	for i, e := range items {
		items[i] = fields.Apply(e)
	}
	return &ArrangedEntities{Items: notNil(items), More: more}, nil
}
