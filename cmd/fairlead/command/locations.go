package command

import (
	"context"
	"encoding/json"
	"net/url"
	"strings"

	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/catalog/entity"
	"github.com/fairlead-dev/fairlead/cmd/fairlead/client"
	"github.com/fairlead-dev/fairlead/cmd/fairlead/render"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

type registerCmd struct {
	Target string `arg:"" name:"url" help:"The catalog file, as the forge shows it."`
	DryRun bool   `help:"Only tell what it would give."`
}

// Help shows examples.
func (registerCmd) Help() string {
	return `Examples:

  fairlead catalog register https://github.com/acme/shop/blob/main/catalog-info.yaml --dry-run
  fairlead catalog register https://github.com/acme/shop/blob/main/catalog-info.yaml`
}

// Run registers, or tries to.
func (r *registerCmd) Run(c *console) error {
	raw, err := c.ask(func(ctx context.Context, cl *client.Client) (json.RawMessage, error) {
		return cl.Post(ctx, "/api/v1/locations", catalog.RegisterLocationInput{Target: r.Target, DryRun: r.DryRun})
	})
	if err != nil {
		return err
	}
	return show(c, raw, func(p *render.Page, res *struct {
		Location catalog.LocationItem `json:"location"`
		Entities []*entity.Object     `json:"entities"`
		Exists   bool                 `json:"exists"`
	}) {
		if !r.DryRun {
			p.Line("registered " + render.Clean(res.Location.Target) + " as " + render.Clean(res.Location.ID))
			return
		}
		items := make([]*entity.Entity, len(res.Entities))
		for i, root := range res.Entities {
			items[i] = render.EntityOf(root)
		}
		p.Entities(items)
		if res.Exists {
			c.note("the location is registered already")
		}
	})
}

type unregisterCmd struct {
	Location string `arg:"" help:"The location: its URL or its id."`
}

// Help shows examples.
func (unregisterCmd) Help() string {
	return `Examples:

  fairlead catalog unregister https://github.com/acme/shop/blob/main/catalog-info.yaml`
}

// Run unregisters.
func (u *unregisterCmd) Run(c *console) error {
	raw, err := c.ask(func(ctx context.Context, cl *client.Client) (json.RawMessage, error) {
		id := u.Location
		if strings.Contains(id, "://") {
			var err error
			if id, err = locationID(ctx, cl, u.Location); err != nil {
				return nil, err
			}
		}
		return cl.Delete(ctx, "/api/v1/locations/"+url.PathEscape(id))
	})
	if err != nil {
		return err
	}
	return show(c, raw, func(p *render.Page, res *catalog.UnregisteredLocation) {
		p.Line("unregistered " + render.Clean(res.Location.Target) + ": " + render.Entities(len(res.Removed)) + " removed")
	})
}

// locationID finds the location that is registered with a URL.
func locationID(ctx context.Context, cl *client.Client, target string) (string, error) {
	raw, err := cl.Get(ctx, "/api/v1/locations", nil)
	if err != nil {
		return "", err
	}
	var all catalog.Locations
	if err := json.Unmarshal(raw, &all); err != nil {
		return "", fault.New(fault.Unavailable, "the server's list of locations cannot be read").Because(err)
	}
	for _, l := range all.Items {
		if l.Target == target {
			return l.ID, nil
		}
	}
	return "", fault.New(fault.NotFound, "no location %s is registered", target).WithFix("List the locations: fairlead catalog locations.")
}

type locationsCmd struct{}

// Help shows examples.
func (locationsCmd) Help() string {
	return `Examples:

  fairlead catalog locations
  fairlead catalog locations -o json`
}

// Run lists locations.
func (locationsCmd) Run(c *console) error {
	raw, err := c.ask(func(ctx context.Context, cl *client.Client) (json.RawMessage, error) {
		return cl.Get(ctx, "/api/v1/locations", nil)
	})
	if err != nil {
		return err
	}
	return show(c, raw, func(p *render.Page, l *catalog.Locations) {
		if len(l.Items) == 0 {
			c.note("the server has no locations that you may see")
			return
		}
		for _, it := range l.Items {
			how := "configured"
			if it.EntityRef != "" {
				how = "registered"
			}
			p.Line(render.Clean(it.ID) + "  " + how + "  " + render.Clean(it.Target))
		}
	})
}
