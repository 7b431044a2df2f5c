package command

import (
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"github.com/fairlead-dev/fairlead/catalog/entity"
	"github.com/fairlead-dev/fairlead/cmd/fairlead/client"
	"github.com/fairlead-dev/fairlead/cmd/fairlead/render"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

type getCmd struct {
	Refs   []string `arg:"" optional:"" name:"ref" help:"A kind to list (component, api, …), references ([kind:][namespace/]name), or a kind and names of it." predictor:"ref"`
	Filter []string `short:"f" sep:"none" help:"Only entities that match key=value[,key=value…]; given twice, either. List only." placeholder:"FILTER"`
	Limit  int      `help:"List at most N entities; 0, the default, lists all." placeholder:"N"`
}

// Help shows examples.
func (getCmd) Help() string {
	return `Examples:

  fairlead get component
  fairlead get checkout
  fairlead get checkout -o yaml
  fairlead get api orders payments
  fairlead get component --filter spec.type=service,spec.lifecycle=production
  fairlead get --filter metadata.tags=go --limit 20`
}

// Run lists or shows.
func (g *getCmd) Run(c *console) error {
	if g.Limit < 0 {
		return fault.New(fault.Invalid, "--limit: %d is less than nothing", g.Limit).WithFix("Write a number, 0 for all.")
	}
	kinds, refs := g.sort()
	if len(refs) == 0 {
		return g.list(c, kinds)
	}
	if len(g.Filter) > 0 {
		return fault.New(fault.Invalid, "--filter is for lists, but %s is one entity", refs[0]).WithFix("Leave out the name or the filter.")
	}
	return g.show(c, refs)
}

// sort tells kinds to list from entities to show. A first word that is a kind
// is the kind of all names behind it.
func (g *getCmd) sort() (kinds, refs []string) {
	if len(g.Refs) == 0 {
		return nil, nil
	}
	for word := range strings.SplitSeq(g.Refs[0], ",") {
		kind, ok := kindOf(word)
		if !ok {
			return nil, g.Refs
		}
		kinds = append(kinds, kind)
	}
	if len(g.Refs) == 1 {
		return kinds, nil
	}
	for _, name := range g.Refs[1:] {
		if len(kinds) == 1 && !strings.Contains(name, ":") {
			name = kinds[0] + ":" + name
		}
		refs = append(refs, name)
	}
	return nil, refs
}

func (g *getCmd) list(c *console, kinds []string) error {
	filters := g.Filter
	if len(kinds) > 0 {
		of := ""
		for _, k := range kinds {
			of += ",kind=" + k
		}
		if len(filters) == 0 {
			filters = []string{""}
		}
		narrowed := make([]string, len(filters))
		for i, f := range filters {
			narrowed[i] = strings.Trim(f+of, ",")
		}
		filters = narrowed
	}
	raw, err := c.list(listing{path: "/api/v1/entities", query: byName(filters), items: "items", most: 500, want: g.Limit})
	if err != nil {
		return err
	}
	return show(c, raw, func(p *render.Page, page *struct {
		Items []*entity.Object `json:"items"`
		Total int              `json:"totalItems"`
	}) {
		if len(page.Items) == 0 {
			c.note("no entities match")
			return
		}
		items := make([]*entity.Entity, len(page.Items))
		for i, root := range page.Items {
			items[i] = render.EntityOf(root)
		}
		if g.Limit == 0 {
			slices.SortStableFunc(items, func(a, b *entity.Entity) int { return strings.Compare(a.Ref.String(), b.Ref.String()) })
		}
		p.Entities(items)
		c.more(len(items), page.Total)
	})
}

// byName asks for entities in the order of their names; all have one.
func byName(filters []string) url.Values {
	return url.Values{"filter": filters, "orderBy": {`[{"field":"metadata.name","order":"asc"}]`}}
}

func (g *getCmd) show(c *console, refs []string) error {
	raw, err := c.ask(func(ctx context.Context, cl *client.Client) (json.RawMessage, error) {
		var all entity.List
		for _, ref := range refs {
			raw, err := cl.Get(ctx, "/api/v1/entities/"+url.PathEscape(ref), nil)
			if err != nil {
				return nil, err
			}
			one, err := pageOf(raw)
			if err != nil || len(refs) == 1 {
				return raw, err
			}
			all = append(all, entity.Item{Value: one})
		}
		return all.MarshalJSON()
	})
	if err != nil {
		return err
	}
	if len(refs) == 1 {
		return show(c, raw, func(p *render.Page, root *entity.Object) { p.Entity(render.EntityOf(root)) })
	}
	return show(c, raw, func(p *render.Page, roots *[]*entity.Object) {
		for i, root := range *roots {
			if i > 0 {
				p.Line()
			}
			p.Entity(render.EntityOf(root))
		}
	})
}
