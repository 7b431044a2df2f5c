package github

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"

	gh "github.com/google/go-github/v89/github"

	"github.com/fairlead-dev/fairlead/gitops"
	"github.com/fairlead-dev/fairlead/internal/fault/beside"
	"github.com/fairlead-dev/fairlead/internal/forge"
)

func (r *in) explainRead(err error) error { return r.c.wire.Explain(r.step, err) }

// Gate tells what the default branch asks of commits: by its protection, and by
// the rules that hold for it, as far as the token may read them.
func (c *Client) Gate(ctx context.Context, repository string) (*gitops.Gate, error) {
	r, err := c.in(repository, "reading what is asked of commits")
	if err != nil {
		return nil, err
	}
	repo, _, err := r.api.Repositories.Get(ctx, r.owner, r.name)
	if err != nil {
		return nil, r.explainRead(err)
	}
	g := &gitops.Gate{Branch: repo.GetDefaultBranch()}
	branch, _, err := r.api.Repositories.GetBranch(ctx, r.owner, r.name, g.Branch, 0)
	switch {
	case forge.Refused(err, http.StatusNotFound): // a repository without commits names a branch all the same
		return &gitops.Gate{}, nil
	case err != nil:
		return nil, r.explainRead(err)
	}
	if asked := branch.GetProtection().GetRequiredStatusChecks(); asked != nil {
		if asked.Contexts != nil {
			g.Required = append(g.Required, *asked.Contexts...)
		}
		if asked.Checks != nil {
			for _, one := range *asked.Checks {
				g.Required = append(g.Required, one.Context)
			}
		}
	}
	rules, _, err := r.api.Repositories.ListRulesForBranch(ctx, r.owner, r.name, url.PathEscape(g.Branch), &gh.ListOptions{PerPage: pageSize})
	switch {
	case forge.Refused(err, http.StatusNotFound, http.StatusForbidden): // not every edition has rules
	case err != nil:
		return nil, r.explainRead(err)
	default:
		for _, rule := range rules.RequiredStatusChecks {
			for _, one := range rule.Parameters.RequiredStatusChecks {
				g.Required = append(g.Required, one.Context)
			}
		}
	}
	slices.Sort(g.Required)
	g.Required = slices.Compact(g.Required)
	return g, nil
}

// FindCommit gives the commit that a branch, a tag or an id names.
func (c *Client) FindCommit(ctx context.Context, repository, revision string) (string, error) {
	r, err := c.in(repository, "finding the commit %.80q", revision)
	if err != nil {
		return "", err
	}
	commit, _, err := r.api.Repositories.GetCommitSHA1(ctx, r.owner, r.name, revision, "")
	if forge.Refused(err, http.StatusNotFound, http.StatusUnprocessableEntity, http.StatusConflict) { // conflict is an empty repository
		return "", forge.NoCommit(repository, revision)
	}
	return commit, r.explainRead(err)
}

// ran are the kinds of checks that GitHub has of a commit: statuses, runs of
// checks by apps, and runs of workflows, which have a check for each job.
type ran struct {
	statuses                      []*gh.RepoStatus
	checks                        []*gh.CheckRun
	workflows                     []*gh.WorkflowRun
	allStatuses, allChecks, allWF bool
	errStatuses, errChecks, errWF error
}

func (r *in) ran(ctx context.Context, commit string) *ran {
	out := &ran{}
	var all beside.All
	all.Go(func() {
		out.statuses, out.allStatuses, out.errStatuses = forge.CheckPaged(pageSize, func(n int) ([]*gh.RepoStatus, error) {
			some, _, err := r.api.Repositories.GetCombinedStatus(ctx, r.owner, r.name, commit, &gh.ListOptions{Page: n, PerPage: pageSize})
			if err != nil {
				return nil, err
			}
			return some.Statuses, nil
		})
	})
	all.Go(func() {
		out.checks, out.allChecks, out.errChecks = forge.CheckPaged(pageSize, func(n int) ([]*gh.CheckRun, error) {
			some, _, err := r.api.Checks.ListCheckRunsForRef(ctx, r.owner, r.name, commit, &gh.ListCheckRunsOptions{ListOptions: gh.ListOptions{Page: n, PerPage: pageSize}})
			if err != nil {
				return nil, err
			}
			return some.CheckRuns, nil
		})
	})
	all.Go(func() {
		out.workflows, out.allWF, out.errWF = forge.CheckPaged(pageSize, func(n int) ([]*gh.WorkflowRun, error) {
			some, _, err := r.api.Actions.ListRepositoryWorkflowRuns(ctx, r.owner, r.name, &gh.ListWorkflowRunsOptions{HeadSHA: commit, ListOptions: gh.ListOptions{Page: n, PerPage: pageSize}})
			if err != nil {
				return nil, err
			}
			return some.WorkflowRuns, nil
		})
	})
	all.Wait()
	return out
}

// CommitChecks are the statuses, the checks and the runs of a commit.
func (c *Client) CommitChecks(ctx context.Context, repository, commit string) (*gitops.CommitChecks, error) {
	r, err := c.in(repository, "reading the checks of %.10s", commit)
	if err != nil {
		return nil, err
	}
	found, out := r.ran(ctx, commit), &gitops.CommitChecks{}
	statuses := make([]gitops.CheckRun, 0, len(found.statuses))
	for _, s := range found.statuses {
		statuses = append(statuses, statusOf(s))
	}
	runs := found.newest()
	checks, explained := make([]gitops.CheckRun, 0, len(runs)), map[string]*gh.CheckRun{}
	for _, run := range runs {
		one := checkOf(run, found.workflowOf(run))
		checks, explained[one.URL+one.Name] = append(checks, one), run
	}
	for _, part := range []error{
		forge.Part(out, "statuses", statuses, found.allStatuses, found.errStatuses),
		forge.Part(out, "checks of apps", checks, found.allChecks, found.errChecks),
		forge.Part(out, "runs of workflows", found.jobless(), found.allWF, found.errWF),
	} {
		if part != nil {
			return nil, r.explainRead(part)
		}
	}
	forge.Explain(out.Checks, func(one *gitops.CheckRun) error {
		if run := explained[one.URL+one.Name]; run != nil {
			return r.why(ctx, run, one)
		}
		return nil
	})
	return out, nil
}

func statusOf(s *gh.RepoStatus) gitops.CheckRun {
	c := gitops.CheckRun{Name: s.GetContext(), State: checkState("completed", s.GetState()), URL: s.GetTargetURL(), StartedAt: s.GetCreatedAt().Time}
	if c.State != gitops.CheckPending {
		c.FinishedAt = s.GetUpdatedAt().Time
	}
	if c.State == gitops.CheckFailed && s.GetDescription() != "" {
		c.Detail = []string{s.GetDescription()}
	}
	return c
}

func checkOf(run *gh.CheckRun, of *gh.WorkflowRun) gitops.CheckRun {
	c := gitops.CheckRun{Name: run.GetName(), State: checkState(run.GetStatus(), run.GetConclusion()), URL: cmp.Or(run.GetHTMLURL(), run.GetDetailsURL()),
		Result: word(run.GetStatus(), run.GetConclusion()), StartedAt: run.GetStartedAt().Time, FinishedAt: run.GetCompletedAt().Time}
	c.Run = cmp.Or(of.GetHTMLURL(), run.GetDetailsURL())
	return c
}

func word(status, result string) string {
	if status != "completed" {
		return forge.Word(status, "queued", "in_progress", "pending", "requested")
	}
	return forge.Word(result, "success", "failure")
}

// workflowOf is the run of a workflow that a check is a job of; nil of others.
func (f *ran) workflowOf(run *gh.CheckRun) *gh.WorkflowRun {
	i := slices.IndexFunc(f.workflows, func(w *gh.WorkflowRun) bool { return w.GetCheckSuiteID() == run.GetCheckSuite().GetID() })
	if i < 0 {
		return nil
	}
	return f.workflows[i]
}

// newest are the checks, of jobs that a workflow ran anew for the same event the
// last alone.
func (f *ran) newest() []*gh.CheckRun {
	last := map[string]*gh.CheckRun{}
	out := make([]*gh.CheckRun, 0, len(f.checks))
	for _, run := range f.checks {
		of := f.workflowOf(run)
		key := fmt.Sprintf("check %d", run.GetID())
		if of != nil {
			key = fmt.Sprintf("%d %s %s", of.GetWorkflowID(), of.GetEvent(), run.GetName())
		}
		if have := last[key]; have == nil || of.GetRunNumber() > f.workflowOf(have).GetRunNumber() || have.GetCheckSuite().GetID() == run.GetCheckSuite().GetID() && run.GetID() > have.GetID() {
			last[key] = run
		}
	}
	kept := slices.Collect(maps.Values(last))
	for _, run := range f.checks {
		if slices.Contains(kept, run) {
			out = append(out, run)
		}
	}
	return out
}

// jobless are the runs of workflows of which no job is known: those that wait,
// or could not begin.
func (f *ran) jobless() (out []gitops.CheckRun) {
	for _, w := range f.workflows {
		if slices.ContainsFunc(f.checks, func(run *gh.CheckRun) bool { return run.GetCheckSuite().GetID() == w.GetCheckSuiteID() }) {
			continue
		}
		if slices.ContainsFunc(f.workflows, func(o *gh.WorkflowRun) bool {
			return o.GetWorkflowID() == w.GetWorkflowID() && o.GetEvent() == w.GetEvent() && o.GetRunNumber() > w.GetRunNumber()
		}) {
			continue
		}
		c := gitops.CheckRun{Name: w.GetName(), State: checkState(w.GetStatus(), w.GetConclusion()), URL: w.GetHTMLURL(), Result: word(w.GetStatus(), w.GetConclusion()), Run: w.GetHTMLURL(), StartedAt: w.GetRunStartedAt().Time}
		if c.State != gitops.CheckPending {
			c.FinishedAt = w.GetUpdatedAt().Time
		}
		out = append(out, c)
	}
	return out
}

// why reads the steps that failed and what is annotated.
func (r *in) why(ctx context.Context, run *gh.CheckRun, c *gitops.CheckRun) error {
	if run.GetApp().GetSlug() == "github-actions" {
		id := run.GetID()
		if n, err := strconv.ParseInt(path.Base(run.GetDetailsURL()), 10, 64); err == nil {
			id = n
		}
		job, _, err := r.api.Actions.GetWorkflowJobByID(ctx, r.owner, r.name, id)
		if err != nil {
			return r.explainRead(err)
		}
		for _, step := range job.Steps {
			if checkState(step.GetStatus(), step.GetConclusion()) == gitops.CheckFailed && step.GetConclusion() != "" {
				c.Failed = append(c.Failed, step.GetName())
			}
		}
	} else {
		c.Detail = gitops.Lines(run.GetOutput().GetTitle()+"\n"+run.GetOutput().GetSummary(), forge.MostLines)
	}
	if run.GetOutput().GetAnnotationsCount() == 0 {
		return nil
	}
	notes, _, err := r.api.Checks.ListCheckRunAnnotations(ctx, r.owner, r.name, run.GetID(), &gh.ListOptions{PerPage: 50})
	if err != nil {
		return r.explainRead(err)
	}
	slices.SortStableFunc(notes, func(a, b *gh.CheckRunAnnotation) int { return rank(a) - rank(b) })
	for _, n := range notes[max(len(notes)-forge.MostLines, 0):] {
		c.Detail = append(c.Detail, fmt.Sprintf("%s:%d: %s", n.GetPath(), n.GetStartLine(), strings.Join(strings.Fields(n.GetMessage()), " ")))
	}
	return nil
}

// rank orders annotations; failures come last, as the end is what is kept.
func rank(n *gh.CheckRunAnnotation) int {
	return map[string]int{"failure": 2, "warning": 1}[n.GetAnnotationLevel()]
}
