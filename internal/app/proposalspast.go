package app

import (
	"context"
	"errors"
	"fmt"

	"github.com/fairlead-dev/fairlead/catalog/ingest"
	"github.com/fairlead-dev/fairlead/gitops"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/git"
)

// At gives the files of a commit of a place's repository.
func (p *proposalRepos) At(ctx context.Context, at gitops.Place, commit string) (gitops.Past, error) {
	src, err := p.branch(at)
	if err != nil {
		return nil, err
	}
	past, err := src.At(ctx, commit)
	switch code := fault.CodeOf(err); {
	case err == nil:
		return pastRepo{past}, nil
	case code == fault.NotFound, code == fault.Invalid, code == fault.FailedPrecondition:
		return nil, fault.From(err).Because(errors.Join(gitops.ErrNoCommit, err))
	}
	return nil, err
}

// pastRepo is an earlier commit of a repository.
type pastRepo struct{ *git.Past }

// Read gives a file of the commit.
func (r pastRepo) Read(ctx context.Context, path string) ([]byte, error) {
	return fileAt(ctx, r.Past, path)
}

// List names the files in a folder of the commit.
func (r pastRepo) List(_ context.Context, dir string) ([]string, error) { return r.Past.List(dir) }

// Below gives everything below a folder of the commit.
func (r pastRepo) Below(ctx context.Context, dir string) ([]gitops.Entry, error) {
	found, err := r.Past.Below(ctx, dir)
	return entriesOf(found), err
}

func entriesOf(found []git.Entry) []gitops.Entry {
	out := make([]gitops.Entry, len(found))
	for i, e := range found {
		out[i] = gitops.Entry(e)
	}
	return out
}

// fileAt reads a file of a commit, with errors in the room's terms.
func fileAt(ctx context.Context, tree interface {
	Read(ctx context.Context, path string) ([]byte, error)
}, path string) ([]byte, error) {
	data, err := tree.Read(ctx, path)
	switch {
	case errors.Is(err, ingest.ErrNotFound):
		return nil, fmt.Errorf("%w: %w", gitops.ErrNoFile, err)
	case errors.Is(err, ingest.ErrTooLarge):
		return nil, fault.New(fault.FailedPrecondition, "%s is too large to be changed", path).WithFix("Choose another file.").Because(err)
	}
	return data, err
}
