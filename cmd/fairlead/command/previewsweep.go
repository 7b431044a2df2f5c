package command

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/fairlead-dev/fairlead/cmd/fairlead/client"
	"github.com/fairlead-dev/fairlead/cmd/fairlead/render"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

type previewSweepCmd struct {
	IDs      []string `arg:"" optional:"" name:"id" help:"Only what is left of these previews."`
	Deployer string   `help:"Only what this deployer finds." placeholder:"NAME"`
	Yes      bool     `help:"Remove what is shown; without it nothing is changed."`
}

// Help shows examples.
func (previewSweepCmd) Help() string {
	return `Looks for everything that deployers find under Fairlead's marks and that no
preview accounts for. Exits with 1 where a deployer could not be looked at, or
something did not go away.

Examples:

  fairlead previews sweep
  fairlead previews sweep --deployer local --yes
  fairlead previews sweep checkout-a1b2c3d4e5f6 --yes`
}

// straysFound is what the server answers.
type straysFound struct {
	Items   []render.Stray `json:"items"`
	Unswept []trouble      `json:"unswept"`
}

type trouble struct {
	Deployer string `json:"deployer"`
	Reason   string `json:"reason"`
}

// swept is what the server answers when it has removed something.
type swept struct {
	Removed   []string       `json:"removed"`
	Remaining []render.Stray `json:"remaining"`
	Skipped   []string       `json:"skipped"`
	Failed    []trouble      `json:"failed"`
}

// Run shows strays, and removes them if it is told to.
func (s *previewSweepCmd) Run(c *console) error {
	raw, err := c.ask(func(ctx context.Context, cl *client.Client) (json.RawMessage, error) {
		return cl.Get(ctx, previewsPath+"/strays", values("deployer", s.Deployer))
	})
	if err != nil {
		return err
	}
	var found straysFound
	if err := json.Unmarshal(raw, &found); err != nil {
		return fault.New(fault.Unavailable, "the server's answer is not of the expected form").Because(err)
	}
	if len(s.IDs) > 0 {
		found.Items = slices.DeleteFunc(found.Items, func(it render.Stray) bool { return !slices.Contains(s.IDs, it.ID) })
	}
	for _, u := range found.Unswept {
		c.note("it is not known what there is at %s: %s", render.Clean(u.Deployer), render.Clean(u.Reason))
	}
	if s.Yes && len(found.Items) > 0 {
		return s.remove(c, found)
	}
	if raw, err = json.Marshal(found); err != nil {
		return err
	}
	err = show(c, raw, func(p *render.Page, _ *straysFound) {
		if len(found.Items) == 0 {
			p.Line("nothing is left of previews that are not known")
			return
		}
		p.Strays(found.Items, time.Now())
		c.note("nothing was removed: with --yes it is")
	})
	if err == nil && len(found.Unswept) > 0 {
		return errNo
	}
	return err
}

// sweepBatch is how many strays the server removes in one go.
const sweepBatch = 200

// remove removes what was found, and goes on until it is gone or the time is
// up: some things take a while to go.
func (s *previewSweepCmd) remove(c *console, found straysFound) error {
	var ids []string
	for _, it := range found.Items {
		ids = append(ids, it.ID)
	}
	slices.Sort(ids)
	all := swept{Removed: []string{}, Remaining: []render.Stray{}, Skipped: []string{}, Failed: []trouble{}}
	_, err := c.ask(func(ctx context.Context, cl *client.Client) (json.RawMessage, error) {
		for batch := range slices.Chunk(slices.Compact(ids), sweepBatch) {
			if err := s.batch(ctx, cl, batch, &all); err != nil {
				return nil, err
			}
		}
		return nil, nil
	})
	if err != nil && (len(all.Removed) == 0 || !errors.Is(err, context.DeadlineExceeded)) {
		return err
	}
	raw, err := json.Marshal(all)
	if err != nil {
		return err
	}
	err = show(c, raw, func(p *render.Page, _ *swept) {
		for _, id := range all.Removed {
			p.Line("removed ", render.Clean(id))
		}
		p.Strays(all.Remaining, time.Now())
	})
	for _, f := range all.Failed {
		c.note("%s: %s", render.Clean(f.Deployer), render.Clean(f.Reason))
	}
	if err == nil && (len(all.Remaining) > 0 || len(all.Failed) > 0 || len(found.Unswept) > 0) {
		return errNo
	}
	return err
}

func (s *previewSweepCmd) batch(ctx context.Context, cl *client.Client, ids []string, all *swept) error {
	for {
		body := map[string]any{"ids": ids}
		if s.Deployer != "" {
			body["deployer"] = s.Deployer
		}
		raw, err := cl.Post(ctx, previewsPath+"/sweep", body)
		if err != nil {
			return err
		}
		var done swept
		if err := json.Unmarshal(raw, &done); err != nil {
			return fault.New(fault.Unavailable, "the server's answer is not of the expected form").Because(err)
		}
		all.Removed, all.Skipped = append(all.Removed, done.Removed...), append(all.Skipped, done.Skipped...)
		ids = ids[:0:0]
		for _, it := range done.Remaining {
			ids = append(ids, it.ID)
		}
		last := len(ids) == 0 || len(done.Failed) > 0
		if !last {
			select {
			case <-ctx.Done():
				last = true
			case <-time.After(time.Second):
			}
		}
		if last {
			all.Remaining, all.Failed = append(all.Remaining, done.Remaining...), append(all.Failed, done.Failed...)
			return nil
		}
	}
}

type previewUsageCmd struct {
	Period  time.Duration `help:"How far to look back, 168h (seven days) if left out, at most 720h." default:"168h" placeholder:"DURATION"`
	Service string        `help:"Only of this component." placeholder:"REF" predictor:"ref"`
	By      string        `help:"Add up by team, person or agent, or all of them (the default)." enum:"team,person,agent,all" default:"all" placeholder:"WHAT" predictor:"usageby"`
}

// Help shows examples.
func (previewUsageCmd) Help() string {
	return `Hours count from when there was room for a preview until it was gone. Costs are
there where previews.cost of the server's configuration has prices.

Examples:

  fairlead previews usage
  fairlead previews usage --period 24h --by team
  fairlead previews usage --service checkout -o json`
}

// Run reports what previews took.
func (u *previewUsageCmd) Run(c *console) error {
	raw, err := c.ask(func(ctx context.Context, cl *client.Client) (json.RawMessage, error) {
		return cl.Get(ctx, previewsPath+"/usage", values("period", u.Period.String(), "service", u.Service))
	})
	if err != nil {
		return err
	}
	return show(c, raw, func(p *render.Page, it *render.Usage) { p.Usage(it, u.By) })
}
