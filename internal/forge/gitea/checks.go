package gitea

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"code.gitea.io/sdk/gitea"

	"github.com/fairlead-dev/fairlead/gitops"
	"github.com/fairlead-dev/fairlead/internal/fault/beside"
	"github.com/fairlead-dev/fairlead/internal/forge"
)

func (r *in) explainRead(err error) error { return r.c.wire.Explain(r.step, err) }

// Gate tells what the protection of the default branch asks of commits.
func (c *Client) Gate(ctx context.Context, repository string) (*gitops.Gate, error) {
	r, err := c.in(ctx, repository, "reading what is asked of commits")
	if err != nil {
		return nil, err
	}
	repo, _, err := r.api.GetRepo(r.owner, r.name)
	if err != nil {
		return nil, r.explainRead(err)
	}
	g := &gitops.Gate{Branch: repo.DefaultBranch}
	branch, _, err := r.api.GetRepoBranch(r.owner, r.name, g.Branch)
	switch {
	case forge.Refused(err, http.StatusNotFound): // a repository without commits names a branch all the same
		return &gitops.Gate{}, nil
	case err != nil:
		return nil, r.explainRead(err)
	case branch.EnableStatusCheck:
		g.Required = branch.StatusCheckContexts
	}
	return g, nil
}

// FindCommit gives the commit that a branch, a tag or an id names.
func (c *Client) FindCommit(ctx context.Context, repository, revision string) (string, error) {
	r, err := c.in(ctx, repository, "finding the commit %.80q", revision)
	if err != nil {
		return "", err
	}
	commit, _, err := r.api.GetSingleCommit(r.owner, r.name, revision)
	switch {
	case forge.Refused(err, http.StatusNotFound, http.StatusUnprocessableEntity):
		return "", forge.NoCommit(repository, revision)
	case err != nil:
		return "", r.explainRead(err)
	case commit.CommitMeta == nil:
		return "", forge.NoCommit(repository, revision)
	}
	return commit.SHA, nil
}

// CommitChecks are the statuses of a commit, which the jobs of workflows report
// too, and the runs that report none.
func (c *Client) CommitChecks(ctx context.Context, repository, commit string) (*gitops.CommitChecks, error) {
	r, err := c.in(ctx, repository, "reading the checks of %.10s", commit)
	if err != nil {
		return nil, err
	}
	var statuses []*gitea.Status
	var runs []*gitea.ActionWorkflowRun
	var allStatuses, allRuns bool
	var errStatuses, errRuns error
	var both beside.All
	both.Go(func() {
		statuses, allStatuses, errStatuses = forge.CheckPaged(pageSize, func(n int) ([]*gitea.Status, error) {
			some, _, err := r.api.ListStatuses(r.owner, r.name, commit, gitea.ListStatusesOption{ListOptions: gitea.ListOptions{Page: n, PageSize: pageSize}})
			return some, err
		})
	})
	both.Go(func() { runs, allRuns, errRuns = r.runs(commit) })
	both.Wait()
	out := &gitops.CommitChecks{}
	if err := forge.Part(out, "statuses", r.statusesOf(statuses, runs), allStatuses, errStatuses); err != nil {
		return nil, r.explainRead(err)
	}
	if err := forge.Part(out, "runs of workflows", silent(runs, out.Checks), allRuns, errRuns); err != nil {
		return nil, r.explainRead(err)
	}
	forge.Explain(out.Checks, func(one *gitops.CheckRun) error { return r.why(runs, one) })
	return out, nil
}

// runs are the runs of workflows on a commit; none where the version, or the
// repository, has no workflows.
func (r *in) runs(commit string) ([]*gitea.ActionWorkflowRun, bool, error) {
	runs, all, err := forge.CheckPaged(pageSize, func(n int) ([]*gitea.ActionWorkflowRun, error) {
		some, _, err := r.api.ListRepoActionRuns(r.owner, r.name, gitea.ListRepoActionRunsOptions{HeadSHA: commit, ListOptions: gitea.ListOptions{Page: n, PageSize: pageSize}})
		if err != nil {
			return nil, err
		}
		return some.WorkflowRuns, nil
	})
	if forge.Refused(err, http.StatusNotFound) {
		return nil, true, nil
	}
	// Versions that do not know the filter give all runs.
	return slices.DeleteFunc(runs, func(w *gitea.ActionWorkflowRun) bool { return w.HeadSha != commit }), all, err
}

// statusesOf are the last statuses of each name.
func (r *in) statusesOf(all []*gitea.Status, runs []*gitea.ActionWorkflowRun) []gitops.CheckRun {
	first, last := map[string]*gitea.Status{}, map[string]*gitea.Status{}
	for _, s := range all {
		if have := last[s.Context]; have == nil || s.ID > have.ID {
			last[s.Context] = s
		}
		if have := first[s.Context]; have == nil || s.ID < have.ID {
			first[s.Context] = s
		}
	}
	out := make([]gitops.CheckRun, 0, len(last))
	for name, s := range last {
		c := gitops.CheckRun{Name: name, State: statusState(s.State), URL: r.absolute(s.TargetURL), StartedAt: first[name].Created}
		c.Result = forge.Word(string(s.State), "success", "failure", "pending")
		if c.State != gitops.CheckPending {
			c.FinishedAt = s.Updated
		}
		if c.State == gitops.CheckFailed && s.Description != "" {
			c.Detail = []string{s.Description}
		}
		if w := runOf(runs, c.URL); w != nil {
			c.Run = w.HTMLURL
		}
		out = append(out, c)
	}
	return out
}

func statusState(s gitea.StatusState) string {
	switch s {
	case gitea.StatusPending:
		return gitops.CheckPending
	case gitea.StatusSuccess, gitea.StatusWarning, "skipped":
		return gitops.CheckPassed
	default:
		return gitops.CheckFailed
	}
}

// absolute is an address with the host's own before it, which Gitea leaves out
// of those of its own jobs.
func (r *in) absolute(at string) string {
	if !strings.HasPrefix(at, "/") || strings.HasPrefix(at, "//") {
		return at
	}
	u := url.URL{Scheme: r.c.wire.Base.Scheme, Host: r.c.wire.Base.Host}
	return u.String() + at
}

// runOf is the run that a job's page is of; nil of others.
func runOf(runs []*gitea.ActionWorkflowRun, page string) *gitea.ActionWorkflowRun {
	i := slices.IndexFunc(runs, func(w *gitea.ActionWorkflowRun) bool {
		return w.HTMLURL != "" && strings.HasPrefix(pathOf(page), pathOf(w.HTMLURL)+"/")
	})
	if i < 0 {
		return nil
	}
	return runs[i]
}

// pathOf is the path of an address, which Gitea may know by several hosts.
func pathOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	return u.Path
}

// silent are the runs of which no status tells: those of tags, of a schedule and
// the like.
func silent(runs []*gitea.ActionWorkflowRun, told []gitops.CheckRun) (out []gitops.CheckRun) {
	for _, w := range runs {
		if slices.ContainsFunc(told, func(c gitops.CheckRun) bool { return c.Run == w.HTMLURL }) {
			continue
		}
		file, ref, _ := strings.Cut(w.Path, "@")
		ref = strings.TrimPrefix(strings.TrimPrefix(ref, "refs/heads/"), "refs/tags/")
		c := gitops.CheckRun{Name: file + " (" + strings.TrimSpace(w.Event+" "+ref) + ")", State: runState(w.Status, w.Conclusion), URL: w.HTMLURL, Run: w.HTMLURL, StartedAt: since1970(w.StartedAt), FinishedAt: since1970(w.CompletedAt)}
		c.Result = forge.Word(w.Conclusion, "", "success", "failure")
		out = append(out, c)
	}
	return out
}

func runState(status, conclusion string) string {
	switch {
	case status != "completed":
		return gitops.CheckPending
	case conclusion == "success" || conclusion == "skipped":
		return gitops.CheckPassed
	default:
		return gitops.CheckFailed
	}
}

// since1970 is a time; the beginning of all of them stands for none.
func since1970(t time.Time) time.Time {
	if t.Unix() == 0 {
		return time.Time{}
	}
	return t
}

// why reads the steps that failed and the end of the log of a job.
func (r *in) why(runs []*gitea.ActionWorkflowRun, c *gitops.CheckRun) error {
	i := slices.IndexFunc(runs, func(w *gitea.ActionWorkflowRun) bool { return c.Run != "" && w.HTMLURL == c.Run })
	if i < 0 {
		return nil
	}
	jobs, _, err := r.api.ListRepoActionRunJobs(r.owner, r.name, runs[i].ID, gitea.ListRepoActionJobsOptions{ListOptions: gitea.ListOptions{PageSize: pageSize}})
	if err != nil {
		return r.explainRead(err)
	}
	for _, job := range jobs.Jobs {
		its := pathOf(job.HTMLURL) == pathOf(c.URL)
		if !its && c.URL != c.Run || runState(job.Status, job.Conclusion) != gitops.CheckFailed {
			continue
		}
		if !its {
			c.Failed = append(c.Failed, job.Name)
		}
		for _, step := range job.Steps {
			if step.Conclusion == "failure" {
				c.Failed = append(c.Failed, step.Name)
			}
		}
		if its {
			c.StartedAt, c.FinishedAt, c.Result = since1970(job.StartedAt), since1970(job.CompletedAt), forge.Word(job.Conclusion, "success", "failure")
		}
		log, _, err := r.api.GetRepoActionJobLogs(r.owner, r.name, job.ID)
		switch {
		case forge.Refused(err, http.StatusNotFound): // it wrote none, or it is gone
		case err != nil:
			return r.explainRead(err)
		default:
			c.Detail = forge.Tail(log)
		}
		return nil
	}
	return nil
}
