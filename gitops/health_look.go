package gitops

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/fault/beside"
)

// staleAfter is how old a comparison may be before Argo CD is asked for
// another: well over the three minutes after which it compares by itself.
const staleAfter = 15 * time.Minute

// evidence is what one look at an application has found.
type evidence struct {
	at      time.Time // when it was looked
	app     *Application
	wanted  []DeployedImage
	running *Running
	// err says why the application is not known; the others why a part is not.
	err, wantedErr, runningErr, compareErr error
	// compared tells that it was compared anew for this look.
	compared bool
}

// look asks an Argo CD about an application. Where anew is true, or it has not
// compared it since it last changed, or for long, it has that done first.
func (s *HealthService) look(ctx context.Context, instance string, at AppName, anew bool) *evidence {
	argo, e := s.cfg.Instances[instance], &evidence{at: s.cfg.Now()}
	var all beside.All
	all.Go(func() { e.running, e.runningErr = argo.Running(ctx, at) })
	e.app, e.err = argo.Application(ctx, at, false)
	if e.err == nil && (anew || e.outdated()) {
		all.Wait()
		e.compare(ctx, argo, instance, at)
		e.at = s.cfg.Now()
	}
	if e.err == nil && len(e.app.Revisions) > 0 {
		// It may have to be rendered first, which nobody else should wait for.
		ctx, cancel := context.WithTimeout(ctx, s.cfg.Patience*3/5)
		e.wanted, e.wantedErr = argo.Wanted(ctx, at, e.app.Revisions)
		cancel()
	}
	all.Wait()
	doing := "asking Argo CD " + instance
	e.err, e.wantedErr, e.runningErr = timedOut(e.err, doing), timedOut(e.wantedErr, doing+" what is wanted"), timedOut(e.runningErr, doing+" what runs")
	e.wanted = s.origins(e.wanted)
	if e.running != nil {
		e.running.Images = s.origins(e.running.Images)
	}
	if errors.Is(e.err, context.Canceled) { // the server ends
		e.err = fault.New(fault.Unavailable, "the server is ending").WithFix("Try again.")
	}
	return e
}

// compare has Argo CD compare an application anew. One that does not in a while
// leaves the rest of the look its time.
func (e *evidence) compare(ctx context.Context, argo Deployments, instance string, at AppName) {
	soon, cancel := context.WithCancel(ctx)
	defer cancel()
	if end, ok := ctx.Deadline(); ok {
		soon, cancel = context.WithTimeout(ctx, time.Until(end)*3/5)
		defer cancel()
	}
	app, err := argo.Application(soon, at, true)
	if err != nil {
		e.compareErr = timedOut(err, "having Argo CD "+instance+" compare it")
		return
	}
	e.app, e.compared = app, true
	if running, err := argo.Running(ctx, at); err == nil {
		e.running, e.runningErr = running, nil
	}
}

// outdated tells that what Argo CD knows is older than what can be known.
func (e *evidence) outdated() bool {
	a := e.app
	if a.Deleting || a.Pending || a.Operation != nil && a.Operation.FinishedAt.IsZero() {
		return false
	}
	return a.Operation != nil && !a.ComparedAt.After(a.Operation.FinishedAt) || e.at.Sub(a.ComparedAt) > staleAfter
}

// minRevision is how many characters name a commit at the least.
const minRevision = 7

// names tells whether a revision is the one that is meant, in full or by how it
// begins.
func names(meant, revision string) bool {
	return meant != "" && (strings.EqualFold(meant, revision) || len(meant) >= minRevision && strings.HasPrefix(strings.ToLower(revision), strings.ToLower(meant)))
}

// desired is the revision that is wanted, as it was last compared with.
func (e *evidence) desired() string { return strings.Join(e.app.Revisions, ", ") }

// live is the revision that what runs was made from: the one compared with
// where nothing differs from it, else the last that was synced.
func (e *evidence) live() (revision string, since time.Time) {
	if n := len(e.app.History); n > 0 {
		revision, since = e.app.History[n-1].Revision, e.app.History[n-1].At
	}
	if e.app.Sync == "Synced" {
		revision = strings.Join(e.app.Revisions, ", ")
	}
	return revision, since
}

// isLive tells whether the revision that is meant is live: as that of a source
// of the application, or as the commit of what every image that tells its
// commit was built from.
func (e *evidence) isLive(meant string) bool {
	revision, _ := e.live()
	if slices.ContainsFunc(strings.Split(revision, ", "), func(r string) bool { return names(meant, r) }) {
		return true
	}
	return e.running != nil && builtFrom(meant, e.running.Images)
}

// isDesired tells the same of what is wanted.
func (e *evidence) isDesired(meant string) bool {
	return slices.ContainsFunc(e.app.Revisions, func(r string) bool { return names(meant, r) }) || builtFrom(meant, e.wanted)
}

func builtFrom(meant string, images []DeployedImage) bool {
	some := false
	for _, i := range images {
		if i.Commit == "" {
			continue
		}
		if !names(meant, i.Commit) {
			return false
		}
		some = true
	}
	return some
}

// drift are the resources that differ though the revision is the same.
func (e *evidence) drift() []string {
	live, _ := e.live()
	if e.app.Sync != "OutOfSync" || live == "" || live != strings.Join(e.app.Revisions, ", ") {
		return nil
	}
	var out []string
	for _, r := range e.app.Differing {
		out = append(out, r.Resource)
	}
	return out
}
