package ingest

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/fairlead-dev/fairlead/catalog/entity"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/fault/beside"
)

// Provider finds sources, such as the repositories of an organization.
type Provider interface {
	// Describe says what the provider is: Name, Type and URL.
	Describe() Description
	// Discover lists every source that there is now. A source with the name
	// of an earlier one is that source again; one that is no longer listed is
	// gone, and so is what it said.
	Discover(ctx context.Context) ([]Source, error)
}

// provider is one configured provider and what it last found.
type provider struct {
	group int
	src   Provider
	desc  Description
	again chan struct{}
	// asks has it look now and close what it is given when it has.
	asks chan chan struct{}
	// late tells that it finds what is registered, which is known for
	// certain.
	late bool

	mu      sync.Mutex // guards what follows
	tried   bool
	emptied bool // the last listing was empty
	failed  int
	lastErr *fault.Error
	since   time.Time
	checked time.Time
	found   map[string]*source
	running map[*source]context.CancelFunc
}

func newProvider(group int, p Provider) *provider {
	return &provider{group: group, src: p, desc: p.Describe(), again: make(chan struct{}, 1), asks: make(chan chan struct{}),
		found: map[string]*source{}, running: map[*source]context.CancelFunc{}}
}

// watch looks for sources until ctx ends, and polls each that it finds.
func (in *Ingester) watch(ctx context.Context, p *provider, tried func()) {
	defer tried()
	var polls beside.All
	defer polls.Wait()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		var asked chan struct{}
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		case <-p.again:
		case asked = <-p.asks:
		}
		in.discover(ctx, p, &polls)
		tried()
		if asked != nil {
			close(asked)
		}
		timer.Reset(in.pause(p.failures()))
	}
}

func (p *provider) failures() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.failed
}

// discover asks a provider once and puts what it lists in force. Where it
// fails, the sources found before stay.
func (in *Ingester) discover(ctx context.Context, p *provider, polls *beside.All) {
	bounded, cancel := context.WithTimeout(ctx, in.timeout)
	defer cancel()
	start := in.now()
	listed, err := p.list(bounded)
	in.observe(ctx, p.desc.Name, in.now().Sub(start), len(listed), err)
	p.finish(in.now(), err)
	if err != nil {
		if ctx.Err() == nil {
			in.log.WarnContext(ctx, "discovery failed, the sources found before stay", "provider", p.desc.Name, "error", err)
		}
		return
	}
	if p.doubts(len(listed)) {
		in.log.WarnContext(ctx, "discovery listed nothing where there was something; it is believed if it says so again", "provider", p.desc.Name)
		return
	}
	add, gone := p.compare(listed)
	in.enrol(add, gone)
	for s := range gone {
		in.retire(ctx, p, s)
	}
	for _, s := range p.idle() {
		polling, stop := context.WithCancel(ctx)
		p.mu.Lock()
		p.running[s] = stop
		p.mu.Unlock()
		polls.Go(func() {
			in.always(polling, "polling source "+s.desc().Name, func() { in.poll(polling, s, func() {}) })
		})
	}
}

func (p *provider) list(ctx context.Context) (listed []Source, err error) {
	defer fault.Catch(&err, "discovering %s", p.desc.Name)
	return p.src.Discover(ctx)
}

func (p *provider) finish(at time.Time, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tried, p.checked = true, at
	if err == nil {
		p.failed, p.lastErr = 0, nil
		return
	}
	f := fault.From(err)
	if p.lastErr == nil || p.lastErr.Message != f.Message {
		p.since = at
	}
	p.failed++
	p.lastErr = f
}

// doubts tells whether a listing is not to be believed yet: one that is empty,
// as of a token that has lost its rights, after one that was not.
func (p *provider) doubts(listed int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	doubt := listed == 0 && len(p.found) > 0 && !p.emptied && !p.late
	p.emptied = listed == 0
	return doubt
}

// compare tells which listed sources are new and which are listed no more. A
// source that was only restored gets what it is read from.
func (p *provider) compare(listed []Source) (add []*source, gone map[*source]bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	seen := make(map[string]bool, len(listed))
	for _, src := range listed {
		name := src.Describe().Name
		seen[name] = true
		if s := p.found[name]; s != nil {
			s.attach(src)
			continue
		}
		s := newSource(rank{p.group, name, p.late}, src)
		s.provider = p.desc.Name
		p.found[name] = s
		add = append(add, s)
	}
	gone = map[*source]bool{}
	for name, s := range p.found {
		if !seen[name] {
			gone[s] = true
			delete(p.found, name)
		}
	}
	return add, gone
}

// idle are the sources that nobody polls yet.
func (p *provider) idle() []*source {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []*source
	for _, s := range p.found {
		if p.running[s] == nil {
			out = append(out, s)
		}
	}
	return out
}

// retire takes back everything that a source said.
func (in *Ingester) retire(ctx context.Context, p *provider, s *source) {
	p.mu.Lock()
	if stop := p.running[s]; stop != nil {
		stop()
	}
	delete(p.running, s)
	p.mu.Unlock()
	if s.lock(ctx) != nil {
		return
	}
	defer s.unlock()
	in.claims.replace(s.holdings(), nil, in.publish)
	in.spread(s, true)
	s.close()
	in.forget(ctx, s.desc().Name)
	in.unfollow(ctx, s.desc().Name)
	if d, ok := s.from().(Disposable); ok {
		if err := d.Dispose(); err != nil {
			in.log.ErrorContext(ctx, "files of a source that is gone could not be removed", "source", s.desc().Name, "error", err)
		}
	}
}

// Behind has a source read again now that another server has read at a revision
// which is not served here, and tells whether there is such a source.
func (in *Ingester) Behind(name string, there Revision) bool {
	s := in.source(name)
	if s == nil || s.revision() == there {
		return false
	}
	s.doubt()
	s.nudge()
	return true
}

// Notify has the sources of a repository read again now, given any of its
// URLs, and tells how many there are. Where there is none, providers look
// again, as the repository may be new.
func (in *Ingester) Notify(urls ...string) int {
	known := in.roster.Load()
	nudged := map[*source]bool{}
	for _, u := range urls {
		for _, s := range known.byRepository[entity.RepositoryKey(u)] {
			if !nudged[s] {
				nudged[s] = true
				s.doubt()
				s.nudge()
			}
		}
	}
	if len(nudged) == 0 {
		for _, p := range in.providers {
			select {
			case p.again <- struct{}{}:
			default:
			}
		}
	}
	return len(nudged)
}

// settled tells whether the provider has been asked, or what it found before
// is served.
func (p *provider) settled() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.tried || len(p.found) > 0
}

// recall brings back the sources that providers had found before, so that
// what was kept of them is served before any provider answers. What is kept of
// sources that are configured no more is forgotten.
func (in *Ingester) recall(ctx context.Context) error {
	names, err := in.keeper.Names(ctx)
	if err != nil {
		in.log.WarnContext(ctx, "kept sources cannot be listed, discovery starts anew", "error", err)
		return nil
	}
	byName := make(map[string]*provider, len(in.providers))
	for _, p := range in.providers {
		byName[p.desc.Name] = p
	}
	back := map[*source]*Kept{}
	for _, name := range names {
		if in.source(name) != nil {
			continue
		}
		kept, err := in.kept(ctx, name)
		if err != nil || kept == nil {
			continue
		}
		p := byName[kept.Meta.Provider]
		if p == nil {
			in.forget(ctx, name)
			in.drop(ctx, name)
			continue
		}
		s := newKept(rank{p.group, name, p.late}, kept.Meta.Description)
		s.provider = p.desc.Name
		p.mu.Lock()
		p.found[name] = s
		p.mu.Unlock()
		back[s] = kept
	}
	in.enrol(slices.Collect(maps.Keys(back)), nil)
	for s, kept := range back {
		s.restore(in, kept)
	}
	return ctx.Err()
}

// forget removes what is kept of a source that is gone.
func (in *Ingester) forget(ctx context.Context, name string) {
	if in.keeper == nil {
		return
	}
	if err := in.keeper.Forget(ctx, name); err != nil {
		in.log.ErrorContext(ctx, "kept state of a source that is gone could not be removed", "source", name, "error", err)
	}
}
