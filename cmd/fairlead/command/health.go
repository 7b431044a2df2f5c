package command

import (
	"context"
	"encoding/json"

	"github.com/fairlead-dev/fairlead/cmd/fairlead/client"
	"github.com/fairlead-dev/fairlead/cmd/fairlead/render"
)

type healthCmd struct {
	Service     string `arg:"" help:"The service, by name or reference." predictor:"ref"`
	Environment string `arg:"" help:"One of its environments, as its catalog entry calls it."`
	Revision    string `help:"The commit that should be live, of the deploy repository or of an image's source; anything else is unknown." placeholder:"COMMIT"`
}

// Help shows examples.
func (healthCmd) Help() string {
	return `Exits with 1 unless it is healthy.

Examples:

  fairlead health checkout production
  fairlead health checkout staging --revision $(git -C ../deploy rev-parse HEAD)
  fairlead health checkout production -o json`
}

// Run tells how a deployment is doing; the answer is no unless that is well.
func (h *healthCmd) Run(c *console) error {
	raw, err := c.ask(func(ctx context.Context, cl *client.Client) (json.RawMessage, error) {
		return cl.Get(ctx, "/api/v1/deployments/health", values("service", h.Service, "environment", h.Environment, "revision", h.Revision))
	})
	if err != nil {
		return err
	}
	verdict := ""
	err = show(c, raw, func(p *render.Page, it *render.Health) { p.Health(it) })
	if err == nil {
		var it render.Health
		if err = json.Unmarshal(raw, &it); err == nil {
			verdict = it.Verdict
		}
	}
	if err == nil && verdict != "healthy" {
		return errNo
	}
	return err
}
