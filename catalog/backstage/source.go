package backstage

import (
	"context"
	"slices"
	"sync"

	"github.com/fairlead-dev/fairlead/catalog/ingest"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// Source is the catalog of an existing Backstage as a source of entities.
// Entities of kind Location are left out: what they point to is in the
// existing catalog already.
type Source struct {
	desc        ingest.Description
	credentials Credentials
	filter      []string
	limits      Limits
	client      *client
	maxAnswer   int64 // bytes of an answer with entities

	mu sync.Mutex
	// last is what was listed last, opened what was opened last.
	last, opened *listing
}

var _ ingest.Source = (*Source)(nil)

// New makes a source called name. A relative token file is one of the folder
// base. Nothing is asked until the source is observed.
func New(name string, cfg Config, base string) (*Source, error) {
	if ps := cfg.Validate(); len(ps) > 0 {
		return nil, fault.New(fault.Invalid, "backstage source %q: %s: %s", name, ps[0].Field, ps[0].Message).WithFix("Correct the configuration of the source.")
	}
	u, err := parseURL(cfg.URL)
	if err != nil {
		return nil, fault.New(fault.Invalid, "backstage source %q: url: %v", name, err)
	}
	api := apiOf(u)
	s := &Source{credentials: cfg.Credentials.in(base), filter: slices.Clone(cfg.Filter), limits: cfg.Limits.withDefaults(), maxAnswer: maxAnswer}
	s.client = newClient(api, s.credentials, s.limits.Timeout)
	s.desc = ingest.Description{Name: name, Type: "backstage", URL: u.String(), BaseType: "url",
		Base: api.String() + "/entities/by-name/", Include: []string{"**"}, FileBytes: s.limits.EntityBytes}
	return s, nil
}

// Describe says what the source is.
func (s *Source) Describe() ingest.Description { return s.desc }

// Observe gives a fingerprint of the etags of all entities.
func (s *Source) Observe(ctx context.Context) (ingest.Revision, error) {
	l, err := s.look(ctx)
	if err != nil {
		return "", err
	}
	return l.rev, nil
}

// look lists the catalog as it is now.
func (s *Source) look(ctx context.Context) (*listing, error) {
	l, err := s.list(ctx)
	if err != nil {
		return nil, s.explain(ctx, "listing", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = l
	return l, nil
}

// Open makes the catalog readable. An existing catalog keeps no history: if
// it has changed since it was observed, entities are read as they are now, and
// the next look reports that as a change.
func (s *Source) Open(ctx context.Context, rev ingest.Revision) (ingest.Tree, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	now := s.last
	s.mu.Unlock()
	if now == nil || now.rev != rev {
		var err error
		if now, err = s.look(ctx); err != nil {
			return nil, err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	t := newTree(s, now, s.opened)
	s.opened = now
	return t, nil
}
