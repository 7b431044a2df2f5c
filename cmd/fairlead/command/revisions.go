package command

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	posener "github.com/posener/complete"

	"github.com/fairlead-dev/fairlead/cmd/fairlead/client"
	"github.com/fairlead-dev/fairlead/cmd/fairlead/render"
)

type previewRevisionsCmd struct {
	Service string `arg:"" help:"The component: [kind:][namespace/]name." predictor:"ref"`
	Query   string `arg:"" optional:"" help:"Only names with this in them, and commits with it in their title or author or at the beginning of their id."`
	Limit   int    `help:"Show at most N of each kind, 20 if left out." default:"20" placeholder:"N"`
}

// Help shows examples.
func (previewRevisionsCmd) Help() string {
	return `Examples:

  fairlead previews revisions checkout
  fairlead previews revisions checkout feature/ --limit 50
  fairlead previews revisions checkout v1. -o json`
}

// Run lists what previews can be made of.
func (r *previewRevisionsCmd) Run(c *console) error {
	if err := positive("--limit", r.Limit); err != nil {
		return err
	}
	raw, err := c.ask(func(ctx context.Context, cl *client.Client) (json.RawMessage, error) {
		return cl.Get(ctx, revisionsPath, values("service", r.Service, "query", r.Query, "limit", number(r.Limit)))
	})
	if err != nil {
		return err
	}
	return show(c, raw, func(p *render.Page, it *render.Revisions) {
		if len(it.Branches.Items)+len(it.Tags.Items)+len(it.Commits.Items) == 0 {
			c.note("there are no revisions that match")
			return
		}
		p.Revisions(it)
	})
}

const revisionsPath = previewsPath + "/revisions"

// completeRevision asks the server for branches and tags of the component that
// has been typed.
func (c *console) completeRevision(a posener.Args) []string {
	i := slices.IndexFunc(a.Completed, func(word string) bool { return !strings.HasPrefix(word, "-") })
	if i < 0 {
		return nil
	}
	var found render.Revisions
	if !c.lookUp(revisionsPath, values("service", a.Completed[i], "query", a.Last, "limit", "100"), &found) {
		return nil
	}
	var out []string
	for _, r := range slices.Concat(found.Branches.Items, found.Tags.Items) {
		out = append(out, r.Name)
	}
	return out
}
