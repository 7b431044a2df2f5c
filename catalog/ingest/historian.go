package ingest

import "context"

// Historian is a Source that can tell when files were changed last, as
// `git log -1 -- PATH` does: of a merge it follows the first parent that has
// the file as it is, and a merge that differs from all of them is itself the
// change. A file that was renamed changed when it was; a change of its
// permissions alone is none.
type Historian interface {
	// LastChanges looks the files of a revision up in its history. It answers
	// with what it can be sure of: a file of which the answer says nothing is
	// one whose last change is further back than may be looked. An error is
	// worth another try.
	LastChanges(ctx context.Context, q Question) (Answer, error)
}

// Question asks when files were changed last.
type Question struct {
	// Revision is the one that has the files.
	Revision Revision
	// Base is an earlier revision of which the answers are known already, so
	// that nothing before it is looked at; "" if there is none.
	Base Revision
	// Paths are the files, relative to the root.
	Paths []string
}

// Answer tells when files were changed last, by path.
type Answer struct {
	// Changed is the newest commit that changed a file.
	Changed map[string]CommitInfo
	// AsBase are the files whose last change is that of the same file at Base.
	AsBase map[string]bool
}

// Descendant is a Tree that knows which revisions its own was made from.
type Descendant interface {
	// Parents are the revisions that this one follows, in order; none for the
	// first one of all.
	Parents() []Revision
}
