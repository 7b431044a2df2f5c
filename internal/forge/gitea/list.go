package gitea

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"code.gitea.io/sdk/gitea"

	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/fault/beside"
	"github.com/fairlead-dev/fairlead/internal/forge"
)

const (
	pageSize = 50 // the most that Gitea gives, unless it is configured otherwise
	maxReads = 3  // of a list that changes while it is read
)

// settled is how long a repository must have been left alone before its head
// is taken to be known: Gitea tells the time of a push to the second, and
// after the push.
const settled = 10 * time.Second

// head is what was last read of a repository's default branch.
type head struct {
	updated time.Time
	branch  string
	commit  string
	sure    bool
}

// found is the list and the host's time of it.
type found struct {
	repos []*gitea.Repository
	at    time.Time
}

// Repositories lists the repositories that count. A list costs a request for
// fifty repositories, and one for each whose activity is new since the last.
// A head that cannot be read leaves that repository's Head empty.
func (c *Client) Repositories(ctx context.Context) ([]forge.Repository, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	api, err := c.api(ctx)
	if err != nil {
		return nil, c.explain(err)
	}
	all, err := c.all(api)
	if err != nil {
		return nil, c.explain(err)
	}
	c.known = make(map[int64]bool, len(all.repos))
	taken := make([]*gitea.Repository, 0, len(all.repos))
	out := make([]forge.Repository, 0, len(all.repos))
	for _, one := range all.repos {
		c.known[one.ID] = true
		if r := repository(one); c.cfg.Filter.Takes(&r) {
			taken, out = append(taken, one), append(out, r)
		}
	}
	if err := c.readHeads(ctx, taken, all.at); err != nil {
		return nil, c.explain(err)
	}
	for i, one := range taken {
		if h := c.heads[one.ID]; h.branch == one.DefaultBranch {
			out[i].Head = h.commit
		}
	}
	return c.wire.Listed(c.step(), c.wire.Base, out)
}

// all reads every page. Pages are counted, so that what is deleted meanwhile
// moves others past the reader: the list counts if Gitea says the same length
// on every page, and it is that long. Where as many may have come as went,
// those that were known and are missing are asked for one by one.
func (c *Client) all(api *gitea.Client) (found, error) {
	id, err := c.owner(api)
	if err != nil {
		return found{}, err
	}
	for range maxReads {
		all, complete, err := c.pages(api, id)
		switch {
		case err != nil:
			return found{}, err
		case complete:
			all.repos, err = c.withMissing(api, id, all.repos)
			return all, err
		}
	}
	return found{}, fault.New(fault.Unavailable, "%s: the list changes faster than it can be read", c.step()).WithFix("It is tried again.")
}

func (c *Client) owner(api *gitea.Client) (int64, error) {
	if c.cfg.Org != "" {
		org, _, err := api.GetOrg(c.cfg.Org)
		if err != nil {
			return 0, err
		}
		return org.ID, nil
	}
	user, _, err := api.GetUserInfo(c.cfg.User)
	if err != nil {
		return 0, err
	}
	return user.ID, nil
}

// search is the question for one page; what Gitea can filter, it filters.
func (c *Client) search(owner int64, page int) gitea.SearchRepoOptions {
	f := &c.cfg.Filter
	q := gitea.SearchRepoOptions{ListOptions: gitea.ListOptions{Page: page, PageSize: pageSize}, OwnerID: owner, Sort: "id", Order: "asc"}
	no := false
	if !f.Archived {
		q.IsArchived = &no
	}
	if f.Visibility != "" {
		private := f.Visibility == "private"
		q.IsPrivate = &private
	}
	// A question with commas is one for several topics at once.
	if len(f.Topics.Include) == 1 && !strings.Contains(f.Topics.Include[0], ",") {
		q.Keyword, q.KeywordIsTopic = strings.ToLower(f.Topics.Include[0]), true
	}
	return q
}

// withMissing adds those that were known before, are not in the list, and are
// there all the same; it looks only where others are new.
func (c *Client) withMissing(api *gitea.Client, owner int64, all []*gitea.Repository) ([]*gitea.Repository, error) {
	missing, more := maps.Clone(c.known), false
	for _, r := range all {
		more = more || !missing[r.ID]
		delete(missing, r.ID)
	}
	if !more {
		return all, nil
	}
	for id := range missing {
		r, _, err := api.GetRepoByID(id)
		var status *forge.StatusError
		switch {
		case errors.As(err, &status) && status.Status == http.StatusNotFound:
		case err != nil:
			return nil, err
		case r.Owner != nil && r.Owner.ID == owner && c.visible(r):
			all = append(all, r)
		}
	}
	return all, nil
}

// visible tells whether the filter of visibility takes a repository.
func (c *Client) visible(r *gitea.Repository) bool {
	want := c.cfg.Filter.Visibility
	return want == "" || (want == "private") == r.Private
}

func (c *Client) pages(api *gitea.Client, owner int64) (all found, complete bool, err error) {
	seen, length := map[int64]bool{}, -1
	for page := 1; ; page++ {
		repos, resp, err := api.SearchRepos(c.search(owner, page))
		if err != nil {
			return found{}, false, err
		}
		if page == 1 {
			all.at = hostTime(resp)
		}
		for _, one := range repos {
			if one != nil && !seen[one.ID] {
				seen[one.ID] = true
				all.repos = append(all.repos, one)
			}
		}
		if len(all.repos) > c.cfg.Limits.Repositories {
			return found{}, false, fault.New(fault.FailedPrecondition, "%s: there are more than the limit of %d", c.step(), c.cfg.Limits.Repositories).
				WithFix("Raise limits.repositories.")
		}
		total, err := strconv.Atoi(resp.Header.Get("X-Total-Count"))
		if err != nil {
			return found{}, false, errors.New("the answer does not tell how many repositories there are")
		}
		if length >= 0 && total != length {
			return found{}, false, nil
		}
		length = total
		if len(repos) == 0 || len(all.repos) >= total {
			return all, len(all.repos) == total, nil
		}
	}
}

func hostTime(r *gitea.Response) time.Time {
	if at, err := http.ParseTime(r.Header.Get("Date")); err == nil {
		return at
	}
	return time.Now()
}

func repository(r *gitea.Repository) forge.Repository {
	topics := slices.Clone(r.Topics)
	slices.Sort(topics)
	return forge.Repository{FullName: r.FullName, WebURL: r.HTMLURL, DefaultBranch: r.DefaultBranch,
		Archived: r.Archived, Fork: r.Fork, Empty: r.Empty, Topics: topics, Updated: r.Updated}
}

// readHeads asks for the default branch of each repository with activity that
// is new, and forgets those that are gone. When the host wants no more
// requests the rest is left for the next time.
func (c *Client) readHeads(ctx context.Context, repos []*gitea.Repository, at time.Time) error {
	next := make(map[int64]head, len(repos))
	group, asking := beside.WithContext(ctx)
	group.SetLimit(c.cfg.Limits.Concurrency)
	answers := make([]head, len(repos))
	for i, one := range repos {
		old := c.heads[one.ID]
		if old.sure && old.updated.Equal(one.Updated) && old.branch == one.DefaultBranch {
			answers[i] = old
			continue
		}
		if one.Empty || one.DefaultBranch == "" {
			continue
		}
		group.Go(func() (err error) {
			answers[i], err = c.readHead(asking, one, at)
			return err
		})
	}
	err := group.Wait()
	for i, one := range repos {
		if answers[i].commit != "" {
			next[one.ID] = answers[i]
		}
	}
	c.heads = next
	if code := fault.CodeOf(err); code == fault.QuotaExceeded && ctx.Err() == nil {
		return nil
	}
	return err
}

// readHead asks for one branch. An error is one that concerns the host, not
// this repository alone.
func (c *Client) readHead(ctx context.Context, r *gitea.Repository, at time.Time) (head, error) {
	api, err := c.api(ctx)
	if err != nil {
		return head{}, err
	}
	owner, name, _ := strings.Cut(r.FullName, "/")
	branch, _, err := api.GetRepoBranch(owner, name, r.DefaultBranch)
	var status *forge.StatusError
	switch {
	case errors.As(err, &status) && status.Limited:
		return head{}, c.wire.Explain(fmt.Sprintf("reading the head of %s", r.FullName), err)
	case errors.As(err, &status) && status.Status != http.StatusUnauthorized:
		return head{}, nil
	case err != nil:
		return head{}, err
	case branch.Commit == nil:
		return head{}, nil
	}
	return head{updated: r.Updated, branch: r.DefaultBranch, commit: branch.Commit.ID, sure: at.Sub(r.Updated) >= settled}, nil
}

func (c *Client) step() string {
	if c.cfg.Org != "" {
		return "listing the repositories of the organization " + c.cfg.Org
	}
	return "listing the repositories of the user " + c.cfg.User
}

func (c *Client) explain(err error) error {
	var status *forge.StatusError
	if errors.As(err, &status) && status.Status == http.StatusNotFound {
		return fault.New(fault.NotFound, "%s: there is no such one at %s, or it is hidden from %s", c.step(), c.wire.Host, c.wire.Credentials).
			WithFix("Correct org or user, or use a token that may see it.").Because(err)
	}
	return c.wire.Explain(c.step(), err)
}
