package knowledge

import (
	"log/slog"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// Config is what a Service is made of; a catalog, an index and a keeper are needed.
type Config struct {
	// Catalog tells which services documents are about, and who may see them.
	Catalog *catalog.Service
	// Index finds documents, Keeper keeps them.
	Index  Index
	Keeper Keeper
	// Code may be left out: then no code is searched.
	Code *Code
	// External are the providers outside, and Guard lets callers ask them;
	// without either nobody is asked.
	External External
	Guard    *access.Guard
	// Logger is told what was left out; nil is slog.Default.
	Logger *slog.Logger
}

// Service answers questions about documents, for every door; nil refuses all. It follows the
// catalog's sources as an ingest.Follower.
//
// A caller sees a document if they see a component that lives nearest above
// it in its repository, or, where none does, any entity of its source; and, if
// its front matter names services that exist, one of those, too.
type Service struct {
	catalog *catalog.Service
	index   Index
	keeper  Keeper
	log     *slog.Logger
	library *library
	rules   Rules // nil where none are known
	// proposer is nil where nothing can be proposed.
	proposer Proposer
	sights   sights
	code     *Code // nil where none is searched
	external External
	guard    *access.Guard
}

// New makes a Service without documents; Restore brings back those of before.
func New(c Config) (*Service, error) {
	if c.Catalog == nil || c.Index == nil || c.Keeper == nil {
		return nil, fault.New(fault.Invalid, "the knowledge room needs a catalog, an index and a keeper")
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	return &Service{catalog: c.Catalog, index: c.Index, keeper: c.Keeper, log: c.Logger, library: newLibrary(), code: c.Code, external: c.External, guard: c.Guard}, nil
}

// notThere is what a server without this room answers.
func notThere() *fault.Error {
	return fault.New(fault.FailedPrecondition, "this server keeps no documents").WithFix("Ask the operators to run it with an index of documents.")
}

// Documents is how many documents there are.
func (s *Service) Documents() int { return s.library.size() }

// reading is one caller's view of the documents at one moment.
type reading struct {
	*Service
	*catalog.View
	places map[*folder]place
	shown  map[string]bool // whether sources show anything
	seen   *sight          // nil until it is asked for
	at     int64           // of the library's places
	subject
}

// subject is the service that a caller asks about; zero if about none.
type subject struct {
	ref, source, owner, system string
	// lives and dir are the key of its repository and its folder there, filed is
	// the folder of its catalog file.
	lives, dir, filed string
}

func (s *Service) reading(who access.Caller) *reading {
	return &reading{Service: s, View: catalog.NewView(s.catalog, who), places: map[*folder]place{}, shown: map[string]bool{}, at: s.library.places.Load()}
}
