package command

import (
	"context"
	"encoding/json"

	"github.com/fairlead-dev/fairlead/cmd/fairlead/client"
	"github.com/fairlead-dev/fairlead/cmd/fairlead/render"
)

type changeCICmd struct {
	Service  string `arg:"" help:"The service, by name or reference." predictor:"ref"`
	Revision string `arg:"" optional:"" help:"A commit, a branch or a tag of its repository; the head of the default branch if left out."`
}

// Help shows examples.
func (changeCICmd) Help() string {
	return `Exits with 1 unless every check passed.

Examples:

  fairlead change ci checkout
  fairlead change ci checkout $(git rev-parse HEAD)
  fairlead change ci checkout release/2 -o json`
}

// Run tells how the checks of a commit went; the answer is no unless they
// passed.
func (h *changeCICmd) Run(c *console) error {
	raw, err := c.ask(func(ctx context.Context, cl *client.Client) (json.RawMessage, error) {
		return cl.Get(ctx, "/api/v1/checks", values("service", h.Service, "revision", h.Revision))
	})
	if err != nil {
		return err
	}
	state := ""
	err = show(c, raw, func(p *render.Page, it *render.Checks) { p.Checks(it) })
	if err == nil {
		var it render.Checks
		err = json.Unmarshal(raw, &it)
		state = it.State
	}
	if err == nil && state != "passed" {
		return errNo
	}
	return err
}
