package graphql

import (
	"context"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/graphql/bind"
	"github.com/fairlead-dev/fairlead/graphql/engine"
	"github.com/fairlead-dev/fairlead/graphql/filter"
	"github.com/fairlead-dev/fairlead/graphql/node"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// order is the input EntityOrder.
type order struct{ Field, Order string }

// fullText is the input FullText.
type fullText struct {
	Term   string
	Fields *[]string
}

type listArgs struct {
	First, Last   *int32
	After, Before *string
	filter.Conditions
	OrderBy  *[]order
	FullText *fullText
}

// maxPage and defaultPage are sizes of pages of entities.
const maxPage, defaultPage = 500, 20

// input reads the arguments, all but where the page stands.
func (a listArgs) input() (in catalog.ListEntitiesInput, err error) {
	var text *string
	if in.Filter, in.Query, text, err = a.Read(); err != nil {
		return in, err
	}
	if a.OrderBy != nil {
		if len(*a.OrderBy) > 1 {
			return in, fault.New(fault.Invalid, "entities are ordered by one field, and %d are given", len(*a.OrderBy)).WithFix("Leave one.")
		}
		for _, o := range *a.OrderBy {
			in.OrderBy = append(in.OrderBy, catalog.OrderField{Field: o.Field, Order: o.Order})
		}
	}
	if a.FullText != nil {
		in.FullText = &catalog.FullTextFilter{Term: a.FullText.Term}
		if a.FullText.Fields != nil {
			in.FullText.Fields = *a.FullText.Fields
		}
	}
	if text != nil {
		if in.FullText != nil {
			return in, fault.New(fault.Invalid, "both fullText and where.text are given").WithFix("Leave one.")
		}
		in.FullText = &catalog.FullTextFilter{Term: *text, Fields: []string{"metadata.name", "metadata.title", "metadata.description", "metadata.tags"}}
	}
	return in, nil
}

// size is the size of the page and whether it is counted from the end.
func (a listArgs) size() (n int, backwards bool, err error) {
	name, value := "first", a.First
	switch {
	case a.First != nil && a.Last != nil, a.After != nil && a.Before != nil, a.First != nil && a.Before != nil, a.Last != nil && a.After != nil:
		return 0, false, fault.New(fault.Invalid, "a page goes forwards with first and after, or backwards with last and before; these are mixed").
			WithFix("Give first and after, or last and before.")
	case a.Last != nil || a.Before != nil:
		name, value, backwards = "last", a.Last, true
	}
	n = defaultPage
	if value != nil {
		n = int(*value)
	}
	if n < 0 || n > maxPage {
		return 0, false, fault.New(fault.Invalid, "%s is %d, not between 0 and %d", name, n, maxPage).WithFix("Ask for less and go on with the page's cursors.")
	}
	return n, backwards, nil
}

// list resolves the field entities.
func (d *door) list(ctx context.Context, args listArgs) (*connection, error) {
	in, err := args.input()
	if err != nil {
		return nil, err
	}
	n, backwards, err := args.size()
	if err != nil {
		return nil, err
	}
	in.Limit = &n
	r := engine.RequestOf(ctx)
	in.Cursors = r.Asks("EntityEdge", "cursor") || r.Asks("EntityConnection", "pageInfo")
	if !r.Asks("EntityConnection", "totalCount") {
		in.TotalItems = "exclude"
	}
	if err := d.place(ctx, &in, args, backwards); err != nil {
		return nil, err
	}
	page, err := bind.Invoke(ctx, d.recorder, "list_entities", access.ReadCatalog, "", in, d.catalog.ListEntities)
	if err != nil {
		return nil, err
	}
	c := d.connection(ctx, page)
	if backwards && args.Before != nil {
		c.PageInfo.HasPreviousPage, c.PageInfo.HasNextPage = page.More, true
	} else {
		c.PageInfo.HasPreviousPage, c.PageInfo.HasNextPage = args.After != nil || in.Offset > 0, page.More
	}
	return c, r.Spend(len(page.Items))
}

// connection resolves the type EntityConnection.
type connection struct {
	Edges      []edge
	Nodes      []*node.Node
	PageInfo   pageInfo
	TotalCount int32
}

// edge resolves the type EntityEdge.
type edge struct {
	Cursor string
	Node   *node.Node
}

// pageInfo resolves the type PageInfo.
type pageInfo struct {
	HasNextPage, HasPreviousPage bool
	StartCursor, EndCursor       *string
}

func (d *door) connection(ctx context.Context, page *catalog.EntityPage) *connection {
	c := &connection{
		Nodes: d.nodes.Nodes(ctx, page.Items), Edges: make([]edge, len(page.Items)),
		TotalCount: int32(min(page.TotalItems, 1<<30)), //nolint:gosec // cannot overflow
	}
	for i, n := range c.Nodes {
		c.Edges[i].Node = n
	}
	for i, cursor := range page.Cursors {
		c.Edges[i].Cursor = cursor
	}
	if n := len(page.Cursors); n > 0 {
		c.PageInfo.StartCursor, c.PageInfo.EndCursor = &page.Cursors[0], &page.Cursors[n-1]
	}
	return c
}

// place says where the page stands.
func (d *door) place(ctx context.Context, in *catalog.ListEntitiesInput, args listArgs, backwards bool) (err error) {
	cursor := args.After
	if backwards {
		cursor = args.Before
	}
	if cursor == nil {
		if backwards {
			return d.lastPage(ctx, in)
		}
		return nil
	}
	in.Cursor = *cursor
	if err := catalog.SameQuestion(*in); err != nil {
		return err
	}
	in.Cursor, err = catalog.CursorFrom(*cursor, backwards)
	return err
}

// lastPage has the page end where everything ends.
func (d *door) lastPage(ctx context.Context, in *catalog.ListEntitiesInput) error {
	none := 0
	count := *in
	count.Limit, count.TotalItems = &none, ""
	all, err := bind.Invoke(ctx, d.recorder, "list_entities", access.ReadCatalog, "", count, d.catalog.ListEntities)
	if err == nil {
		in.Offset = max(all.TotalItems-*in.Limit, 0)
	}
	return err
}
