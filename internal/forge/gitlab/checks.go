package gitlab

import (
	"context"
	"io"
	"net/http"
	"slices"
	"strconv"
	"time"

	gl "gitlab.com/gitlab-org/api/client-go/v2"

	"github.com/fairlead-dev/fairlead/gitops"
	"github.com/fairlead-dev/fairlead/internal/fault/beside"
	"github.com/fairlead-dev/fairlead/internal/forge"
)

func (r *in) explainRead(err error) error { return r.c.wire.Explain(r.step, err) }

// Gate tells whether the project merges nothing without a pipeline that
// succeeded; GitLab knows of no single jobs that have to.
func (c *Client) Gate(ctx context.Context, repository string) (*gitops.Gate, error) {
	r, err := c.in(ctx, repository, "reading what is asked of commits")
	if err != nil {
		return nil, err
	}
	p, _, err := r.api.Projects.GetProject(r.project, nil, r.ctx)
	if err != nil {
		return nil, r.explainRead(err)
	}
	if p.EmptyRepo {
		return &gitops.Gate{}, nil
	}
	return &gitops.Gate{Branch: p.DefaultBranch, All: p.OnlyAllowMergeIfPipelineSucceeds}, nil
}

// FindCommit gives the commit that a branch, a tag or an id names.
func (c *Client) FindCommit(ctx context.Context, repository, revision string) (string, error) {
	r, err := c.in(ctx, repository, "finding the commit %.80q", revision)
	if err != nil {
		return "", err
	}
	commit, _, err := r.api.Commits.GetCommit(r.project, revision, &gl.GetCommitOptions{Stats: gl.Ptr(false)}, r.ctx)
	switch {
	case forge.Refused(err, http.StatusNotFound):
		return "", forge.NoCommit(repository, revision)
	case err != nil:
		return "", r.explainRead(err)
	}
	return commit.ID, nil
}

// CommitChecks are the jobs and the statuses from outside of a commit, which
// GitLab gives as one, and the pipelines that have none.
func (c *Client) CommitChecks(ctx context.Context, repository, commit string) (*gitops.CommitChecks, error) {
	r, err := c.in(ctx, repository, "reading the checks of %.10s", commit)
	if err != nil {
		return nil, err
	}
	var statuses []*gl.CommitStatus
	var pipelines []*gl.PipelineInfo
	var allStatuses, allPipelines bool
	var errStatuses, errPipelines error
	var both beside.All
	both.Go(func() {
		statuses, allStatuses, errStatuses = forge.CheckPaged(pullPage, func(n int) ([]*gl.CommitStatus, error) {
			some, _, err := r.api.Commits.GetCommitStatuses(r.project, commit, &gl.GetCommitStatusesOptions{ListOptions: gl.ListOptions{Page: int64(n), PerPage: pullPage}}, r.ctx)
			return some, err
		})
	})
	both.Go(func() {
		pipelines, allPipelines, errPipelines = forge.CheckPaged(pullPage, func(n int) ([]*gl.PipelineInfo, error) {
			some, _, err := r.api.Pipelines.ListProjectPipelines(r.project, &gl.ListProjectPipelinesOptions{SHA: &commit, ListOptions: gl.ListOptions{Page: int64(n), PerPage: pullPage}}, r.ctx)
			return some, err
		})
	})
	both.Wait()
	out, jobs := &gitops.CommitChecks{}, map[string]*gl.CommitStatus{}
	checks := make([]gitops.CheckRun, 0, len(statuses))
	for _, s := range newest(statuses) {
		one := statusOf(s, pipelines)
		checks, jobs[one.Name] = append(checks, one), s
	}
	if err := forge.Part(out, "jobs and statuses", checks, allStatuses, errStatuses); err != nil {
		return nil, r.explainRead(err)
	}
	if err := forge.Part(out, "pipelines", jobless(pipelines, statuses), allPipelines, errPipelines); err != nil {
		return nil, r.explainRead(err)
	}
	forge.Explain(out.Checks, func(one *gitops.CheckRun) error { return r.why(jobs[one.Name], pipelines, one) })
	return out, nil
}

// newest are the last statuses of each name.
func newest(all []*gl.CommitStatus) (out []*gl.CommitStatus) {
	last := map[string]int64{}
	for _, s := range all {
		last[s.Name] = max(last[s.Name], s.ID)
	}
	for _, s := range all {
		if last[s.Name] == s.ID {
			out = append(out, s)
		}
	}
	return out
}

// stateOf reads a status; what waits for a person is in nobody's way unless it
// has to be done.
func stateOf(status string) string {
	switch status {
	case "success", "skipped":
		return gitops.CheckPassed
	case "failed", "canceled":
		return gitops.CheckFailed
	default:
		return gitops.CheckPending
	}
}

func statusOf(s *gl.CommitStatus, pipelines []*gl.PipelineInfo) gitops.CheckRun {
	c := gitops.CheckRun{Name: s.Name, State: stateOf(s.Status), Optional: s.AllowFailure, URL: s.TargetURL, Result: forge.Word(s.Status, "success", "failed", "pending", "running", "created")}
	if s.Status == "manual" && s.AllowFailure { // it may be left undone
		c.State = gitops.CheckPassed
	}
	if p := pipelineOf(pipelines, s.PipelineID); p != nil {
		c.Run = p.WebURL
	}
	c.StartedAt, c.FinishedAt = timeOf(s.StartedAt), timeOf(s.FinishedAt)
	if c.State == gitops.CheckFailed && s.Description != "" {
		c.Detail = []string{s.Description}
	}
	return c
}

func timeOf(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return *t
}

func pipelineOf(all []*gl.PipelineInfo, id int64) *gl.PipelineInfo {
	if i := slices.IndexFunc(all, func(p *gl.PipelineInfo) bool { return p.ID == id }); i >= 0 && id != 0 {
		return all[i]
	}
	return nil
}

// jobless are the pipelines of which no job is known: those that could not be
// made, or have not been yet. A newer one of the same branch and source stands
// for those before it.
func jobless(pipelines []*gl.PipelineInfo, statuses []*gl.CommitStatus) (out []gitops.CheckRun) {
	for _, p := range pipelines {
		replaced := slices.ContainsFunc(pipelines, func(o *gl.PipelineInfo) bool { return o.ID > p.ID && o.Ref == p.Ref && o.Source == p.Source })
		if replaced || slices.ContainsFunc(statuses, func(s *gl.CommitStatus) bool { return s.PipelineID == p.ID }) {
			continue
		}
		c := gitops.CheckRun{Name: "pipeline " + strconv.FormatInt(p.ID, 10) + " (" + p.Source + ")", State: stateOf(p.Status), URL: p.WebURL, Run: p.WebURL, StartedAt: timeOf(p.CreatedAt)}
		c.Result = forge.Word(p.Status, "success", "failed", "pending", "running", "created")
		if c.State != gitops.CheckPending {
			c.FinishedAt = timeOf(p.UpdatedAt)
		}
		out = append(out, c)
	}
	return out
}

// why reads where a job failed and the end of its log, or why a pipeline could
// not be made.
func (r *in) why(s *gl.CommitStatus, pipelines []*gl.PipelineInfo, c *gitops.CheckRun) error {
	switch {
	case s == nil:
		return r.whyPipeline(pipelines, c)
	case pipelineOf(pipelines, s.PipelineID) == nil || s.Status != "failed":
		return nil
	}
	job, _, err := r.api.Jobs.GetJob(r.project, s.ID, r.ctx)
	switch {
	case forge.Refused(err, http.StatusNotFound): // it is a status from outside
		return nil
	case err != nil:
		return r.explainRead(err)
	}
	c.Failed = []string{"stage " + job.Stage}
	if job.FailureReason != "" {
		c.Failed = append(c.Failed, job.FailureReason)
	}
	trace, _, err := r.api.Jobs.GetTraceFile(r.project, s.ID, r.ctx)
	switch {
	case forge.Refused(err, http.StatusNotFound):
		return nil
	case err != nil:
		return r.explainRead(err)
	}
	log, err := io.ReadAll(trace)
	c.Detail = forge.Tail(log)
	return err
}

func (r *in) whyPipeline(pipelines []*gl.PipelineInfo, c *gitops.CheckRun) error {
	i := slices.IndexFunc(pipelines, func(p *gl.PipelineInfo) bool { return p.WebURL == c.URL })
	if i < 0 {
		return nil
	}
	p, _, err := r.api.Pipelines.GetPipeline(r.project, pipelines[i].ID, r.ctx)
	if err != nil {
		return r.explainRead(err)
	}
	c.Detail = gitops.Lines(p.YamlErrors, forge.MostLines)
	return nil
}
