package command

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/fairlead-dev/fairlead/cmd/fairlead/render"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// fleetLook is how often a fleet that is watched is looked at, and barWidth how
// wide its bar is.
const (
	fleetLook = time.Second
	barWidth  = 30
)

// watchFleet shows how a fleet goes on until it has ended or stopped, and then
// the page of its status. A server that does not answer is asked again.
func (c *console) watchFleet(id string) error {
	live := terminal(c.Err) && c.Env("TERM") != "dumb"
	before := ""
	for {
		it, err := c.lookAtFleet(id)
		switch {
		case c.ctx.Err() != nil:
			c.note("it goes on at the server; watch it again with: fairlead change fleet status %s --watch", render.Clean(id))
			return context.Cause(c.ctx)
		case err != nil && fault.CodeOf(err) != fault.Unavailable:
			return err
		case err != nil:
			c.note("%v; it is tried again", err)
		default:
			line := fleetLine(it)
			if live {
				fmt.Fprintf(c.Err, "\r\x1b[K%s %s", bar(it), line)
			} else if line != before {
				fmt.Fprintln(c.Err, line)
			}
			if before = line; it.State != "running" {
				if live {
					fmt.Fprint(c.Err, "\r\x1b[K")
				}
				return c.showFleet(id, "")
			}
		}
		select {
		case <-c.ctx.Done():
		case <-time.After(fleetLook):
		}
	}
}

// lookAtFleet asks for a fleet's counts.
func (c *console) lookAtFleet(id string) (*render.Fleet, error) {
	cl, err := c.client()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(c.ctx, c.Timeout)
	defer cancel()
	raw, err := cl.Get(ctx, fleetsPath+"/"+url.PathEscape(id), values("limit", "1"))
	if err != nil {
		return nil, err
	}
	var it render.Fleet
	if err := json.Unmarshal(raw, &it); err != nil {
		return nil, fault.New(fault.Internal, "the server's answer is not of the expected form").WithFix("Use versions of fairlead and fairleadd that belong together.").Because(err)
	}
	return &it, nil
}

// fleetLine says in a line how far a fleet has come.
func fleetLine(it *render.Fleet) string {
	n := &it.Counts
	parts := []string{fmt.Sprintf("wave %d of %d: %d of %d done", it.Wave, len(it.Waves), it.Settled(), it.ToDo())}
	for _, p := range []struct {
		n    int
		what string
	}{{n.Open, "open"}, {n.Merged, "merged"}, {n.Approval, "wait for approval"}, {n.Failed, "failed"}} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.what))
		}
	}
	return strings.Join(parts, ", ")
}

// bar shows how far a fleet has come.
func bar(it *render.Fleet) string {
	full := 0
	if all := it.ToDo(); all > 0 {
		full = barWidth * it.Settled() / all
	}
	return "[" + strings.Repeat("#", full) + strings.Repeat(".", barWidth-full) + "]"
}
