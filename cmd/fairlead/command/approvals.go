package command

import (
	"context"
	"encoding/json"
	"net/url"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/cmd/fairlead/client"
	"github.com/fairlead-dev/fairlead/cmd/fairlead/render"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// approvalsCmd groups what is about acts that wait for approval.
type approvalsCmd struct {
	List  approvalsListCmd  `cmd:"" help:"Requests for approval that you may see, newest first."`
	Show  approvalsShowCmd  `cmd:"" help:"One request, with the whole plan."`
	Grant approvalsGrantCmd `cmd:"" help:"Let an act be done, once, by who asked."`
	Deny  approvalsDenyCmd  `cmd:"" help:"Keep an act from being done."`
}

type approvalsListCmd struct {
	State   string `help:"Only requests that are pending (the default), granted, denied, used or expired; all for all." default:"pending" placeholder:"STATE"`
	Mine    bool   `help:"Only requests that you may decide on."`
	Subject string `help:"Only requests by this person or machine." placeholder:"REF"`
	Agent   string `help:"Only requests by this agent." placeholder:"NAME"`
	Action  string `help:"Only this action, for example catalog.refresh." placeholder:"ACTION"`
	Target  string `help:"Only acts on this." placeholder:"NAME"`
	Limit   int    `help:"Show at most N requests, 50 if left out." default:"50" placeholder:"N"`
}

// Help shows examples.
func (approvalsListCmd) Help() string {
	return `Examples:

  fairlead approvals list --mine
  fairlead approvals list --state all --agent claude-code
  fairlead approvals list --state granted -o json`
}

// Run lists requests.
func (l *approvalsListCmd) Run(c *console) error {
	if err := positive("--limit", l.Limit); err != nil {
		return err
	}
	state, mine := l.State, ""
	if state == "all" {
		state = ""
	}
	if l.Mine {
		mine = "true"
	}
	query := values("state", state, "mine", mine, "subject", l.Subject, "agent", l.Agent, "action", l.Action, "target", l.Target)
	raw, err := c.list(listing{path: "/api/v1/approvals", query: query, items: "items", most: 500, want: l.Limit})
	if err != nil {
		return err
	}
	return show(c, raw, func(p *render.Page, page *access.ApprovalPage) {
		if len(page.Items) == 0 {
			c.note("no requests for approval match")
			return
		}
		p.Approvals(page.Items)
		if page.NextCursor != "" {
			c.note("there are older requests: ask for more with --limit")
		}
	})
}

type approvalsShowCmd struct {
	ID string `arg:"" help:"The request, as the list or the refusal names it."`
}

// Help shows examples.
func (approvalsShowCmd) Help() string {
	return `Examples:

  fairlead approvals show 019ad0f1-6f0e-7c3a-9b52-2f7e5c1d8a40
  fairlead approvals show 019ad0f1-6f0e-7c3a-9b52-2f7e5c1d8a40 -o json`
}

// Run shows a request.
func (s *approvalsShowCmd) Run(c *console) error {
	raw, err := c.ask(func(ctx context.Context, cl *client.Client) (json.RawMessage, error) {
		path, err := approvalPath(s.ID, "")
		if err != nil {
			return nil, err
		}
		return cl.Get(ctx, path, nil)
	})
	if err != nil {
		return err
	}
	return show(c, raw, func(p *render.Page, a *access.Approval) { p.Approval(a) })
}

type approvalsGrantCmd struct {
	ID     string `arg:"" help:"The request."`
	Reason string `help:"Why, for the record and for who asked." placeholder:"TEXT"`
}

// Help shows examples.
func (approvalsGrantCmd) Help() string {
	return `Look at the plan first: fairlead approvals show ID.

Examples:

  fairlead approvals grant 019ad0f1-6f0e-7c3a-9b52-2f7e5c1d8a40
  fairlead approvals grant 019ad0f1-6f0e-7c3a-9b52-2f7e5c1d8a40 --reason "as agreed"`
}

// Run grants a request.
func (g *approvalsGrantCmd) Run(c *console) error { return c.decide(g.ID, "grant", g.Reason) }

type approvalsDenyCmd struct {
	ID     string `arg:"" help:"The request."`
	Reason string `required:"" help:"Why, for the record and for who asked." placeholder:"TEXT"`
}

// Help shows examples.
func (approvalsDenyCmd) Help() string {
	return `Examples:

  fairlead approvals deny 019ad0f1-6f0e-7c3a-9b52-2f7e5c1d8a40 --reason "not before the release"`
}

// Run denies a request.
func (d *approvalsDenyCmd) Run(c *console) error { return c.decide(d.ID, "deny", d.Reason) }

// decide grants or denies a request.
func (c *console) decide(id, how, reason string) error {
	raw, err := c.ask(func(ctx context.Context, cl *client.Client) (json.RawMessage, error) {
		path, err := approvalPath(id, "/"+how)
		if err != nil {
			return nil, err
		}
		body := map[string]string{}
		if reason != "" {
			body["reason"] = reason
		}
		return cl.Post(ctx, path, body)
	})
	if err != nil {
		return err
	}
	return show(c, raw, func(p *render.Page, a *access.Approval) {
		p.Line(string(a.State) + ": " + render.Clean(a.Summary) + " for " + render.Clean(render.Requester(a)) + ", until " + p.Moment(a.ExpiresAt))
	})
}

// approvalPath is the path of a request, which must be named.
func approvalPath(id, below string) (string, error) {
	if id == "" || id == "." || id == ".." {
		return "", fault.New(fault.Invalid, "%q is no id of a request", id).WithFix("See `fairlead approvals list`.")
	}
	return "/api/v1/approvals/" + url.PathEscape(id) + below, nil
}
