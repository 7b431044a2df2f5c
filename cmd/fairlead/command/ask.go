package command

import (
	"context"
	"encoding/json"
	"net/url"
	"strings"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/cmd/fairlead/client"
	"github.com/fairlead-dev/fairlead/cmd/fairlead/render"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

type searchCmd struct {
	Words  []string `arg:"" help:"What to find in names, titles, descriptions, tags and owners."`
	Filter []string `short:"f" sep:"none" help:"Only entities that match key=value[,key=value…]; given twice, either." placeholder:"FILTER"`
	Limit  int      `help:"Show at most N hits, 20 if left out." default:"20" placeholder:"N"`
}

// Help shows examples.
func (searchCmd) Help() string {
	return `Examples:

  fairlead search payments
  fairlead search card fraud --filter kind=component
  fairlead search orders --limit 100 -o json`
}

// Run searches.
func (s *searchCmd) Run(c *console) error {
	if err := positive("--limit", s.Limit); err != nil {
		return err
	}
	query := url.Values{"query": {strings.Join(s.Words, " ")}, "filter": s.Filter}
	raw, err := c.list(listing{path: "/api/v1/search", query: query, items: "hits", most: 100, want: s.Limit})
	if err != nil {
		return err
	}
	return show(c, raw, func(p *render.Page, r *catalog.SearchResults) {
		if len(r.Hits) == 0 {
			c.note("nothing was found for %q", strings.Join(s.Words, " "))
			return
		}
		p.Hits(r.Hits)
		c.more(len(r.Hits), r.Total)
	})
}

func positive(flag string, n int) error {
	if n > 0 {
		return nil
	}
	return fault.New(fault.Invalid, "%s: %d is not a number above 0", flag, n).WithFix("Write for example %s 50.", flag)
}

type depsCmd struct {
	Ref   string `arg:"" help:"The entity: [kind:][namespace/]name." predictor:"ref"`
	Out   bool   `xor:"direction" help:"What it needs (the default)."`
	In    bool   `xor:"direction" help:"What needs it."`
	Both  bool   `xor:"direction" help:"Both."`
	Depth int    `help:"How many steps to follow, 1 to 5, 1 if left out." default:"1" placeholder:"N"`
}

// Help shows examples.
func (depsCmd) Help() string {
	return `Examples:

  fairlead deps checkout
  fairlead deps resource:orders-db --in --depth 3
  fairlead deps checkout --both -o json`
}

// Run draws the graph.
func (d *depsCmd) Run(c *console) error {
	direction := "out"
	switch {
	case d.In:
		direction = "in"
	case d.Both:
		direction = "both"
	}
	raw, err := c.ask(func(ctx context.Context, cl *client.Client) (json.RawMessage, error) {
		return cl.Get(ctx, "/api/v1/dependencies/"+url.PathEscape(d.Ref), values("direction", direction, "depth", number(d.Depth)))
	})
	if err != nil {
		return err
	}
	return show(c, raw, func(p *render.Page, g *catalog.DependencyGraph) { p.Graph(g) })
}

type auditCmd struct {
	Subject string `help:"Only acts of this person or machine." placeholder:"REF"`
	Agent   string `help:"Only acts by this agent; * for any." placeholder:"NAME"`
	Action  string `help:"Only this action, for example catalog.refresh." placeholder:"ACTION"`
	Target  string `help:"Only acts on this." placeholder:"NAME"`
	Status  string `help:"Only acts that ended so: ok, refused, failed or unknown." placeholder:"STATUS"`
	Since   string `help:"Only acts at or after this time, or this long ago." placeholder:"TIME|DURATION"`
	Until   string `help:"Only acts before this time, or this long ago." placeholder:"TIME|DURATION"`
	Limit   int    `help:"Show at most N acts, 50 if left out." default:"50" placeholder:"N"`
}

// Help shows examples.
func (auditCmd) Help() string {
	return `Examples:

  fairlead audit
  fairlead audit --since 24h --action catalog.refresh
  fairlead audit --subject user:default/alice --agent claude-code
  fairlead audit --agent '*' --status refused
  fairlead audit --since 2026-01-31T12:00:00Z --limit 500 -o json`
}

// Run lists acts.
func (a *auditCmd) Run(c *console) error {
	if err := positive("--limit", a.Limit); err != nil {
		return err
	}
	query := values("subject", a.Subject, "agent", a.Agent, "action", a.Action, "target", a.Target, "status", a.Status, "since", a.Since, "until", a.Until)
	raw, err := c.list(listing{path: "/api/v1/audit", query: query, items: "items", most: 500, want: a.Limit})
	if err != nil {
		return err
	}
	return show(c, raw, func(p *render.Page, page *access.AuditPage) {
		if len(page.Items) == 0 {
			c.note("no acts are on record that match")
			return
		}
		p.Audit(page.Items)
		if page.NextCursor != "" {
			c.note("there are older acts: ask for more with --limit")
		}
	})
}
