package ingest

import (
	"context"
	"maps"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/fairlead-dev/fairlead/catalog/descriptor"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// source is one configured source and what it last said.
type source struct {
	rank rank
	// provider found the source; "" where it is configured.
	provider string
	// described changes while busy is held only.
	described atomic.Pointer[Description]
	// busy holds one token: who has it may read the source.
	busy chan struct{}
	// again asks for a reading without waiting for it.
	again chan struct{}

	mu       sync.RWMutex // guards what follows
	src      Source       // nil while a kept source has not been found again
	next     Source       // what discovery has made of the source since
	meta     Meta
	ready    bool
	failed   int
	lastErr  *fault.Error
	errSince Sighting
	hinted   Revision // what discovery said last of the revision
	unsure   bool     // what discovery said of the revision is not to be relied on
	recheck  bool     // another source that this one reads has changed
	unsaved  bool     // the keeper lacks something
	paths    map[string]string
	files    map[string]*File
	parents  map[string][]string
	shape    shape
	troubled map[string]struct{} // the files that have problems
	problems int                 // of files, without conflicts
	print    uint64              // of the problems
	weight   int64               // of files
	pasts    pasts
	undated  atomic.Bool // something of the pasts may have to be looked up

	treeMu sync.RWMutex
	tree   Tree
}

func newSource(at rank, src Source) *source {
	s := newKept(at, src.Describe())
	s.src = src
	return s
}

// newKept makes a source of which only the description is known.
func newKept(at rank, d Description) *source {
	s := &source{rank: at, busy: make(chan struct{}, 1), again: make(chan struct{}, 1)}
	s.described.Store(&d)
	s.busy <- struct{}{}
	return s
}

func (s *source) lock(ctx context.Context) error {
	select {
	case <-s.busy:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *source) unlock() { s.busy <- struct{}{} }

func (s *source) nudge() {
	select {
	case s.again <- struct{}{}:
	default:
	}
}

func (s *source) desc() *Description { return s.described.Load() }

// base is the location that the source's paths are relative to.
func (s *source) base() descriptor.Location {
	d := s.desc()
	return descriptor.Location{Type: d.BaseType, Target: d.Base}
}

// attach gives a source what it is to be read from, and asks for a reading if
// that knows of a change already.
func (s *source) attach(src Source) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next = src
	h, ok := src.(Hinted)
	if ok && h.Hint() != s.meta.Revision || !reflect.DeepEqual(src.Describe(), *s.desc()) {
		s.nudge()
	}
}

// adopt puts in force what was attached, and tells whether the source is
// described otherwise now: it may have moved, or be configured anew. Whoever
// calls it holds busy.
func (s *source) adopt() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.next == nil {
		return false
	}
	d := s.next.Describe()
	s.src, s.next = s.next, nil
	if reflect.DeepEqual(d, *s.desc()) {
		return false
	}
	s.described.Store(&d)
	return true
}

func (s *source) from() Source {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.src
}

// observe tells the current revision: what discovery has said of it, as long
// as that is news or what is served already, else what the source itself says.
func (s *source) observe(ctx context.Context) (Revision, error) {
	src := s.from()
	h, ok := src.(Hinted)
	if !ok {
		return src.Observe(ctx)
	}
	hint := h.Hint()
	s.mu.Lock()
	believed := hint != "" && !s.unsure && (hint != s.hinted || hint == s.meta.Revision)
	s.hinted, s.unsure = hint, false
	s.mu.Unlock()
	if believed {
		return hint, nil
	}
	return src.Observe(ctx)
}

// doubt has the next reading ask the source itself.
func (s *source) doubt() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unsure = true
}

func (s *source) revision() Revision {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.meta.Revision
}

func (s *source) failures() int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.failed
}

func (s *source) fileCount() int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return len(s.files)
}

// needs tells whether a revision has to be read.
func (s *source) needs(rev Revision, fingerprint string) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return rev != s.meta.Revision || fingerprint != s.meta.Fingerprint || s.recheck || s.unsaved
}

// finish notes how a reading ended.
func (s *source) finish(at time.Time, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ready = true
	if err == nil {
		s.failed, s.lastErr = 0, nil
		s.meta.Checked = Sighting{Commit: s.meta.Info.Commit, At: at}
		return
	}
	f := fault.From(err)
	if s.lastErr == nil || s.lastErr.Message != f.Message {
		s.errSince = Sighting{Commit: s.meta.Info.Commit, At: at}
	}
	s.failed++
	s.lastErr = f
}

func (s *source) restore(in *Ingester, kept *Kept) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.meta = kept.Meta
	s.paths = kept.Paths
	if s.paths == nil {
		s.paths = map[string]string{}
	}
	s.files = make(map[string]*File, len(kept.Files))
	for _, f := range kept.Files {
		s.files[f.Path] = f
		for _, d := range f.Documents {
			d.weight = d.weigh()
		}
		s.weight += f.weight()
	}
	s.parents = parentsOf(in, s, s.files)
	s.shape = shapeOf(s.files)
	s.troubled = troubledOf(s.files)
	s.problems = len(s.list())
	s.restorePasts(kept.Pasts)
	s.undated.Store(true)
	s.ready = true
}

// parentsOf works out which Location reached which file.
func parentsOf(in *Ingester, s *source, files map[string]*File) map[string][]string {
	out := map[string][]string{}
	for _, path := range slices.Sorted(maps.Keys(files)) {
		for _, d := range files[path].Documents {
			for _, t := range d.Targets {
				if to, ok := in.locate(s, t.Location); ok && !t.Glob && files[to] != nil {
					out[to] = append(out[to], d.Ref)
				}
			}
		}
	}
	return out
}

// holdings are what every file claims.
func (s *source) holdings() []holding {
	s.mu.RLock()
	defer s.mu.RUnlock()
	out := make([]holding, 0, len(s.files))
	for path, f := range s.files {
		out = append(out, s.holding(f, s.parents[path]))
	}
	return out
}

// holding is what one file claims: of two documents with one name, the last
// that holds.
func (s *source) holding(f *File, parents []string) holding {
	h := make(holding, 0, len(f.Documents))
	last := f.lastOfName()
	for i, d := range f.Documents {
		if d.Entity != nil && (last == nil || last[d.Ref] == i) {
			h = append(h, claim{source: s, path: f.Path, doc: d, parents: parents})
		}
	}
	return h
}

// lastOfName tells which document that holds is the last of its name; nil
// where there is one document at most.
func (f *File) lastOfName() map[string]int {
	if len(f.Documents) < 2 {
		return nil
	}
	last := make(map[string]int, len(f.Documents))
	for i, d := range f.Documents {
		if d.Entity != nil {
			last[d.Ref] = i
		}
	}
	return last
}

// roots are the paths that the source's globs pick, sorted.
func (s *source) roots(paths map[string]string) []string {
	var out []string
	for p := range paths {
		if s.includes(p) {
			out = append(out, p)
		}
	}
	slices.Sort(out)
	return out
}

func (s *source) includes(path string) bool {
	for _, glob := range s.desc().Include {
		if doublestar.MatchUnvalidated(glob, path) {
			return true
		}
	}
	return false
}

func (s *source) has(path string) (known, claimed bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	_, known = s.paths[path]
	return known, s.files[path] != nil
}

// swap makes tree the one that others read from.
func (s *source) swap(tree Tree) {
	s.treeMu.Lock()
	old := s.tree
	s.tree = tree
	s.treeMu.Unlock()
	if old != nil && old != tree {
		_ = old.Close() // nothing can be done about a tree that will not close
	}
}

func (s *source) close() { s.swap(nil) }

// readForeign reads a file for another source, as of the revision in force.
func (s *source) readForeign(ctx context.Context, path string) ([]byte, error) {
	if err := s.reopen(ctx); err != nil {
		return nil, err
	}
	s.treeMu.RLock()
	defer s.treeMu.RUnlock()
	if s.tree == nil { // it has been closed since
		return nil, s.unread()
	}
	return s.tree.Read(ctx, path)
}

// reopen makes the revision in force readable where it is not: after a restart
// a source that has not changed is served without having been opened.
func (s *source) reopen(ctx context.Context) error {
	s.treeMu.RLock()
	there := s.tree != nil
	s.treeMu.RUnlock()
	if there {
		return nil
	}
	s.treeMu.Lock()
	defer s.treeMu.Unlock()
	src, rev := s.from(), s.revision()
	switch {
	case s.tree != nil:
		return nil
	case src == nil || rev == "":
		return s.unread()
	}
	tree, err := src.Open(ctx, rev)
	if err == nil {
		s.tree = tree
	}
	return err
}

func (s *source) unread() error {
	return fault.New(fault.Unavailable, "source %q has not been read yet", s.desc().Name).WithFix("Nothing is to be done: it is tried again.")
}

// bytes reads a file of this or of another source.
func (in *Ingester) bytes(ctx context.Context, s *source, tree Tree, path string) ([]byte, error) {
	o, rel := in.owner(s, path)
	if o == s {
		return tree.Read(ctx, path)
	}
	return o.readForeign(ctx, rel)
}

func (in *Ingester) exists(path string) bool {
	o, rel := in.owner(nil, path)
	if o == nil {
		return false
	}
	known, _ := o.has(rel)
	return known
}

func (in *Ingester) claimedElsewhere(path string) bool {
	o, rel := in.owner(nil, path)
	if o == nil {
		return false
	}
	_, claimed := o.has(rel)
	return claimed
}
