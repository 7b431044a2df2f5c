package filesource

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/fairlead-dev/fairlead/catalog/ingest"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// Source is a folder, or one file in it, as a source of catalog files.
type Source struct {
	desc   ingest.Description
	folder string
	single string // the one file, "" for a folder
	limits Limits

	mu sync.Mutex
	// last is what was seen last, opened what was opened last.
	last, opened *listing
}

var _ ingest.Source = (*Source)(nil)

// New makes a source called name over a folder or a file. A relative path is
// relative to the working folder. What does not exist yet is taken for a file
// if its name ends in .yaml or .yml; looking at it is an error until it does.
func New(name string, cfg Config) (*Source, error) {
	if ps := cfg.Validate(); len(ps) > 0 {
		return nil, fault.New(fault.Invalid, "file source %q: %s: %s", name, ps[0].Field, ps[0].Message).WithFix("Correct the configuration of the source.")
	}
	abs, err := filepath.Abs(cfg.Path)
	if err != nil {
		return nil, fault.New(fault.Invalid, "file source %q: the path %q cannot be made absolute", name, cfg.Path).Because(err)
	}
	s := &Source{folder: abs, limits: cfg.Limits.withDefaults()}
	include := slices.Clone(cfg.Include)
	switch {
	case isFile(abs):
		s.folder, s.single = filepath.Dir(abs), filepath.Base(abs)
		include = []string{escapeGlob(s.single)}
	case len(include) == 0:
		include = DefaultInclude()
	}
	s.desc = ingest.Description{Name: name, Type: "file", URL: abs, BaseType: "file", Base: s.folder, Include: include, FileBytes: s.limits.FileBytes}
	return s, nil
}

func isFile(path string) bool {
	if info, err := os.Stat(path); err == nil {
		return !info.IsDir()
	}
	ext := filepath.Ext(path)
	return ext == ".yaml" || ext == ".yml"
}

// escapeGlob makes a pattern that matches a name and nothing else.
func escapeGlob(name string) string {
	var out []byte
	for i := range len(name) {
		switch name[i] {
		case '*', '?', '[', ']', '{', '}', '\\', ',':
			out = append(out, '\\')
		}
		out = append(out, name[i])
	}
	return string(out)
}

func unreadable(path string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fault.New(fault.NotFound, "there is no folder or file %s", path).WithFix("Correct the path of the source, or create it.").Because(err)
	case errors.Is(err, fs.ErrPermission):
		return fault.New(fault.Unavailable, "%s may not be read", path).WithFix("Let the user that Fairlead runs as read it.").Because(err)
	default:
		return fault.New(fault.Unavailable, "%s cannot be read", path).WithFix("Check the disk and the path of the source.").Because(err)
	}
}

// Describe says what the source is.
func (s *Source) Describe() ingest.Description { return s.desc }

// Observe gives a fingerprint of the folder: sizes, times and inodes of its
// files.
func (s *Source) Observe(ctx context.Context) (ingest.Revision, error) {
	root, l, err := s.look(ctx)
	if err != nil {
		return "", err
	}
	return l.rev, root.Close()
}

// look scans the folder as it is now.
func (s *Source) look(ctx context.Context) (*os.Root, *listing, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	root, err := os.OpenRoot(s.folder)
	if err != nil {
		return nil, nil, unreadable(s.folder, err)
	}
	l, err := s.scan(ctx, root, s.last)
	if err == nil && s.single != "" {
		if _, there := l.files[s.single]; !there {
			err = unreadable(filepath.Join(s.folder, s.single), fs.ErrNotExist)
		}
	}
	if err != nil {
		root.Close()
		return nil, nil, err
	}
	s.last = l
	return root, l, nil
}

// Open makes the folder readable. A folder keeps no history: if it has changed
// since the revision was observed, files are read as they are now, and the
// next look reports that as a change.
func (s *Source) Open(ctx context.Context, rev ingest.Revision) (ingest.Tree, error) {
	root, l, err := s.reopen(ctx, rev)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	t := &Tree{root: root, now: l, before: s.opened, limits: s.limits}
	s.opened = l
	return t, nil
}

// reopen gives what was seen last if that is the revision asked for; else it
// looks again.
func (s *Source) reopen(ctx context.Context, rev ingest.Revision) (*os.Root, *listing, error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	s.mu.Lock()
	last := s.last
	s.mu.Unlock()
	if last == nil || last.rev != rev {
		return s.look(ctx)
	}
	root, err := os.OpenRoot(s.folder)
	if err != nil {
		return nil, nil, unreadable(s.folder, err)
	}
	return root, last, nil
}

// Tree is one state of a folder. Files are read as they are when asked for.
type Tree struct {
	root        *os.Root
	now, before *listing
	limits      Limits
}

var _ ingest.Tree = (*Tree)(nil)

// Info is zero: a folder has no commits.
func (t *Tree) Info() ingest.CommitInfo { return ingest.CommitInfo{} }

// Close lets go of the folder.
func (t *Tree) Close() error { return t.root.Close() }

// Changes lists what differs from an earlier fingerprint, which is known if
// it is that of the tree opened just before.
func (t *Tree) Changes(ctx context.Context, since ingest.Revision) ([]ingest.Change, bool, error) {
	if err := ctx.Err(); err != nil {
		return nil, false, err
	}
	incremental := false
	old := map[string]file{}
	for _, l := range []*listing{t.before, t.now} {
		if l != nil && since != "" && l.rev == since {
			old, incremental = l.files, true
		}
	}
	var out []ingest.Change
	for path, f := range t.now.files {
		if was, there := old[path]; !there || was.id != f.id {
			out = append(out, ingest.Change{Path: path, ID: f.id, Size: f.size})
		}
	}
	for path := range old {
		if _, there := t.now.files[path]; !there {
			out = append(out, ingest.Change{Path: path, Gone: true})
		}
	}
	slices.SortFunc(out, func(a, b ingest.Change) int { return cmp.Compare(a.Path, b.Path) })
	return out, incremental, nil
}

// Read gives a file's bytes: an error that is ingest.ErrNotFound where the
// tree does not list it or it has vanished since, ingest.ErrTooLarge where it
// exceeds the limit.
func (t *Tree) Read(ctx context.Context, path string) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if _, listed := t.now.files[path]; !listed {
		return nil, fmt.Errorf("%s: %w", path, ingest.ErrNotFound)
	}
	return readFile(t.root, path, t.limits.FileBytes)
}

// readFile reads a regular file within root.
func readFile(root *os.Root, path string, limit int64) ([]byte, error) {
	f, err := root.OpenFile(path, os.O_RDONLY|noWait, 0)
	if err != nil {
		if errors.Is(err, fs.ErrPermission) {
			return nil, unreadable(filepath.Join(root.Name(), path), err)
		}
		return nil, fmt.Errorf("%s: %w", path, ingest.ErrNotFound)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no file: %w", path, ingest.ErrNotFound)
	}
	data := make([]byte, 0, min(info.Size(), limit)+1)
	data, err = readUpTo(f, data, limit+1)
	switch {
	case err != nil:
		return nil, unreadable(filepath.Join(root.Name(), path), err)
	case int64(len(data)) > limit:
		return nil, fmt.Errorf("%s has more than %d bytes, the limit: %w", path, limit, ingest.ErrTooLarge)
	}
	return data, nil
}

// readUpTo appends at most n bytes.
func readUpTo(r io.Reader, data []byte, n int64) ([]byte, error) {
	for int64(len(data)) < n {
		if len(data) == cap(data) {
			data = slices.Grow(data, 512)
		}
		room := min(int64(cap(data)-len(data)), n-int64(len(data)))
		m, err := r.Read(data[len(data) : len(data)+int(room)])
		data = data[:len(data)+m]
		if errors.Is(err, io.EOF) {
			return data, nil
		}
		if err != nil {
			return data, err
		}
	}
	return data, nil
}
