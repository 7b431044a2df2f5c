package knowledge

import (
	"context"
	"iter"

	"github.com/fairlead-dev/fairlead/catalog/ingest"
	"github.com/fairlead-dev/fairlead/knowledge/document"
)

// Format changes whenever the same files are read otherwise than before, so
// that what an earlier program kept is read anew.
const Format = 1

// State is what is kept of a source beside its documents.
type State struct {
	Format   int               `json:"format"`
	Revision ingest.Revision   `json:"revision"`
	Info     ingest.CommitInfo `json:"info"`
	// FileBytes is the size that a file might have to be read.
	FileBytes int64 `json:"fileBytes,omitempty"`
	// URL is the source's repository, "" for a folder.
	URL string `json:"url,omitempty"`
}

// Card is what is known of a document without its text.
type Card struct {
	// ID is the document's in the index, 1 or more.
	ID     int64  `json:"-"`
	Source string `json:"-"`
	Path   string `json:"path"`
	// Content identifies the content that was read.
	Content string `json:"content"`
	document.Meta
	// folder, and refs of what AppliesTo names, are set when the library takes
	// it.
	folder *folder
	refs   []string
}

// Entry is a document for the index.
type Entry struct {
	*Card
	Sections []document.Section
	Text     string
}

// Batch is how a source's documents change, all at once or not at all.
type Batch struct {
	State State
	// Gone are the documents that are no longer there.
	Gone []int64
	// Entries are new documents; an error ends the change without effect.
	Entries iter.Seq2[*Entry, error]
}

// Keeper keeps documents across restarts and makes them searchable.
type Keeper interface {
	// Each calls f with every source and its cards.
	Each(ctx context.Context, f func(source string, s State, cards []*Card)) error
	// Replace changes a source.
	Replace(ctx context.Context, source string, b Batch) error
	// Drop removes a source.
	Drop(ctx context.Context, source string) error
}

// Index finds and shows documents.
type Index interface {
	// Find gives matches of a query in bounded time.
	Find(ctx context.Context, q Query) (*Found, error)
	// Text gives the sections and the text of a document; nil where there is
	// none of that id.
	Text(ctx context.Context, id int64) (*Entry, error)
}

// Query is a search in words.
type Query struct {
	// Words are what to find: letters and digits, in lower case.
	Words []string
	// Near are documents that are looked at whatever else is found.
	Near []int64
	// Enough is how many matches with every word make it needless to look for
	// those with some of them.
	Enough int
	// Keep tells whether the caller may see a document and wants it.
	Keep func(id int64) bool
}

// Match is a document that a query found.
type Match struct {
	ID int64
	// Text is how well the words match, 0 or more.
	Text float64
	// Share is how much of the question the document holds, by the weights of
	// its words: above 0, and 1 where it has every word that any has.
	Share float64
}

// Found are the matches of a query, in no order.
type Found struct {
	Matches []Match
	// Weights are how much each word of the query tells, 0 or more: the fewer
	// documents have it, the more.
	Weights []float64
	// More tells that not all documents that have the words are among the
	// matches, so common are they.
	More bool
}
