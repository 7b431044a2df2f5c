package git

import (
	"container/heap"
	"context"
	"errors"
	"path/filepath"

	"github.com/go-git/go-git/v5/plumbing/protocol/packp"

	"github.com/fairlead-dev/fairlead/catalog/ingest"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/git/objects"
)

// genealogist is a reader that knows how commits follow each other.
type genealogist interface {
	contains(ctx context.Context, tip, commit objects.ID) (bool, error)
}

// Contains tells whether a commit is another or comes after it. Faults:
// invalid (no id of a commit), not_found (there is no such tip), and
// failed_precondition where the other is further back than history is read, or
// than the repository goes.
func (s *Source) Contains(ctx context.Context, tip, commit string) (bool, error) {
	from, ok := objects.ParseID(tip)
	to, also := objects.ParseID(commit)
	if !ok || !also {
		return false, fault.New(fault.Invalid, "%.80q or %.80q is no id of a commit", tip, commit).WithFix("Give both in full.")
	}
	if from == to {
		return true, nil
	}
	g, ok := s.reader.(genealogist)
	if !ok {
		return false, fault.New(fault.FailedPrecondition, "the history of this repository cannot be read")
	}
	return g.contains(ctx, from, to)
}

// tooFar is the fault of a question that history does not answer.
func tooFar(commit objects.ID) error {
	return fault.New(fault.FailedPrecondition, "commit %s is not in the history that can be read", commit).
		WithFix("Look in a clone: git merge-base --is-ancestor %s COMMIT.", commit)
}

// ancestor looks for a commit from another on backwards; so many are looked at
// at most. short tells that there is more history than could be looked at.
func ancestor(ctx context.Context, db *objects.DB, tip, want objects.ID, commits int) (found, short bool, err error) {
	first, err := readCommit(db, tip)
	if err != nil {
		return false, false, err
	}
	seen := map[objects.ID]bool{tip: true}
	lines := fronts{&front{commit: first}}
	for ; len(lines) > 0 && commits > 0; commits-- {
		if err := ctx.Err(); err != nil {
			return false, false, err
		}
		f, _ := heap.Pop(&lines).(*front)
		for _, id := range f.commit.parents {
			if id == want {
				return true, false, nil
			}
			if seen[id] {
				continue
			}
			seen[id] = true
			c, err := readCommit(db, id)
			if errors.Is(err, objects.ErrNotFound) {
				short = true
				continue
			}
			if err != nil {
				return false, false, err
			}
			heap.Push(&lines, &front{commit: c})
		}
	}
	return false, short || len(lines) > 0, nil
}

// contains walks the repository's own history.
func (l *local) contains(ctx context.Context, tip, commit objects.ID) (bool, error) {
	t, err := l.open(ctx, ingest.Revision(tip.String()))
	if err != nil {
		return false, err
	}
	defer t.Close()
	found, short, err := ancestor(ctx, t.db, t.commit.id, commit, maxLocalHistory)
	switch {
	case err != nil:
		return false, t.damaged("the history", err)
	case short && !found:
		return false, tooFar(commit)
	}
	return found, nil
}

// contains fetches commits without their files, a few at first and more where
// those do not tell.
func (r *remote) contains(ctx context.Context, tip, commit objects.ID) (bool, error) {
	r.adopt()
	for _, depth := range pastDepths() {
		found, short, err := r.descends(ctx, tip, commit, depth)
		var many *objects.TooManyError
		switch {
		case errors.Is(err, errTooMuch), errors.As(err, &many), errors.Is(err, errNoShallow):
			return false, tooFar(commit)
		case err != nil || found || !short:
			return found, err
		}
	}
	return false, tooFar(commit)
}

// descends fetches commits so many deep, looks at them and lets go of them.
func (r *remote) descends(ctx context.Context, tip, commit objects.ID, depth int) (found, short bool, err error) {
	err = r.withPast(ctx, func(ctx context.Context, dir string) error { return r.fetchLine(ctx, dir, tip, depth) }, func(ctx context.Context, db *objects.DB) error {
		found, short, err = ancestor(ctx, db, tip, commit, maxPastObjects)
		return err
	})
	return found, short, err
}

// fetchLine writes a pack of commits alone, where the server can leave the rest
// out, and its index.
func (r *remote) fetchLine(ctx context.Context, dir string, tip objects.ID, depth int) error {
	path := filepath.Join(dir, "objects", "pack", "pack-line.pack")
	limits := objects.IndexLimits{Objects: maxPastObjects, BlobBytes: r.cfg.Limits.FileBytes}
	return r.fetchPack(ctx, tip, path, min(maxPastBytes, r.cfg.Limits.DiskBytes), limits, func(refs *packp.AdvRefs, want objects.ID) (*packp.UploadPackRequest, error) {
		return requestLine(refs, want, depth)
	})
}

// requestLine is requestPast without folders, too.
func requestLine(refs *packp.AdvRefs, want objects.ID, depth int) (*packp.UploadPackRequest, error) {
	req, err := requestPast(refs, want, depth)
	if err == nil && req.Filter != "" {
		req.Filter = packp.FilterTreeDepth(0)
	}
	return req, err
}
