package git

import (
	"context"
	"fmt"
	"strings"

	"github.com/fairlead-dev/fairlead/catalog/ingest"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/git/objects"
)

// Entry is a file that a commit holds below a folder.
type Entry struct {
	// Path is relative to the repository's root. It need not be UTF-8 where Odd.
	Path string
	// ID tells its content apart from others.
	ID string
	// Executable is a file that may be run.
	Executable bool
	// Odd is what cannot be read by its path: a symbolic link, a submodule, or
	// what has a name that is no UTF-8.
	Odd bool
}

// Below gives everything that a commit holds below a folder at any depth, ""
// for the root, or the file that is there itself; none where there is neither.
// No file is read for it. Their number is bounded by the source's limits.
func (s *Source) Below(ctx context.Context, rev ingest.Revision, dir string) ([]Entry, error) {
	t, err := s.open(ctx, rev)
	if err != nil {
		return nil, err
	}
	defer t.Close()
	return t.Below(ctx, dir)
}

// Below is that of Source.
func (t *Tree) Below(ctx context.Context, dir string) ([]Entry, error) {
	at := objects.Entry{Mode: objects.Dir, ID: t.commit.tree}
	for name := range strings.SplitSeq(dir, "/") {
		if name == "" {
			continue
		}
		if at.Mode != objects.Dir {
			return nil, nil
		}
		data, err := t.dir(t.db, at.ID, dir)
		if err != nil {
			return nil, err
		}
		var ok bool
		if at, ok = entryNamed(data, name); !ok {
			return nil, nil
		}
	}
	b := below{tree: t}
	if at.Mode != objects.Dir {
		return append(b.found, entryAt(strings.Trim(dir, "/"), at)), nil
	}
	err := b.folder(ctx, at.ID, strings.Trim(dir, "/"), 0)
	return b.found, err
}

func entryAt(path string, e objects.Entry) Entry {
	return Entry{Path: path, ID: e.ID.String(), Executable: e.Exec, Odd: e.Mode != objects.File || !e.Safe()}
}

// below gathers what is below a folder.
type below struct {
	tree  *Tree
	found []Entry
	seen  int64
}

func (b *below) folder(ctx context.Context, id objects.ID, at string, depth int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	data, err := b.tree.dir(b.tree.db, id, at)
	if err != nil {
		return err
	}
	for len(data) > 0 {
		var e objects.Entry
		if e, data, err = objects.NextEntry(data); err != nil {
			return b.tree.damaged(at, fmt.Errorf("listing: %w", err))
		}
		if b.seen++; b.seen > b.tree.limits.Files || depth > maxDepth {
			return fault.New(fault.FailedPrecondition, "%s of %s holds more files and folders than the limit of %d", at, b.tree.name, b.tree.limits.Files).WithFix("Name a smaller folder.")
		}
		path := strings.TrimPrefix(at+"/"+string(e.Name), "/")
		if e.Mode != objects.Dir || !e.Safe() {
			b.found = append(b.found, entryAt(path, e))
			continue
		}
		if err := b.folder(ctx, e.ID, path, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// At opens a commit that is named by its full id, whichever branch it is or was
// on; the caller closes it. It is not_found where the repository does not have
// it, failed_precondition where it does not give it.
func (s *Source) At(ctx context.Context, commit string) (*Past, error) {
	if _, ok := objects.ParseID(commit); !ok {
		return nil, fault.New(fault.NotFound, "%.80q is no id of a commit", commit).WithFix("Name a commit by its full id.")
	}
	t, done, err := s.at(ctx, commit)
	if err != nil {
		return nil, err
	}
	return &Past{t, done}, nil
}

// Past is a commit that is open.
type Past struct {
	*Tree
	done func()
}

// List names the files in a folder, as that of Source.
func (p *Past) List(dir string) ([]string, error) { return p.list(dir) }

// Close lets go of it.
func (p *Past) Close() error {
	p.done()
	return nil
}
