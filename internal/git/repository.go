package git

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/git/objects"
)

// maxSmallFile bounds the small files of a repository that are read whole.
const maxSmallFile = 64 << 20

// layout says where the parts of a repository on disk are.
type layout struct {
	// work is the folder that holds .git; the repository's own where it is bare.
	work string
	// git holds HEAD; common holds refs, packed-refs and objects. They differ
	// in additional work trees only.
	git, common string
}

// layoutOf finds the parts of the repository whose root is dir; ok is false
// where dir is no repository's root.
func layoutOf(dir string) (layout, bool) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return layout{}, false
	}
	dotGit := filepath.Join(abs, ".git")
	info, err := os.Stat(dotGit)
	switch {
	case err != nil:
		return withCommon(layout{work: abs, git: abs})
	case info.IsDir():
		return withCommon(layout{work: abs, git: dotGit})
	default:
		to, ok := pointer(dotGit, "gitdir: ", abs)
		if !ok {
			return layout{}, false
		}
		return withCommon(layout{work: abs, git: to})
	}
}

// withCommon completes a layout and checks that it is a repository.
func withCommon(l layout) (layout, bool) {
	l.common = l.git
	if to, ok := pointer(filepath.Join(l.git, "commondir"), "", l.git); ok {
		l.common = to
	}
	if _, err := os.Lstat(filepath.Join(l.git, "HEAD")); err != nil {
		return layout{}, false
	}
	info, err := os.Stat(filepath.Join(l.common, "objects"))
	return l, err == nil && info.IsDir()
}

// pointer reads a file whose only line names a folder, relative to base.
func pointer(path, prefix, base string) (string, bool) {
	data, err := readSmall(path)
	if err != nil {
		return "", false
	}
	to, ok := strings.CutPrefix(strings.TrimRight(string(data), "\r\n"), prefix)
	if !ok || to == "" {
		return "", false
	}
	if !filepath.IsAbs(to) {
		to = filepath.Join(base, to)
	}
	return to, true
}

// readSmall reads a file of a repository's own, such as a ref.
func readSmall(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxSmallFile {
		return nil, fs.ErrInvalid
	}
	return os.ReadFile(path)
}

// openLayout is layoutOf with an error for people.
func openLayout(dir string) (layout, error) {
	if _, err := os.Stat(dir); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return layout{}, fault.New(fault.NotFound, "there is no folder %s", dir).WithFix("Correct the path of the repository.").Because(err)
		}
		return layout{}, fault.New(fault.Unavailable, "the folder %s cannot be read", dir).WithFix("Let the user that Fairlead runs as read it.").Because(err)
	}
	l, ok := layoutOf(dir)
	if !ok {
		return layout{}, fault.New(fault.NotFound, "%s is no Git repository", dir).
			WithFix("Name the root of a repository: the folder that holds .git, or a bare repository. A folder without Git is a source of type file.")
	}
	return l, nil
}

func (l layout) objects() (*objects.DB, error) {
	db, err := objects.Open(filepath.Join(l.common, "objects"))
	if err != nil {
		return nil, fault.New(fault.Unavailable, "the objects of the repository %s cannot be read", l.work).WithFix("Let the user that Fairlead runs as read them.").Because(err)
	}
	return db, nil
}

// FindRepository gives the root of the repository that dir is in: the nearest
// folder upwards that holds .git, or a bare repository. It is not_found where
// there is none.
func FindRepository(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", fault.New(fault.Invalid, "the path %q cannot be made absolute", dir).Because(err)
	}
	for at := abs; ; {
		if _, ok := layoutOf(at); ok {
			return at, nil
		}
		up := filepath.Dir(at)
		if up == at {
			return "", fault.New(fault.NotFound, "%s is in no Git repository", abs).WithFix("Run this inside a repository, or name one.")
		}
		at = up
	}
}
