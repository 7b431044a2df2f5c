package ingest

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/fault/beside"
)

// View is one revision of a source for a Follower to read.
type View struct {
	Source   Description
	Revision Revision
	Info     CommitInfo
	// Files are all files with the ids of their contents. Followers share the
	// map: it is not to be changed.
	Files map[string]string
	// Tree reads them; it is closed after Follow.
	Tree Tree
}

// Follower reads more of a source than its catalog files, once what the
// catalog files say is served. It keeps what it found until it is told that
// the source is gone.
type Follower interface {
	// Followed is the revision of a source that was followed last, "" for none
	// and where the source is described otherwise now, so that the same files
	// read otherwise.
	Followed(source Description) Revision
	// Follow reads a revision, all of it or, on an error, nothing; then it is
	// tried again with the next poll.
	Follow(ctx context.Context, v View) error
	// Drop forgets a source that is gone.
	Drop(ctx context.Context, source string) error
}

// Dater is a Follower that tells when the files were changed last from which
// it takes something, so that this has to be found out.
type Dater interface {
	// Dates tells whether a file of this path is one of those. It depends on
	// the path alone.
	Dates(path string) bool
}

// The bounds of following: how many sources at a time, and how long one may
// take.
const (
	maxFollowed = 4
	followTime  = 5 * time.Minute
)

// following is the queue of the sources that followers have to look at.
type following struct {
	list []Follower

	mu      sync.Mutex // guards what follows
	waiting map[*source]bool
	queue   []*source
	busy    map[*source]bool // those that are being followed
	turned  chan struct{}    // closed, and made anew, whenever one was followed
	wake    chan struct{}    // holds one
	places  chan struct{}    // holds one for each source that is being followed
}

func newFollowing(list []Follower) *following {
	return &following{list: list, waiting: map[*source]bool{}, busy: map[*source]bool{}, turned: make(chan struct{}),
		wake: make(chan struct{}, 1), places: make(chan struct{}, maxFollowed)}
}

// heed puts a source into the queue if any follower lags behind it. Sources
// that hold no files, only what another catalog says, are not followed.
func (f *following) heed(s *source) {
	if s.isLocation() || s.desc().Type == "backstage" {
		return
	}
	if len(f.behind(*s.desc(), s.revision())) == 0 {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.waiting[s] {
		return
	}
	f.waiting[s] = true
	f.queue = append(f.queue, s)
	f.stir()
}

// stir has the queue looked at.
func (f *following) stir() {
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

// dates tells whether any follower wants to know when a file was changed last.
func (f *following) dates(path string) bool {
	if f == nil { // nobody follows what is only tried
		return false
	}
	return slices.ContainsFunc(f.list, func(l Follower) bool {
		d, ok := l.(Dater)
		return ok && d.Dates(path)
	})
}

// behind are the followers that have not followed a revision.
func (f *following) behind(d Description, rev Revision) []Follower {
	var out []Follower
	for _, l := range f.list {
		if rev != "" && l.Followed(d) != rev {
			out = append(out, l)
		}
	}
	return out
}

// next takes the first source from the queue that is not being followed; nil
// if there is none. Followers see the revisions of one source one after the
// other.
func (f *following) next() *source {
	f.mu.Lock()
	defer f.mu.Unlock()
	i := slices.IndexFunc(f.queue, func(s *source) bool { return !f.busy[s] })
	if i < 0 {
		return nil
	}
	s := f.queue[i]
	f.queue = slices.Delete(f.queue, i, i+1)
	delete(f.waiting, s)
	f.busy[s] = true
	return s
}

// done notes that a source that next gave was followed, or could not be.
func (f *following) done(s *source) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.busy, s)
	f.turn()
	if len(f.queue) > 0 {
		f.stir()
	}
}

// turn has everybody look who waits; the caller holds the lock.
func (f *following) turn() {
	close(f.turned)
	f.turned = make(chan struct{})
}

// end empties the queue, so that nobody waits for what is not done any more.
func (f *following) end() {
	f.mu.Lock()
	defer f.mu.Unlock()
	clear(f.waiting)
	clear(f.busy)
	f.queue = nil
	f.turn()
}

// settled waits until a source was followed or could not be, or ctx ends.
func (f *following) settled(ctx context.Context, s *source) {
	for {
		f.mu.Lock()
		pending, turned := f.waiting[s] || f.busy[s], f.turned
		f.mu.Unlock()
		if !pending {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-turned:
		}
	}
}

// follow works the queue until ctx ends. A source that takes longer than its
// turn gives its place to another.
func (in *Ingester) follow(ctx context.Context) {
	defer in.following.end()
	if !in.followable(ctx) {
		return
	}
	var turns beside.All
	defer turns.Wait()
	for {
		for s := in.following.next(); s != nil; s = in.following.next() {
			done, err := takeTurn(ctx, in.following.places, in.turnTime)
			if err != nil {
				return
			}
			turns.Go(func() {
				defer in.following.done(s)
				defer done()
				if err := in.followOne(ctx, s); err != nil && ctx.Err() == nil {
					in.log.WarnContext(ctx, "files beside the catalog could not be read, what they said before stays", "source", s.desc().Name, "error", err)
				}
			})
		}
		select {
		case <-ctx.Done():
			return
		case <-in.following.wake:
		}
	}
}

// followable waits until followers have what they kept; false where ctx ends
// before.
func (in *Ingester) followable(ctx context.Context) bool {
	if in.restored == nil {
		return true
	}
	select {
	case <-ctx.Done():
		return false
	case <-in.restored:
		return true
	}
}

// followOne shows a source's revision to the followers that lag behind.
func (in *Ingester) followOne(ctx context.Context, s *source) (err error) {
	ctx, cancel := context.WithTimeout(ctx, followTime)
	defer cancel()
	defer fault.Catch(&err, "following source %s", s.desc().Name)
	v, err := in.view(ctx, s)
	if err != nil || v.Tree == nil {
		return err
	}
	defer func() { _ = v.Tree.Close() }() // it was only read
	var errs []error
	for _, f := range in.following.behind(v.Source, v.Revision) {
		errs = append(errs, shown(ctx, f, v)) // the trouble of one is in no other's way
	}
	return errors.Join(errs...)
}

// shown shows a revision to one follower.
func shown(ctx context.Context, f Follower, v View) (err error) {
	defer fault.Catch(&err, "following source %s at %s", v.Source.Name, v.Revision)
	return f.Follow(ctx, v)
}

// view opens the revision that is in force; nothing where there is none, or
// where the source is gone.
func (in *Ingester) view(ctx context.Context, s *source) (View, error) {
	if err := s.lock(ctx); err != nil {
		return View{}, err
	}
	defer s.unlock()
	if in.source(s.desc().Name) != s {
		return View{}, nil
	}
	s.mu.RLock()
	v := View{Source: *s.desc(), Revision: s.meta.Revision, Info: s.meta.Info, Files: maps.Clone(s.paths)}
	s.mu.RUnlock()
	if len(in.following.behind(v.Source, v.Revision)) == 0 {
		return View{}, nil
	}
	var err error
	v.Tree, err = s.from().Open(ctx, v.Revision)
	return v, err
}

// unfollow has the followers forget a source, once they know what they kept.
func (in *Ingester) unfollow(ctx context.Context, name string) {
	in.followable(ctx)
	in.drop(ctx, name)
}

// drop has the followers forget a source, and what they kept of it.
func (in *Ingester) drop(ctx context.Context, name string) {
	for _, f := range in.following.list {
		if err := f.Drop(ctx, name); err != nil {
			in.log.ErrorContext(ctx, "what was found beside the catalog could not be removed", "source", name, "error", err)
		}
	}
}

// Open makes the revision of a source that is in force readable, for whoever
// shows files of it; the caller closes the tree. NotFound where there is no
// such source or it was never read.
func (in *Ingester) Open(ctx context.Context, name string) (Tree, Revision, error) {
	s := in.source(name)
	if s == nil || s.revision() == "" {
		return nil, "", fault.New(fault.NotFound, "source %q has not been read", name).WithFix("`fairlead catalog sources` lists the sources and their state.")
	}
	if err := s.lock(ctx); err != nil {
		return nil, "", err
	}
	defer s.unlock()
	rev := s.revision()
	tree, err := s.from().Open(ctx, rev)
	return tree, rev, err
}

// Fetch has a tree that lies elsewhere bring the contents of files in one go,
// before they are read; a tree that has them does nothing.
func Fetch(ctx context.Context, t Tree, paths []string) error {
	if p, ok := t.(Prefetcher); ok && len(paths) > 0 {
		return p.Prefetch(ctx, paths)
	}
	return nil
}
