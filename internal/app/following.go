package app

import (
	"context"
	"strings"
	"time"

	"github.com/fairlead-dev/fairlead/gitops"
	"github.com/fairlead-dev/fairlead/internal/git/proposed"
	"github.com/fairlead-dev/fairlead/internal/notify"
)

// How proposals are followed.
const (
	followTick = 2 * time.Second // how often it is looked for news
	followMost = 40              // how many are looked at at a time
)

// following is how the room of proposals follows them.
func (a *App) following(repos *proposalRepos) gitops.FollowConfig {
	f := gitops.FollowConfig{Lineage: repos, Ended: func(ctx context.Context, id string) { a.ended(ctx, "proposal:"+id) }}
	if p := a.cfg.Proposals; p != nil {
		f.Verify = p.Verify
		for _, cfg := range p.Notify {
			f.Notify = append(f.Notify, a.receiver(notify.New(cfg)))
		}
	}
	if a.health != nil {
		f.Health = a.health
	}
	return f
}

// receiver is a webhook that is told how proposals ended.
func (a *App) receiver(hook *notify.Hook) gitops.Receiver {
	return gitops.Receiver{Name: hook.Name(), Send: func(ctx context.Context, id string, text []byte) error {
		err := hook.Send(ctx, gitops.EndedEvent, id, text)
		if err != nil && ctx.Err() == nil {
			a.telemetry.log.WarnContext(ctx, "a webhook could not be told of the end of a proposal", "host", hook.Host(), "error", err)
		}
		return err
	}}
}

// ended has the credentials taken back at once that are bound to something that
// is over; where that fails it is found within seconds anyway.
func (a *App) ended(ctx context.Context, bound string) {
	if err := a.secrets.Ended(ctx, bound); err != nil {
		a.telemetry.log.WarnContext(ctx, "credentials are taken back later than they could be", "bound", bound, "error", err)
	}
}

// followProposals looks at proposals until ctx ends.
func (a *App) followProposals(ctx context.Context) error {
	if a.gitops == nil {
		return nil
	}
	tick := time.NewTicker(followTick)
	defer tick.Stop()
	for {
		if !a.Ready() {
			// What is not in the catalog yet is not gone.
		} else if err := a.gitops.Follow(ctx, followMost); err != nil && ctx.Err() == nil {
			a.telemetry.log.WarnContext(ctx, "a proposal could not be followed", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// tellProposal notes that there is news of a branch that is proposed, or merged
// into.
func (a *App) tellProposal(ctx context.Context, cloneURLs []string, ref string) {
	branch, ok := strings.CutPrefix(ref, "refs/heads/")
	if !ok || a.gitops == nil {
		return
	}
	for _, u := range cloneURLs {
		w, name := a.forgeOf(u)
		if w == nil {
			continue
		}
		if err := a.gitops.Tell(ctx, w.name, name, branch); err != nil {
			a.telemetry.log.WarnContext(ctx, "news of a pull request is found later than it could be", "branch", branch, "error", err)
		}
		return
	}
}

// Contains tells whether a revision is a commit or comes after it.
func (p *proposalRepos) Contains(ctx context.Context, at gitops.Place, revision, commit string) (bool, error) {
	src, err := p.branch(at)
	if err != nil {
		return false, err
	}
	return src.Contains(ctx, revision, commit)
}

// LastChange is the newest commit up to a revision that changed a file.
func (p *proposalRepos) LastChange(ctx context.Context, at gitops.Place, revision, path string) (commit string, when time.Time, err error) {
	src, err := p.branch(at)
	if err != nil {
		return "", time.Time{}, err
	}
	return proposed.LastChange(ctx, src, revision, path)
}

// At gives the files of a commit of a place's repository.
func (p *proposalRepos) At(ctx context.Context, at gitops.Place, commit string) (gitops.Past, error) {
	src, err := p.branch(at)
	if err != nil {
		return nil, err
	}
	return proposed.At(ctx, src, commit)
}
