package git

import (
	"context"
	"errors"
	"time"

	"github.com/fairlead-dev/fairlead/catalog/ingest"
)

// Files are those of a branch that is written to, a commit for each change.
type Files struct {
	src    *Source
	branch string
	by     Signature
}

// Files are those of the branch that the source reads, which its configuration
// has to name. by makes the commits; its time is not used.
func (s *Source) Files(branch string, by Signature) *Files { return &Files{s, branch, by} }

// Read is a file of the newest commit, nil where there is none, and that
// commit's id.
func (f *Files) Read(ctx context.Context, path string) (data []byte, head string, err error) {
	rev, err := f.src.Observe(ctx)
	if err != nil {
		return nil, "", err
	}
	t, err := f.src.Open(ctx, rev)
	if err != nil {
		return nil, "", err
	}
	defer func() { err = errors.Join(err, t.Close()) }()
	data, err = t.Read(ctx, path)
	if errors.Is(err, ingest.ErrNotFound) {
		return nil, string(rev), nil
	}
	return append([]byte{}, data...), string(rev), err
}

// Write makes a commit that follows head, with a file, or without it where
// data is nil. Errors are those of Publish.
func (f *Files) Write(ctx context.Context, head, path string, data []byte, message string) error {
	by := f.by
	by.When = time.Now()
	_, err := f.src.Publish(ctx, Publication{Base: head, BaseBranch: f.branch, Branch: f.branch, Expected: head, Message: message, Author: by, Committer: by,
		Changes: []Change{{Path: path, Data: data, Delete: data == nil}}})
	return err
}
