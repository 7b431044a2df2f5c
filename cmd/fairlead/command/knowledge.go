package command

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/fairlead-dev/fairlead/cmd/fairlead/client"
	"github.com/fairlead-dev/fairlead/cmd/fairlead/render"
)

// knowledgeCmd groups what is about documents.
type knowledgeCmd struct {
	Search   knowledgeSearchCmd   `cmd:"" help:"Find runbooks, documentation, decisions and answers by words."`
	Get      knowledgeGetCmd      `cmd:"" help:"Show a document's outline and first section, or one section."`
	External knowledgeExternalCmd `cmd:"" help:"Ask a provider outside that the operators have configured; the query leaves."`
	Propose  knowledgeProposeCmd  `cmd:"" help:"Propose a question and its answer by pull request."`
	Promote  knowledgePromoteCmd  `cmd:"" help:"Propose a skill made of a verified answer by pull request."`
}

type knowledgeSearchCmd struct {
	Words   []string `arg:"" help:"Plain words, a question, or the name of an alert."`
	Service string   `help:"The service whose documents come first." placeholder:"REF" predictor:"ref"`
	Kind    string   `help:"Only this kind: runbook, answer, skill, adr, rules, contributing, doc or readme." placeholder:"KIND" predictor:"document"`
	Limit   int      `help:"Show at most N hits, 8 if left out." default:"8" placeholder:"N"`
}

// Help shows examples.
func (knowledgeSearchCmd) Help() string {
	return `Examples:

  fairlead knowledge search checkout is slow
  fairlead knowledge search HighErrorRate --kind runbook --service checkout
  fairlead knowledge search rotate the signing key --limit 20 -o json`
}

// Run searches documents.
func (s *knowledgeSearchCmd) Run(c *console) error {
	if err := positive("--limit", s.Limit); err != nil {
		return err
	}
	words := strings.Join(s.Words, " ")
	query := values("query", words, "service", s.Service, "kind", s.Kind)
	raw, err := c.list(listing{path: "/api/v1/knowledge", query: query, items: "hits", most: 20, want: s.Limit})
	if err != nil {
		return err
	}
	return show(c, raw, func(p *render.Page, r *render.DocumentHits) {
		if len(r.Hits) == 0 {
			c.note("no document was found for %q", words)
			return
		}
		p.Documents(r.Hits)
		c.more(len(r.Hits), r.Total)
	})
}

type knowledgeGetCmd struct {
	Handle  string `arg:"" help:"The handle of a hit: doc://source/path or doc://source/path#section."`
	Section string `arg:"" optional:"" help:"A heading or anchor; for runbooks meaning, impact, diagnosis or mitigation."`
}

// Help shows examples.
func (knowledgeGetCmd) Help() string {
	return `Examples:

  fairlead knowledge get doc://checkout/docs/runbooks/slow.md
  fairlead knowledge get doc://checkout/docs/runbooks/slow.md mitigation
  fairlead knowledge get doc://checkout/docs/runbooks/slow.md#mitigation -o json`
}

// Run shows a document.
func (g *knowledgeGetCmd) Run(c *console) error {
	raw, err := c.ask(func(ctx context.Context, cl *client.Client) (json.RawMessage, error) {
		return cl.Get(ctx, "/api/v1/document", values("handle", g.Handle, "section", g.Section, "max_tokens", number(4000)))
	})
	if err != nil {
		return err
	}
	return show(c, raw, func(p *render.Page, d *render.DocumentText) {
		p.Document(d)
		if d.Next != "" {
			c.note("there is more: fairlead knowledge get '%s'", render.Clean(d.Next))
		}
	})
}

type knowledgeExternalCmd struct {
	Words    []string `arg:"" help:"Plain words; they leave for the provider: nothing secret, nothing internal."`
	Provider string   `help:"The provider; the first that is configured if left out." placeholder:"NAME"`
}

// Help shows examples.
func (knowledgeExternalCmd) Help() string {
	return `Examples:

  fairlead knowledge external horizontal pod autoscaler behavior
  fairlead knowledge external connection pool exhausted --provider postgres -o json`
}

// Run asks a provider outside.
func (k *knowledgeExternalCmd) Run(c *console) error {
	raw, err := c.ask(func(ctx context.Context, cl *client.Client) (json.RawMessage, error) {
		return cl.Post(ctx, "/api/v1/knowledge/external", map[string]any{"query": strings.Join(k.Words, " "), "provider": k.Provider})
	})
	if err != nil {
		return err
	}
	return show(c, raw, func(p *render.Page, r *render.ExternalHits) {
		p.External(r.Hits)
		if len(r.Hits) == 0 {
			c.note("%s found nothing", render.Clean(r.Provider))
		}
		if r.Cached {
			c.note("as %s answered at %s", render.Clean(r.Provider), render.Clean(r.FetchedAt))
		}
	})
}
