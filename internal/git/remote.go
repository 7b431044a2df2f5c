package git

import (
	"context"
	"errors"
	"net/url"
	"sync"
	"sync/atomic"

	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"

	"github.com/fairlead-dev/fairlead/catalog/ingest"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/git/objects"
)

// remote is a repository on a server. One commit at a time is kept on disk,
// without its history.
type remote struct {
	cfg   SourceConfig // with defaults, and absolute paths
	at    address
	dir   string
	limit *Limiter

	// whole tells that the server gives no files by their ids.
	whole atomic.Bool
	// many tells that the repository has so many refs that the list of all
	// is not asked for when looking for one; old, that the server would not
	// have that.
	many, old atomic.Bool
	// able is what the server said that it is able to do, where there are many.
	able atomic.Pointer[capability.List]

	mu sync.Mutex
	// last is the commit fetched last; it is kept to compare with.
	last    *snapshot
	adopted bool // whether what an earlier run left has been looked at
	// looked is the commit that the last look has shown, seen the rest of it.
	looked objects.ID
	seen   *seen
	// base is where an http server has the repository, after redirects; nil
	// while that is not known.
	base atomic.Pointer[url.URL]
}

func (r *remote) name() string { return r.at.String() }

// within runs one step under the source's time limit and makes what goes
// wrong fit for people.
func (r *remote) within(ctx context.Context, step string, act func(context.Context) error) error {
	bounded, cancel := context.WithTimeout(ctx, r.cfg.Limits.Timeout)
	defer cancel()
	err := act(bounded)
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return errors.Join(ctx.Err(), err)
	}
	if bounded.Err() != nil {
		return fault.New(fault.Unavailable, "%s %s took longer than %s", step, r.name(), r.cfg.Limits.Timeout).
			WithFix("Check that the server answers; raise limits.timeout of the source if the repository is large.").Because(err)
	}
	return r.explain(step, err)
}

// dial starts a conversation with the server.
func (r *remote) dial(ctx context.Context) (wire, error) {
	if r.at.kind == overSSH {
		w, err := dialSSH(ctx, r.at, r.cfg.Credentials, uploadPack, false)
		if err != nil {
			return nil, err // a nil *sshWire must not become a wire
		}
		return w, nil
	}
	h, err := r.dialHTTP()
	if err != nil {
		return nil, err
	}
	return h, nil
}

// dialHTTP makes ready to talk over HTTP; nothing is sent yet.
func (r *remote) dialHTTP() (*httpWire, error) {
	c := r.cfg.Credentials
	token, err := c.token()
	if err != nil {
		return nil, fault.New(fault.FailedPrecondition, "reading %s: %v", r.name(), err).WithFix("Put the token where credentials of the source says, or correct that.")
	}
	user := c.Username
	if user == "" {
		user = "git"
	}
	return newHTTPWire(r.limit.transport, r.at.url, user, token), nil
}

// observe asks the server what the ref names. A full commit id names itself.
func (r *remote) observe(ctx context.Context) (rev ingest.Revision, err error) {
	if _, pinned := objects.ParseID(r.cfg.Ref); pinned {
		return ingest.Revision(r.cfg.Ref), ctx.Err()
	}
	err = r.within(ctx, "listing the refs of", func(ctx context.Context) error {
		w, err := r.dial(ctx)
		if err != nil {
			return err
		}
		defer w.close()
		if h, ok := w.(*httpWire); ok && r.many.Load() && !r.old.Load() {
			n, ok, err := h.lsRefs(ctx, r.cfg.Ref)
			if ok && err == nil {
				r.saw(w, n, r.able.Load())
				rev = ingest.Revision(n.commit.String())
				return nil
			}
			r.old.Store(err != nil && ctx.Err() == nil)
		}
		refs, err := w.advertise(ctx)
		if err != nil {
			return err
		}
		if r.many.Store(len(refs.References) > manyRefs); r.many.Load() {
			r.able.Store(refs.Capabilities)
		}
		n, ok := resolveAdvert(refs, r.cfg.Ref)
		if !ok {
			return noSuchRef(r.name(), r.cfg.Ref)
		}
		r.saw(w, n, refs.Capabilities)
		rev = ingest.Revision(n.commit.String())
		return nil
	})
	return rev, err
}

// open fetches a commit, unless it is on disk already.
func (r *remote) open(ctx context.Context, rev ingest.Revision) (*Tree, error) {
	id, ok := objects.ParseID(string(rev))
	if !ok {
		return nil, fault.New(fault.Invalid, "%q is no commit id", rev)
	}
	r.adopt()
	before := r.keep()
	if before != nil && before.commit.id == id {
		return r.tree(before, nil), nil
	}
	release, err := r.limit.acquire(ctx, r.at.url)
	if err != nil {
		before.release()
		return nil, err
	}
	defer release()
	var fetched *snapshot
	err = r.within(ctx, "fetching", func(ctx context.Context) (err error) {
		fetched, err = r.fetch(ctx, id, before)
		return err
	})
	if err != nil {
		before.release()
		return nil, err
	}
	r.replace(fetched)
	return r.tree(fetched, before), nil
}

// tree makes a tree of a snapshot, which is compared with the one before.
func (r *remote) tree(s, before *snapshot) *Tree {
	t := &Tree{name: r.name(), db: s.db, commit: s.commit, limits: r.cfg.Limits, absent: true}
	t.fill = func(ctx context.Context, ids []objects.ID) error { return r.fill(ctx, s, ids) }
	t.earlier = func(rev ingest.Revision) (*objects.DB, objects.ID, bool) {
		for _, o := range []*snapshot{s, before} {
			if o != nil && o.commit.id.String() == string(rev) {
				return o.db, o.commit.tree, true
			}
		}
		return nil, objects.ID{}, false
	}
	t.close = sync.OnceFunc(func() {
		before.release()
		s.release()
	})
	return t
}

// keep gives the snapshot fetched last, held for the caller; nil if there is
// none.
func (r *remote) keep() *snapshot {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.last != nil {
		r.last.hold()
	}
	return r.last
}

// replace makes a snapshot the one fetched last.
func (r *remote) replace(s *snapshot) {
	s.hold()
	r.mu.Lock()
	old := r.last
	r.last = s
	r.mu.Unlock()
	old.release()
}

// fetch gets one commit from the server, as a difference from the one before
// if that is possible.
func (r *remote) fetch(ctx context.Context, id objects.ID, before *snapshot) (*snapshot, error) {
	last := r.recall(id)
	if before != nil && before.packs < maxPacks {
		s, err := r.fetchOnto(ctx, id, before, last)
		if err == nil || ctx.Err() != nil {
			return s, err
		}
		last = nil
	}
	s, err := r.fetchOnto(ctx, id, nil, last)
	if last != nil && refused(err) {
		s, err = r.fetchOnto(ctx, id, nil, nil)
	}
	return s, err
}

// fetchOnto gets one commit with what is there of an earlier one, or alone.
func (r *remote) fetchOnto(ctx context.Context, id objects.ID, before *snapshot, last *seen) (*snapshot, error) {
	w, err := r.dial(ctx)
	if err != nil {
		return nil, err
	}
	defer w.close()
	refs, err := r.refsFor(ctx, w, last)
	if err != nil {
		return nil, err
	}
	want, err := r.want(refs, id)
	if err != nil {
		return nil, err
	}
	whole := !r.inPart(ctx, w, refs)
	if before != nil && whole && !before.isWhole() {
		before = nil // the server would take it that we have its files
	}
	var have objects.ID
	if before != nil {
		have = before.commit.id
	}
	req, err := request(refs, want, have, r.blobLimit())
	if err != nil {
		return nil, err
	}
	if !whole {
		req.Filter = packp.FilterBlobNone()
	}
	return r.store(ctx, id, before, whole, func(limit int64) (packReader, error) {
		answer, err := w.exchange(ctx, req)
		if err != nil {
			return packReader{}, err
		}
		pack, err := packOf(answer, req, limit)
		if err != nil {
			_ = answer.Close() // the error that matters is the one at hand
		}
		return packReader{pack, answer}, err
	})
}

// inPart tells whether a commit is fetched without files, which are asked for
// as they are read: the server has to be able to leave them out, and to give
// them by their ids.
func (r *remote) inPart(ctx context.Context, w wire, refs *packp.AdvRefs) bool {
	return able(refs, capability.Filter) && !r.whole.Load() && r.limit.host(r.at.url).speaksVersion2(ctx, w)
}

// want is the object to ask the server for so that it sends a commit.
func (r *remote) want(refs *packp.AdvRefs, id objects.ID) (objects.ID, error) {
	if n, ok := resolveAdvert(refs, r.cfg.Ref); ok && n.commit == id {
		return n.want, nil
	}
	if advertised(refs, id) || able(refs, capability.AllowReachableSHA1InWant) || able(refs, capability.AllowTipSHA1InWant) {
		return id, nil
	}
	for tag, commit := range refs.Peeled {
		if objects.ID(commit) == id {
			return objects.ID(refs.References[tag]), nil
		}
	}
	if _, pinned := objects.ParseID(r.cfg.Ref); pinned {
		return id, fault.New(fault.FailedPrecondition, "%s does not serve commit %s, which no branch or tag names", r.name(), id).
			WithFix("Name a branch or a tag by ref, or make a tag for the commit.")
	}
	return id, fault.New(fault.Unavailable, "%s has moved on from commit %.12s meanwhile", r.name(), id.String()).
		WithFix("Nothing is to be done: the newer commit is read at the next look.")
}
