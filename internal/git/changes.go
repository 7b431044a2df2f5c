package git

import (
	"context"
	"errors"

	"github.com/fairlead-dev/fairlead/catalog/ingest"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/git/objects"
)

// Changes lists the files that differ from an earlier commit, by walking both
// commits at once and skipping folders that are the same: the cost follows
// the change. Where that commit is not known (any more), every file is
// listed; files are never read for it. Sizes are not known and given as 0.
func (t *Tree) Changes(ctx context.Context, since ingest.Revision) ([]ingest.Change, bool, error) {
	w := &walker{tree: t, ctx: ctx}
	if since != "" && t.earlier != nil {
		if db, root, ok := t.earlier(since); ok {
			err := w.compare(db, root, t.commit.tree, "", 0)
			if err == nil {
				t.remember(w.changes, w.ids)
				return w.changes, true, nil
			}
			if !errors.Is(err, errOldMissing) {
				return nil, false, err
			}
			w = &walker{tree: t, ctx: ctx}
		}
	}
	if err := w.list(t.db, t.commit.tree, "", 0, false); err != nil {
		return nil, false, err
	}
	t.remember(w.changes, w.ids)
	return w.changes, false, nil
}

// errOldMissing says that the earlier commit is not all there.
var errOldMissing = errors.New("the earlier commit is incomplete")

// walker collects changes. Every entry looked at counts against the limit, so
// that a small repository that unfolds into endless folders ends in an error.
type walker struct {
	tree    *Tree
	ctx     context.Context //nolint:containedctx // lives as long as one call
	changes []ingest.Change
	ids     []objects.ID
	seen    int64
}

func (w *walker) count(depth int) error {
	if w.seen++; w.seen > w.tree.limits.Files {
		return fault.New(fault.FailedPrecondition, "%s holds more than %d files and folders, the limit", w.tree.name, w.tree.limits.Files).
			WithFix("Raise limits.files of the source, or use a smaller repository.")
	}
	if depth > maxDepth {
		return fault.New(fault.FailedPrecondition, "%s nests folders more than %d deep", w.tree.name, maxDepth).WithFix("Use a repository with a flatter tree.")
	}
	if w.seen&0xff == 0 {
		return w.ctx.Err()
	}
	return nil
}

func (w *walker) add(path string, id objects.ID, gone bool) {
	c := ingest.Change{Path: path, Gone: gone}
	if !gone {
		c.ID = id.String()
	}
	w.changes = append(w.changes, c)
	w.ids = append(w.ids, id)
}

// list adds every file below a folder.
func (w *walker) list(db *objects.DB, dir objects.ID, prefix string, depth int, gone bool) error {
	if err := w.count(depth); err != nil {
		return err
	}
	data, err := w.tree.dir(db, dir, prefix)
	if err != nil {
		if gone {
			return errOldMissing
		}
		return err
	}
	return entries(data, func(e objects.Entry) error {
		return w.entry(db, e, prefix, depth, gone)
	})
}

// entry adds a file, or every file below a folder.
func (w *walker) entry(db *objects.DB, e objects.Entry, prefix string, depth int, gone bool) error {
	path := prefix + string(e.Name)
	if e.Mode == objects.Dir {
		return w.list(db, e.ID, path+"/", depth+1, gone)
	}
	w.add(path, e.ID, gone)
	return w.count(depth)
}

// compare adds what differs between two folders.
func (w *walker) compare(oldDB *objects.DB, before, after objects.ID, prefix string, depth int) error {
	if before == after {
		return nil
	}
	if err := w.count(depth); err != nil {
		return err
	}
	old, err := w.oldEntries(oldDB, before)
	if err != nil {
		return err
	}
	data, err := w.tree.dir(w.tree.db, after, prefix)
	if err != nil {
		return err
	}
	err = entries(data, func(e objects.Entry) error {
		was, there := old[string(e.Name)]
		delete(old, string(e.Name))
		return w.pair(oldDB, was, there, e, prefix, depth)
	})
	if err != nil {
		return err
	}
	for _, e := range old {
		if err := w.entry(oldDB, e, prefix, depth, true); err != nil {
			return err
		}
	}
	return nil
}

// pair compares what one name was with what it is.
func (w *walker) pair(oldDB *objects.DB, was objects.Entry, there bool, e objects.Entry, prefix string, depth int) error {
	switch {
	case !there:
		return w.entry(w.tree.db, e, prefix, depth, false)
	case was.ID == e.ID && was.Mode == e.Mode:
		return nil
	case was.Mode == objects.Dir && e.Mode == objects.Dir:
		return w.compare(oldDB, was.ID, e.ID, prefix+string(e.Name)+"/", depth+1)
	}
	if was.Mode != e.Mode {
		if err := w.entry(oldDB, was, prefix, depth, true); err != nil {
			return err
		}
	}
	return w.entry(w.tree.db, e, prefix, depth, false)
}

func (w *walker) oldEntries(db *objects.DB, dir objects.ID) (map[string]objects.Entry, error) {
	kind, data, err := db.Read(dir, maxTree)
	if err != nil || kind != objects.Tree {
		return nil, errOldMissing
	}
	old := map[string]objects.Entry{}
	err = entries(data, func(e objects.Entry) error {
		old[string(e.Name)] = e
		return nil
	})
	if err != nil {
		return nil, errOldMissing
	}
	return old, nil
}
