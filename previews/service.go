package previews

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/feed"
	"github.com/fairlead-dev/fairlead/internal/record"
	"github.com/fairlead-dev/fairlead/internal/shelf"
)

// MinTTL is the shortest time that a preview can be asked for.
const MinTTL = 30 * time.Second

// TTLs bound how long previews live; 0 means the default.
type TTLs struct {
	// Default is the time where neither the caller nor the service says one,
	// 1h by default.
	Default time.Duration `yaml:"default"`
	// Max is the most that one call may ask for, 24h by default.
	Max time.Duration `yaml:"max"`
	// HardCap is the age beyond which nobody extends one, 72h by default.
	HardCap time.Duration `yaml:"hardCap"`
}

// WithDefaults puts the defaults in the place of zeros.
func (t TTLs) WithDefaults() TTLs {
	if t.Max == 0 {
		t.Max = 24 * time.Hour
	}
	if t.HardCap == 0 {
		t.HardCap = max(72*time.Hour, t.Max)
	}
	if t.Default == 0 {
		t.Default = min(time.Hour, t.Max)
	}
	return t
}

// Checkout is one commit of the repository that a service is in.
type Checkout struct {
	// Repository is the URL of the repository, and Dir the service's folder in
	// it, "" for its root.
	Repository, Dir string
	// Revision is what the commit was found by, and Commit its full id.
	Revision, Commit string
}

// Repositories finds commits of the repositories that services are in.
type Repositories interface {
	// Resolve finds what a revision names: a branch, a tag, a commit or the
	// beginning of one; "" is what the catalog reads. not_found names a
	// revision that there is none of.
	Resolve(ctx context.Context, service *catalog.Entity, revision string) (Checkout, error)
	// Locate is the repository that a service is in, and its folder there,
	// without a commit; nobody is asked for it.
	Locate(service *catalog.Entity) (Checkout, error)
	// Revisions are the branches, tags and last commits of the repository that a
	// service is in.
	Revisions(ctx context.Context, service *catalog.Entity) (*Refs, error)
}

// Config is what a Service is made of; all but Limits, TTL and Now is needed.
type Config struct {
	Policy       *access.Policy
	Guard        *access.Guard
	Catalog      *catalog.Service
	Repositories Repositories
	Wishes       Wishes
	Reads        Reads
	// Deployers are those there are, by the name that templates use.
	Deployers map[string]Deployer
	// Data are the servers where previews' data is made; of several of a kind
	// the first is for those that name none.
	Data []DataServer
	// Wake has a turn done soon.
	Wake func(ctx context.Context, t Turn)
	// Limits and TTL bound what callers may ask for.
	Limits Limits
	TTL    TTLs
	// Cost is what reports of usage count with.
	Cost Cost
	// Deadlines are those of the reconciler.
	Deadlines Deadlines
	// Logger is told what was done by force; nil is slog.Default.
	Logger *slog.Logger
	// Now is the time; nil is time.Now.
	Now func() time.Time
}

// Service answers what callers ask of previews.
type Service struct {
	cfg       Config
	feed      *feed.Feed[Record]
	revisions *shelf.Shelf[refsLook]

	shared atomic.Pointer[shared]
}

// New makes a Service; Close ends it.
func New(cfg Config) (*Service, error) {
	if cfg.Policy == nil || cfg.Guard == nil || cfg.Catalog == nil || cfg.Repositories == nil || cfg.Wishes == nil || cfg.Reads == nil || cfg.Wake == nil {
		return nil, errors.New("previews: Policy, Guard, Catalog, Repositories, Wishes, Reads and Wake are needed")
	}
	cfg.Limits, cfg.TTL = cfg.Limits.WithDefaults(), cfg.TTL.WithDefaults()
	cfg.Deadlines = cfg.Deadlines.withDefaults()
	if cfg.Logger == nil {
		cfg.Logger = slog.Default()
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	s := &Service{cfg: cfg, feed: watched(cfg.Reads), revisions: shelf.New[refsLook](revisionsKeep, revisionsPatience, cfg.Now)}
	s.revisions.Most = revisionsMost
	return s, nil
}

// Close ends what is under way and waits for it.
func (s *Service) Close() error {
	s.revisions.Close()
	return nil
}

// deployer finds the deployer that a template names.
func (s *Service) deployer(name string) (Deployer, error) {
	if d := s.cfg.Deployers[name]; d != nil {
		return d, nil
	}
	have := "none is"
	if names := slices.Sorted(maps.Keys(s.cfg.Deployers)); len(names) > 0 {
		have = strings.Join(names, ", ") + " is"
	}
	return nil, fault.New(fault.FailedPrecondition, "the deployer %q is not configured here; %s", clip(name, 80), have).
		WithFix("Have the operators add previews.deployers.%s to the configuration, or name another deployer in the service's catalog file.", clip(name, 80))
}

// about is what policy looks at: the service as it is, or as it was when it is
// not in the catalog any more.
func (s *Service) about(r *Record) access.Attributes {
	if a, ok := s.cfg.Catalog.Snapshot().Attributes(r.Service); ok {
		return a
	}
	a := r.About
	a.Environment, a.Protected = "", false // which only acts touch
	return a
}

// readable finds a preview that the caller may see.
func (s *Service) readable(ctx context.Context, who access.Caller, id string) (Record, error) {
	if err := s.there(); err != nil {
		return Record{}, err
	}
	scope := s.cfg.Policy.Scope(who, access.ReadPreviews)
	missing := fault.New(fault.NotFound, "there is no preview %q", clip(id, 80)).WithFix("List the previews to see their ids.")
	if scope.None() || !record.IsID(id) {
		return Record{}, missing
	}
	r, err := s.cfg.Reads.Preview(ctx, id)
	switch {
	case fault.CodeOf(err) == fault.NotFound:
		return r, missing
	case err != nil:
		return r, err
	case !scope.Allows(s.about(&r)):
		return r, missing
	}
	return r, nil
}

// view shows a record with its place in the queue.
func (s *Service) view(ctx context.Context, r *Record) (*Preview, error) {
	if r.Phase != Pending || !r.AdmittedAt.IsZero() {
		return r.View(0), nil
	}
	places, err := s.cfg.Reads.PreviewPositions(ctx)
	if err != nil {
		return nil, err
	}
	return r.queued(places[r.ID]), nil
}

// queued shows one that waits for room.
func (r *Record) queued(position int) *Preview {
	p := r.View(position)
	if position > 0 {
		p.Reason = fmt.Sprintf("%s; it is number %d in the queue", r.Reason, position)
	}
	return p
}
