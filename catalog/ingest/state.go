package ingest

import (
	"context"
	"time"

	"github.com/fairlead-dev/fairlead/catalog/descriptor"
	"github.com/fairlead-dev/fairlead/catalog/entity"
)

// File is what one catalog file was found to say, last good documents
// included. It is never changed once it is published.
type File struct {
	// Path is the file's path within its repository; a file of another
	// source is written "name//path".
	Path string
	// ID identifies the content that was read.
	ID string
	// Origin is the location by which the file was reached, as the
	// managed-by-origin-location annotation has it.
	Origin string
	// Readable tells that the newest content parsed and passed the envelope
	// check; where it did not, Documents are those of the last good content.
	Readable bool
	// Owner is the owner that the text of an unreadable file seems to name.
	Owner string
	// Problems concern the file as a whole.
	Problems []entity.Problem
	// Documents are the file's documents in order.
	Documents []*Document
	// Reads are the files that placeholders read, written as Path is.
	Reads []string

	// held is the room that the documents read so far take.
	held int64
}

// Document is one document of a catalog file.
type Document struct {
	Index int
	Ref   string
	Line  uint32
	// Owner is the reference of the owner that the document names, for
	// telling whom a problem concerns.
	Owner string
	// Entity is the last good entity, nil where there never was one.
	Entity *entity.Entity
	Edges  []entity.Edge
	// Targets are what a Location points to.
	Targets []descriptor.Target
	// Problems of the newest content.
	Problems []entity.Problem
	// Followed tells that a Location's targets were all there at some time.
	Followed bool
	// Stale is the commit since which Entity is older than the file; where
	// there are no commits, the time.
	Stale string
	// Since orders claims to one name: 0 for what a source said when it was
	// read first, else Unix seconds.
	Since int64

	// weight is the room that Entity takes.
	weight int64
}

// Good tells whether the newest content of the document is what is served.
func (d *Document) Good() bool { return d.Entity != nil && d.Stale == "" }

// Sighting is when a problem was seen.
type Sighting struct {
	Commit string
	At     time.Time
}

// Seen is when a problem was first and last seen.
type Seen struct{ First, Last Sighting }

// Meta is what is kept of a source beside its files.
type Meta struct {
	// Provider found the source, and Description says what it is; both are
	// empty for a source that is configured.
	Provider    string
	Description Description
	Revision    Revision
	Info        CommitInfo
	// Dated is the revision as of which the last changes of files are known.
	Dated Revision
	// Fingerprint is of the configuration that the files were read under.
	Fingerprint string
	Changed     Sighting
	Checked     Sighting
	// Seen is by problem key.
	Seen map[string]Seen
}

// Kept is everything kept of a source.
type Kept struct {
	Meta  Meta
	Paths map[string]string
	Files []*File
	// Pasts are the last changes of files by path.
	Pasts map[string]Dated
}

// Delta is what changed since the last save. Its maps are the ingester's own:
// a Keeper neither changes them nor holds on to them.
type Delta struct {
	Meta Meta
	// Replace tells that nothing saved before counts.
	Replace bool
	// Paths holds changed paths with their content id; "" for gone.
	Paths map[string]string
	// Files holds changed files by path; nil for gone.
	Files map[string]*File
	// Pasts holds last changes that have become known or unknown by path; nil
	// for gone.
	Pasts map[string]*Dated
}

// Keeper keeps the last good state of sources across restarts. A Save is all
// or nothing.
type Keeper interface {
	// Names are the sources of which something is kept.
	Names(ctx context.Context) ([]string, error)
	// Load gives what was kept of a source, nil if nothing was.
	Load(ctx context.Context, source string) (*Kept, error)
	// Save adds a change to what is kept.
	Save(ctx context.Context, source string, d Delta) error
	// Forget removes what is kept of a source.
	Forget(ctx context.Context, source string) error
}
