package github

import (
	"context"
	"strconv"
)

// JobOver tells whether a job of GitHub Actions, or the run of a workflow, has
// come to its end; kind is job or run.
func (c *Client) JobOver(ctx context.Context, repository, kind, id string) (bool, error) {
	r, err := c.in(repository, "looking at %s %s of Actions", kind, id)
	if err != nil {
		return false, err
	}
	n, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		return false, r.explain(err)
	}
	status := ""
	if kind == "run" {
		run, _, failed := r.api.Actions.GetWorkflowRunByID(ctx, r.owner, r.name, n)
		status, err = run.GetStatus(), failed
	} else {
		job, _, failed := r.api.Actions.GetWorkflowJobByID(ctx, r.owner, r.name, n)
		status, err = job.GetStatus(), failed
	}
	if err != nil {
		return false, r.explain(err)
	}
	return status == "completed", nil
}
