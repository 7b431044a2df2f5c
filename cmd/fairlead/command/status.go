package command

import (
	"context"
	"encoding/json"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/cmd/fairlead/client"
	"github.com/fairlead-dev/fairlead/cmd/fairlead/render"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

type statusCmd struct{}

// Help shows examples.
func (statusCmd) Help() string {
	return `The exit code is 1 if the server is not ready or a source is failing.

Examples:

  fairlead status
  fairlead status -o json`
}

// report is what status tells.
type statusReport struct {
	Server   string `json:"server"`
	From     string `json:"from"`
	Ready    bool   `json:"ready"`
	State    string `json:"state"`
	Token    string `json:"token,omitempty"` // where it comes from
	Entities int    `json:"entities"`
	Problems int    `json:"problems"`
	Failing  int    `json:"failing"`
	// Who is absent where the server does not know the caller; Refused then
	// says why.
	Who     *access.Identity       `json:"who,omitempty"`
	Refused *fault.Error           `json:"refused,omitempty"`
	Sources []catalog.SourceStatus `json:"sources"`
}

// Run asks how the server is doing.
func (statusCmd) Run(c *console) error {
	r := &statusReport{Sources: []catalog.SourceStatus{}}
	raw, err := c.ask(func(ctx context.Context, cl *client.Client) (json.RawMessage, error) {
		if err := r.fill(ctx, cl); err != nil {
			return nil, err
		}
		return json.Marshal(r)
	})
	if err != nil {
		return err
	}
	if err := show(c, raw, showStatus); err != nil {
		return err
	}
	switch {
	case r.Refused != nil:
		return r.Refused
	case !r.Ready || r.Failing > 0:
		return errNo
	}
	return nil
}

func (r *statusReport) fill(ctx context.Context, cl *client.Client) (err error) {
	s := cl.Settings()
	r.Server, r.From, r.Token = s.Server, s.ServerFrom, s.TokenFrom
	if r.State, r.Ready, err = cl.Probe(ctx, "/readyz"); err != nil {
		return err
	}
	raw, err := cl.Get(ctx, "/api/v1/whoami", nil)
	if r.refusal(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := json.Unmarshal(raw, &r.Who); err != nil {
		return fault.New(fault.Unavailable, "what answers at %s is no Fairlead server", r.Server).WithFix("Correct --server.").Because(err)
	}
	raw, err = cl.Get(ctx, "/api/v1/sources", nil)
	if err != nil {
		if r.refusal(err) {
			return nil
		}
		return err
	}
	var sources catalog.Sources
	if err := json.Unmarshal(raw, &sources); err != nil {
		return fault.New(fault.Unavailable, "the server's answer is not of the expected form").Because(err)
	}
	r.count(sources.Items)
	return nil
}

// refusal notes an error that is the server's answer to this caller.
func (r *statusReport) refusal(err error) bool {
	if code := fault.CodeOf(err); code != fault.Unauthenticated && code != fault.Forbidden {
		return false
	}
	r.Refused = fault.From(err)
	return true
}

func (r *statusReport) count(sources []catalog.SourceStatus) {
	r.Sources = append(r.Sources, sources...)
	for _, s := range sources {
		r.Entities += s.Entities
		r.Problems += s.Problems
		if s.State == "failing" {
			r.Failing++
		}
	}
}

func showStatus(p *render.Page, r *statusReport) {
	state := p.Good("ready")
	if !r.Ready {
		state = p.Bad("not ready: " + render.Clean(r.State))
	}
	p.Line(p.Bold(render.Clean(r.Server)), "  ", state, p.Dim("  (server from "+r.From+")"))
	if r.Who != nil {
		p.Line()
		p.Identity(r.Who)
	}
	if len(r.Sources) > 0 {
		p.Heading("Sources")
		p.Indented(func() { p.Sources(r.Sources) })
		p.Line()
		p.Line(render.Entities(r.Entities), ", ", render.Plural(r.Problems, "problem"))
		if r.Problems > 0 {
			p.Line(p.Dim("see them with: fairlead catalog errors"))
		}
	}
}
