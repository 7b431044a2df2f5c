package knowledge

import (
	"context"

	"github.com/fairlead-dev/fairlead/catalog/ingest"
	"github.com/fairlead-dev/fairlead/knowledge/code"
)

// CodeFormat changes whenever the same files are read otherwise than before.
const CodeFormat = 1

// CodeState is what is kept of a source whose code is searched.
type CodeState struct {
	Format int `json:"format"`
	// Settings are those that decided what is read.
	Settings string `json:"settings"`
	// Revision is "" while the code of Info's commit is not all there.
	Revision ingest.Revision   `json:"revision"`
	Info     ingest.CommitInfo `json:"info"`
	URL      string            `json:"url,omitempty"`
	// Bytes and Files are those that are searched; Missing counts the files
	// for which there was no room.
	Bytes   int64 `json:"bytes"`
	Files   int   `json:"files"`
	Missing int   `json:"missing,omitempty"`
	// Off tells that the source's code is not searched.
	Off bool `json:"off,omitempty"`
}

// CodeFile is a file of code, without its text.
type CodeFile struct {
	// ID orders files: by tier, source and when they were read.
	ID   int64
	Path string
	// Content identifies the content that was read, of Size bytes.
	Content  string
	Size     int64
	Language string
}

// CodeEntry is a file for the index. One in the tier code.None has no text.
type CodeEntry struct {
	CodeFile
	Tier code.Tier
	Text string
}

// CodeChange is how a source's code changes, all at once or not at all.
type CodeChange struct {
	Source string
	State  CodeState
	Gone   []int64
	Add    []CodeEntry
}

// CodeKeeper keeps code across restarts.
type CodeKeeper interface {
	// Sources calls f with every source and its number.
	Sources(ctx context.Context, f func(source string, number int64, s CodeState)) error
	// Files are the files of a source, those without text included.
	Files(ctx context.Context, number int64) ([]CodeFile, error)
	// Change changes a source and gives its number.
	Change(ctx context.Context, c CodeChange) (number int64, err error)
	// Drop removes a source.
	Drop(ctx context.Context, source string) error
}

// CodeIndex finds and shows code.
type CodeIndex interface {
	// Scan visits files that may match, in the order of their ids, until visit
	// returns false.
	Scan(ctx context.Context, q CodeQuery, visit func(f CodeFile) (bool, error)) error
	// Text is the text of a file, false where it is gone.
	Text(ctx context.Context, id int64) (string, bool, error)
}

// CodeQuery says which files may match.
type CodeQuery struct {
	// Need is an expression of the words of code.Grams; "" visits every file.
	Need string
	// Sources are the numbers of those that are looked at; nil is all.
	Sources []int64
	// After is the id after which to begin.
	After int64
}

// The parts of a file's id, from the highest bit on: tier, source, number.
const (
	codeTierShift   = 60
	codeSourceShift = 32
)

// CodeIDs gives the range of ids that files of a source have in a tier.
func CodeIDs(tier code.Tier, source int64) (first, last int64) {
	first = int64(tier)<<codeTierShift | source<<codeSourceShift
	return first, first | (1<<codeSourceShift - 1)
}

// codeSource is the number of the source that a file's id names.
func codeSource(id int64) int64 {
	return id >> codeSourceShift & (1<<(codeTierShift-codeSourceShift) - 1)
}

// SearchCodeInput is a search in code.
type SearchCodeInput struct {
	Query      string `json:"query" jsonschema:"text on one line; either case matches unless it has capitals"`
	Regexp     bool   `json:"regexp,omitempty" jsonschema:"take the query as an RE2 expression, matched line by line"`
	Service    string `json:"service,omitempty" jsonschema:"only code of this service: bare name or reference"`
	Repository string `json:"repository,omitempty" jsonschema:"only this repository: its URL or its source's name"`
	Path       string `json:"path,omitempty" jsonschema:"only this file, folder or glob, for example **/*.go"`
	Language   string `json:"language,omitempty" jsonschema:"for example go, typescript or yaml"`
	Limit      int    `json:"limit,omitempty" jsonschema:"1 to 50, default 10"`
	Cursor     string `json:"cursor,omitempty" jsonschema:"next_cursor of the page before"`
}

// CodeHits are files that match: programs first, then configuration,
// documentation and tests.
type CodeHits struct {
	Hits []CodeHit `json:"hits"`
	// Searched is how many sources were searched, of those that the caller
	// sees and asked for; Unsearched those whose code is not indexed, or not
	// all of it.
	Searched   int `json:"searched"`
	Unsearched int `json:"unsearched"`
	// NextCursor goes on; there may be nothing more behind it where the page
	// ended because of the time that it took.
	NextCursor string `json:"nextCursor,omitempty"`
}

// CodeHit is a file that matches.
type CodeHit struct {
	// Source is where: repository, commit, path and the first line.
	Source   TextSource `json:"source"`
	Language string     `json:"language,omitempty"`
	// Services are those that live nearest above the file.
	Services []string `json:"services,omitempty"`
	Owner    string   `json:"owner,omitempty"`
	// Matches is how many lines match, 1000 at most; give the file as path to
	// see those that the excerpts leave out.
	Matches  int            `json:"matches"`
	Excerpts []code.Excerpt `json:"excerpts"`
}
