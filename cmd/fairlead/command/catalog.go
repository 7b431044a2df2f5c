package command

import (
	"context"
	"encoding/json"

	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/cmd/fairlead/client"
	"github.com/fairlead-dev/fairlead/cmd/fairlead/render"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

type errorsCmd struct {
	Source   string `help:"Only problems of this source." placeholder:"NAME"`
	Owner    string `help:"Only problems that concern this owner." placeholder:"REF"`
	Severity string `help:"Only error or only warning." placeholder:"WORD"`
	Class    string `help:"Only problems of this name, for example ConflictError." placeholder:"NAME"`
	Limit    int    `help:"Show at most N problems; 0, the default, shows all." placeholder:"N"`
}

// Help shows examples.
func (errorsCmd) Help() string {
	return `Examples:

  fairlead catalog errors
  fairlead catalog errors --owner group:default/payments
  fairlead catalog errors --source platform -o json`
}

// Run lists problems.
func (e *errorsCmd) Run(c *console) error {
	if e.Limit < 0 {
		return fault.New(fault.Invalid, "--limit: %d is less than nothing", e.Limit).WithFix("Write a number, 0 for all.")
	}
	raw, err := c.list(listing{path: "/api/v1/errors", query: values("source", e.Source, "owner", e.Owner, "severity", e.Severity, "class", e.Class), items: "items", most: 500, want: e.Limit})
	if err != nil {
		return err
	}
	return show(c, raw, func(p *render.Page, page *catalog.IngestionErrors) {
		if len(page.Items) == 0 {
			c.note("no problems")
			return
		}
		p.Errors(page.Items)
		p.Line()
		p.Line(p.Bold(render.Plural(page.Total, "problem")))
		c.more(len(page.Items), page.Total)
	})
}

type sourcesCmd struct{}

// Help shows examples.
func (sourcesCmd) Help() string {
	return `Examples:

  fairlead catalog sources
  fairlead catalog sources -o json`
}

// Run lists sources.
func (sourcesCmd) Run(c *console) error {
	raw, err := c.ask(func(ctx context.Context, cl *client.Client) (json.RawMessage, error) {
		return cl.Get(ctx, "/api/v1/sources", nil)
	})
	if err != nil {
		return err
	}
	return show(c, raw, func(p *render.Page, s *catalog.Sources) {
		if len(s.Items) == 0 {
			c.note("the server has no sources that you may see")
			return
		}
		p.Sources(s.Items)
	})
}

type refreshCmd struct {
	Ref    string `arg:"" optional:"" help:"An entity: its source is read again." predictor:"ref"`
	Source string `help:"The source to read again." placeholder:"NAME"`
}

// Help shows examples.
func (refreshCmd) Help() string {
	return `Examples:

  fairlead catalog refresh checkout
  fairlead catalog refresh --source platform`
}

// Run refreshes.
func (r *refreshCmd) Run(c *console) error {
	if (r.Ref == "") == (r.Source == "") {
		return fault.New(fault.Invalid, "name an entity or a source, one of the two").WithFix("Write `fairlead catalog refresh checkout` or `fairlead catalog refresh --source NAME`.")
	}
	raw, err := c.ask(func(ctx context.Context, cl *client.Client) (json.RawMessage, error) {
		return cl.Post(ctx, "/api/v1/refresh", catalog.RefreshEntityInput{EntityRef: r.Ref, Source: r.Source})
	})
	if err != nil {
		return err
	}
	return show(c, raw, func(p *render.Page, res *catalog.RefreshResult) {
		line := "source " + render.Clean(res.Source) + " is read"
		if res.Commit != "" {
			line += " at commit " + render.Short(res.Commit)
		}
		if res.Changed == 0 {
			p.Line(line + ": nothing has changed")
			return
		}
		p.Line(line + ": " + render.Entities(res.Changed) + " changed")
	})
}
