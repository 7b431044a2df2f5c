package git

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/fairlead-dev/fairlead/catalog/ingest"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/git/objects"
)

// minShort is the fewest digits that an abbreviated commit id may have.
const minShort = 7

// Resolve gives the full id of the commit that a revision names: a branch, a
// tag, a commit id or the beginning of one; "" is the ref of the source. Of a
// repository elsewhere only what a branch or tag names can be found by the
// beginning of its id. It is not_found where there is no such commit.
func (s *Source) Resolve(ctx context.Context, revision string) (string, error) {
	if revision != "" && !safeRef(revision) {
		return "", fault.New(fault.Invalid, "%q is no name of a branch, tag or commit", revision).WithFix("Name a branch, a tag or a commit.")
	}
	switch r := s.reader.(type) {
	case *local:
		if revision == "" {
			revision = r.ref
		}
		return r.resolveRevision(ctx, revision)
	case *remote:
		if revision == "" {
			revision = r.cfg.Ref
		}
		return r.resolveRevision(ctx, revision)
	default:
		return "", errors.ErrUnsupported
	}
}

func (l *local) resolveRevision(ctx context.Context, revision string) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	t, err := OpenLocal(l.path, revision)
	if err != nil {
		return "", Explain(l.path, revision, err)
	}
	defer t.Close()
	return t.Info().Commit, nil
}

// elsewhere is the same repository at another ref, with a folder of its own
// that done removes.
func (r *remote) elsewhere(ref string) (o *remote, done func(), err error) {
	if err := os.MkdirAll(r.dir, 0o700); err != nil {
		return nil, nil, err
	}
	dir, err := os.MkdirTemp(r.dir, "once-")
	if err != nil {
		return nil, nil, err
	}
	cfg := r.cfg
	cfg.Ref = ref
	return &remote{cfg: cfg, at: r.at, dir: dir, limit: r.limit}, func() { _ = os.RemoveAll(dir) }, nil
}

func (r *remote) resolveRevision(ctx context.Context, revision string) (string, error) {
	o, done, err := r.elsewhere(revision)
	if err != nil {
		return "", err
	}
	defer done()
	rev, err := o.observe(ctx)
	_, pinned := objects.ParseID(revision)
	switch {
	case fault.CodeOf(err) == fault.NotFound && isShort(revision):
		return o.abbreviated(ctx, revision)
	case err != nil || !pinned:
		return string(rev), err
	}
	t, err := o.open(ctx, rev) // a commit that nobody has seen may not be there
	if err != nil {
		if code := fault.CodeOf(err); code == fault.FailedPrecondition || code == fault.Invalid {
			err = fault.New(fault.NotFound, "there is no commit %s in %s that a branch or tag reaches", revision, r.name()).WithFix("Push it, or name a branch or a tag.").Because(err)
		}
		return "", err
	}
	defer t.Close()
	return t.Info().Commit, nil
}

func isShort(s string) bool {
	return len(s) >= minShort && len(s) < 40 && strings.Trim(strings.ToLower(s), "0123456789abcdef") == ""
}

// abbreviated finds the only commit that a branch or tag names and whose id
// begins so.
func (r *remote) abbreviated(ctx context.Context, short string) (id string, err error) {
	err = r.within(ctx, "listing the refs of", func(ctx context.Context) error {
		w, err := r.dial(ctx)
		if err != nil {
			return err
		}
		defer w.close()
		refs, err := w.advertise(ctx)
		if err != nil {
			return err
		}
		found := map[string]bool{}
		for _, ids := range []map[string]plumbing.Hash{refs.References, refs.Peeled} {
			for _, h := range ids {
				if strings.HasPrefix(h.String(), strings.ToLower(short)) {
					found[h.String()] = true
				}
			}
		}
		switch len(found) {
		case 0:
			return fault.New(fault.NotFound, "there is no branch or tag %q in %s, and none that names a commit whose id begins so", short, r.name()).
				WithFix("Give the whole id of the commit, or name a branch or a tag.")
		case 1:
			for id = range found {
			}
			return nil
		}
		return fault.New(fault.Conflict, "%d commits in %s begin with %s", len(found), r.name(), short).WithFix("Give more digits of the one that is meant.")
	})
	return id, err
}

// File gives the bytes of one file of a commit; not_found where there is none
// (a symbolic link is none), failed_precondition where it is too large.
func (s *Source) File(ctx context.Context, commit, path string) ([]byte, error) {
	t, done, err := s.at(ctx, commit)
	if err != nil {
		return nil, err
	}
	defer done()
	data, err := t.Read(ctx, path)
	switch {
	case errors.Is(err, ingest.ErrNotFound):
		return nil, fault.New(fault.NotFound, "commit %.12s of %s has no file %s", commit, t.name, path).WithFix("Name a file that is in the repository at that commit; a symbolic link is not followed.")
	case errors.Is(err, ingest.ErrTooLarge):
		return nil, fault.New(fault.FailedPrecondition, "the file %s of commit %.12s of %s has more than %d bytes", path, commit, t.name, t.limits.FileBytes).WithFix("Make the file smaller.")
	}
	return data, err
}

// at opens a commit of the source that any revision may have found; done
// closes it.
func (s *Source) at(ctx context.Context, commit string) (t *Tree, done func(), err error) {
	rd, clear := s.reader, func() {}
	if r, ok := rd.(*remote); ok {
		o, cleared, err := r.elsewhere(commit)
		if err != nil {
			return nil, nil, err
		}
		rd, clear = o, cleared
	}
	if t, err = rd.open(ctx, ingest.Revision(commit)); err != nil {
		clear()
		return nil, nil, err
	}
	return t, func() { _ = t.Close(); clear() }, nil
}

// Checkout writes the files of a commit into a folder that is empty, symbolic
// links included, submodules left out. Files and their number are bounded by
// the source's limits, all of them together by its limit of the disk.
func (s *Source) Checkout(ctx context.Context, commit, dir string) error {
	t, done, err := s.at(ctx, commit)
	if err != nil {
		return err
	}
	defer done()
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fault.New(fault.Unavailable, "the folder for the files of commit %.12s cannot be opened", commit).WithFix("Let the server's user write it.").Because(err)
	}
	defer root.Close()
	c := &checkout{tree: t, root: root, room: t.limits.DiskBytes}
	if err = c.list(ctx, t.commit.tree, "", 0); err == nil {
		err = c.write(ctx)
	}
	var f *fault.Error
	if err != nil && !errors.As(err, &f) && ctx.Err() == nil {
		err = fault.New(fault.Unavailable, "the files of commit %.12s of %s cannot be written", commit, t.name).
			WithFix("Check that there is room on the disk, and the repository with `git fsck`.").Because(err)
	}
	return err
}

// checkout writes one tree.
type checkout struct {
	tree  *Tree
	root  *os.Root
	room  int64
	files []placed
	links []placed
}

// placed is an entry and its path.
type placed struct {
	objects.Entry
	path string
}

// list makes the folders and gathers what is to be written.
func (c *checkout) list(ctx context.Context, id objects.ID, at string, depth int) error {
	if depth > maxDepth {
		return c.excess("has folders nested deeper than any limit")
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	data, err := c.tree.dir(c.tree.db, id, at)
	if err != nil {
		return err
	}
	for len(data) > 0 {
		e, rest, err := objects.NextEntry(data)
		if err != nil {
			return err
		}
		data = rest
		if !e.Safe() {
			continue
		}
		if int64(len(c.files)+len(c.links)) >= c.tree.limits.Files {
			return c.excess("has more files than limits.files allows")
		}
		p := placed{e, path.Join(at, string(e.Name))}
		switch e.Mode {
		case objects.File:
			c.files = append(c.files, p)
		case objects.Symlink:
			c.links = append(c.links, p)
		case objects.Dir:
			if err := c.root.Mkdir(p.path, 0o700); err != nil {
				return err
			}
			if err := c.list(ctx, e.ID, p.path, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *checkout) excess(what string) error {
	return fault.New(fault.FailedPrecondition, "commit %.12s of %s %s", c.tree.commit.info.Commit, c.tree.name, what).
		WithFix("Make the repository smaller, or have the operators raise the limits.")
}

// write brings what is elsewhere and writes everything; links come last, so
// that no file is written through one.
func (c *checkout) write(ctx context.Context) error {
	if c.tree.fill != nil {
		ids := make([]objects.ID, 0, len(c.files)+len(c.links))
		for _, p := range append(append([]placed{}, c.files...), c.links...) {
			ids = append(ids, p.ID)
		}
		if err := c.tree.fill(ctx, ids); err != nil {
			return err
		}
	}
	for _, p := range append(c.files, c.links...) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := c.put(p); err != nil {
			return err
		}
	}
	return nil
}

func (c *checkout) put(p placed) error {
	_, data, err := c.tree.db.Read(p.ID, c.tree.limits.FileBytes)
	var large *objects.TooLargeError
	switch {
	case errors.As(err, &large), c.tree.absent && errors.Is(err, objects.ErrNotFound):
		return c.excess("has the file " + p.path + ", which is larger than limits.fileBytes allows")
	case err != nil:
		return c.tree.damaged(p.path, err)
	}
	if c.room -= int64(len(data)); c.room < 0 {
		return c.excess("has more bytes than limits.diskBytes allows")
	}
	if p.Mode == objects.Symlink {
		if bytes.IndexByte(data, 0) >= 0 {
			return nil
		}
		return c.root.Symlink(string(data), p.path)
	}
	mode := os.FileMode(0o600)
	if p.Exec {
		mode = 0o700
	}
	return c.root.WriteFile(p.path, data, mode)
}
