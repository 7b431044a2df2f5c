package git

import (
	"context"
	"errors"
	"path/filepath"
	"sync"

	gogit "github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"

	"github.com/fairlead-dev/fairlead/catalog/ingest"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/git/objects"
)

// local is a repository on disk, read in place.
type local struct {
	name, path, ref string
	limits          Limits

	mu    sync.Mutex
	at    layout
	found bool
	// named and peeled are what the ref named last, and the commit behind it.
	named, peeled objects.ID
	db            *objects.DB
	opened        int // trees that use db
}

// observe reads the ref and, if it has moved, the commit behind it.
func (l *local) observe(ctx context.Context) (ingest.Revision, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	id, err := l.resolve()
	if err != nil {
		return "", err
	}
	if id != l.named {
		db, err := l.at.objects()
		if err != nil {
			return "", err
		}
		defer db.Close()
		c, err := readCommit(db, id)
		if err != nil {
			return "", unreadable(l.name, id.String(), err)
		}
		l.named, l.peeled = id, c.id
	}
	return ingest.Revision(l.peeled.String()), nil
}

// resolve reads what the ref names. The caller holds the lock.
func (l *local) resolve() (objects.ID, error) {
	if id, ok := objects.ParseID(l.ref); ok {
		return id, l.locate()
	}
	if l.found {
		if id, ok, err := l.at.lookup(l.ref); ok && err == nil {
			return id, nil
		}
	}
	if err := l.locate(); err != nil {
		return objects.ID{}, err
	}
	id, ok, err := l.at.lookup(l.ref)
	if err == nil && !ok {
		err = noSuchRef(l.name, l.ref)
	}
	return id, err
}

func (l *local) locate() (err error) {
	l.at, err = openLayout(l.path)
	l.found = err == nil
	return err
}

// open opens a commit; the database is shared by the trees that are open.
func (l *local) open(ctx context.Context, rev ingest.Revision) (*Tree, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	id, ok := objects.ParseID(string(rev))
	if !ok {
		return nil, fault.New(fault.Invalid, "%q is no commit id", rev)
	}
	db, err := l.acquire()
	if err != nil {
		return nil, err
	}
	t, err := newTree(db, l.name, id, l.limits)
	if err != nil {
		l.release()
		return nil, err
	}
	t.close = sync.OnceFunc(l.release)
	return t, nil
}

func (l *local) acquire() (*objects.DB, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.db == nil {
		if err := l.locate(); err != nil {
			return nil, err
		}
		db, err := l.at.objects()
		if err != nil {
			return nil, err
		}
		l.db = db
	}
	l.opened++
	return l.db, nil
}

func (l *local) release() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.opened--; l.opened == 0 {
		l.db.Close()
		l.db = nil
	}
}

// newTree reads a commit of a database that holds its own history.
func newTree(db *objects.DB, name string, id objects.ID, limits Limits) (*Tree, error) {
	c, err := readCommit(db, id)
	if err != nil {
		return nil, unreadable(name, id.String(), err)
	}
	t := &Tree{name: name, db: db, commit: c, limits: limits}
	t.earlier = func(rev ingest.Revision) (*objects.DB, objects.ID, bool) {
		id, ok := objects.ParseID(string(rev))
		if !ok {
			return nil, objects.ID{}, false
		}
		c, err := readCommit(db, id)
		return db, c.tree, err == nil
	}
	return t, nil
}

// unreadable reports a commit that cannot be read.
func unreadable(name, id string, err error) error {
	switch {
	case errors.Is(err, objects.ErrNotFound):
		return fault.New(fault.NotFound, "there is no commit %s in %s", id, name).WithFix("Correct the ref; a commit may have been removed by a forced push.").Because(err)
	case errors.Is(err, errNotCommit):
		return fault.New(fault.Invalid, "%s in %s is no commit", id, name).WithFix("Name a branch, a tag of a commit, or a commit.").Because(err)
	default:
		return fault.New(fault.Unavailable, "the commit %s in %s cannot be read", id, name).WithFix("Check the repository with `git fsck`.").Because(err)
	}
}

func noSuchRef(name, ref string) error {
	if ref == "" || ref == "HEAD" {
		return fault.New(fault.NotFound, "%s has no commits, or its HEAD names a branch that does not exist", name).WithFix("Push a commit, or name a branch by ref.")
	}
	return fault.New(fault.NotFound, "there is no branch and no tag %q in %s", ref, name).WithFix("Correct ref, or push the branch.")
}

// OpenLocal opens a revision of the repository whose root is dir: a branch, a
// tag, a commit id or any expression such as HEAD~2. Its limits are the
// defaults. The caller closes the tree.
func OpenLocal(dir, rev string) (*Tree, error) {
	at, err := openLayout(dir)
	if err != nil {
		return nil, err
	}
	id, err := at.revision(rev)
	if err != nil {
		return nil, err
	}
	db, err := at.objects()
	if err != nil {
		return nil, err
	}
	t, err := newTree(db, at.work, id, Limits{}.withDefaults())
	if err != nil {
		db.Close()
		return nil, err
	}
	t.close = sync.OnceFunc(db.Close)
	return t, nil
}

// revision resolves what people write for a commit.
func (l layout) revision(rev string) (objects.ID, error) {
	if id, ok := objects.ParseID(rev); ok {
		return id, nil
	}
	if rev == "" || safeRef(rev) {
		if id, ok, err := l.lookup(rev); ok || err != nil {
			return id, err
		}
	}
	repo, err := gogit.PlainOpenWithOptions(l.work, &gogit.PlainOpenOptions{EnableDotGitCommonDir: true})
	if err != nil {
		return objects.ID{}, noSuchRef(l.work, rev)
	}
	h, err := repo.ResolveRevision(plumbing.Revision(rev))
	if err != nil {
		return objects.ID{}, fault.New(fault.NotFound, "%q names no commit in %s", rev, l.work).
			WithFix("Name a branch, a tag or a commit; a shallow clone lacks older commits.").Because(err)
	}
	return objects.ID(*h), nil
}

// Remotes gives the URLs of a repository's remotes, that of origin first,
// without credentials.
func Remotes(root string) ([]string, error) {
	at, err := openLayout(root)
	if err != nil {
		return nil, err
	}
	data, err := readSmall(filepath.Join(at.common, "config"))
	if err != nil {
		return nil, nil //nolint:nilerr // a repository without a configuration has no remotes
	}
	return remotesOf(data)
}
