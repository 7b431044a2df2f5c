package git

import (
	"context"
	"fmt"
	"strings"

	"github.com/fairlead-dev/fairlead/catalog/ingest"
	"github.com/fairlead-dev/fairlead/internal/git/objects"
)

// List gives the names of the files that are in a folder of a commit, not those
// below it, and without symbolic links; dir is "" for the root. There is none
// where there is no such folder.
func (s *Source) List(ctx context.Context, rev ingest.Revision, dir string) ([]string, error) {
	t, err := s.open(ctx, rev)
	if err != nil {
		return nil, err
	}
	defer t.Close()
	return t.list(dir)
}

func (t *Tree) list(dir string) (names []string, err error) {
	id := t.commit.tree
	for name := range strings.SplitSeq(dir, "/") {
		if name == "" {
			continue
		}
		data, err := t.dir(t.db, id, dir)
		if err != nil {
			return nil, err
		}
		e, ok := entryNamed(data, name)
		if !ok || e.Mode != objects.Dir {
			return nil, nil
		}
		id = e.ID
	}
	data, err := t.dir(t.db, id, dir)
	for err == nil && len(data) > 0 {
		var e objects.Entry
		if e, data, err = objects.NextEntry(data); err == nil && e.Mode == objects.File && e.Safe() {
			names = append(names, string(e.Name))
		}
	}
	if err != nil {
		return nil, t.damaged(dir, fmt.Errorf("listing: %w", err))
	}
	return names, nil
}
