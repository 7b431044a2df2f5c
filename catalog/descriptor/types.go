// Package descriptor turns the documents of catalog files into entities as
// Backstage makes them: it checks envelopes and rules, fills placeholders,
// sorts, annotates, checks formats and schemas, and derives relations. It
// says everything that is wrong with a document at once, with the place and a
// way to put it right. It reads nothing itself: whatever a placeholder names
// is read through a Reader, whatever a Location points to is left to the
// caller.
package descriptor

import (
	"context"
	"errors"

	"github.com/fairlead-dev/fairlead/catalog/entity"
)

// ErrNotFound is what a Reader answers, wrapped or not, where there is
// nothing at a location.
var ErrNotFound = errors.New("not found")

// The types of location that catalog files come from.
const (
	TypeURL  = "url"
	TypeFile = "file"
)

// Location is where a catalog file is: a URL, or the absolute path of a file.
type Location struct {
	// Type is TypeURL or TypeFile.
	Type   string
	Target string
}

// String is the location as annotations and location keys have it,
// type:target.
func (l Location) String() string { return l.Type + ":" + l.Target }

// Options are what a Processor goes by. The zero value reads the eight
// built-in kinds and lets all of them in.
type Options struct {
	// Kinds are further kinds to accept; of these only envelope, metadata and
	// names are checked, and no relations are derived.
	Kinds []string
	// Template reads kind Template as Backstage's scaffolder backend module
	// does; without it a Template is a kind nobody recognizes.
	Template bool
	// Allow are the kinds that the catalog's rules let in, compared without
	// regard to case; nil lets in every kind that is known.
	Allow []string
	// Forges tells what software serves a host: github, gitlab, gitea,
	// bitbucketCloud, bitbucketServer or azure. github.com, gitlab.com,
	// bitbucket.org and dev.azure.com are known without it.
	Forges map[string]string
}

// Stage is how far a document has come.
type Stage string

// The stages, in order.
const (
	// StageParse: the YAML is broken, or its root is no mapping.
	StageParse Stage = "parse"
	// StageEnvelope: what makes an entity nameable is missing or malformed.
	StageEnvelope Stage = "envelope"
	// StageProcess: the document has a reference and can be processed.
	StageProcess Stage = "process"
)

// File is what a catalog file says before processing.
type File struct {
	At        Location
	Documents []*Document
	// Problems concern the file as a whole; those of its documents are with
	// them.
	Problems []entity.Problem
	// Truncated tells that the last of Documents made the rest of the file
	// unreadable, so that nothing is known of what follows.
	Truncated bool

	broken    bool
	forbidden bool
	addresses addresses
}

// OK tells whether the catalog may store anything of the file: one document
// that cannot be read, lacks its envelope or is of a kind that the rules keep
// out spoils them all.
func (f *File) OK() bool { return !f.broken && !f.forbidden }

// Forbidden tells whether the rules keep out a document of the file.
func (f *File) Forbidden() bool { return f.forbidden }

// Document is one document of a catalog file. Null documents are left out
// and take no index.
type Document struct {
	Index int
	Stage Stage
	// At is where the document starts.
	At entity.Position
	// Ref is the document's reference in lower case, from StageProcess on.
	Ref entity.Ref
	// Raw is what was written; nil where the root is no mapping. It is never
	// changed.
	Raw *entity.Object
	// Problems of parsing, envelope and rules.
	Problems []entity.Problem
}

// Reader reads what placeholders name, under the caller's own limits and
// permissions.
type Reader interface {
	// Read gives the bytes at a location; an error for which
	// errors.Is(err, ErrNotFound) holds where there is nothing. The text of
	// errors is shown to whoever wrote the catalog file.
	Read(ctx context.Context, at Location) ([]byte, error)
}

// Target is one thing that a Location points to.
type Target struct {
	// Location is the target resolved against the file that names it. It has
	// not been read, and nothing is said about whether it may be.
	Location Location
	// Optional tells that the target may be missing.
	Optional bool
	// Glob tells that the location holds a pattern for files.
	Glob bool
	// At is where the target is written.
	At entity.Position
	// Written is the target as written.
	Written string
}

// Result is what became of a document.
type Result struct {
	// OK tells that the entity may be stored.
	OK bool
	// Entity is the processed descriptor; nil where something fatal was
	// found. A Location of a type that is not allowed has an Entity but is
	// not OK.
	Entity *entity.Object
	// Edges are the relations that the document gives rise to, in both
	// directions, without duplicates.
	Edges []entity.Edge
	// Targets are what a Location points to, in order.
	Targets []Target
	// Read are the locations that placeholders read or tried to read, so
	// that a change of them means processing again.
	Read []Location
	// Problems are everything found wrong, in the order of the document.
	Problems []entity.Problem
}
