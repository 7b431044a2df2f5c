package github

import (
	"context"
	"fmt"
	"strings"

	gh "github.com/google/go-github/v89/github"

	"github.com/fairlead-dev/fairlead/gitops"
	"github.com/fairlead-dev/fairlead/internal/forge"
)

// pageSize is the most that GitHub gives of a list at a time.
const pageSize = 100

// in is a repository, and the step for messages.
type in struct {
	c           *Client
	api         *gh.Client
	owner, name string
	step        string
}

func (c *Client) in(repository, step string, args ...any) (*in, error) {
	owner, name, err := forge.Split(repository)
	if err != nil {
		return nil, err
	}
	return &in{c, c.act, owner, name, fmt.Sprintf(step, args...) + " in " + repository}, nil
}

func (r *in) explain(err error) error { return r.c.wire.ExplainWrite(r.step, err) }

// FindPull gives the pull request from a branch into another.
func (c *Client) FindPull(ctx context.Context, repository, base, branch string) (*gitops.Pull, error) {
	r, err := c.in(repository, "looking for the pull request of %s", branch)
	if err != nil {
		return nil, err
	}
	all, err := r.list(ctx, gh.PullRequestListOptions{State: "all", Head: r.owner + ":" + branch, Base: base})
	return forge.Newest(all), err
}

// OpenPulls lists the pull requests that are open.
func (c *Client) OpenPulls(ctx context.Context, repository string) ([]gitops.Pull, error) {
	r, err := c.in(repository, "listing the open pull requests")
	if err != nil {
		return nil, err
	}
	return r.list(ctx, gh.PullRequestListOptions{State: "open"})
}

func (r *in) list(ctx context.Context, q gh.PullRequestListOptions) ([]gitops.Pull, error) {
	q.PerPage = pageSize
	all, _, err := forge.Paged(pageSize, func(n int) ([]*gh.PullRequest, error) {
		q.Page = n
		some, _, err := r.api.PullRequests.List(ctx, r.owner, r.name, &q)
		return some, err
	})
	if err != nil {
		return nil, r.explain(err)
	}
	out := make([]gitops.Pull, len(all))
	for i, one := range all {
		out[i] = *pullOf(one)
	}
	return out, nil
}

// ChangedFiles are the paths that a pull request changes.
func (c *Client) ChangedFiles(ctx context.Context, repository string, number int64) (paths []string, all bool, err error) {
	r, err := c.in(repository, "listing the files of pull request %d", number)
	if err != nil {
		return nil, false, err
	}
	files, all, err := forge.Paged(pageSize, func(n int) ([]*gh.CommitFile, error) {
		some, _, err := r.api.PullRequests.ListFiles(ctx, r.owner, r.name, int(number), &gh.ListOptions{Page: n, PerPage: pageSize})
		return some, err
	})
	if err != nil {
		return nil, false, r.explain(err)
	}
	for _, f := range files {
		paths = append(paths, f.GetFilename(), f.GetPreviousFilename())
	}
	return forge.Paths(paths...), all, nil
}

// OpenPull opens a pull request.
func (c *Client) OpenPull(ctx context.Context, repository string, p gitops.NewPull) (*gitops.Pull, error) {
	r, err := c.in(repository, "opening the pull request of %s", p.Branch)
	if err != nil {
		return nil, err
	}
	one, _, err := r.api.PullRequests.Create(ctx, r.owner, r.name, &gh.NewPullRequest{Title: &p.Title, Body: &p.Body, Head: &p.Branch, Base: &p.Base, Draft: &p.Draft})
	if err != nil {
		return nil, r.explain(err)
	}
	out := pullOf(one)
	if len(p.Labels) > 0 {
		_, _, err := r.api.Issues.AddLabelsToIssue(ctx, r.owner, r.name, one.GetNumber(), p.Labels)
		forge.Noted(out, "the labels are not set", r.explain(err))
	}
	for _, who := range p.Reviewers { // one who may not review shall not stand in the way of others
		_, _, err := r.api.PullRequests.RequestReviewers(ctx, r.owner, r.name, one.GetNumber(), gh.ReviewersRequest{Reviewers: []string{who}})
		forge.Noted(out, who+" is not asked to review", r.explain(err))
	}
	for _, team := range p.Teams {
		_, _, err := r.api.PullRequests.RequestReviewers(ctx, r.owner, r.name, one.GetNumber(), gh.ReviewersRequest{TeamReviewers: []string{team}})
		forge.Noted(out, "the team "+team+" is not asked to review", r.explain(err))
	}
	return out, nil
}

// UpdatePull gives a pull request another title and body.
func (c *Client) UpdatePull(ctx context.Context, repository string, number int64, title, body string) (*gitops.Pull, error) {
	change := &gh.PullRequest{}
	if title != "" {
		change.Title = &title
	}
	if body != "" {
		change.Body = &body
	}
	return c.edit(ctx, repository, number, "updating", change)
}

// ClosePull closes a pull request without merging it.
func (c *Client) ClosePull(ctx context.Context, repository string, number int64) error {
	_, err := c.edit(ctx, repository, number, "closing", &gh.PullRequest{State: gh.Ptr("closed")})
	return err
}

func (c *Client) edit(ctx context.Context, repository string, number int64, doing string, change *gh.PullRequest) (*gitops.Pull, error) {
	r, err := c.in(repository, "%s pull request %d", doing, number)
	if err != nil {
		return nil, err
	}
	one, _, err := r.api.PullRequests.Edit(ctx, r.owner, r.name, int(number), change)
	if err != nil {
		return nil, r.explain(err)
	}
	return pullOf(one), nil
}

// GetPull gives a pull request with its checks and reviews.
func (c *Client) GetPull(ctx context.Context, repository string, number int64) (*gitops.Pull, error) {
	r, err := c.in(repository, "reading pull request %d", number)
	if err != nil {
		return nil, err
	}
	one, _, err := r.api.PullRequests.Get(ctx, r.owner, r.name, int(number))
	if err != nil {
		return nil, r.explain(err)
	}
	p := pullOf(one)
	if p.Head != "" {
		if p.Checks, err = r.checks(ctx, p.Head); err != nil {
			return nil, err
		}
	}
	var reviews forge.Reviews
	all, _, err := forge.Paged(pageSize, func(n int) ([]*gh.PullRequestReview, error) {
		some, _, err := r.api.PullRequests.ListReviews(ctx, r.owner, r.name, int(number), &gh.ListOptions{Page: n, PerPage: pageSize})
		return some, err
	})
	if err != nil {
		return nil, r.explain(err)
	}
	for _, one := range all {
		if verdict, ok := verdictOf(one.GetState()); ok {
			reviews.Add(one.GetUser().GetLogin(), verdict)
		}
	}
	reviews.Into(p)
	return p, nil
}

func verdictOf(state string) (string, bool) {
	verdict, ok := map[string]string{"APPROVED": forge.Approves, "CHANGES_REQUESTED": forge.Rejects, "DISMISSED": forge.Takes}[state]
	return verdict, ok
}

// checks are both kinds that GitHub has: statuses, and the runs of apps.
func (r *in) checks(ctx context.Context, commit string) ([]gitops.Check, error) {
	var out []gitops.Check
	status, _, err := r.api.Repositories.GetCombinedStatus(ctx, r.owner, r.name, commit, &gh.ListOptions{PerPage: pageSize})
	if err != nil {
		return nil, r.explain(err)
	}
	for _, s := range status.Statuses {
		out = append(out, gitops.Check{Name: s.GetContext(), State: checkState("completed", s.GetState()), URL: s.GetTargetURL()})
	}
	runs, _, err := r.api.Checks.ListCheckRunsForRef(ctx, r.owner, r.name, commit, &gh.ListCheckRunsOptions{ListOptions: gh.ListOptions{PerPage: pageSize}})
	if err != nil {
		return nil, r.explain(err)
	}
	for _, run := range runs.CheckRuns {
		out = append(out, gitops.Check{Name: run.GetName(), State: checkState(run.GetStatus(), run.GetConclusion()), URL: run.GetHTMLURL()})
	}
	return forge.Checks(out), nil
}

func checkState(status, result string) string {
	switch {
	case status != "completed" || result == "pending":
		return gitops.CheckPending
	case result == "success" || result == "neutral" || result == "skipped":
		return gitops.CheckPassed
	default:
		return gitops.CheckFailed
	}
}

func pullOf(one *gh.PullRequest) *gitops.Pull {
	p := &gitops.Pull{Number: int64(one.GetNumber()), URL: one.GetHTMLURL(), Title: one.GetTitle(), Body: one.GetBody(), State: gitops.PullClosed, Draft: one.GetDraft(),
		Author: one.GetUser().GetLogin(), Base: one.GetBase().GetRef(), Branch: one.GetHead().GetRef(), Head: one.GetHead().GetSHA(),
		Ref: fmt.Sprintf("refs/pull/%d/head", one.GetNumber()), Fork: one.GetHead().GetRepo().GetID() != one.GetBase().GetRepo().GetID()}
	switch {
	case one.MergedAt != nil:
		p.State, p.Merged, p.Ended = gitops.PullMerged, one.GetMergeCommitSHA(), one.GetMergedAt().Time
	case one.GetState() == "open":
		p.State = gitops.PullOpen
		p.Mergeable, p.Blocked = mergeable(one)
	case one.ClosedAt != nil:
		p.Ended = one.GetClosedAt().Time
	}
	return p
}

// mergeable reads what GitHub works out in the background: at first it does not
// tell.
func mergeable(one *gh.PullRequest) (state, blocked string) {
	switch word := strings.ToLower(one.GetMergeableState()); word {
	case "clean", "has_hooks", "unstable":
		return gitops.MergeClean, ""
	case "dirty":
		return gitops.MergeConflict, ""
	case "blocked", "behind", "draft":
		return gitops.MergeBlocked, word
	}
	if one.Mergeable != nil && !*one.Mergeable {
		return gitops.MergeConflict, ""
	}
	return gitops.MergeUnknown, ""
}

// UpsertComment writes the one comment of this account that carries a marker.
func (c *Client) UpsertComment(ctx context.Context, repository string, number int64, marker, body string) error {
	r, err := c.in(repository, "commenting on pull request %d", number)
	if err != nil {
		return err
	}
	account := c.account.Name(func() (string, error) {
		me, _, err := r.api.Users.Get(ctx, "")
		return me.GetLogin(), err
	})
	return forge.Comments{
		List: func() ([]forge.Comment, error) { return r.comments(ctx, number) },
		Add: func(body string) error {
			_, _, err := r.api.Issues.CreateComment(ctx, r.owner, r.name, int(number), &gh.IssueComment{Body: &body})
			return r.explain(err)
		},
		Edit: func(id int64, body string) error {
			_, _, err := r.api.Issues.EditComment(ctx, r.owner, r.name, id, &gh.IssueComment{Body: &body})
			return r.explain(err)
		},
		Remove: func(id int64) error {
			_, err := r.api.Issues.DeleteComment(ctx, r.owner, r.name, id)
			return r.explain(err)
		},
	}.Upsert(account, marker, body)
}

func (r *in) comments(ctx context.Context, number int64) ([]forge.Comment, error) {
	all, _, err := forge.Paged(pageSize, func(n int) ([]*gh.IssueComment, error) {
		some, _, err := r.api.Issues.ListComments(ctx, r.owner, r.name, int(number), &gh.IssueListCommentsOptions{ListOptions: gh.ListOptions{Page: n, PerPage: pageSize}})
		return some, err
	})
	if err != nil {
		return nil, r.explain(err)
	}
	out := make([]forge.Comment, len(all))
	for i, one := range all {
		out[i] = forge.Comment{ID: one.GetID(), Author: one.GetUser().GetLogin(), Body: one.GetBody()}
	}
	return out, nil
}
