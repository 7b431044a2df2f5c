package command

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/fairlead-dev/fairlead/cmd/fairlead/client"
	"github.com/fairlead-dev/fairlead/cmd/fairlead/render"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

type changeShowCmd struct {
	ID    string        `arg:"" help:"The proposal."`
	Watch bool          `help:"Follow it until it has ended: merged, live, healthy, and so for a while."`
	For   time.Duration `help:"With --watch, follow it no longer than that." placeholder:"DURATION"`
}

// Help shows examples.
func (changeShowCmd) Help() string {
	return `With --watch it tells how the proposal comes along, and exits with 1 if it ends
badly: closed, degraded, rolled back, or nobody knows.

Examples:

  fairlead change show answer-how-is-checkout-restarted-a1b2c3d4e5f6
  fairlead change show change-component-default-checkout-a1b2c3d4e5f6 --watch
  fairlead change show change-component-default-checkout-a1b2c3d4e5f6 --watch --for 30m -o json`
}

// Run shows a proposal.
func (s *changeShowCmd) Run(c *console) error {
	if s.For < 0 || s.For > 0 && !s.Watch {
		return fault.New(fault.Invalid, "--for bounds how long --watch follows").WithFix("Write for example --watch --for 30m.")
	}
	raw, err := c.ask(s.ask)
	ended := true
	if err == nil && s.Watch {
		raw, ended, err = s.follow(c, raw)
	}
	if err != nil {
		return err
	}
	if err := show(c, raw, func(p *render.Page, it *render.Proposal) { p.Proposal(it) }); err != nil || !s.Watch {
		return err
	}
	var it render.Proposal
	if err := json.Unmarshal(raw, &it); err != nil {
		return err
	}
	if !ended {
		c.note("it has not ended; follow it with: fairlead change show %s --watch", render.Clean(s.ID))
	}
	if slices.Contains([]string{"healthy", "merged"}, it.Follow.Outcome) || it.State == "unchanged" {
		return nil
	}
	return errNo
}

func (s *changeShowCmd) ask(ctx context.Context, cl *client.Client) (json.RawMessage, error) {
	return cl.Get(ctx, proposalsPath+"/"+url.PathEscape(s.ID), nil)
}

// followPause is how long to wait before a proposal is asked for again.
const followPause = 2 * time.Second

// follow tells how a proposal comes along until it has ended.
func (s *changeShowCmd) follow(c *console, raw json.RawMessage) (_ json.RawMessage, ended bool, err error) {
	ctx := c.ctx
	if s.For > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, s.For)
		defer cancel()
	}
	told := ""
	tell := func(text string) {
		if text != told {
			told = text
			c.note("%s %s", time.Now().UTC().Format(time.TimeOnly), render.Clean(text))
		}
	}
	for {
		var it render.Proposal
		if err := json.Unmarshal(raw, &it); err != nil {
			return nil, false, fault.New(fault.Unavailable, "the server's answer is not of the expected form").Because(err)
		}
		tell(progress(&it))
		if over(&it) {
			return raw, true, nil
		}
		select {
		case <-c.ctx.Done():
			return nil, false, context.Cause(c.ctx)
		case <-ctx.Done():
			return raw, false, nil
		case <-time.After(followPause):
		}
		next, err := c.ask(s.ask)
		switch {
		case err == nil:
			raw = next
		case c.ctx.Err() != nil:
			return nil, false, err
		case errors.Is(err, context.DeadlineExceeded), fault.CodeOf(err) == fault.Unavailable:
			tell("the server does not answer; trying again")
		default:
			return nil, false, err
		}
	}
}

// over tells whether nothing more is to come of a proposal.
func over(it *render.Proposal) bool {
	return it.Follow.Outcome != "" || slices.Contains([]string{"closed", "planned", "unchanged", "pushed"}, it.State)
}

// progress says in a line how far a proposal has come.
func progress(it *render.Proposal) string {
	f := &it.Follow
	words := []string{it.State}
	switch {
	case f.Outcome != "":
		words = append(words, "ended: "+f.Outcome)
	case f.HealthyAt != "":
		words = append(words, "healthy")
	case f.DegradedAt != "":
		words = append(words, "degraded")
	case f.Synced != "":
		words = append(words, "synced")
	}
	for _, b := range it.Blocking {
		words = append(words, b.What+": "+b.Detail)
	}
	if f.Waits != "" {
		words = append(words, "waits for "+f.Waits)
	} else if it.State == "pushed" {
		words = append(words, it.Next)
	}
	return strings.Join(words, "; ")
}
