package command

import (
	"context"
	"encoding/json"
	"net/url"

	"github.com/google/uuid"

	"github.com/fairlead-dev/fairlead/catalog/entity"
	"github.com/fairlead-dev/fairlead/cmd/fairlead/client"
	"github.com/fairlead-dev/fairlead/cmd/fairlead/render"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// credsCmd groups what is about credentials on loan.
type credsCmd struct {
	Request credsRequestCmd `cmd:"" help:"Have a credential lent, to be used later by creds exec."`
	Exec    credsExecCmd    `cmd:"" help:"Run a command with a credential in its environment, and give that back when it ends."`
	List    credsListCmd    `cmd:"" help:"Who holds what, until when and for which task, newest first."`
	Show    credsShowCmd    `cmd:"" help:"One lease, and what became of it."`
	Renew   credsRenewCmd   `cmd:"" help:"Have a credential lent for longer."`
	Revoke  credsRevokeCmd  `cmd:"" help:"End a lease, or all of an agent, a person or a service, now."`
}

const credsPath = "/api/v1/credentials" //nolint:gosec // where they are, not what they are

func credPath(lease string) string { return credsPath + "/" + url.PathEscape(lease) }

// order says what is to be lent.
type order struct {
	TTL         string `name:"ttl" help:"How long it is wanted for, at least 30s; it is lent for less where something bounds it." placeholder:"DURATION"`
	Environment string `help:"The environment that it is for, where it is for several." placeholder:"NAME"`
	Purpose     string `help:"What it is for, in a word: policy may ask for one." placeholder:"WORD"`
	Task        string `help:"The task that it is for, for who looks at the leases." placeholder:"TEXT"`
}

// body is the order as the server takes it.
func (o *order) body(service, name string) map[string]any {
	body := map[string]any{"service": service, "name": name}
	for key, v := range map[string]string{"ttl": o.TTL, "environment": o.Environment, "purpose": o.Purpose, "task": o.Task} {
		if v != "" {
			body[key] = v
		}
	}
	return body
}

type credsRequestCmd struct {
	Service string `arg:"" help:"What lends it: a bare name or a reference." predictor:"ref"`
	Name    string `arg:"" help:"The credential's name in the service's catalog file."`
	order
	BoundTo string `help:"What it ends with: preview:ID, proposal:ID or job, the job of CI that asks." placeholder:"WHAT"`
	New     bool   `help:"Another one, though the same is on loan to you already."`
	Key     string `help:"Idempotency key: with the same one the same lease is given." placeholder:"TEXT"`
}

// Help shows examples.
func (credsRequestCmd) Help() string {
	return `Prints the lease, which gives access to nothing. It is used by

  fairlead creds exec --lease LEASE -- CMD

Examples:

  fairlead creds request checkout db-readonly
  fairlead creds request checkout db-readonly --ttl 10m --task "count orders" --bound-to preview:checkout-a1b2c3d4e5f6
  fairlead creds request checkout db-readonly --environment staging -o json`
}

// Run requests a credential.
func (r *credsRequestCmd) Run(c *console) error {
	body := r.body(r.Service, r.Name)
	if r.BoundTo != "" {
		body["boundTo"] = r.BoundTo
	}
	if r.New {
		body["new"] = true
	}
	if body["key"] = r.Key; r.Key == "" {
		delete(body, "key")
		if r.New {
			body["key"] = uuid.NewString() // so that a request that is sent again makes no second one
		}
	}
	raw, err := c.ask(func(ctx context.Context, cl *client.Client) (json.RawMessage, error) {
		return cl.Post(ctx, credsPath, body)
	})
	if err != nil {
		return err
	}
	handle, err := handleOf(raw)
	if err != nil {
		return err
	}
	return show(c, handle, func(p *render.Page, it *render.Lease) {
		p.Lease(it)
		if it.Wrapping == "opened" {
			c.note("it is in use already; --new lends another")
			return
		}
		c.note("use it with: fairlead creds exec --lease %s -- CMD", render.Clean(it.Lease))
	})
}

// handleOf is a loan without what opens its wrapping, which nobody is shown.
func handleOf(raw json.RawMessage) (json.RawMessage, error) {
	defer clear(raw)
	page, err := pageOf(raw)
	if err != nil {
		return nil, err
	}
	handle := &entity.Object{}
	for key, v := range page.All() {
		if key != "wrap" {
			handle.Set(key, v)
		}
	}
	return handle.MarshalJSON()
}

type credsListCmd struct {
	Service string `help:"Only of this service." placeholder:"REF" predictor:"ref"`
	Person  string `help:"Only those that this person holds." placeholder:"REF"`
	Agent   string `help:"Only those that this agent asked for." placeholder:"NAME"`
	Name    string `help:"Only of this credential." placeholder:"NAME"`
	State   string `help:"Only in this state: issuing, live, revoking, revoked, expired or failed." placeholder:"STATE" predictor:"leasestate"`
	All     bool   `help:"Those that have ended, too."`
	Limit   int    `help:"Show at most N leases, 50 if left out." default:"50" placeholder:"N"`
}

// Help shows examples.
func (credsListCmd) Help() string {
	return `Examples:

  fairlead creds list
  fairlead creds list --agent claude --all
  fairlead creds list --service checkout --state revoking -o json`
}

// Run lists leases.
func (l *credsListCmd) Run(c *console) error {
	if err := positive("--limit", l.Limit); err != nil {
		return err
	}
	state := l.State
	if l.All && state == "" {
		state = "all"
	}
	query := values("service", l.Service, "person", l.Person, "agent", l.Agent, "name", l.Name, "state", state)
	raw, err := c.list(listing{path: credsPath, query: query, items: "items", most: 200, want: l.Limit})
	if err != nil {
		return err
	}
	return show(c, raw, func(p *render.Page, page *struct {
		Items      []render.Lease `json:"items"`
		NextCursor string         `json:"nextCursor"`
	}) {
		if len(page.Items) == 0 {
			c.note("no credentials on loan match")
			return
		}
		p.Leases(page.Items)
		if page.NextCursor != "" {
			c.note("there are older ones: ask for more with --limit")
		}
	})
}

type credsShowCmd struct {
	Lease string `arg:"" help:"The lease." predictor:"lease"`
}

// Help shows examples.
func (credsShowCmd) Help() string {
	return `Examples:

  fairlead creds show checkout-db-readonly-k3v9q2m7x1ab`
}

// Run shows a lease.
func (s *credsShowCmd) Run(c *console) error {
	raw, err := c.ask(func(ctx context.Context, cl *client.Client) (json.RawMessage, error) {
		return cl.Get(ctx, credPath(s.Lease), nil)
	})
	if err != nil {
		return err
	}
	return show(c, raw, func(p *render.Page, it *render.Lease) { p.Lease(it) })
}

type credsRenewCmd struct {
	Lease string `arg:"" help:"The lease." predictor:"lease"`
	TTL   string `arg:"" name:"ttl" help:"How long it is wanted from now on, for example 15m."`
}

// Help shows examples.
func (credsRenewCmd) Help() string {
	return `It is lent for less where the service, policy or Vault bounds it: the answer
says until when.

Examples:

  fairlead creds renew checkout-db-readonly-k3v9q2m7x1ab 15m`
}

// Run puts off a lease's end.
func (r *credsRenewCmd) Run(c *console) error {
	raw, err := c.ask(func(ctx context.Context, cl *client.Client) (json.RawMessage, error) {
		return cl.Post(ctx, credPath(r.Lease)+"/renew", map[string]string{"ttl": r.TTL})
	})
	if err != nil {
		return err
	}
	return show(c, raw, func(p *render.Page, it *render.Lease) {
		p.Line(render.Clean(it.Lease) + " ends at " + render.Clean(it.ExpiresAt))
	})
}

type credsRevokeCmd struct {
	Lease   string `arg:"" optional:"" help:"The lease." predictor:"lease"`
	AllOf   string `help:"All that this agent asked for, for whomever." placeholder:"AGENT"`
	Person  string `help:"All that this person holds." placeholder:"REF"`
	Service string `help:"All that this service has lent." placeholder:"REF" predictor:"ref"`
	Reason  string `help:"Why, for the record, with --all-of, --person or --service." placeholder:"TEXT"`
}

// Help shows examples.
func (credsRevokeCmd) Help() string {
	return `With several of --all-of, --person and --service, what is all of them ends.
Exits with 1 where Vault has not taken everything back yet; the server goes on
with that.

Examples:

  fairlead creds revoke checkout-db-readonly-k3v9q2m7x1ab
  fairlead creds revoke --all-of claude --reason "its host was broken into"
  fairlead creds revoke --person user:default/alice --service checkout`
}

// Run ends leases.
func (r *credsRevokeCmd) Run(c *console) error {
	all := r.AllOf + r.Person + r.Service
	switch {
	case r.Lease != "" && all != "":
		return fault.New(fault.Invalid, "a lease and all of somebody cannot be revoked at once").WithFix("Leave out the lease, or --all-of, --person and --service.")
	case r.Lease == "" && all == "":
		return fault.New(fault.Invalid, "it is not said what to revoke").WithFix("Name a lease, or use --all-of AGENT, --person REF or --service REF.")
	case r.Lease == "":
		return r.many(c)
	case r.Reason != "":
		return fault.New(fault.Invalid, "--reason is for --all-of, --person and --service").WithFix("Leave it out.")
	}
	raw, err := c.ask(func(ctx context.Context, cl *client.Client) (json.RawMessage, error) {
		return cl.Delete(ctx, credPath(r.Lease))
	})
	if err != nil {
		return err
	}
	var state struct{ State string }
	if err := show(c, raw, func(p *render.Page, it *render.Lease) {
		p.Line(render.Clean(it.Lease) + " is " + render.Clean(it.State))
	}); err != nil {
		return err
	}
	if json.Unmarshal(raw, &state) == nil && state.State == "revoking" {
		c.note("Vault has not taken it back yet; the server goes on with that")
		return errNo
	}
	return nil
}

func (r *credsRevokeCmd) many(c *console) error {
	body := map[string]string{}
	for key, v := range map[string]string{"agent": r.AllOf, "person": r.Person, "service": r.Service, "reason": r.Reason} {
		if v != "" {
			body[key] = v
		}
	}
	raw, err := c.ask(func(ctx context.Context, cl *client.Client) (json.RawMessage, error) {
		return cl.Post(ctx, credsPath+"/revoke-all", body)
	})
	if err != nil {
		return err
	}
	var out struct {
		Leases int
		Done   bool
	}
	if err := show(c, raw, func(p *render.Page, it *struct{ Leases int }) { p.Line(render.Plural(it.Leases, "lease") + " revoked") }); err != nil {
		return err
	}
	if json.Unmarshal(raw, &out) == nil && !out.Done {
		c.note("Vault has not taken all of them back yet; the server goes on with that")
		return errNo
	}
	return nil
}
