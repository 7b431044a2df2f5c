package command

import (
	"context"
	"encoding/json"

	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/cmd/fairlead/client"
	"github.com/fairlead-dev/fairlead/cmd/fairlead/render"
)

type catalogHealthCmd struct {
	Broken bool   `help:"List the relations to what the catalog does not hold instead." xor:"list"`
	Stale  bool   `help:"List the entities that are served as they were instead, and why." xor:"list"`
	Owner  string `help:"With --broken or --stale, only those of entities of this owner." placeholder:"REF"`
	Limit  int    `help:"Show at most N, 100 if left out." default:"100" placeholder:"N"`
}

// Help shows examples.
func (catalogHealthCmd) Help() string {
	return `Examples:

  fairlead catalog health
  fairlead catalog health --broken --owner group:default/payments
  fairlead catalog health --stale
  fairlead catalog health -o json`
}

// Run reports what is wrong with the catalog.
func (h *catalogHealthCmd) Run(c *console) error {
	if err := positive("--limit", h.Limit); err != nil {
		return err
	}
	switch {
	case h.Broken:
		return h.broken(c)
	case h.Stale:
		return h.stale(c)
	}
	raw, err := c.ask(func(ctx context.Context, cl *client.Client) (json.RawMessage, error) {
		return cl.Get(ctx, "/api/v1/catalog/health", values("limit", number(h.Limit)))
	})
	if err != nil {
		return err
	}
	return show(c, raw, func(p *render.Page, all *catalog.CatalogHealth) { p.CatalogHealth(all) })
}

// broken lists broken relations.
func (h *catalogHealthCmd) broken(c *console) error {
	raw, err := c.list(listing{path: "/api/v1/catalog/broken-relations", query: values("owner", h.Owner), items: "items", most: 500, want: h.Limit})
	if err != nil {
		return err
	}
	return show(c, raw, func(p *render.Page, all *catalog.BrokenRelations) {
		if len(all.Items) == 0 {
			c.note("no relation is broken")
			return
		}
		p.Broken(all.Items)
		c.more(len(all.Items), all.Total)
	})
}

// stale lists stale entities.
func (h *catalogHealthCmd) stale(c *console) error {
	raw, err := c.list(listing{path: "/api/v1/catalog/stale-entities", query: values("owner", h.Owner), items: "items", most: 500, want: h.Limit})
	if err != nil {
		return err
	}
	return show(c, raw, func(p *render.Page, all *catalog.StaleEntities) {
		if len(all.Items) == 0 {
			c.note("no entity is stale")
			return
		}
		p.Stale(all.Items)
		c.more(len(all.Items), all.Total)
	})
}
