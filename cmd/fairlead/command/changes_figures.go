package command

import (
	"context"
	"encoding/json"

	"github.com/fairlead-dev/fairlead/cmd/fairlead/client"
	"github.com/fairlead-dev/fairlead/cmd/fairlead/render"
)

// usageFlags report what making a proposal took.
type usageFlags struct {
	Tokens int64   `help:"How many tokens of models making it took so far, for figures." placeholder:"N"`
	Cost   float64 `help:"What making it cost so far, in your organisation's money." placeholder:"X"`
}

// report is the report, nil where there is nothing to tell.
func (u *usageFlags) report() map[string]any {
	if u.Tokens == 0 && u.Cost == 0 {
		return nil
	}
	return map[string]any{"tokens": u.Tokens, "cost": u.Cost}
}

type changeFiguresCmd struct {
	Period      string `help:"How far to look back, 720h if left out." placeholder:"168h"`
	Service     string `help:"Only this component." placeholder:"REF" predictor:"ref"`
	Environment string `help:"Only this environment." placeholder:"NAME"`
}

// Help shows examples.
func (changeFiguresCmd) Help() string {
	return `DORA's keys (deployment frequency, change lead time, change failure rate, recovery
time) and rework, by team, service and agent, and of agents how long it took to a
pull request that lacks reviews at most, how often they were refused, and what an
accepted change cost where that was reported.

Examples:

  fairlead change figures --environment production
  fairlead change figures --period 168h --service checkout -o json`
}

// Run shows the figures.
func (f *changeFiguresCmd) Run(c *console) error {
	raw, err := c.ask(func(ctx context.Context, cl *client.Client) (json.RawMessage, error) {
		return cl.Get(ctx, "/api/v1/changes/figures", values("period", f.Period, "service", f.Service, "environment", f.Environment))
	})
	if err != nil {
		return err
	}
	return show(c, raw, func(p *render.Page, it *render.ChangeFigures) { p.ChangeFigures(it) })
}
