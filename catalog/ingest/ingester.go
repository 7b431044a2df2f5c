package ingest

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fairlead-dev/fairlead/catalog/descriptor"
	"github.com/fairlead-dev/fairlead/catalog/index"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/fault/beside"
)

// Config is what an Ingester works with.
type Config struct {
	// Sources in configured order, which decides between claims to one name.
	Sources []Source
	// Providers find further sources, which come after Sources.
	Providers []Provider
	// Registered finds the locations that are registered, which come last;
	// nil where there are none.
	Registered *Registered
	// Followers read more of the sources than their catalog files.
	Followers []Follower
	// Restored is closed once Followers have what they kept: before that they
	// are shown nothing. nil waits for nothing.
	Restored <-chan struct{}
	// Processor reads files.
	Processor *descriptor.Processor
	// Publish is given every change of the catalog, one call at a time.
	Publish func([]index.Change)
	// Keeper keeps the last good state; nil keeps none.
	Keeper Keeper
	// Fingerprint changes when files have to be read anew though they are the
	// same, because the configuration or the reading is another.
	Fingerprint string
	// Refresh is the pause between polls, 1m if 0; each poll is moved by up
	// to a tenth of it so that sources do not march in step.
	Refresh time.Duration
	// Timeout bounds one reading of one source, 2m if 0.
	Timeout time.Duration
	// SourceBytes bounds what is held of one source, in bytes with aliases and
	// placeholders written out, 512 MiB if 0. Documents beyond are reported.
	SourceBytes int64
	// Turn is after how long a slow reading gives its place among those that
	// run at once to another, 5s if 0.
	Turn time.Duration
	// Log is told of every reading; nil is silent.
	Log *slog.Logger
	// Observe is told how each reading of a source went; nil is not.
	Observe func(ctx context.Context, source string, took time.Duration, files int, err error)
	// Moved is told of each source that is served at another revision than
	// before; nil is not. It is not to block.
	Moved func(source string, to Revision)
	// Settled is called once Run has read or tried every source; nil is not.
	Settled func()
	// Now is the clock, time.Now if nil.
	Now func() time.Time
}

// Ingester keeps a catalog true to its sources.
type Ingester struct {
	roster      atomic.Pointer[roster]
	enrolling   sync.Mutex
	turns       chan struct{} // holds one for each poll that reads
	providers   []*provider
	following   *following
	restored    <-chan struct{} // nil: from the beginning
	registered  *registry       // nil where nothing can be registered
	trial       bool            // what others hold is read all the same
	processor   *descriptor.Processor
	publish     func([]index.Change)
	keeper      Keeper
	fingerprint string
	refresh     time.Duration
	timeout     time.Duration
	turnTime    time.Duration
	sourceBytes int64
	log         *slog.Logger
	observe     func(context.Context, string, time.Duration, int, error)
	moved       func(string, Revision)
	settled     func()
	now         func() time.Time
	workers     int
	claims      *claims
	// spreads counts how often a source has changed.
	spreads   atomic.Int64
	lookBacks *lookBacks
	running   atomic.Bool // Run is at work
}

// New makes an Ingester; Restore and Run set it to work.
func New(cfg Config) *Ingester {
	in := &Ingester{
		processor: cfg.Processor, publish: cfg.Publish, keeper: cfg.Keeper, fingerprint: cfg.Fingerprint,
		refresh: cfg.Refresh, timeout: cfg.Timeout, sourceBytes: cfg.SourceBytes, log: cfg.Log, observe: cfg.Observe, moved: cfg.Moved, settled: cfg.Settled, now: cfg.Now,
		workers: runtime.GOMAXPROCS(0), claims: newClaims(), turns: make(chan struct{}, maxTurns),
		lookBacks: newLookBacks(), restored: cfg.Restored,
	}
	if in.refresh <= 0 {
		in.refresh = time.Minute
	}
	if in.timeout <= 0 {
		in.timeout = 2 * time.Minute
	}
	if in.sourceBytes <= 0 {
		in.sourceBytes = maxSourceBytes
	}
	if in.turnTime <= 0 {
		in.turnTime = 5 * time.Second
	}
	if in.log == nil {
		in.log = slog.New(slog.DiscardHandler)
	}
	if in.observe == nil {
		in.observe = func(context.Context, string, time.Duration, int, error) {}
	}
	if in.moved == nil {
		in.moved = func(string, Revision) {}
	}
	if in.settled == nil {
		in.settled = func() {}
	}
	if in.now == nil {
		in.now = time.Now
	}
	in.following = newFollowing(cfg.Followers)
	var list []*source
	for i, s := range cfg.Sources {
		list = append(list, newSource(rank{group: i}, s))
	}
	in.roster.Store(newRoster(in.processor, list))
	for i, p := range cfg.Providers {
		in.providers = append(in.providers, newProvider(len(cfg.Sources)+i, p))
	}
	if cfg.Registered != nil {
		in.register(len(cfg.Sources)+len(cfg.Providers), *cfg.Registered)
	}
	return in
}

// Restore brings back what was kept of every source, so that the catalog is
// served before any source answers. A source whose kept state cannot be read
// starts anew.
func (in *Ingester) Restore(ctx context.Context) error {
	if in.keeper == nil {
		return nil
	}
	if err := in.recall(ctx); err != nil {
		return err
	}
	g, ctx := beside.WithContext(ctx)
	g.SetLimit(in.workers)
	for _, s := range in.configured() {
		g.Go(func() error {
			kept, err := in.kept(ctx, s.desc().Name)
			if err != nil {
				in.log.WarnContext(ctx, "kept catalog is unreadable, reading anew", "source", s.desc().Name, "error", err)
			}
			if kept != nil {
				s.restore(in, kept)
			}
			return ctx.Err()
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	var held []holding
	for _, s := range in.sources() {
		in.relate(s)
		held = append(held, s.holdings()...)
	}
	in.claims.replace(nil, held, in.publish)
	return nil
}

func (in *Ingester) kept(ctx context.Context, name string) (k *Kept, err error) {
	defer fault.Catch(&err, "reading what is kept of source %s", name)
	return in.keeper.Load(ctx, name)
}

// Run polls every source until ctx ends. Trouble of one source never delays
// another.
func (in *Ingester) Run(ctx context.Context) error {
	in.running.Store(true)
	defer in.running.Store(false)
	var loops beside.All
	static := in.configured()
	var untried atomic.Int64
	untried.Store(int64(1 + len(static) + len(in.providers))) // 1 for those that have yet to begin
	tried := func() {
		if untried.Add(-1) == 0 {
			loops.Go(in.settled)
		}
	}
	for _, p := range in.providers {
		once := sync.OnceFunc(tried)
		loops.Go(func() { in.always(ctx, "discovering "+p.desc.Name, func() { in.watch(ctx, p, once) }) })
	}
	for _, s := range static {
		once := sync.OnceFunc(tried)
		loops.Go(func() { in.always(ctx, "polling source "+s.desc().Name, func() { in.poll(ctx, s, once) }) })
	}
	tried()
	loops.Go(func() { in.always(ctx, "looking back", func() { in.lookBack(ctx) }) })
	loops.Go(func() { in.always(ctx, "following sources", func() { in.follow(ctx) }) })
	loops.Wait()
	for _, s := range in.sources() {
		s.close()
	}
	return nil
}

// always has a loop go on after a panic.
func (in *Ingester) always(ctx context.Context, doing string, loop func()) {
	beside.Always(ctx, in.log, doing, loop)
}

// configured are the sources that no provider found.
func (in *Ingester) configured() []*source {
	var out []*source
	for _, s := range in.sources() {
		if s.provider == "" {
			out = append(out, s)
		}
	}
	return out
}

func (in *Ingester) poll(ctx context.Context, s *source, tried func()) {
	defer tried()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		case <-s.again:
		}
		done, err := in.turn(ctx)
		if err != nil {
			return
		}
		_, err = in.sync(ctx, s)
		done()
		if err != nil && ctx.Err() == nil {
			in.log.WarnContext(ctx, "source could not be read, its last good state stays", "source", s.desc().Name, "error", err)
		}
		tried()
		timer.Reset(in.pause(s.failures()))
	}
}

// maxTurns is how many sources polls read at a time.
const maxTurns = 64

// turn waits for a place among the readings and gives what ends it. A reading
// that takes longer than its turn goes on, but gives its place to another, so
// that sources that hang delay nobody.
func (in *Ingester) turn(ctx context.Context) (done func(), err error) {
	return takeTurn(ctx, in.turns, in.turnTime)
}

func takeTurn(ctx context.Context, places chan struct{}, most time.Duration) (done func(), err error) {
	select {
	case places <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	leave := sync.OnceFunc(func() { <-places })
	late := time.AfterFunc(most, leave)
	return func() { late.Stop(); leave() }, nil
}

// pause is the time to the next poll: the refresh interval, longer after
// repeated failures, give or take a tenth.
func (in *Ingester) pause(failures int) time.Duration {
	d := in.refresh << min(failures, 4)
	return d - d/10 + rand.N(d/5+1) //nolint:gosec // jitter needs no secrecy
}

// refreshNow reads one source and waits until what it says is served, and for
// a while until what follows it is.
func (in *Ingester) refreshNow(ctx context.Context, name string) (int, Revision, error) {
	if s := in.source(name); s != nil {
		n, err := in.syncAll(ctx, s)
		if err == nil && in.running.Load() {
			ctx, cancel := context.WithTimeout(ctx, settleTime)
			defer cancel()
			in.following.settled(ctx, s)
		}
		return n, s.revision(), err
	}
	return 0, "", fault.New(fault.NotFound, "there is no source %q", name).WithFix("`fairlead catalog sources` lists them.")
}

// sync brings one source up to date; one at a time for each source.
func (in *Ingester) sync(ctx context.Context, s *source) (changed int, err error) {
	if err := s.lock(ctx); err != nil {
		return 0, err
	}
	defer s.unlock()
	start, asked := in.now(), ctx
	ctx, cancel := context.WithTimeout(ctx, in.timeout)
	defer cancel()
	defer func() {
		if err != nil && asked.Err() != nil { // not the source's fault: whoever asked is gone
			s.doubt()
			s.nudge()
			return
		}
		s.finish(in.now(), err)
		if err == nil {
			in.following.heed(s)
		}
		in.wonder(s)
		in.observe(ctx, s.desc().Name, in.now().Sub(start), s.fileCount(), err)
	}()
	return in.read(ctx, s)
}

// read brings one source up to date. What panics on the way is an error like
// others.
func (in *Ingester) read(ctx context.Context, s *source) (changed int, err error) {
	defer fault.Catch(&err, "reading source %s", s.desc().Name)
	if s.adopt() {
		in.enrol(nil, nil) // it may be found by other URLs now
	}
	rev, err := s.observe(ctx)
	if err != nil {
		return 0, err
	}
	if !s.needs(rev, in.printOf(s)) {
		return 0, nil
	}
	tree, err := s.from().Open(ctx, rev)
	if err != nil {
		return 0, err
	}
	return in.update(ctx, s, tree, rev)
}

// printOf is what decides whether kept files of a source are read anew: all
// that makes the same files read otherwise.
func (in *Ingester) printOf(s *source) string {
	d := s.desc()
	return fmt.Sprintf("%s %s %s %q %d %d", in.fingerprint, d.BaseType, d.Base, d.Include, d.FileBytes, in.sourceBytes)
}

// foreign separates a source's name from a path in it.
const foreign = "//"

// owner is the source that a path belongs to and the path within it.
func (in *Ingester) owner(s *source, path string) (*source, string) {
	name, rel, ok := strings.Cut(path, foreign)
	if !ok {
		return s, path
	}
	if o := in.source(name); o != nil {
		return o, rel
	}
	return s, path
}

// locate gives the path of a location as seen from a source: within it, or
// in another source as name//path.
func (in *Ingester) locate(s *source, at descriptor.Location) (string, bool) {
	if path, ok := in.processor.Within(s.base(), at); ok && !s.isLocation() {
		return path, true
	}
	o, path := in.holder(at, func(o *source, _ string) bool { return o != s && (!o.rank.late || in.serves(o, s)) })
	if o == nil {
		return "", false
	}
	return o.desc().Name + foreign + path, true
}
