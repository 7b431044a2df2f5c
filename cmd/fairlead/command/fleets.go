package command

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"strconv"

	"github.com/fairlead-dev/fairlead/cmd/fairlead/client"
	"github.com/fairlead-dev/fairlead/cmd/fairlead/render"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// fleetCmd groups what is about changes of many services.
type fleetCmd struct {
	Run    fleetRunCmd    `cmd:"" default:"withargs" help:"Plan one change of many services, have it proposed wave by wave, and watch that."`
	Status fleetStatusCmd `cmd:"" help:"How far one has come: counts, waves, and what fails and why."`
	List   fleetListCmd   `cmd:"" help:"The changes of many services, newest first."`
	Pause  fleetPauseCmd  `cmd:"" help:"Open no more pull requests for now."`
	Cancel fleetCancelCmd `cmd:"" help:"End one for good; pull requests that are open stay so."`
}

// Help says what is run without a command.
func (fleetCmd) Help() string {
	return `Without a command it is run:

  fairlead change fleet --query spec.owner=payments --environment staging --image base=2.1.0 --reason "the fix" --dry-run

See fairlead change fleet run --help.`
}

const fleetsPath = "/api/v1/fleets"

type fleetRunCmd struct {
	Query       []string `help:"Which components: a catalog filter, for example kind=component,spec.owner=payments; given again, alternatives." placeholder:"FILTER" sep:"none"`
	Environment string   `help:"The environment, for example staging." placeholder:"NAME"`
	changeFlags
	Reason      string   `help:"Why, for who reviews it." placeholder:"TEXT"`
	Evidence    []string `help:"What shows that it is good." placeholder:"TEXT" sep:"none"`
	Waves       []string `help:"The sizes of the waves in turn, in services or percent of them; the last one repeats. 1,10%,50% if left out." placeholder:"SIZE,…" xor:"waves"`
	WaveSize    int      `help:"Waves of so many services each." placeholder:"N" xor:"waves"`
	Until       string   `help:"What all of a wave must be before the next: merged (the default) or healthy." enum:"merged,healthy" default:"merged" placeholder:"STATE"`
	MaxFailures int      `help:"How many may fail before it stops, 0 if left out." placeholder:"N"`
	DryRun      bool     `help:"Show the plan, and propose nothing."`
	Resume      string   `help:"Start one that was planned, or go on with one that is paused or stopped: what failed is tried again." placeholder:"ID" xor:"resume"`
	Detach      bool     `help:"Do not watch it: it goes on at the server."`
}

// Help shows examples.
func (fleetRunCmd) Help() string {
	return `The change is worked out for every service first. Its pull requests are then
opened wave by wave, by the server: the next wave begins when all of one are
merged, or healthy. It stops when more fail than may, and says why.

Exits with 0 when all is done, 1 when it stopped or there is nothing to propose,
3 where it was refused or needs approval. Ctrl-C ends the watching alone.

Examples:

  fairlead change fleet --query spec.owner=payments --environment staging --image base=2.1.0 --reason "the fix" --dry-run
  fairlead change fleet --query spec.type=service --environment staging --set values.yaml:log.level=info --reason "less noise" --waves 1,5,25%
  fairlead change fleet --query metadata.tags=java --environment production --replicas 3 --reason "load" --wave-size 10 --until healthy
  fairlead change fleet --resume fleet-staging-a1b2c3d4e5f6 --max-failures 2`
}

// Run plans, starts and watches.
func (f *fleetRunCmd) Run(c *console) error {
	if f.Resume != "" {
		return f.start(c, f.Resume, "")
	}
	raw, err := f.plan(c)
	if err != nil {
		return err
	}
	var plan render.Fleet
	if err := json.Unmarshal(raw, &plan); err != nil {
		return fault.New(fault.Unavailable, "the server's answer is not of the expected form").Because(err)
	}
	if f.DryRun {
		return show(c, raw, func(p *render.Page, it *render.Fleet) { p.Fleet(it) })
	}
	if c.Output == formatTable {
		page := c.page()
		page.Fleet(&plan)
		if err := page.Err(); err != nil {
			return err
		}
	}
	if plan.Counts.Waiting > 0 {
		return f.start(c, plan.ID, plan.PlanHash)
	}
	if c.Output != formatTable {
		return errors.Join(show(c, raw, func(*render.Page, *render.Fleet) {}), nothingToDo(c, &plan))
	}
	return nothingToDo(c, &plan)
}

// nothingToDo says why a plan proposes nothing.
func nothingToDo(c *console, plan *render.Fleet) error {
	if plan.Counts.Refused > 0 {
		c.note("nothing is proposed: see why they are refused")
		return errNo
	}
	c.note("nothing is to be proposed: it is so already")
	return nil
}

// plan has the server work the plan out, and gives it with all its members that
// fit a page.
func (f *fleetRunCmd) plan(c *console) (json.RawMessage, error) {
	if len(f.Query) == 0 || f.Environment == "" || f.Reason == "" {
		return nil, fault.New(fault.Invalid, "--query, --environment and --reason are needed").WithFix("Give them, or --resume ID to go on with one. See `fairlead change fleet --help`.")
	}
	change, err := f.change()
	if err != nil {
		return nil, err
	}
	if f.WaveSize != 0 {
		f.Waves = []string{strconv.Itoa(f.WaveSize)}
	}
	body := map[string]any{"query": f.Query, "environment": f.Environment, "change": change, "reason": f.Reason, "evidence": f.Evidence, "waves": f.Waves, "until": f.Until}
	for key, n := range map[string]int{"evidence": len(f.Evidence), "waves": len(f.Waves)} {
		if n == 0 {
			delete(body, key)
		}
	}
	if f.MaxFailures != 0 {
		body["maxFailures"] = f.MaxFailures
	}
	return c.tellFleet("", "", body)
}

// tellFleet asks for a plan, or something of a fleet.
func (c *console) tellFleet(id, what string, body map[string]any) (json.RawMessage, error) {
	path := fleetsPath
	if id != "" {
		path += "/" + url.PathEscape(id) + "/" + what
	}
	return c.ask(func(ctx context.Context, cl *client.Client) (json.RawMessage, error) { return cl.Post(ctx, path, body) })
}

// start has a fleet begin or go on, and watches it.
func (f *fleetRunCmd) start(c *console, id, hash string) error {
	body := map[string]any{}
	if hash != "" {
		body["planHash"] = hash
	}
	if f.MaxFailures != 0 && f.Resume != "" {
		body["maxFailures"] = f.MaxFailures
	}
	raw, err := c.tellFleet(id, "start", body)
	if fault.CodeOf(err) == fault.ApprovalRequired {
		c.note("once it is granted: fairlead change fleet --resume %s", render.Clean(id))
	}
	if err != nil {
		return err
	}
	if f.Detach {
		return show(c, raw, func(p *render.Page, it *render.Fleet) {
			p.Line(render.Clean(it.ID), " is ", render.Clean(it.State))
			c.note("watch it with: fairlead change fleet status %s --watch", render.Clean(it.ID))
		})
	}
	return c.watchFleet(id)
}

type fleetStatusCmd struct {
	ID    string `arg:"" help:"The fleet."`
	State string `help:"Show the members in this state, such as open, refused or waiting." placeholder:"STATE"`
	Watch bool   `help:"Show how it goes on until it ends or stops."`
}

// Help shows examples.
func (fleetStatusCmd) Help() string {
	return `Exits with 1 where it stopped or was cancelled.

Examples:

  fairlead change fleet status fleet-staging-a1b2c3d4e5f6
  fairlead change fleet status fleet-staging-a1b2c3d4e5f6 --watch
  fairlead change fleet status fleet-staging-a1b2c3d4e5f6 --state refused -o json`
}

// Run shows how far a fleet has come.
func (s *fleetStatusCmd) Run(c *console) error {
	if s.Watch {
		return c.watchFleet(s.ID)
	}
	return c.showFleet(s.ID, s.State)
}

// showFleet shows a fleet with its members in a state, the open ones if none is
// named.
func (c *console) showFleet(id, state string) error {
	if state == "" && c.Output == formatTable {
		state = "open"
	}
	raw, err := c.list(listing{path: fleetsPath + "/" + url.PathEscape(id), query: values("state", state), items: "members", most: 200})
	if err != nil {
		return err
	}
	var it render.Fleet
	if err := json.Unmarshal(raw, &it); err != nil {
		return fault.New(fault.Unavailable, "the server's answer is not of the expected form").Because(err)
	}
	err = show(c, raw, func(p *render.Page, it *render.Fleet) { p.Fleet(it) })
	if err == nil && (it.State == "stopped" || it.State == "cancelled") {
		return errNo
	}
	return err
}

type fleetListCmd struct {
	Person string `help:"Only of this person." placeholder:"REF"`
	State  string `help:"Only in this state: planned, running, paused, stopped, done or cancelled." placeholder:"STATE"`
	Limit  int    `help:"Show at most N, 20 if left out." default:"20" placeholder:"N"`
}

// Help shows examples.
func (fleetListCmd) Help() string {
	return `Examples:

  fairlead change fleet list
  fairlead change fleet list --state running -o json`
}

// Run lists fleets.
func (l *fleetListCmd) Run(c *console) error {
	if err := positive("--limit", l.Limit); err != nil {
		return err
	}
	raw, err := c.list(listing{path: fleetsPath, query: values("person", l.Person, "state", l.State), items: "items", most: 100, want: l.Limit})
	if err != nil {
		return err
	}
	return show(c, raw, func(p *render.Page, page *struct {
		Items []render.Fleet `json:"items"`
	}) {
		if len(page.Items) == 0 {
			c.note("there are no fleets that match")
			return
		}
		p.Fleets(page.Items)
	})
}

type fleetPauseCmd struct {
	ID     string `arg:"" help:"The fleet."`
	Reason string `help:"Why, for the record." placeholder:"TEXT"`
}

// Help shows examples.
func (fleetPauseCmd) Help() string {
	return `Go on with: fairlead change fleet --resume ID

Examples:

  fairlead change fleet pause fleet-staging-a1b2c3d4e5f6 --reason "an incident"`
}

// Run pauses.
func (p *fleetPauseCmd) Run(c *console) error { return c.stopFleet(p.ID, p.Reason, false) }

type fleetCancelCmd struct {
	ID     string `arg:"" help:"The fleet."`
	Reason string `help:"Why, for the record." placeholder:"TEXT"`
}

// Help shows examples.
func (fleetCancelCmd) Help() string {
	return `Examples:

  fairlead change fleet cancel fleet-staging-a1b2c3d4e5f6 --reason "another fix is better"`
}

// Run ends it.
func (p *fleetCancelCmd) Run(c *console) error { return c.stopFleet(p.ID, p.Reason, true) }

// stopFleet pauses or ends a fleet.
func (c *console) stopFleet(id, reason string, cancel bool) error {
	raw, err := c.tellFleet(id, "stop", map[string]any{"reason": reason, "cancel": cancel})
	if err != nil {
		return err
	}
	return show(c, raw, func(p *render.Page, it *render.Fleet) {
		p.Line(render.Clean(it.ID), " is ", render.Clean(it.State))
		p.Line(render.Clean(it.Next))
	})
}
