package gitops

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// restoring is a way back on its way to files.
type restoring struct {
	*Service
	*standing
	*site
	in ProposeRollbackInput
	// scope are the proposals that the caller may read.
	scope access.Scope
	base  string // the branch that is proposed to
	// key is that of the caller's own proposal of the same; "" where there is
	// none.
	key string

	// from is what is deployed, to what it goes back to; commit is to's in the
	// deploy repository, and past its files.
	from, to Deployed
	commit   string
	past     Past
	notes    []string

	// What the last edit came to.
	edited
}

// choose finds what to go back to, and opens it.
func (b *restoring) choose(ctx context.Context) error {
	if len(b.standing.past) == 0 {
		return fault.New(fault.FailedPrecondition, "nothing is known of what was deployed of %s in %s: %s", b.ref, b.env, strings.Join(b.health.Grounds[:min(len(b.health.Grounds), 1)], "")).
			WithFix("Once Argo CD tells of it, ask again; or propose the earlier values with propose_change.")
	}
	b.from = b.standing.past[0]
	part, err := b.part(ctx)
	if err != nil {
		return err
	}
	some, seen := b.candidates()
	if len(some) == 0 {
		return b.nothing()
	}
	if !seen {
		b.notes = append(b.notes, "nobody observed whether "+short(some[0].Revision)+" was healthy: it was deployed before deployments were watched here")
	}
	return b.open(ctx, some[:min(len(some), maxCandidates)], part)
}

// candidates are the earlier deployments that may be gone back to, newest first:
// those that were left healthy, or, where there are none, those of which nobody
// knows; seen tells which.
func (b *restoring) candidates() (out []Deployed, seen bool) {
	var unseen []Deployed
	for _, d := range b.standing.past[1:] {
		known := func(o Deployed) bool { return o.Revision == d.Revision }
		switch {
		case d.Revision == b.from.Revision || d.Undone || slices.ContainsFunc(out, known):
		case d.left() == "was healthy":
			out = append(out, d)
		case d.HealthyAt.IsZero() && d.DegradedAt.IsZero() && !slices.ContainsFunc(unseen, known):
			unseen = append(unseen, d)
		}
	}
	if len(out) > 0 {
		return out, true
	}
	return unseen, false
}

// nothing refuses where there is nothing to go back to.
func (b *restoring) nothing() error {
	f := fault.New(fault.FailedPrecondition, "there is no earlier revision of %s in %s that was healthy: %s is the first that is known", b.ref, b.env, short(b.from.Revision))
	if before := b.standing.past[1:]; len(before) > 0 {
		f = fault.New(fault.FailedPrecondition, "there is no earlier revision of %s in %s that was healthy: before %s, %s", b.ref, b.env, short(b.from.Revision), toldOf(before))
	}
	return f.WithFix("Propose what mends it with propose_change.")
}

// part finds which of the application's sources the deploy repository is.
func (b *restoring) part(ctx context.Context) (int, error) {
	_, base, err := b.cfg.Repositories.Open(ctx, b.at)
	if err != nil {
		if b.source.Target != "" {
			err = unfollowed(err, &LiveApplication{Name: b.app}, &b.source)
		}
		return 0, err
	}
	b.base = base.Branch
	here := b.sources
	if len(here) == 0 { // Argo CD cannot be asked
		return 0, nil
	}
	is := func(s AppSource) bool { return s.Chart == "" && sameRepository(s.Repository, b.at.Repository) }
	if part := slices.IndexFunc(here, is); part >= 0 {
		return part, nil
	}
	if len(here) == 1 && here[0].Chart == "" { // the same by another address
		_, err = here[0].branch(&LiveApplication{Name: b.app})
		return 0, err
	}
	return 0, fault.New(fault.FailedPrecondition, "what is deployed of %s in %s comes of %s, which is fixed in the Application itself, and not of %s", b.ref, b.env, originOf(here), plainRepo(b.at.Repository)).
		WithFix("Go back by targetRevision of the Application, where that is described.")
}

// originOf names sources for people.
func originOf(sources []AppSource) string {
	var out []string
	for _, s := range sources {
		if s.Chart != "" {
			out = append(out, line("the chart "+s.Chart+" "+s.Target, 120))
			continue
		}
		out = append(out, line(s.Repository+" at "+cmp.Or(s.Target, "HEAD"), 200))
	}
	return strings.Join(out, " and ")
}

func isCommit(s string) bool {
	return len(s) == 40 && strings.Trim(s, "0123456789abcdef") == ""
}

// open opens the first candidate whose files are others than those that are
// deployed. Where what is deployed is not degraded, it is the first in any case:
// what is the same may be on its way there.
func (b *restoring) open(ctx context.Context, some []Deployed, part int) error {
	degraded := !b.from.DegradedAt.IsZero() && b.from.RecoveredAt.IsZero()
	live, err := b.files(ctx, &b.from, part)
	if err != nil && !errors.Is(err, ErrNoCommit) {
		return err
	}
	if live != nil {
		defer func() { _ = live.Close() }() // it was only read
	}
	for i := range some {
		past, err := b.files(ctx, &some[i], part)
		if err != nil {
			return b.gone(&some[i], err)
		}
		same, err := sameBelow(ctx, live, past, b.at.Dir)
		last := !degraded || i+1 == len(some)
		if err == nil && (!same || last) {
			b.to, b.past, b.commit = some[i], past, partOf(some[i].Revision, part)
			if same {
				b.notes = append(b.notes, "what is deployed, "+short(b.from.Revision)+", has the same files as "+short(b.to.Revision)+" already")
			}
			return nil
		}
		if closeErr := past.Close(); err == nil {
			err = closeErr
		}
		if err != nil {
			return err
		}
	}
	return b.nothing()
}

// files opens the deploy repository as a deployment had it.
func (b *restoring) files(ctx context.Context, d *Deployed, part int) (Past, error) {
	commit := partOf(d.Revision, part)
	if !isCommit(commit) {
		return nil, fault.New(fault.FailedPrecondition, "%q is no commit of the deploy repository", clip(commit, 80)).Because(ErrNoCommit)
	}
	return b.cfg.Repositories.At(ctx, b.at, commit)
}

// partOf is the revision of one of several sources.
func partOf(revision string, part int) string {
	parts := strings.Split(revision, ", ")
	if part >= len(parts) {
		return revision
	}
	return parts[part]
}

// gone refuses a revision that the repository does not give any more.
func (b *restoring) gone(d *Deployed, err error) error {
	if !errors.Is(err, ErrNoCommit) {
		return err
	}
	return fault.New(fault.FailedPrecondition, "%s, which is to be gone back to, is not in the deploy repository any more: %s", short(d.Revision), fault.From(err).Message).
		WithFix("Push that commit again, as a tag for example; or propose the earlier values with propose_change.").Because(err)
}

// sameBelow tells whether a folder is the same in two commits; what is not known
// is another.
func sameBelow(ctx context.Context, a, b Files, dir string) (bool, error) {
	if a == nil {
		return false, nil
	}
	x, err := a.Below(ctx, dir)
	if err != nil {
		return false, err
	}
	y, err := b.Below(ctx, dir)
	return err == nil && slices.Equal(x, y), err
}
