package app

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/gitops"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/forge"
	"github.com/fairlead-dev/fairlead/internal/jobs"
	"github.com/fairlead-dev/fairlead/previews"
)

// pullWork and pollWork are what jobs call the work on one pull request, and
// looking for those that no webhook told of.
const pullWork, pollWork = "pull", "pulls"

// makePulls has previews follow pull requests, where there is a forge that
// tells of them.
func (a *App) makePulls() {
	if forges := a.pullForges(); forges != nil && a.previews != nil {
		a.pulls = previews.NewPullKeeper(a.previews, forges, a.store, a.store, a.telemetry.log)
	}
}

// tellPull notes that there is news of a pull request.
func (a *App) tellPull(ctx context.Context, at previews.PullRef) {
	if a.pulls == nil || at.Number <= 0 {
		return
	}
	if err := a.store.TellPull(ctx, at, time.Now()); err != nil {
		a.telemetry.log.ErrorContext(ctx, "news of a pull request is lost", "pull", at.String(), "error", err)
	}
}

// keepPull looks after one pull request.
func (a *App) keepPull(ctx context.Context, t jobs.Task) (time.Duration, error) {
	at, ok := previews.ParsePullRef(t.Key)
	if !ok || a.pulls == nil {
		return previews.Forever, nil
	}
	return previews.Forever, a.pulls.Turn(ctx, at)
}

// pollPulls looks for pull requests that no webhook told of.
func (a *App) pollPulls(ctx context.Context, _ jobs.Task) (time.Duration, error) {
	if a.pulls == nil {
		return previews.Forever, nil
	}
	return previews.Forever, a.pulls.Poll(ctx)
}

// sweepPulls has those looked after that are due.
func (a *App) sweepPulls(ctx context.Context) error {
	if a.pulls == nil {
		return nil
	}
	now := time.Now()
	due, err := a.store.DuePulls(ctx, now)
	errs := []error{err}
	if turn := now.UnixNano() / int64(previews.PullPoll); turn != a.polledPulls { // the same number at each replica, so that one of them does it
		a.polledPulls = turn
		errs = append(errs, a.jobs.Add(ctx, jobs.Task{What: pollWork, Key: "all", Number: turn}))
	}
	for _, at := range due {
		errs = append(errs, a.jobs.Add(ctx, jobs.Task{What: pullWork, Key: at.String(), Number: now.UnixMilli()}))
	}
	return errors.Join(errs...)
}

// pullForges are the forges that tell of pull requests, nil for none.
func (a *App) pullForges() previews.PullForges {
	switch {
	case a.cfg.pulls != nil:
		return a.cfg.pulls
	case len(a.forges) == 0:
		return nil
	default:
		return pullHosts{a}
	}
}

// pullHosts are the configured forges.
type pullHosts struct{ a *App }

func (h pullHosts) of(at previews.PullRef) (*writing, error) {
	return h.a.forgeNamed(at.Forge)
}

// forgeNamed is the configured forge of a name. Faults: not_found.
func (a *App) forgeNamed(name string) (*writing, error) {
	i := slices.IndexFunc(a.forges, func(w writing) bool { return w.name == name })
	if i < 0 {
		return nil, errNoForge(name)
	}
	return &a.forges[i], nil
}

// errNoForge says that a forge is not configured any more.
func errNoForge(name string) error {
	return fault.New(fault.NotFound, "no forge is called %q any more", name).WithFix("Configure it under forges again.")
}

// PullRequest reads one.
func (h pullHosts) PullRequest(ctx context.Context, at previews.PullRef) (out previews.PullRequest, err error) {
	w, err := h.of(at)
	if err != nil {
		return out, err
	}
	p, err := w.client.GetPull(ctx, at.Repository, at.Number)
	if err != nil {
		return out, err
	}
	return previews.PullRequest{URL: p.URL, Title: p.Title, Author: p.Author, CloneURLs: []string{forge.CloneURL(w.web, at.Repository)},
		Ref: p.Ref, Head: p.Head, Open: p.State == gitops.PullOpen, Merged: p.State == gitops.PullMerged, Fork: p.Fork}, nil
}

// ChangedFiles are the paths that one changes.
func (h pullHosts) ChangedFiles(ctx context.Context, at previews.PullRef) ([]string, bool, error) {
	w, err := h.of(at)
	if err != nil {
		return nil, false, err
	}
	return w.client.ChangedFiles(ctx, at.Repository, at.Number)
}

// OpenPulls are those of a repository that are open.
func (h pullHosts) OpenPulls(ctx context.Context, repository string) (at previews.PullRef, heads map[int64]string, err error) {
	w, name := h.a.forgeOf(repository)
	if w == nil {
		return at, nil, fault.New(fault.NotFound, "the repository %s is at no forge that is configured", access.Redact(repository)).WithFix("Configure the forge under forges.")
	}
	all, err := w.client.OpenPulls(ctx, name)
	heads = make(map[int64]string, len(all))
	for _, p := range all {
		heads[p.Number] = p.Head
	}
	return previews.PullRef{Forge: w.name, Repository: name}, heads, err
}

// Comment keeps one comment.
func (h pullHosts) Comment(ctx context.Context, at previews.PullRef, marker, text string) error {
	w, err := h.of(at)
	if err != nil {
		return err
	}
	return w.client.UpsertComment(ctx, at.Repository, at.Number, marker, text)
}

// heardOfPull notes what a webhook told of a pull request.
func (a *App) heardOfPull(ctx context.Context, e forge.Event) {
	for _, u := range e.CloneURLs {
		if w, name := a.forgeOf(u); w != nil {
			a.tellPull(ctx, previews.PullRef{Forge: w.name, Repository: name, Number: e.Number})
			return
		}
	}
}
