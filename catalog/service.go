package catalog

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/catalog/index"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/feed"
)

// Ingestion is what the service knows of where entities come from.
type Ingestion interface {
	// Sources is the state of each source, in configured order.
	Sources() []SourceStatus
	// Problems are all open problems, by source, file and line.
	Problems() []IngestionError
	// Refresh reads a source again now, and returns once what it found is
	// published.
	Refresh(ctx context.Context, source string) (*RefreshResult, error)
	// Locations are the configured roots as Backstage names them.
	Locations() []LocationItem
}

// Config is what a Service is made of.
type Config struct {
	// Policy says who may read what. Required.
	Policy *access.Policy
	// Guard lets acts happen and records them. Without one every act is
	// refused.
	Guard *access.Guard
	// Ingestion tells of sources; it may be given later by Attach.
	Ingestion Ingestion
}

// Service answers every question about the catalog, for every door.
type Service struct {
	policy    *access.Policy
	guard     *access.Guard
	ingestion atomic.Pointer[Ingestion]
	// registration is nil where no locations can be registered.
	registration atomic.Pointer[Registration]
	snapshot     atomic.Pointer[index.Snapshot]
	publish      sync.Mutex
	watchers     watchers
	findings     atomic.Pointer[Findings]
	residents    residents
	coverages    coverages
	ingestions   *feed.Feed[sourceNow]
	troubles     troubles
}

// New makes a Service with an empty catalog.
func New(c Config) (*Service, error) {
	if c.Policy == nil {
		return nil, fault.New(fault.Invalid, "the catalog needs an access policy")
	}
	s := &Service{policy: c.Policy, guard: c.Guard}
	s.ingestions = s.watchedSources()
	s.snapshot.Store(index.Empty())
	s.watchers.at, s.watchers.recent.from = index.Empty(), time.Now()
	if c.Ingestion != nil {
		s.Attach(c.Ingestion)
	}
	return s, nil
}

// Attach tells the service where entities come from, in place of what it was
// told before.
func (s *Service) Attach(in Ingestion) { s.ingestion.Store(&in) }

// Snapshot is the catalog as it is now.
func (s *Service) Snapshot() *index.Snapshot { return s.snapshot.Load() }

// Publish makes changes visible, all at once.
func (s *Service) Publish(changes []index.Change) {
	s.publish.Lock()
	defer s.publish.Unlock()
	next := s.Snapshot().Apply(changes)
	s.residents.move(changes)
	s.snapshot.Store(next)
	s.watchers.tell(next)
}

// reading is one caller's view of the catalog at one moment.
type reading struct {
	*index.Snapshot
	scope access.Scope
	// whole tells that it is nobody's view: that of Fairlead's own work.
	whole bool
}

func (s *Service) reading(who access.Caller) reading {
	return reading{Snapshot: s.Snapshot(), scope: s.policy.Scope(who, access.ReadCatalog)}
}

func (s *Service) ingest() (Ingestion, error) {
	if p := s.ingestion.Load(); p != nil {
		return *p, nil
	}
	return nil, fault.New(fault.Unavailable, "the catalog has no sources yet").WithFix("Try again once the server is ready.")
}
