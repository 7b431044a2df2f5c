// Package proposed lets changes be proposed to repositories of Git.
package proposed

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/fairlead-dev/fairlead/catalog/ingest"
	"github.com/fairlead-dev/fairlead/gitops"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/git"
)

// Base is the newest commit of a branch of a source, "" for the repository's
// own, as changes are proposed to it; committer is who commits them.
func Base(ctx context.Context, src *git.Source, branch string, committer git.Signature) (gitops.Repository, gitops.Base, error) {
	if branch == "" {
		var err error
		if branch, err = src.Branch(ctx); err != nil {
			return nil, gitops.Base{}, err
		}
	}
	rev, err := src.Observe(ctx)
	if err != nil {
		return nil, gitops.Base{}, err
	}
	return &base{src: src, branch: branch, rev: rev, committer: committer}, gitops.Base{Branch: branch, Commit: string(rev)}, nil
}

// base is one commit of a repository's branch.
type base struct {
	src       *git.Source
	branch    string
	rev       ingest.Revision
	committer git.Signature
}

// List names the files in a folder of the commit.
func (r *base) List(ctx context.Context, dir string) ([]string, error) {
	return r.src.List(ctx, r.rev, dir)
}

// Read gives a file of the commit.
func (r *base) Read(ctx context.Context, path string) ([]byte, error) {
	tree, err := r.src.Open(ctx, r.rev)
	if err != nil {
		return nil, err
	}
	data, err := fileAt(ctx, tree, path)
	return data, errors.Join(err, tree.Close())
}

// Below gives everything below a folder of the commit.
func (r *base) Below(ctx context.Context, dir string) ([]gitops.Entry, error) {
	found, err := r.src.Below(ctx, r.rev, dir)
	return entriesOf(found), err
}

// Head is the commit that a branch is at.
func (r *base) Head(ctx context.Context, branch string) (string, error) {
	commit, err := r.src.Resolve(ctx, "refs/heads/"+branch)
	if fault.CodeOf(err) == fault.NotFound {
		return "", nil
	}
	return commit, err
}

// Push makes a commit and pushes it.
func (r *base) Push(ctx context.Context, p gitops.Push) (string, error) {
	g := git.Publication{Base: string(r.rev), BaseBranch: r.branch, Message: p.Message, Branch: p.Branch, Expected: p.Expected,
		Author: git.Signature{Name: p.Author.Name, Email: p.Author.Email, When: p.When}, Committer: r.committer}
	g.Committer.When = p.When
	if p.As != nil {
		g.Token = p.As.Token.Reveal
	}
	for _, f := range p.Files {
		g.Changes = append(g.Changes, git.Change{Path: f.Path, Data: f.Data, Delete: f.Delete, Executable: f.Executable})
	}
	out, err := r.src.Publish(ctx, g)
	if errors.Is(err, git.ErrMoved) {
		return "", fault.From(err).Because(errors.Join(gitops.ErrMoved, err))
	}
	if errors.Is(err, git.ErrDenied) {
		return "", fault.From(err).Because(errors.Join(gitops.ErrDenied, err))
	}
	return out.Commit, err
}

// LastChange is the newest commit up to a revision that changed a file; zero
// where that cannot be told.
func LastChange(ctx context.Context, src *git.Source, revision, path string) (commit string, when time.Time, err error) {
	a, err := src.LastChanges(ctx, ingest.Question{Revision: ingest.Revision(revision), Paths: []string{path}})
	c := a.Changed[path]
	return c.Commit, c.Time, err
}

// At gives the files of a commit of a repository.
func At(ctx context.Context, src *git.Source, commit string) (gitops.Past, error) {
	found, err := src.At(ctx, commit)
	switch code := fault.CodeOf(err); {
	case err == nil:
		return past{found}, nil
	case code == fault.NotFound, code == fault.Invalid, code == fault.FailedPrecondition:
		return nil, fault.From(err).Because(errors.Join(gitops.ErrNoCommit, err))
	}
	return nil, err
}

// past is an earlier commit of a repository.
type past struct{ *git.Past }

// Read gives a file of the commit.
func (r past) Read(ctx context.Context, path string) ([]byte, error) {
	return fileAt(ctx, r.Past, path)
}

// List names the files in a folder of the commit.
func (r past) List(_ context.Context, dir string) ([]string, error) { return r.Past.List(dir) }

// Below gives everything below a folder of the commit.
func (r past) Below(ctx context.Context, dir string) ([]gitops.Entry, error) {
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
