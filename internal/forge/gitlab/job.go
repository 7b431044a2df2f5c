package gitlab

import (
	"context"
	"errors"
	"slices"
	"strconv"
)

// over are the states of a job that it does not leave by itself.
func over() []string { return []string{"success", "failed", "canceled", "skipped"} }

// JobOver tells whether a job of GitLab CI has come to its end; kind is job.
func (c *Client) JobOver(ctx context.Context, repository, kind, id string) (bool, error) {
	r, err := c.in(ctx, repository, "looking at %s %s", kind, id)
	if err != nil {
		return false, err
	}
	n, err := strconv.ParseInt(id, 10, 64)
	if err != nil || kind != "job" {
		return false, r.explain(errors.New("there is no such thing in GitLab CI"))
	}
	job, _, err := r.api.Jobs.GetJob(r.project, n, r.ctx)
	if err != nil {
		return false, r.explain(err)
	}
	return slices.Contains(over(), job.Status), nil
}
