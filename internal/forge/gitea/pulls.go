package gitea

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"code.gitea.io/sdk/gitea"

	"github.com/fairlead-dev/fairlead/gitops"
	"github.com/fairlead-dev/fairlead/internal/forge"
)

// draftMark is what a title begins with that is a draft; Gitea knows two by
// default.
const draftMark = "WIP:"

func undrafted(title string) string { return forge.Undrafted(title, draftMark, "[WIP]") }

// in is a repository under one context, and the step for messages.
type in struct {
	c           *Client
	api         *gitea.Client
	owner, name string
	step        string
}

func (c *Client) in(ctx context.Context, repository, step string, args ...any) (*in, error) {
	owner, name, err := forge.Split(repository)
	if err != nil {
		return nil, err
	}
	api, err := c.apiOver(ctx, c.act)
	if err != nil {
		return nil, err
	}
	return &in{c, api, owner, name, fmt.Sprintf(step, args...) + " in " + repository}, nil
}

func (r *in) explain(err error) error { return r.c.wire.ExplainWrite(r.step, err) }

// FindPull gives the pull request from a branch into another.
func (c *Client) FindPull(ctx context.Context, repository, base, branch string) (*gitops.Pull, error) {
	r, err := c.in(ctx, repository, "looking for the pull request of %s", branch)
	if err != nil {
		return nil, err
	}
	one, _, err := r.api.GetPullRequestByBaseHead(r.owner, r.name, base, branch)
	var status *forge.StatusError
	switch {
	case errors.As(err, &status) && status.Status == http.StatusNotFound:
		return nil, nil
	case err != nil:
		return nil, r.explain(err)
	}
	found := []gitops.Pull{*pullOf(one)}
	if found[0].State != gitops.PullOpen { // it may be an older one
		open, err := r.open()
		if err != nil {
			return nil, err
		}
		for _, p := range open {
			if p.Branch == branch && p.Base == base {
				found = append(found, p)
			}
		}
	}
	return forge.Newest(found), nil
}

// OpenPulls lists the pull requests that are open.
func (c *Client) OpenPulls(ctx context.Context, repository string) ([]gitops.Pull, error) {
	r, err := c.in(ctx, repository, "listing the open pull requests")
	if err != nil {
		return nil, err
	}
	return r.open()
}

func (r *in) open() ([]gitops.Pull, error) {
	all, _, err := forge.Paged(pageSize, func(n int) ([]*gitea.PullRequest, error) {
		some, _, err := r.api.ListRepoPullRequests(r.owner, r.name, gitea.ListPullRequestsOptions{
			ListOptions: gitea.ListOptions{Page: n, PageSize: pageSize}, State: gitea.StateOpen})
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
	r, err := c.in(ctx, repository, "listing the files of pull request %d", number)
	if err != nil {
		return nil, false, err
	}
	files, all, err := forge.Paged(pageSize, func(n int) ([]*gitea.ChangedFile, error) {
		some, _, err := r.api.ListPullRequestFiles(r.owner, r.name, number, gitea.ListPullRequestFilesOptions{ListOptions: gitea.ListOptions{Page: n, PageSize: pageSize}})
		return some, err
	})
	if err != nil {
		return nil, false, r.explain(err)
	}
	for _, f := range files {
		paths = append(paths, f.Filename, f.PreviousFilename)
	}
	return forge.Paths(paths...), all, nil
}

// OpenPull opens a pull request.
func (c *Client) OpenPull(ctx context.Context, repository string, p gitops.NewPull) (*gitops.Pull, error) {
	r, err := c.in(ctx, repository, "opening the pull request of %s", p.Branch)
	if err != nil {
		return nil, err
	}
	one, _, err := r.api.CreatePullRequest(r.owner, r.name, gitea.CreatePullRequestOption{
		Head: p.Branch, Base: p.Base, Title: forge.Drafted(p.Title, draftMark, p.Draft), Body: p.Body})
	if err != nil {
		return nil, r.explain(err)
	}
	out := pullOf(one)
	if len(p.Labels) > 0 {
		forge.Noted(out, "the labels are not set", r.label(one.Index, p.Labels))
	}
	for _, who := range p.Reviewers { // one who may not review shall not stand in the way of others
		_, err := r.api.CreateReviewRequests(r.owner, r.name, one.Index, gitea.PullReviewRequestOptions{Reviewers: []string{who}})
		forge.Noted(out, who+" is not asked to review", r.explain(err))
	}
	for _, team := range p.Teams {
		_, err := r.api.CreateReviewRequests(r.owner, r.name, one.Index, gitea.PullReviewRequestOptions{TeamReviewers: []string{team}})
		forge.Noted(out, "the team "+team+" is not asked to review", r.explain(err))
	}
	return out, nil
}

// label sets labels by their names; those that are missing are made.
func (r *in) label(number int64, names []string) error {
	known := map[string]int64{}
	all, _, err := forge.Paged(pageSize, func(n int) ([]*gitea.Label, error) {
		some, _, err := r.api.ListRepoLabels(r.owner, r.name, gitea.ListLabelsOptions{ListOptions: gitea.ListOptions{Page: n, PageSize: pageSize}})
		return some, err
	})
	if err != nil {
		return r.explain(err)
	}
	for _, l := range all {
		known[strings.ToLower(l.Name)] = l.ID
	}
	var ids []int64
	for _, name := range names {
		id, ok := known[strings.ToLower(name)]
		if !ok {
			l, _, err := r.api.CreateLabel(r.owner, r.name, gitea.CreateLabelOption{Name: name, Color: "#4c78a8"})
			if err != nil {
				return r.explain(err)
			}
			id = l.ID
		}
		ids = append(ids, id)
	}
	_, _, err = r.api.AddIssueLabels(r.owner, r.name, number, gitea.IssueLabelsOption{Labels: ids})
	return r.explain(err)
}

// UpdatePull gives a pull request another title and body.
func (c *Client) UpdatePull(ctx context.Context, repository string, number int64, title, body string) (*gitops.Pull, error) {
	r, err := c.in(ctx, repository, "updating pull request %d", number)
	if err != nil {
		return nil, err
	}
	var change gitea.EditPullRequestOption
	if title != "" {
		now, _, err := r.api.GetPullRequest(r.owner, r.name, number)
		if err != nil {
			return nil, r.explain(err)
		}
		change.Title = forge.Drafted(title, draftMark, pullOf(now).Draft)
	}
	if body != "" {
		change.Body = &body
	}
	one, _, err := r.api.EditPullRequest(r.owner, r.name, number, change)
	if err != nil {
		return nil, r.explain(err)
	}
	return pullOf(one), nil
}

// ClosePull closes a pull request without merging it.
func (c *Client) ClosePull(ctx context.Context, repository string, number int64) error {
	r, err := c.in(ctx, repository, "closing pull request %d", number)
	if err != nil {
		return err
	}
	closed := gitea.StateClosed
	_, _, err = r.api.EditPullRequest(r.owner, r.name, number, gitea.EditPullRequestOption{State: &closed})
	return r.explain(err)
}

// GetPull gives a pull request with its checks and reviews.
func (c *Client) GetPull(ctx context.Context, repository string, number int64) (*gitops.Pull, error) {
	r, err := c.in(ctx, repository, "reading pull request %d", number)
	if err != nil {
		return nil, err
	}
	one, _, err := r.api.GetPullRequest(r.owner, r.name, number)
	if err != nil {
		return nil, r.explain(err)
	}
	p := pullOf(one)
	if p.Head != "" {
		status, _, err := r.api.GetCombinedStatus(r.owner, r.name, p.Head)
		if err != nil {
			return nil, r.explain(err)
		}
		p.Checks = checksOf(status)
	}
	reviews, _, err := r.api.ListPullReviews(r.owner, r.name, number, gitea.ListPullReviewsOptions{ListOptions: gitea.ListOptions{PageSize: pageSize}})
	if err != nil {
		return nil, r.explain(err)
	}
	reviewsOf(reviews).Into(p)
	return p, nil
}

func pullOf(one *gitea.PullRequest) *gitops.Pull {
	p := &gitops.Pull{Number: one.Index, URL: one.HTMLURL, Title: undrafted(one.Title), Body: one.Body, State: gitops.PullClosed,
		Draft: one.Draft || undrafted(one.Title) != one.Title, Mergeable: gitops.MergeConflict}
	p.Ref = fmt.Sprintf("refs/pull/%d/head", one.Index)
	if one.Poster != nil {
		p.Author = one.Poster.UserName
	}
	if one.Base != nil && one.Head != nil {
		p.Base, p.Branch, p.Head = one.Base.Ref, one.Head.Ref, one.Head.Sha
		p.Fork = one.Base.RepoID != one.Head.RepoID
	}
	switch {
	case one.HasMerged:
		p.State = gitops.PullMerged
		if one.MergedCommitID != nil {
			p.Merged = *one.MergedCommitID
		}
		if one.Merged != nil {
			p.Ended = *one.Merged
		}
	case one.State == gitea.StateOpen:
		p.State = gitops.PullOpen
	case one.Closed != nil:
		p.Ended = *one.Closed
	}
	switch {
	case p.State != gitops.PullOpen:
		p.Mergeable = ""
	case p.Draft:
		p.Mergeable, p.Blocked = gitops.MergeBlocked, "draft"
	case one.Mergeable:
		p.Mergeable = gitops.MergeClean
	}
	return p
}

func checksOf(all *gitea.CombinedStatus) []gitops.Check {
	var out []gitops.Check
	for i := len(all.Statuses) - 1; i >= 0; i-- { // the newest come first
		s := all.Statuses[i]
		c := gitops.Check{Name: s.Context, State: gitops.CheckFailed, URL: s.TargetURL}
		switch s.State {
		case gitea.StatusPending:
			c.State = gitops.CheckPending
		case gitea.StatusSuccess, gitea.StatusWarning, "skipped":
			c.State = gitops.CheckPassed
		}
		out = append(out, c)
	}
	return forge.Checks(out)
}

func reviewsOf(all []*gitea.PullReview) *forge.Reviews {
	var out forge.Reviews
	for _, one := range all {
		if one.Reviewer == nil {
			continue
		}
		switch who := one.Reviewer.UserName; {
		case one.Dismissed:
			out.Add(who, forge.Takes)
		case one.State == gitea.ReviewStateApproved:
			out.Add(who, forge.Approves)
		case one.State == gitea.ReviewStateRequestChanges:
			out.Add(who, forge.Rejects)
		}
	}
	return &out
}

// UpsertComment writes the one comment of this account that carries a marker.
func (c *Client) UpsertComment(ctx context.Context, repository string, number int64, marker, body string) error {
	r, err := c.in(ctx, repository, "commenting on pull request %d", number)
	if err != nil {
		return err
	}
	account := c.account.Name(func() (string, error) {
		me, _, err := r.api.GetMyUserInfo()
		if err != nil {
			return "", err
		}
		return me.UserName, nil
	})
	return forge.Comments{
		List: func() ([]forge.Comment, error) { return r.comments(number) },
		Add: func(body string) error {
			_, _, err := r.api.CreateIssueComment(r.owner, r.name, number, gitea.CreateIssueCommentOption{Body: body})
			return r.explain(err)
		},
		Edit: func(id int64, body string) error {
			_, _, err := r.api.EditIssueComment(r.owner, r.name, id, gitea.EditIssueCommentOption{Body: body})
			return r.explain(err)
		},
		Remove: func(id int64) error {
			_, err := r.api.DeleteIssueComment(r.owner, r.name, id)
			return r.explain(err)
		},
	}.Upsert(account, marker, body)
}

// comments lists the comments on a pull request; Gitea gives all at once.
func (r *in) comments(number int64) ([]forge.Comment, error) {
	all, _, err := r.api.ListIssueComments(r.owner, r.name, number, gitea.ListIssueCommentOptions{})
	if err != nil {
		return nil, r.explain(err)
	}
	out := make([]forge.Comment, 0, len(all))
	for _, one := range all {
		c := forge.Comment{ID: one.ID, Body: one.Body}
		if one.Poster != nil {
			c.Author = one.Poster.UserName
		}
		out = append(out, c)
	}
	return out, nil
}
