package gitlab

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	gl "gitlab.com/gitlab-org/api/client-go/v2"

	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/forge"
)

const (
	pageSize = 100 // the most that GitLab gives
	maxReads = 3   // of a list that changes while it is read
)

// Repositories lists the projects that count, a request for a hundred. It
// tells no heads: GitLab's list has none, and the activity that it has is told
// to the hour only. An answer that is unchanged is not sent again, though
// GitLab counts the request.
func (c *Client) Repositories(ctx context.Context) ([]forge.Repository, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	all, err := c.all(ctx)
	if err != nil {
		return nil, c.explain(err)
	}
	c.known = make(map[int64]bool, len(all))
	out := make([]forge.Repository, 0, len(all))
	for _, p := range all {
		c.known[p.ID] = true
		if r := repository(p); p.MarkedForDeletionOn == nil && c.cfg.Filter.Takes(&r) {
			out = append(out, r)
		}
	}
	return c.wire.Listed(c.step(), c.wire.Base, out)
}

// all reads every page. Pages are counted, so that what is deleted meanwhile
// moves others past the reader: the list counts if GitLab says the same length
// on every page, and it is that long. Of more than ten thousand GitLab says
// nothing. Then, and where as many may have come as went, those that were
// known and are missing are asked for one by one.
func (c *Client) all(ctx context.Context) ([]*gl.Project, error) {
	for range maxReads {
		all, total, err := c.pages(ctx)
		switch {
		case err != nil:
			return nil, err
		case total == untold || total == len(all):
			return c.withMissing(ctx, all, total == untold)
		}
	}
	return nil, fault.New(fault.Unavailable, "%s: the list changes faster than it can be read", c.step()).WithFix("It is tried again.")
}

// What a list's length may be besides a number.
const (
	untold   = -1
	unsteady = -2
)

// pages reads every page once; total is what GitLab says the number is.
func (c *Client) pages(ctx context.Context) (all []*gl.Project, total int, err error) {
	seen := map[int64]bool{}
	for page := int64(1); page > 0; {
		projects, resp, err := c.page(ctx, page)
		if err != nil {
			return nil, 0, err
		}
		for _, p := range projects {
			if p != nil && !seen[p.ID] {
				seen[p.ID] = true
				all = append(all, p)
			}
		}
		if len(all) > c.cfg.Limits.Repositories {
			return nil, 0, fault.New(fault.FailedPrecondition, "%s: there are more than the limit of %d", c.step(), c.cfg.Limits.Repositories).
				WithFix("Raise limits.repositories.")
		}
		told, err := strconv.Atoi(resp.Header.Get("X-Total"))
		switch {
		case err != nil:
			total = untold
		case page == 1:
			total = told
		case total != told:
			total = unsteady
		}
		if resp.NextPage != 0 && resp.NextPage <= page {
			return nil, 0, errors.New("the list does not go on after a page that says it does")
		}
		page = resp.NextPage
	}
	return all, total, nil
}

// page asks for one page, in the order of creation; what GitLab can filter, it
// filters.
func (c *Client) page(ctx context.Context, page int64) ([]*gl.Project, *gl.Response, error) {
	f := &c.cfg.Filter
	list := gl.ListOptions{Page: page, PerPage: pageSize}
	by, sort := "id", "asc"
	var archived *bool
	if !f.Archived {
		archived = new(bool)
	}
	var visibility *gl.VisibilityValue
	if f.Visibility != "" {
		v := gl.VisibilityValue(f.Visibility)
		visibility = &v
	}
	var topic *string
	// Several topics would have to be there all, and one is enough for us.
	if len(f.Topics.Include) == 1 && !strings.Contains(f.Topics.Include[0], ",") {
		topic = &f.Topics.Include[0]
	}
	if c.cfg.User != "" {
		return c.api.Projects.ListUserProjects(c.cfg.User, &gl.ListProjectsOptions{ListOptions: list, OrderBy: &by, Sort: &sort,
			Archived: archived, Visibility: visibility, Topic: topic}, gl.WithContext(ctx))
	}
	yes, no := true, false
	return c.api.Groups.ListGroupProjects(c.cfg.Group, &gl.ListGroupProjectsOptions{ListOptions: list, OrderBy: &by, Sort: &sort,
		Archived: archived, Visibility: visibility, Topic: topic, IncludeSubGroups: &yes, WithShared: &no}, gl.WithContext(ctx))
}

// withMissing adds those that were known before, are not in the list, and are
// there all the same. Unless asked to, it does not look where none is new.
func (c *Client) withMissing(ctx context.Context, all []*gl.Project, look bool) ([]*gl.Project, error) {
	missing := maps.Clone(c.known)
	for _, p := range all {
		look = look || !missing[p.ID]
		delete(missing, p.ID)
	}
	if !look {
		return all, nil
	}
	for id := range missing {
		p, _, err := c.api.Projects.GetProject(id, nil, gl.WithContext(ctx))
		var status *forge.StatusError
		if errors.As(err, &status) && status.Status == http.StatusNotFound {
			continue
		}
		if err != nil {
			return nil, err
		}
		if c.owns(p) {
			all = append(all, p)
		}
	}
	return all, nil
}

// owns tells whether a project would be in the list, had it not been missed.
func (c *Client) owns(p *gl.Project) bool {
	owner := c.cfg.Group
	if c.cfg.User != "" {
		owner = c.cfg.User
	}
	f := &c.cfg.Filter
	return strings.HasPrefix(strings.ToLower(p.PathWithNamespace), strings.ToLower(owner)+"/") &&
		(f.Visibility == "" || f.Visibility == string(p.Visibility))
}

func repository(p *gl.Project) forge.Repository {
	topics := slices.Clone(p.Topics)
	slices.Sort(topics)
	r := forge.Repository{FullName: p.PathWithNamespace, WebURL: p.WebURL, DefaultBranch: p.DefaultBranch,
		Archived: p.Archived, Fork: p.ForkedFromProject != nil, Empty: p.EmptyRepo, Topics: topics}
	if p.LastActivityAt != nil {
		r.Updated = *p.LastActivityAt
	}
	return r
}

func (c *Client) step() string {
	if c.cfg.Group != "" {
		return "listing the projects of the group " + c.cfg.Group
	}
	return "listing the projects of the user " + c.cfg.User
}

func (c *Client) explain(err error) error {
	var status *forge.StatusError
	if errors.As(err, &status) && status.Status == http.StatusNotFound {
		return fault.New(fault.NotFound, "%s: there is no such one at %s, or it is hidden from %s", c.step(), c.wire.Host, c.wire.Credentials).
			WithFix("Correct group or user, or use a token that may see it.").Because(err)
	}
	return c.wire.Explain(c.step(), err)
}
