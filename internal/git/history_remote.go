package git

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/go-git/go-git/v5/plumbing/protocol/packp"

	"github.com/fairlead-dev/fairlead/catalog/ingest"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/git/objects"
)

const (
	// maxPastBytes bounds the history that is fetched at a time, in bytes.
	maxPastBytes = 32 << 20
	// maxPastObjects bounds it in commits and folders: their index is in
	// memory while it is built.
	maxPastObjects = 300_000
)

// pastDepths are how many commits deep history is fetched, one after the
// other until it tells what is asked.
func pastDepths() []int { return []int{50, 500, 5_000} }

// lastChanges fetches history without files, a little at first and more where
// that does not tell. Servers that cannot leave files out are asked as long as
// what they send stays within the same bound.
func (r *remote) lastChanges(ctx context.Context, q ingest.Question) (ingest.Answer, error) {
	id, ok := objects.ParseID(string(q.Revision))
	if !ok {
		return ingest.Answer{}, fault.New(fault.Invalid, "%q is no commit id", q.Revision)
	}
	r.adopt()
	all := noAnswer()
	for _, depth := range pastDepths() {
		a, short, err := r.lookBack(ctx, id, q, depth)
		var many *objects.TooManyError
		switch {
		case errors.Is(err, errTooMuch), errors.As(err, &many), errors.Is(err, errNoShallow):
			return all, nil // this much history is not to be had at a bearable price
		case err != nil:
			return all, err
		}
		maps.Copy(all.Changed, a.Changed)
		maps.Copy(all.AsBase, a.AsBase)
		q.Paths = slices.DeleteFunc(slices.Clone(q.Paths), func(path string) bool {
			_, changed := a.Changed[path]
			return changed || a.AsBase[path]
		})
		if len(q.Paths) == 0 || !short {
			break
		}
	}
	return all, nil
}

// lookBack fetches history so many commits deep, looks at it and lets go of it.
func (r *remote) lookBack(ctx context.Context, id objects.ID, q ingest.Question, depth int) (a ingest.Answer, short bool, err error) {
	err = r.withPast(ctx, func(ctx context.Context, dir string) error { return r.fetchPast(ctx, dir, id, depth) }, func(ctx context.Context, db *objects.DB) error {
		a, short, err = lookBack(ctx, db, id, q, maxPastObjects)
		return err
	})
	return a, short, err
}

// withPast fetches history into a folder of its own, has it looked at and lets
// go of it.
func (r *remote) withPast(ctx context.Context, fetch func(ctx context.Context, dir string) error, look func(context.Context, *objects.DB) error) error {
	release, err := r.limit.acquire(ctx, r.at.url)
	if err != nil {
		return err
	}
	defer release()
	return r.within(ctx, "reading the history of", func(ctx context.Context) (err error) {
		dir, err := r.makeFolder()
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
		if err := fetch(ctx, dir); err != nil {
			return err
		}
		db, err := objects.Open(filepath.Join(dir, "objects"))
		if err != nil {
			return err
		}
		defer db.Close()
		return look(ctx, db)
	})
}

// makeFolder makes a folder that counts as incomplete, so that it is removed
// at the next start if it is left behind.
func (r *remote) makeFolder() (string, error) {
	if err := os.MkdirAll(r.dir, 0o700); err != nil {
		return "", diskError(r.dir, err)
	}
	dir, err := os.MkdirTemp(r.dir, partial)
	if err != nil {
		return "", diskError(r.dir, err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "objects", "pack"), 0o700); err != nil {
		return "", errors.Join(diskError(dir, err), os.RemoveAll(dir))
	}
	return dir, nil
}

// fetchPast writes a pack of commits and folders and its index.
func (r *remote) fetchPast(ctx context.Context, dir string, id objects.ID, depth int) error {
	path := filepath.Join(dir, "objects", "pack", "pack-past.pack")
	limits := objects.IndexLimits{Objects: maxPastObjects, BlobBytes: r.cfg.Limits.FileBytes}
	return r.fetchPack(ctx, id, path, min(maxPastBytes, r.cfg.Limits.DiskBytes), limits, func(refs *packp.AdvRefs, want objects.ID) (*packp.UploadPackRequest, error) {
		return requestPast(refs, want, depth)
	})
}

// requestPast makes a request for a commit and those before it, without files
// where the server can leave them out.
func requestPast(refs *packp.AdvRefs, want objects.ID, depth int) (*packp.UploadPackRequest, error) {
	req, err := request(refs, want, objects.ID{}, 1)
	if err != nil {
		return nil, err
	}
	if req.Filter != "" {
		req.Filter = packp.FilterBlobNone()
	}
	req.Depth = packp.DepthCommits(depth)
	return req, nil
}
