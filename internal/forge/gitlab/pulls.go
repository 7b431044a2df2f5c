package gitlab

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	gl "gitlab.com/gitlab-org/api/client-go/v2"

	"github.com/fairlead-dev/fairlead/gitops"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/forge"
)

const (
	pullPage  = 100 // the most that GitLab gives of a list at a time
	draftMark = "Draft:"
)

func undrafted(title string) string { return forge.Undrafted(title, draftMark, "[Draft]", "(Draft)") }

// in is a project under one context, and the step for messages.
type in struct {
	c       *Client
	api     *gl.Client
	project string
	ctx     gl.RequestOptionFunc
	step    string
}

func (c *Client) in(ctx context.Context, repository, step string, args ...any) (*in, error) {
	if _, _, err := forge.Split(repository); err != nil {
		return nil, err
	}
	return &in{c, c.act, repository, gl.WithContext(ctx), fmt.Sprintf(step, args...) + " in " + repository}, nil
}

func (r *in) explain(err error) error { return r.c.wire.ExplainWrite(r.step, err) }

// FindPull gives the merge request from a branch into another.
func (c *Client) FindPull(ctx context.Context, repository, base, branch string) (*gitops.Pull, error) {
	r, err := c.in(ctx, repository, "looking for the merge request of %s", branch)
	if err != nil {
		return nil, err
	}
	all, err := r.list(gl.ListProjectMergeRequestsOptions{State: gl.Ptr("all"), SourceBranch: &branch, TargetBranch: &base})
	return forge.Newest(all), err
}

// OpenPulls lists the merge requests that are open.
func (c *Client) OpenPulls(ctx context.Context, repository string) ([]gitops.Pull, error) {
	r, err := c.in(ctx, repository, "listing the open merge requests")
	if err != nil {
		return nil, err
	}
	return r.list(gl.ListProjectMergeRequestsOptions{State: gl.Ptr("opened")})
}

func (r *in) list(q gl.ListProjectMergeRequestsOptions) ([]gitops.Pull, error) {
	q.PerPage = pullPage
	all, _, err := forge.Paged(pullPage, func(n int) ([]*gl.BasicMergeRequest, error) {
		q.Page = int64(n)
		some, _, err := r.api.MergeRequests.ListProjectMergeRequests(r.project, &q, r.ctx)
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

// ChangedFiles are the paths that a merge request changes.
func (c *Client) ChangedFiles(ctx context.Context, repository string, number int64) (paths []string, all bool, err error) {
	r, err := c.in(ctx, repository, "listing the files of merge request %d", number)
	if err != nil {
		return nil, false, err
	}
	files, all, err := forge.Paged(pullPage, func(n int) ([]*gl.MergeRequestDiff, error) {
		some, _, err := r.api.MergeRequests.ListMergeRequestDiffs(r.project, number, &gl.ListMergeRequestDiffsOptions{ListOptions: gl.ListOptions{Page: int64(n), PerPage: pullPage}}, r.ctx)
		return some, err
	})
	if err != nil {
		return nil, false, r.explain(err)
	}
	for _, f := range files {
		paths = append(paths, f.NewPath, f.OldPath)
	}
	return forge.Paths(paths...), all, nil
}

// OpenPull opens a merge request. Teams cannot be asked to review at GitLab.
func (c *Client) OpenPull(ctx context.Context, repository string, p gitops.NewPull) (*gitops.Pull, error) {
	r, err := c.in(ctx, repository, "opening the merge request of %s", p.Branch)
	if err != nil {
		return nil, err
	}
	title := forge.Drafted(p.Title, draftMark, p.Draft)
	q := &gl.CreateMergeRequestOptions{Title: &title, Description: &p.Body, SourceBranch: &p.Branch, TargetBranch: &p.Base}
	if len(p.Labels) > 0 {
		labels := gl.LabelOptions(p.Labels)
		q.Labels = &labels
	}
	ids, notes := r.users(p.Reviewers)
	if len(ids) > 0 {
		q.ReviewerIDs = &ids
	}
	one, _, err := r.api.MergeRequests.CreateMergeRequest(r.project, q, r.ctx)
	if err != nil {
		return nil, r.explain(err)
	}
	out := pullOf(&one.BasicMergeRequest)
	out.Notes = notes
	for _, team := range p.Teams {
		out.Notes = append(out.Notes, "the team "+team+" is not asked to review: GitLab asks persons alone")
	}
	return out, nil
}

// users finds the ids of login names, and tells which it does not.
func (r *in) users(names []string) (ids []int64, notes []string) {
	for _, name := range names {
		found, _, err := r.api.Users.ListUsers(&gl.ListUsersOptions{Username: &name}, r.ctx)
		if err == nil && len(found) == 0 {
			err = fault.New(fault.NotFound, "there is no such user")
		}
		if err != nil {
			notes = append(notes, name+" is not asked to review: "+fault.From(r.explain(err)).Message)
			continue
		}
		ids = append(ids, found[0].ID)
	}
	return ids, notes
}

// UpdatePull gives a merge request another title and body.
func (c *Client) UpdatePull(ctx context.Context, repository string, number int64, title, body string) (*gitops.Pull, error) {
	r, err := c.in(ctx, repository, "updating merge request %d", number)
	if err != nil {
		return nil, err
	}
	var change gl.UpdateMergeRequestOptions
	if title != "" {
		now, _, err := r.api.MergeRequests.GetMergeRequest(r.project, number, nil, r.ctx)
		if err != nil {
			return nil, r.explain(err)
		}
		title = forge.Drafted(title, draftMark, pullOf(&now.BasicMergeRequest).Draft)
		change.Title = &title
	}
	if body != "" {
		change.Description = &body
	}
	return r.edit(number, &change)
}

// ClosePull closes a merge request without merging it.
func (c *Client) ClosePull(ctx context.Context, repository string, number int64) error {
	r, err := c.in(ctx, repository, "closing merge request %d", number)
	if err != nil {
		return err
	}
	_, err = r.edit(number, &gl.UpdateMergeRequestOptions{StateEvent: gl.Ptr("close")})
	return err
}

func (r *in) edit(number int64, change *gl.UpdateMergeRequestOptions) (*gitops.Pull, error) {
	one, _, err := r.api.MergeRequests.UpdateMergeRequest(r.project, number, change, r.ctx)
	if err != nil {
		return nil, r.explain(err)
	}
	return pullOf(&one.BasicMergeRequest), nil
}

// GetPull gives a merge request with the jobs on its head and who approves.
func (c *Client) GetPull(ctx context.Context, repository string, number int64) (*gitops.Pull, error) {
	r, err := c.in(ctx, repository, "reading merge request %d", number)
	if err != nil {
		return nil, err
	}
	one, _, err := r.api.MergeRequests.GetMergeRequest(r.project, number, nil, r.ctx)
	if err != nil {
		return nil, r.explain(err)
	}
	p := pullOf(&one.BasicMergeRequest)
	if p.Head != "" {
		jobs, _, err := r.api.Commits.GetCommitStatuses(r.project, p.Head, &gl.GetCommitStatusesOptions{ListOptions: gl.ListOptions{PerPage: pullPage}}, r.ctx)
		if err != nil {
			return nil, r.explain(err)
		}
		p.Checks = checksOf(jobs)
	}
	return p, r.approvals(p, number)
}

// approvals adds who approves; not every edition of GitLab tells.
func (r *in) approvals(p *gitops.Pull, number int64) error {
	a, _, err := r.api.MergeRequestApprovals.GetConfiguration(r.project, number, r.ctx)
	var status *forge.StatusError
	switch {
	case errors.As(err, &status) && status.Status == 404:
		return nil
	case err != nil:
		return r.explain(err)
	}
	var reviews forge.Reviews
	for _, by := range a.ApprovedBy {
		if by != nil && by.User != nil {
			reviews.Add(by.User.Username, forge.Approves)
		}
	}
	reviews.Into(p)
	return nil
}

func pullOf(one *gl.BasicMergeRequest) *gitops.Pull {
	p := &gitops.Pull{Number: one.IID, URL: one.WebURL, Title: undrafted(one.Title), Body: one.Description, State: gitops.PullClosed,
		Draft: one.Draft || undrafted(one.Title) != one.Title, Base: one.TargetBranch, Branch: one.SourceBranch, Head: one.SHA,
		Ref: fmt.Sprintf("refs/merge-requests/%d/head", one.IID), Fork: one.SourceProjectID != one.TargetProjectID}
	if one.Author != nil {
		p.Author = one.Author.Username
	}
	switch one.State {
	case "merged":
		p.State, p.Merged = gitops.PullMerged, cmp.Or(one.MergeCommitSHA, one.SquashCommitSHA, one.SHA)
		if one.MergedAt != nil {
			p.Ended = *one.MergedAt
		}
	case "opened", "locked":
		p.State = gitops.PullOpen
		p.Mergeable, p.Blocked = mergeable(one)
	default:
		if one.ClosedAt != nil {
			p.Ended = *one.ClosedAt
		}
	}
	return p
}

func mergeable(one *gl.BasicMergeRequest) (state, blocked string) {
	switch word := one.DetailedMergeStatus; {
	case word == "conflict" || one.HasConflicts:
		return gitops.MergeConflict, ""
	case word == "mergeable":
		return gitops.MergeClean, ""
	case word == "" || word == "unchecked" || word == "checking" || word == "preparing" || word == "approvals_syncing":
		return gitops.MergeUnknown, ""
	default:
		return gitops.MergeBlocked, word
	}
}

func checksOf(jobs []*gl.CommitStatus) []gitops.Check {
	var out []gitops.Check
	for i := len(jobs) - 1; i >= 0; i-- { // the newest come first
		job := jobs[i]
		c := gitops.Check{Name: job.Name, State: gitops.CheckPending, URL: job.TargetURL}
		switch {
		case job.Status == "success" || job.Status == "skipped" || job.AllowFailure && job.Status == "failed":
			c.State = gitops.CheckPassed
		case job.Status == "failed" || job.Status == "canceled":
			c.State = gitops.CheckFailed
		}
		out = append(out, c)
	}
	return forge.Checks(out)
}

// UpsertComment writes the one comment of this account that carries a marker.
func (c *Client) UpsertComment(ctx context.Context, repository string, number int64, marker, body string) error {
	r, err := c.in(ctx, repository, "commenting on merge request %d", number)
	if err != nil {
		return err
	}
	account := c.account.Name(func() (string, error) {
		me, _, err := r.api.Users.CurrentUser(r.ctx)
		if err != nil {
			return "", err
		}
		return me.Username, nil
	})
	return forge.Comments{
		List: func() ([]forge.Comment, error) { return r.comments(number) },
		Add: func(body string) error {
			_, _, err := r.api.Notes.CreateMergeRequestNote(r.project, number, &gl.CreateMergeRequestNoteOptions{Body: &body}, r.ctx)
			return r.explain(err)
		},
		Edit: func(id int64, body string) error {
			_, _, err := r.api.Notes.UpdateMergeRequestNote(r.project, number, id, &gl.UpdateMergeRequestNoteOptions{Body: &body}, r.ctx)
			return r.explain(err)
		},
		Remove: func(id int64) error {
			_, err := r.api.Notes.DeleteMergeRequestNote(r.project, number, id, r.ctx)
			return r.explain(err)
		},
	}.Upsert(account, marker, body)
}

func (r *in) comments(number int64) ([]forge.Comment, error) {
	q := gl.ListMergeRequestNotesOptions{ListOptions: gl.ListOptions{PerPage: pullPage}, OrderBy: gl.Ptr("created_at"), Sort: gl.Ptr("asc")}
	all, _, err := forge.Paged(pullPage, func(n int) ([]*gl.Note, error) {
		q.Page = int64(n)
		some, _, err := r.api.Notes.ListMergeRequestNotes(r.project, number, &q, r.ctx)
		return some, err
	})
	if err != nil {
		return nil, r.explain(err)
	}
	out := make([]forge.Comment, len(all))
	for i, one := range all {
		out[i] = forge.Comment{ID: one.ID, Author: one.Author.Username, Body: one.Body}
	}
	return out, nil
}
