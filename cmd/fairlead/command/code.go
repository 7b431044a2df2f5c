package command

import (
	"github.com/fairlead-dev/fairlead/cmd/fairlead/render"
)

type codeCmd struct {
	Query    string `arg:"" help:"A text on one line; either case matches unless it has capitals."`
	Regexp   bool   `short:"e" help:"Take the query as an RE2 expression, matched line by line."`
	Service  string `help:"Only code of this service." placeholder:"REF" predictor:"ref"`
	Repo     string `help:"Only this repository: its URL, or the name of its source." placeholder:"URL"`
	Path     string `help:"Only this file, folder or glob, for example **/*.go." placeholder:"PATH"`
	Language string `help:"For example go, typescript or yaml." placeholder:"NAME"`
	Limit    int    `help:"Show at most N files, 10 if left out." default:"10" placeholder:"N"`
}

// Help shows examples.
func (codeCmd) Help() string {
	return `Examples:

  fairlead code chargeCard --service checkout
  fairlead code 'func \w+Handler' -e --language go
  fairlead code DATABASE_URL --path 'deploy/**' --limit 50 -o json`
}

// Run searches code.
func (s *codeCmd) Run(c *console) error {
	if err := positive("--limit", s.Limit); err != nil {
		return err
	}
	query := values("query", s.Query, "service", s.Service, "repository", s.Repo, "path", s.Path, "language", s.Language)
	if s.Regexp {
		query.Set("regexp", "true")
	}
	raw, err := c.list(listing{path: "/api/v1/code", query: query, items: "hits", most: 50, want: s.Limit})
	if err != nil {
		return err
	}
	return show(c, raw, func(p *render.Page, r *render.CodeHits) {
		p.Code(r.Hits)
		switch {
		case len(r.Hits) == 0:
			c.note("no code was found for %q", s.Query)
		case r.NextCursor != "":
			c.note("there is more: raise --limit")
		}
		if r.Unsearched > 0 {
			c.note("%d sources are not searched, or not wholly: fairlead catalog sources lists all", r.Unsearched)
		}
	})
}
