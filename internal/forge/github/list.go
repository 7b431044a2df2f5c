package github

import (
	"context"
	"errors"
	"net/http"
	"time"

	gh "github.com/google/go-github/v89/github"

	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/forge"
)

// listing is what was last listed, the filters that the host applies applied.
type listing struct {
	by    map[string]node
	whole time.Time // when the whole list was last read; zero for never
	stale bool      // something changed that has not been read yet
}

// probed is how many repositories the question for changes looks at.
const probed = 30

// Repositories lists the repositories that count. The first list, and one
// after Limits.Relist, costs a request a hundred repositories. Between, an
// organization is asked whether anything changed, which costs nothing of the
// limit if nothing has, and else as many pages as hold what was pushed to.
func (c *Client) Repositories(ctx context.Context) ([]forge.Repository, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.refresh(ctx); err != nil {
		return nil, c.explain(err)
	}
	out := make([]forge.Repository, 0, len(c.list.by))
	for _, n := range c.list.by {
		if r := n.repository(); c.cfg.Filter.Takes(&r) {
			out = append(out, r)
		}
	}
	return c.wire.Listed(c.step(), c.at.web, out)
}

func (c *Client) refresh(ctx context.Context) error {
	asked := false
	select {
	case <-c.again:
		asked = true
	default:
	}
	if asked {
		c.list.whole = time.Time{}
	}
	if time.Since(c.list.whole) >= c.cfg.Limits.Relist {
		return c.readWhole(ctx)
	}
	stale := c.list.stale
	c.list.stale = true // an answer that is known does not tell of a change again
	if !stale {
		if same, err := c.unchanged(ctx); same || err != nil {
			c.list.stale = !same
			return err
		}
	}
	ok, err := c.readChanged(ctx)
	switch {
	case err != nil:
		return err
	case !ok:
		return c.readWhole(ctx)
	}
	c.list.stale = false
	return nil
}

// unchanged asks for the organization, which counts its repositories, and for
// those pushed to last. GitHub does not count answers that nothing changed. Of
// a user it would tell what is public alone, so that is not asked; nor does it
// count against a token that it may not ask.
func (c *Client) unchanged(ctx context.Context) (bool, error) {
	if c.cfg.Org == "" {
		return false, nil
	}
	_, org, err := c.api.Organizations.Get(ctx, c.cfg.Org)
	if err != nil {
		return false, unlessDenied(err)
	}
	_, pushed, err := c.api.Repositories.ListByOrg(ctx, c.cfg.Org, &gh.RepositoryListByOrgOptions{
		Type: "all", Sort: "pushed", Direction: "desc", ListOptions: gh.ListOptions{PerPage: probed}})
	if err != nil {
		return false, unlessDenied(err)
	}
	return known(org) && known(pushed), nil
}

// unlessDenied is the error, if it is another than that the token may not ask.
func unlessDenied(err error) error {
	var status *forge.StatusError
	if errors.As(err, &status) && !status.Limited && (status.Status == http.StatusForbidden || status.Status == http.StatusNotFound) {
		return nil
	}
	return err
}

// known tells whether an answer is the one of the time before.
func known(r *gh.Response) bool { return r.Header.Get("X-From-Cache") != "" }

// readChanged reads, latest first, what was pushed to since the last list. It
// is not ok if repositories came, went or were renamed: that takes a whole
// list.
func (c *Client) readChanged(ctx context.Context) (ok bool, err error) {
	changed := map[string]node{}
	for after := ""; ; {
		p, err := c.page(ctx, order{"PUSHED_AT", "DESC"}, after)
		if err != nil {
			return false, err
		}
		if p.Total != len(c.list.by) {
			return false, nil
		}
		caughtUp := true // the page's last was pushed to before the last list
		for _, n := range p.Nodes {
			old, listed := c.list.by[n.Name]
			if !listed {
				return false, nil
			}
			changed[n.Name] = *n
			caughtUp = old.Pushed.Equal(n.Pushed) && old.head() == n.head()
		}
		if caughtUp || !p.Info.More {
			break
		}
		if p.Info.End == "" || p.Info.End == after {
			return false, errStuck
		}
		after = p.Info.End
	}
	for name, n := range changed {
		c.list.by[name] = n
	}
	return true, nil
}

func (n *node) head() string {
	r := n.repository()
	return r.DefaultBranch + " " + r.Head
}

var errStuck = errors.New("the list does not go on after a page that says it does")

// readWhole reads every page. In the order of creation no repository can move
// to a page that was read, whatever happens meanwhile.
func (c *Client) readWhole(ctx context.Context) error {
	by := map[string]node{}
	for after := ""; ; {
		p, err := c.page(ctx, order{"CREATED_AT", "ASC"}, after)
		if err != nil {
			return err
		}
		if p.Total > c.cfg.Limits.Repositories {
			return fault.New(fault.FailedPrecondition, "%s: there are %d, more than the limit of %d", c.step(), p.Total, c.cfg.Limits.Repositories).
				WithFix("Raise limits.repositories.")
		}
		before := len(by)
		for _, n := range p.Nodes {
			by[n.Name] = *n
		}
		if !p.Info.More {
			break
		}
		if p.Info.End == "" || p.Info.End == after || len(by) == before {
			return errStuck
		}
		after = p.Info.End
	}
	c.list = listing{by: by, whole: time.Now()}
	return nil
}
