package check

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/fairlead-dev/fairlead/catalog/descriptor"
	"github.com/fairlead-dev/fairlead/catalog/ingest"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/git"
)

// content is the files of a folder as they are in one place.
type content interface {
	// kind tells what is at a path; links are followed within the folder.
	kind(name string) kind
	// read gives a file's bytes; its error says what the file is.
	read(ctx context.Context, name string) ([]byte, error)
	// walk names every file below a folder, in order.
	walk(ctx context.Context, dir string, each func(string)) error
	// close releases what it holds; its error is one that kept files from
	// being read.
	close() error
}

// kind is what a path is.
type kind int

const (
	missing kind = iota
	regular
	directory
	other
)

// The errors of files that cannot be read as catalog files.
var (
	errUnreadable = errors.New("cannot be read")
	errOutside    = errors.New("cannot be read, or leads out of the folder")
	errLarge      = errors.New("has more than 1 MiB, the size up to which a server reads files unless it is told otherwise")
)

// disk is a folder on disk.
type disk struct {
	dir  string
	root *os.Root
	// tracked leaves out what Git does not hold: what links lead to, and
	// repositories of their own.
	tracked bool
}

func openDisk(dir string, tracked bool) (*disk, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fault.New(fault.Unavailable, "the folder %s cannot be read", dir).WithFix("Let yourself read it.").Because(err)
	}
	return &disk{dir, root, tracked}, nil
}

func (d *disk) close() error { return d.root.Close() }

func (d *disk) stat(name string) (fs.FileInfo, error) {
	if d.tracked {
		return d.root.Lstat(filepath.FromSlash(name))
	}
	return d.root.Stat(filepath.FromSlash(name))
}

func (d *disk) kind(name string) kind {
	info, err := d.stat(name)
	switch {
	case err != nil:
		return missing
	case info.IsDir():
		return directory
	case info.Mode().IsRegular() && !strings.HasSuffix(name, "/"):
		return regular
	default:
		return other
	}
}

func (d *disk) read(_ context.Context, name string) ([]byte, error) {
	info, err := d.stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("is not there: %w", descriptor.ErrNotFound)
	case err != nil:
		return nil, errOutside
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("is no file: %w", descriptor.ErrNotFound)
	case info.Size() > maxFile:
		return nil, errLarge
	}
	file, err := d.root.Open(filepath.FromSlash(name))
	if err != nil {
		return nil, errUnreadable
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxFile))
	if err != nil {
		return nil, errUnreadable
	}
	return data, nil
}

func (d *disk) walk(ctx context.Context, dir string, each func(string)) error {
	n := 0
	return fs.WalkDir(d.root.FS(), dir, func(name string, e fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case errors.Is(err, fs.ErrNotExist):
			return nil // it has gone meanwhile
		case !utf8.ValidString(name) || strings.ContainsRune(name, '\n'):
			return skip(e) // the catalog does not take such names either
		case err != nil:
			return fault.New(fault.Unavailable, "the folder %s cannot be read", filepath.Join(d.dir, name)).WithFix("Let yourself read it.").Because(err)
		case e.IsDir() && name != dir && (passedOver(e.Name()) || d.tracked && d.foreign(name)):
			return fs.SkipDir
		case e.IsDir(), d.tracked && e.Type()&fs.ModeSymlink != 0:
			return nil
		}
		if n++; n > maxFiles {
			return tooMany(filepath.Join(d.dir, dir))
		}
		each(name)
		return nil
	})
}

// skip passes over an entry and, if it is a folder, what is in it.
func skip(e fs.DirEntry) error {
	if e != nil && e.IsDir() {
		return fs.SkipDir
	}
	return nil
}

// passedOver tells whether a folder of that name is never looked into.
func passedOver(name string) bool { return name == ".git" || name == "node_modules" }

func tooMany(dir string) error {
	return fault.New(fault.FailedPrecondition, "%s holds more than %d files", dir, maxFiles).WithFix("Name a smaller folder.")
}

// foreign tells whether a folder is a repository of its own.
func (d *disk) foreign(name string) bool {
	_, err := d.root.Lstat(filepath.FromSlash(path.Join(name, ".git")))
	return err == nil
}

// committed is a folder as a commit has it.
type committed struct {
	tree *git.Tree
	// files are all files in order, kinds what each path is.
	files []string
	kinds map[string]kind
	// broken is the first error of reading the repository.
	broken error
}

// openCommit lists a commit; contents are read when they are asked for.
func openCommit(ctx context.Context, tree *git.Tree) (*committed, error) {
	changes, _, err := tree.Changes(ctx, "")
	if err != nil {
		return nil, err
	}
	c := &committed{tree: tree, kinds: map[string]kind{".": directory}}
	for i := range changes {
		name := changes[i].Path
		if !utf8.ValidString(name) {
			continue // the catalog does not take such names
		}
		c.files = append(c.files, name)
		c.kinds[name] = regular
		for dir := path.Dir(name); c.kinds[dir] == missing; dir = path.Dir(dir) {
			c.kinds[dir] = directory
		}
	}
	return c, nil
}

func (c *committed) close() error {
	_ = c.tree.Close() // releases what is held; it never fails
	return c.broken
}

func (c *committed) kind(name string) kind {
	plain, folder := strings.CutSuffix(name, "/")
	k := c.kinds[path.Clean(plain)]
	if folder && k == regular {
		return other
	}
	return k
}

func (c *committed) read(ctx context.Context, name string) ([]byte, error) {
	switch c.kind(name) {
	case missing:
		return nil, fmt.Errorf("is not there: %w", descriptor.ErrNotFound)
	case directory, other:
		return nil, fmt.Errorf("is no file: %w", descriptor.ErrNotFound)
	case regular:
	}
	data, err := c.tree.Read(ctx, name)
	switch {
	case errors.Is(err, ingest.ErrTooLarge), len(data) > maxFile:
		return nil, errLarge
	case err != nil:
		if c.broken == nil {
			c.broken = err
		}
		return nil, errUnreadable
	}
	return data, nil
}

func (c *committed) walk(ctx context.Context, dir string, each func(string)) error {
	below := dir + "/"
	if dir == "." {
		below = ""
	}
	for _, name := range c.files {
		rest, inside := strings.CutPrefix(name, below)
		if !inside || strings.HasPrefix(rest, "node_modules/") || strings.Contains(rest, "/node_modules/") {
			continue
		}
		each(name)
	}
	return context.Cause(ctx)
}
