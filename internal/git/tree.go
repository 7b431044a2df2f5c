package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/fairlead-dev/fairlead/catalog/ingest"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/git/objects"
)

// maxDepth bounds how deep folders are nested.
const maxDepth = 512

// Tree is one commit of a repository, readable while it is open. It is safe
// for concurrent use.
type Tree struct {
	name   string // of the repository, for messages
	db     *objects.DB
	commit commit
	limits Limits
	// earlier gives the root folder of another commit and where it is stored.
	earlier func(ingest.Revision) (*objects.DB, objects.ID, bool)
	// absent tells that files above the limit may have been left out.
	absent bool
	// fill fetches files that are not there, save those above the limit; nil
	// where there is nothing to fetch.
	fill  func(context.Context, []objects.ID) error
	close func()

	mu     sync.RWMutex
	files  map[string]objects.ID // what has been listed, for a while
	forget *time.Timer
}

// recall is how long a listing is kept to read files by.
const recall = time.Minute

var (
	_ ingest.Tree       = (*Tree)(nil)
	_ ingest.Prefetcher = (*Tree)(nil)
)

// Info says which commit this is.
func (t *Tree) Info() ingest.CommitInfo { return t.commit.info }

// Close releases what opening took; the tree cannot be read afterwards.
func (t *Tree) Close() error {
	t.mu.Lock()
	t.files = nil
	if t.forget != nil {
		t.forget.Stop()
	}
	t.mu.Unlock()
	t.close()
	return nil
}

// Read gives a file's bytes: an error that is ingest.ErrNotFound where the
// tree has no such file or where it is a symbolic link, a folder or a
// submodule, ingest.ErrTooLarge where it exceeds the limit. The bytes must
// not be changed.
func (t *Tree) Read(ctx context.Context, path string) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	id, err := t.find(path)
	if err != nil {
		return nil, err
	}
	_, data, err := t.db.Read(id, t.limits.FileBytes)
	if t.fill != nil && errors.Is(err, objects.ErrNotFound) {
		if err := t.fill(ctx, []objects.ID{id}); err != nil {
			return nil, err
		}
		_, data, err = t.db.Read(id, t.limits.FileBytes)
	}
	var large *objects.TooLargeError
	switch {
	case t.absent && errors.Is(err, objects.ErrNotFound):
		return nil, fmt.Errorf("%s has more than %d bytes, the limit: %w", path, t.limits.FileBytes, ingest.ErrTooLarge)
	case errors.As(err, &large):
		return nil, fmt.Errorf("%s has %d bytes, the limit is %d: %w", path, large.Size, t.limits.FileBytes, ingest.ErrTooLarge)
	case err != nil:
		return nil, t.damaged(path, err)
	}
	return data, nil
}

// Prefetch fetches files that are not there yet, all of them together. Paths
// that the tree does not have are passed over.
func (t *Tree) Prefetch(ctx context.Context, paths []string) error {
	if t.fill == nil {
		return nil
	}
	ids := make([]objects.ID, 0, len(paths))
	for _, path := range paths {
		if err := ctx.Err(); err != nil {
			return err
		}
		id, err := t.find(path)
		if err == nil {
			ids = append(ids, id)
		}
	}
	return t.fill(ctx, ids)
}

// find gives the content id of a file.
func (t *Tree) find(path string) (objects.ID, error) {
	t.mu.RLock()
	id, ok := t.files[path]
	t.mu.RUnlock()
	if ok {
		return id, nil
	}
	at := objects.Entry{Mode: objects.Dir, ID: t.commit.tree}
	for name := range strings.SplitSeq(path, "/") {
		if at.Mode != objects.Dir {
			return objects.ID{}, fmt.Errorf("%s: %w", path, ingest.ErrNotFound)
		}
		data, err := t.dir(t.db, at.ID, path)
		if err != nil {
			return objects.ID{}, err
		}
		if at, ok = entryNamed(data, name); !ok {
			return objects.ID{}, fmt.Errorf("%s: %w", path, ingest.ErrNotFound)
		}
	}
	if at.Mode != objects.File {
		return objects.ID{}, fmt.Errorf("%s is %s, which is not followed: %w", path, modeWords(at.Mode), ingest.ErrNotFound)
	}
	return at.ID, nil
}

func modeWords(m objects.Mode) string {
	switch m {
	case objects.Dir:
		return "a folder"
	case objects.Symlink:
		return "a symbolic link"
	case objects.Submodule:
		return "a submodule"
	default:
		return "of an unknown type"
	}
}

// entryNamed looks for a name in a folder's content.
func entryNamed(data []byte, name string) (objects.Entry, bool) {
	for len(data) > 0 {
		e, rest, err := objects.NextEntry(data)
		if err != nil {
			return objects.Entry{}, false
		}
		if string(e.Name) == name && e.Safe() {
			return e, true
		}
		data = rest
	}
	return objects.Entry{}, false
}

// dir reads a folder's content.
func (t *Tree) dir(db *objects.DB, id objects.ID, path string) ([]byte, error) {
	kind, data, err := db.Read(id, maxTree)
	if err == nil && kind != objects.Tree {
		err = fmt.Errorf("%w: a %s in the place of a folder", objects.ErrCorrupt, kind)
	}
	if err != nil {
		return nil, t.damaged(path, err)
	}
	return data, nil
}

// damaged reports an object that should be there and is not as it should be.
func (t *Tree) damaged(path string, err error) error {
	var f *fault.Error
	if errors.As(err, &f) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	if path == "" {
		path = "the root folder"
	}
	return fault.New(fault.Unavailable, "%s of commit %.12s of %s cannot be read", path, t.commit.info.Commit, t.name).
		WithFix("Check the repository with `git fsck`.").Because(err)
}

// remember notes what has been listed, so that reading it need not walk.
func (t *Tree) remember(changes []ingest.Change, ids []objects.ID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.files == nil {
		t.files = make(map[string]objects.ID, len(changes))
	}
	if t.forget == nil {
		t.forget = time.AfterFunc(recall, func() {
			t.mu.Lock()
			defer t.mu.Unlock()
			t.files, t.forget = nil, nil
		})
	}
	for i, c := range changes {
		if !c.Gone {
			t.files[c.Path] = ids[i]
		}
	}
}

// entries splits a folder's content into what is followed: files and folders
// with safe names. visit returns false to end.
func entries(data []byte, visit func(objects.Entry) error) error {
	for len(data) > 0 {
		e, rest, err := objects.NextEntry(data)
		if err != nil {
			return err
		}
		data = rest
		if (e.Mode != objects.File && e.Mode != objects.Dir) || !e.Safe() || bytes.IndexByte(e.Name, '\n') >= 0 {
			continue
		}
		if err := visit(e); err != nil {
			return err
		}
	}
	return nil
}
