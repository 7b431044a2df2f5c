package git

import (
	"context"
	"strings"

	"github.com/fairlead-dev/fairlead/catalog/ingest"
	"github.com/fairlead-dev/fairlead/internal/git/objects"
)

// maxHistory bounds how many commits LastChange looks at.
const maxHistory = 20_000

// LastChange is the newest commit, at or before the tree's own, that changed
// a file: of merges it follows the side that the file came from. It is false
// where history does not tell: the file is not there, or the repository was
// fetched without (all of) its history.
func (t *Tree) LastChange(ctx context.Context, path string) (ingest.CommitInfo, bool) {
	at := t.commit
	id, ok := t.entryAt(at.tree, path)
	if !ok || t.absent {
		return ingest.CommitInfo{}, false
	}
	for range maxHistory {
		if ctx.Err() != nil {
			break
		}
		next, same, ok := t.sameParent(at, path, id)
		if !ok {
			break
		}
		if !same {
			return at.info, true
		}
		at = next
	}
	return ingest.CommitInfo{}, false
}

// sameParent looks for a parent that has the same file; ok is false where a
// parent cannot be read.
func (t *Tree) sameParent(c commit, path string, id objects.ID) (_ commit, same, ok bool) {
	for _, p := range c.parents {
		parent, err := readCommit(t.db, p)
		if err != nil {
			return commit{}, false, false
		}
		if parent.tree == c.tree {
			return parent, true, true
		}
		if was, there := t.entryAt(parent.tree, path); there && was == id {
			return parent, true, true
		}
	}
	return commit{}, false, true
}

// entryAt gives the id of what is at a path below a folder.
func (t *Tree) entryAt(root objects.ID, path string) (objects.ID, bool) {
	at := objects.Entry{Mode: objects.Dir, ID: root}
	for name := range strings.SplitSeq(path, "/") {
		if at.Mode != objects.Dir {
			return objects.ID{}, false
		}
		kind, data, err := t.db.Read(at.ID, maxTree)
		if err != nil || kind != objects.Tree {
			return objects.ID{}, false
		}
		var ok bool
		if at, ok = entryNamed(data, name); !ok {
			return objects.ID{}, false
		}
	}
	return at.ID, true
}
