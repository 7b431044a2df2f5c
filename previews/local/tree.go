package local

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/previews"
)

// checkTree makes sure that a work tree has the service's folder, is not too
// large, and that no symbolic link leads out of it.
func checkTree(ctx context.Context, f folder, w previews.Wish, limit int64) error {
	root, err := os.OpenRoot(f.tree())
	if err != nil {
		return err
	}
	defer root.Close()
	info, err := root.Stat(dirOf(w))
	if err != nil || !info.IsDir() {
		return fault.New(fault.FailedPrecondition, "commit %.12s of %s has no folder %q", w.Commit, w.Repository, w.Dir).
			WithFix("Preview a revision that has the service.").Because(err)
	}
	var size int64
	return filepath.WalkDir(f.tree(), func(path string, e fs.DirEntry, err error) error {
		if err := errors.Join(err, ctx.Err()); err != nil {
			return err
		}
		rel, err := filepath.Rel(f.tree(), path)
		if err != nil {
			return err
		}
		if e.Type()&fs.ModeSymlink != 0 && leadsOut(root, rel) {
			return fault.New(fault.FailedPrecondition, "the symbolic link %s of commit %.12s of %s leads out of the repository", rel, w.Commit, w.Repository).
				WithFix("Let it point to a file of the repository by a relative path.")
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		if size += info.Size(); size > limit {
			return fault.New(fault.FailedPrecondition, "commit %.12s of %s takes more than %d bytes, the limit of a preview", w.Commit, w.Repository, limit).
				WithFix("Raise limits.diskBytes of local previews, or use a smaller repository.")
		}
		return nil
	})
}

// leadsOut tells whether a link points outside, by its text or by the links
// on its way. One to a file that is not there may be one to what the command
// will make.
func leadsOut(root *os.Root, rel string) bool {
	to, err := root.Readlink(rel)
	if err != nil || filepath.IsAbs(to) || !filepath.IsLocal(filepath.Join(filepath.Dir(rel), to)) {
		return true
	}
	_, err = root.Stat(rel)
	return err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ELOOP) && !errors.Is(err, syscall.ENOTDIR)
}

func dirOf(w previews.Wish) string {
	if w.Dir == "" {
		return "."
	}
	return filepath.FromSlash(w.Dir)
}

// removeTree removes a folder, also where the command has taken away the
// rights that removing needs. Links are not followed.
func removeTree(dir string) error {
	err := os.RemoveAll(dir)
	if err == nil || !errors.Is(err, fs.ErrPermission) {
		return err
	}
	_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, _ error) error { // what cannot be walked shows below
		if e != nil && e.IsDir() {
			_ = os.Chmod(path, 0o700) //nolint:gosec // a folder needs the right to be searched; failing shows below
		}
		return nil
	})
	return os.RemoveAll(dir)
}
