package app

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// jobsForge is a forge that tells how the jobs of its CI are doing.
type jobsForge interface {
	JobOver(ctx context.Context, repository, kind, id string) (bool, error)
}

// ciJobs tells whether jobs of CI are over, and asks about each no more often
// than every jobAsk.
type ciJobs struct {
	forges func(name string) (jobsForge, bool)

	mu    sync.Mutex
	known map[access.Job]jobState
	// down are the forges that did not answer, and until when they are left
	// alone, so that the bindings to other things do not wait for them.
	down map[string]time.Time
}

// jobState is what is known of a job; seen tells that its forge has told of it.
type jobState struct {
	over, seen bool
	at         time.Time
}

// What is asked of a forge about one job: an hour of a job takes 720 requests
// of the several thousand that a forge grants.
const (
	jobAsk   = 5 * time.Second
	jobTakes = 2 * time.Second
	jobRest  = 15 * time.Second
)

// over tells whether a job is over. A forge that is not configured any more
// cannot tell: the lease then lasts as long as it was lent for.
func (j *ciJobs) over(ctx context.Context, id string) (bool, error) {
	job, ok := access.ParseJob(id)
	if !ok {
		return true, nil
	}
	s, ask := j.recent(job, time.Now())
	if !ask {
		return s.over, nil
	}
	forge, ok := j.forges(job.Forge)
	if !ok {
		return false, fault.New(fault.FailedPrecondition, "the forge %q is not configured, or does not tell of jobs", job.Forge).WithFix("Add it under forges.")
	}
	ctx, cancel := context.WithTimeout(ctx, jobTakes)
	defer cancel()
	over, err := forge.JobOver(ctx, job.Repository, job.Kind, job.ID)
	if s.seen && fault.CodeOf(err) == fault.NotFound { // it was deleted, for the token has seen it
		over, err = true, nil
	}
	j.learn(job, jobState{over: over && err == nil, seen: s.seen || err == nil, at: time.Now()}, err)
	return over, err
}

// recent is what was learnt of a job; ask tells that this is to be done again.
func (j *ciJobs) recent(job access.Job, now time.Time) (s jobState, ask bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	s = j.known[job]
	return s, !s.over && now.Sub(s.at) >= jobAsk && !now.Before(j.down[job.Forge])
}

// learn keeps what is known of a job, and forgets what nobody has asked about
// for long.
func (j *ciJobs) learn(job access.Job, s jobState, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if code := fault.CodeOf(err); err != nil && code != fault.NotFound {
		j.down[job.Forge] = s.at.Add(jobRest)
	}
	for old, known := range j.known {
		if s.at.Sub(known.at) > time.Hour {
			delete(j.known, old)
		}
	}
	j.known[job] = s
}

func newCIJobs(forges func(name string) (jobsForge, bool)) *ciJobs {
	return &ciJobs{forges: forges, known: map[access.Job]jobState{}, down: map[string]time.Time{}}
}

// jobsAt is a configured forge that tells of jobs.
func (a *App) jobsAt(name string) (jobsForge, bool) {
	w, err := a.forgeNamed(name)
	if err != nil {
		return nil, false
	}
	f, ok := w.client.(jobsForge)
	return f, ok
}

// checkJobs sees that issuers of tokens for jobs are of forges that tell how
// these are doing.
func (c *Config) checkJobs(k *checker) {
	for i, o := range c.Auth.OIDC {
		if o.Jobs == "" {
			continue
		}
		at := slices.IndexFunc(c.Forges, func(f ForgeConfig) bool { return f.Name == o.Jobs })
		if at < 0 || c.Forges[at].GitHub == nil && c.Forges[at].GitLab == nil {
			k.add(fmt.Sprintf("auth.oidc[%d].jobs", i), "%q is no github or gitlab under forges", o.Jobs)
		}
	}
}
