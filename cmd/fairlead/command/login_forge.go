package command

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"github.com/fairlead-dev/fairlead/cmd/fairlead/client"
	"github.com/fairlead-dev/fairlead/cmd/fairlead/render"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

const forgeLinksPath = "/api/v1/forge-links"

// startedLink is a link in the making.
type startedLink struct {
	ID        string    `json:"id"`
	Person    string    `json:"person"`
	URL       string    `json:"url"`
	ExpiresAt time.Time `json:"expiresAt"`
}

// status lists what is linked.
func (l *loginCmd) status(c *console) error {
	raw, err := c.ask(forgeLinks)
	if err != nil {
		return err
	}
	return show(c, raw, func(p *render.Page, it *render.ForgeLinks) { p.ForgeLinks(it) })
}

func forgeLinks(ctx context.Context, cl *client.Client) (json.RawMessage, error) {
	return cl.Get(ctx, forgeLinksPath, nil)
}

// unlink forgets the caller's account.
func (l *loginCmd) unlink(c *console) error {
	raw, err := c.ask(func(ctx context.Context, cl *client.Client) (json.RawMessage, error) {
		return cl.Delete(ctx, forgeLinksPath+"/"+url.PathEscape(l.Forge))
	})
	if err != nil {
		return err
	}
	return show(c, raw, func(p *render.Page, it *render.ForgeLink) {
		p.Line("your account at " + render.Clean(it.Forge) + " is not linked any more")
		for _, n := range it.Notes {
			p.Line(p.Warn(render.Clean(n)))
		}
	})
}

// link has the caller agree in their browser, waits, and finishes.
func (l *loginCmd) link(c *console) error {
	raw, err := c.ask(func(ctx context.Context, cl *client.Client) (json.RawMessage, error) {
		return cl.Post(ctx, forgeLinksPath, map[string]string{"forge": l.Forge})
	})
	if err != nil {
		return err
	}
	var started startedLink
	if err := json.Unmarshal(raw, &started); err != nil || started.URL == "" {
		return fault.New(fault.Unavailable, "the server's answer is not of the expected form").WithFix("Use versions of fairlead and fairleadd that belong together.")
	}
	fmt.Fprintf(c.Err, "Open this page, agree, and confirm that you are %s:\n\n  %s\n\n", render.Clean(started.Person), render.Clean(started.URL))
	if !l.NoBrowser && terminal(c.Err) {
		browse(c.ctx, started.URL)
	}
	if err := l.await(c, &started); err != nil {
		return err
	}
	raw, err = c.ask(func(ctx context.Context, cl *client.Client) (json.RawMessage, error) {
		return cl.Post(ctx, forgeLinksPath+"/"+url.PathEscape(started.ID)+"/finish", struct{}{})
	})
	if err != nil {
		return err
	}
	return show(c, raw, func(p *render.Page, it *render.ForgeLink) {
		p.Line("linked: what you propose at " + render.Clean(it.Forge) + " is proposed as " + render.Clean(it.Account))
	})
}

// await waits until the caller has agreed and confirmed.
func (l *loginCmd) await(c *console, started *startedLink) (err error) {
	ctx, cancel := context.WithDeadline(c.ctx, started.ExpiresAt)
	defer cancel()
	c.during("waiting for you to agree at "+l.Forge, func() {
		for done := false; !done && err == nil; {
			select {
			case <-ctx.Done():
				if err = context.Cause(c.ctx); err == nil {
					err = fault.New(fault.FailedPrecondition, "nobody has agreed in time").WithFix("Begin anew: fairlead login --forge %s.", l.Forge)
				}
			case <-time.After(700 * time.Millisecond):
				done, err = l.confirmed(ctx, c, started.ID)
			}
		}
	})
	return err
}

// confirmed asks how far the link has come.
func (l *loginCmd) confirmed(ctx context.Context, c *console, id string) (bool, error) {
	cl, err := c.client()
	if err != nil {
		return false, err
	}
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	raw, err := forgeLinks(ctx, cl)
	if fault.CodeOf(err) == fault.Unavailable { // it may come back
		return false, nil
	}
	var all render.ForgeLinks
	if err == nil {
		err = json.Unmarshal(raw, &all)
	}
	if err != nil {
		return false, err
	}
	for _, one := range all.Items {
		switch {
		case one.ID != id:
		case one.Pending == "refused":
			return false, fault.New(fault.FailedPrecondition, "it was not agreed to at %s", l.Forge).WithFix("Begin anew, and agree: fairlead login --forge %s.", l.Forge)
		default:
			return one.Pending == "confirmed", nil
		}
	}
	return false, fault.New(fault.FailedPrecondition, "the link was begun anew elsewhere, or has expired").WithFix("Begin anew: fairlead login --forge %s.", l.Forge)
}

// browse opens a page in the caller's browser, where there is one; its address
// is printed anyway.
func browse(ctx context.Context, page string) {
	if !strings.HasPrefix(page, "https://") && !strings.HasPrefix(page, "http://") {
		return
	}
	name := map[string]string{"darwin": "open", "linux": "xdg-open"}[runtime.GOOS]
	if path, err := exec.LookPath(name); name != "" && err == nil {
		_ = exec.CommandContext(ctx, path, page).Run() //nolint:gosec // a program of the system's; the address is http or https, and printed where it cannot be opened
	}
}
