package command

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/fairlead-dev/fairlead/cmd/fairlead/client"
	"github.com/fairlead-dev/fairlead/cmd/fairlead/render"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// previewsCmd groups what is about previews.
type previewsCmd struct {
	List      previewListCmd      `cmd:"" help:"The previews there are, newest first."`
	Show      previewShowCmd      `cmd:"" help:"One preview and what happened to it."`
	Create    previewCreateCmd    `cmd:"" help:"Have a service run at a revision for a while."`
	Revisions previewRevisionsCmd `cmd:"" help:"The branches, tags and last commits that a preview of a service can be made of."`
	Extend    previewExtendCmd    `cmd:"" help:"Have a preview live longer."`
	Delete    previewDeleteCmd    `cmd:"" help:"Have a preview removed now."`
	Logs      previewLogsCmd      `cmd:"" help:"The last lines that a preview wrote."`
	Top       previewTopCmd       `cmd:"" help:"The previews there are and what they take, looked at again and again."`
	Usage     previewUsageCmd     `cmd:"" help:"What previews took and cost, by team, person and agent."`
	Sweep     previewSweepCmd     `cmd:"" help:"Find, and with --yes remove, what is left of previews that are not known any more."`
}

const previewsPath = "/api/v1/previews"

func previewPath(id string) string { return previewsPath + "/" + url.PathEscape(id) }

type previewListCmd struct {
	Service string `help:"Only of this component." placeholder:"REF" predictor:"ref"`
	Person  string `help:"Only of this person." placeholder:"REF"`
	Agent   string `help:"Only of this agent." placeholder:"NAME"`
	Phase   string `help:"Only in this phase: pending, creating, ready, degraded, deleting, gone or failed." placeholder:"PHASE" predictor:"phase"`
	All     bool   `help:"Those that are gone, too."`
	Limit   int    `help:"Show at most N previews, 50 if left out." default:"50" placeholder:"N"`
}

// Help shows examples.
func (previewListCmd) Help() string {
	return `Examples:

  fairlead previews list
  fairlead previews list --service checkout --all
  fairlead previews list --phase deleting -o json`
}

// Run lists previews.
func (l *previewListCmd) Run(c *console) error {
	if err := positive("--limit", l.Limit); err != nil {
		return err
	}
	query := values("service", l.Service, "person", l.Person, "agent", l.Agent, "phase", l.Phase)
	if l.All {
		query.Set("gone", "true")
	}
	raw, err := c.list(listing{path: previewsPath, query: query, items: "items", most: 200, want: l.Limit})
	if err != nil {
		return err
	}
	return show(c, raw, func(p *render.Page, page *struct {
		Items []render.Preview `json:"items"`
	}) {
		if len(page.Items) == 0 {
			c.note("there are no previews that match")
			return
		}
		p.Previews(page.Items)
	})
}

type previewShowCmd struct {
	ID string `arg:"" help:"The preview." predictor:"preview"`
}

// Help shows examples.
func (previewShowCmd) Help() string {
	return `Examples:

  fairlead previews show checkout-a1b2c3d4e5f6`
}

// Run shows a preview.
func (s *previewShowCmd) Run(c *console) error {
	raw, err := c.ask(func(ctx context.Context, cl *client.Client) (json.RawMessage, error) {
		return cl.Get(ctx, previewPath(s.ID), nil)
	})
	if err != nil {
		return err
	}
	return show(c, raw, func(p *render.Page, it *render.Preview) { p.Preview(it) })
}

type previewCreateCmd struct {
	Service  string `arg:"" help:"The component: [kind:][namespace/]name." predictor:"ref"`
	Revision string `arg:"" optional:"" help:"Branch, tag or commit; what the catalog reads if left out." predictor:"revision"`
	TTL      string `name:"ttl" help:"How long it lives, at least 30s." placeholder:"DURATION"`
	Key      string `help:"Idempotency key: with the same one the same preview is given." placeholder:"TEXT"`
	Wait     bool   `help:"Wait until it is ready, which is the default." default:"true" negatable:""`
}

// Help shows examples.
func (previewCreateCmd) Help() string {
	return `Exits with 1 if the preview fails. --timeout bounds the waiting.

Examples:

  fairlead previews create checkout
  fairlead previews create checkout feature/new-cart --ttl 30m
  fairlead previews create checkout 1a2b3c4 --no-wait -o json`
}

// Run creates a preview and tells of its phases until it is ready.
func (r *previewCreateCmd) Run(c *console) error {
	key := r.Key
	if key == "" {
		key = uuid.NewString() // so that a request that is sent again makes no second one
	}
	body := map[string]string{"service": r.Service, "key": key}
	if r.Revision != "" {
		body["revision"] = r.Revision
	}
	if r.TTL != "" {
		body["ttl"] = r.TTL
	}
	raw, err := c.ask(func(ctx context.Context, cl *client.Client) (json.RawMessage, error) {
		raw, err := cl.Post(ctx, previewsPath, body)
		if err != nil || !r.Wait {
			return raw, err
		}
		return followPreview(ctx, c, cl, raw)
	})
	if err != nil {
		return err
	}
	var last render.Preview
	err = show(c, raw, func(p *render.Page, it *render.Preview) { last = *it; p.Preview(it) })
	if err == nil && last.Phase == "" {
		err = json.Unmarshal(raw, &last)
	}
	if err == nil && r.Wait && last.Phase != "ready" {
		return errNo
	}
	return err
}

// previewPause is how long to wait before a preview is asked for again.
const previewPause = 300 * time.Millisecond

// followPreview tells of a preview's phases until it is ready or will not be.
func followPreview(ctx context.Context, c *console, cl *client.Client, raw json.RawMessage) (json.RawMessage, error) {
	told := ""
	for {
		var p render.Preview
		if err := json.Unmarshal(raw, &p); err != nil {
			return nil, fault.New(fault.Unavailable, "the server's answer is not of the expected form").Because(err)
		}
		if text := strings.TrimSuffix(p.ID+" is "+p.Phase+": "+p.Reason, ": "); text != told {
			told = text
			c.note("%s", render.Clean(text))
		}
		if p.Phase != "pending" && p.Phase != "creating" {
			return raw, nil
		}
		select {
		case <-ctx.Done():
			c.note("it goes on; ask for it with: fairlead previews show %s", render.Clean(p.ID))
			return nil, context.Cause(ctx)
		case <-time.After(previewPause):
		}
		next, err := cl.Get(ctx, previewPath(p.ID), nil)
		switch {
		case err == nil:
			raw = next
		case !errors.Is(err, context.DeadlineExceeded) && fault.CodeOf(err) != fault.Unavailable:
			return nil, err
		}
	}
}

type previewExtendCmd struct {
	ID string `arg:"" help:"The preview." predictor:"preview"`
	By string `arg:"" help:"How much longer it is to live, for example 30m."`
}

// Help shows examples.
func (previewExtendCmd) Help() string {
	return `Examples:

  fairlead previews extend checkout-a1b2c3d4e5f6 1h`
}

// Run puts off a preview's end.
func (e *previewExtendCmd) Run(c *console) error {
	raw, err := c.ask(func(ctx context.Context, cl *client.Client) (json.RawMessage, error) {
		return cl.Post(ctx, previewPath(e.ID)+"/extend", map[string]string{"ttl": e.By})
	})
	if err != nil {
		return err
	}
	return show(c, raw, func(p *render.Page, it *render.Preview) {
		p.Line(render.Clean(it.ID) + " ends at " + render.Clean(it.ExpiresAt))
	})
}

type previewDeleteCmd struct {
	ID    string `arg:"" help:"The preview." predictor:"preview"`
	Force bool   `help:"Take away what keeps it from going, once its removal is stuck; for people alone."`
	Why   string `help:"Why it may be forced, for those who ask later." placeholder:"TEXT"`
}

// Help shows examples.
func (previewDeleteCmd) Help() string {
	return `Examples:

  fairlead previews delete checkout-a1b2c3d4e5f6
  fairlead previews delete checkout-a1b2c3d4e5f6 --force --why "the operator of that finalizer was uninstalled"`
}

// Run removes a preview.
func (d *previewDeleteCmd) Run(c *console) error {
	raw, err := c.ask(func(ctx context.Context, cl *client.Client) (json.RawMessage, error) {
		if d.Force {
			return cl.Post(ctx, previewPath(d.ID)+"/force-removal", map[string]any{"why": d.Why})
		}
		return cl.Delete(ctx, previewPath(d.ID))
	})
	if err != nil {
		return err
	}
	return show(c, raw, func(p *render.Page, it *render.Preview) {
		p.Line(render.Clean(it.ID) + " is being removed")
	})
}

type previewLogsCmd struct {
	ID   string `arg:"" help:"The preview." predictor:"preview"`
	Tail int    `help:"Show the last N lines, 1 to 1000, 100 if left out." default:"100" placeholder:"N"`
}

// Help shows examples.
func (previewLogsCmd) Help() string {
	return `Examples:

  fairlead previews logs checkout-a1b2c3d4e5f6 --tail 20`
}

// Run prints the log.
func (l *previewLogsCmd) Run(c *console) error {
	if err := positive("--tail", l.Tail); err != nil {
		return err
	}
	raw, err := c.ask(func(ctx context.Context, cl *client.Client) (json.RawMessage, error) {
		return cl.Get(ctx, previewPath(l.ID)+"/logs", values("tail", number(l.Tail)))
	})
	if err != nil {
		return err
	}
	return show(c, raw, func(p *render.Page, logs *struct {
		Lines []struct {
			At   time.Time `json:"at"`
			Text string    `json:"text"`
		} `json:"lines"`
	}) {
		for _, line := range logs.Lines {
			p.Line(p.Dim(line.At.UTC().Format(time.RFC3339)), " ", render.Clean(line.Text))
		}
	})
}
