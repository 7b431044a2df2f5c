// Package ingest keeps the catalog true to its sources: it notices what
// changed, reads only that, follows Locations, and publishes what came of it.
// A source that fails leaves everything it said before in force.
package ingest

import (
	"context"
	"errors"
	"time"
)

// Errors that a Tree answers with; wrap them with the path concerned.
var (
	// ErrNotFound says that the tree has no such file.
	ErrNotFound = errors.New("no such file")
	// ErrTooLarge says that a file exceeds the size limit.
	ErrTooLarge = errors.New("file too large")
)

// Revision is one state of a source, opaque but comparable: a commit id for
// Git, a fingerprint for folders. "" is no state at all.
type Revision string

// Description is what a source is, for people and for the annotations of its
// entities.
type Description struct {
	// Name is the configured name, unique.
	Name string
	// Type is git, file, …
	Type string
	// URL is where it is read, without credentials.
	URL string
	// Repository is the URL of the Git repository as facts name it; "" for
	// folders.
	Repository string
	// BaseType and Base say how annotations name the root folder: "url" and a
	// URL that ends in "/", or "file" and an absolute folder without it.
	BaseType string
	Base     string
	// Include are the globs of catalog files, relative to the root.
	Include []string
	// FileBytes is the size that a file may have to be read; 0 where the source
	// knows no such limit.
	FileBytes int64
}

// CommitInfo is what is known of a revision; zero for folders.
type CommitInfo struct {
	Commit string
	Author string
	Time   time.Time
}

// Change is one file that differs between two revisions.
type Change struct {
	// Path is relative to the root, with forward slashes.
	Path string
	// ID identifies the content.
	ID string
	// Size in bytes.
	Size int64
	// Gone tells that the file is no longer there.
	Gone bool
}

// Source is somewhere that catalog files come from.
type Source interface {
	// Describe says what the source is; it never changes.
	Describe() Description
	// Observe tells the current revision, as cheaply as it can.
	Observe(ctx context.Context) (Revision, error)
	// Open makes a revision readable, within the source's limits.
	Open(ctx context.Context, rev Revision) (Tree, error)
}

// Hinted is a Source whose provider learnt its revision while listing it, so
// that nothing need be asked to know that it is the same.
type Hinted interface {
	// Hint is the revision that the last listing told, "" if it told none.
	Hint() Revision
}

// Disposable is a Source that leaves something on disk, to be removed once the
// source is gone for good.
type Disposable interface {
	// Dispose removes it; no tree is open any more.
	Dispose() error
}

// Prefetcher is a Tree whose contents may lie elsewhere, so that bringing many
// in one go is far cheaper than one at a time.
type Prefetcher interface {
	// Prefetch brings the contents of files that are about to be read; one
	// that is not there or too large is left out, and Read says so.
	Prefetch(ctx context.Context, paths []string) error
}

// Tree is one revision of a source. It is safe for concurrent use.
type Tree interface {
	// Changes lists the files that differ from an earlier revision. With
	// since "" or no longer known, incremental is false and every file is
	// listed.
	Changes(ctx context.Context, since Revision) (changes []Change, incremental bool, err error)
	// Read gives a file's bytes, ErrNotFound or ErrTooLarge.
	Read(ctx context.Context, path string) ([]byte, error)
	// Info says which commit this is.
	Info() CommitInfo
	// Close releases what Open took.
	Close() error
}
