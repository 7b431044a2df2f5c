package command

import (
	"encoding/json"

	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/cmd/fairlead/render"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

type coverageCmd struct {
	Service   string `help:"Only this service." placeholder:"NAME" predictor:"ref"`
	Owner     string `help:"Only services of this owner." placeholder:"REF"`
	Type      string `help:"Only components of this type, for example service." placeholder:"TYPE"`
	Missing   string `help:"List only services that lack this: owner, build, test, slo, runbook, oncall, deploy, or any." placeholder:"THING" predictor:"thing"`
	Add       bool   `help:"Show which lines to add to which files. Their values are examples."`
	FailUnder int    `help:"Exit with 1 if less than N in a hundred things are known." placeholder:"N"`
	Limit     int    `help:"List at most N services; 0, the default, lists all." placeholder:"N"`
}

// Help shows examples.
func (coverageCmd) Help() string {
	return `Examples:

  fairlead catalog coverage
  fairlead catalog coverage --owner group:default/payments --missing any --add
  fairlead catalog coverage --missing runbook -o json
  fairlead catalog coverage --type service --fail-under 80`
}

// Run reports what is known of services.
func (v *coverageCmd) Run(c *console) error {
	if v.Limit < 0 || v.FailUnder < 0 || v.FailUnder > 100 {
		return fault.New(fault.Invalid, "--limit is below 0, or --fail-under is not between 0 and 100").WithFix("Write for example --limit 50 --fail-under 80.")
	}
	query := values("service", v.Service, "owner", v.Owner, "type", v.Type, "missing", v.Missing)
	raw, err := c.list(listing{path: "/api/v1/coverage", query: query, items: "items", most: 500, want: v.Limit})
	if err != nil {
		return err
	}
	err = show(c, raw, func(p *render.Page, all *catalog.Coverage) {
		p.Coverage(all)
		switch {
		case v.Add:
			p.Additions(all.Items)
		case all.All.Missing > 0:
			c.note("--add shows which lines to add to which files")
		}
		c.more(len(all.Items), all.Total)
	})
	if err != nil {
		return err
	}
	return v.judge(c, raw)
}

// judge tells whether enough is known.
func (v *coverageCmd) judge(c *console, raw json.RawMessage) error {
	var all catalog.Coverage
	if err := json.Unmarshal(raw, &all); err != nil {
		return fault.New(fault.Unavailable, "the server's answer is not of the expected form").Because(err)
	}
	if all.All.Percent >= v.FailUnder {
		return nil
	}
	c.note("%d %% of what should be known is known, less than %d %%", all.All.Percent, v.FailUnder)
	return errNo
}
