package git

import (
	"bufio"
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/git/objects"
)

// maxSymbolic bounds how far refs that name refs are followed.
const maxSymbolic = 5

// candidates are the full names that a short name of a ref may mean, best
// first. A branch comes before a tag of the same name.
func candidates(ref string) []string {
	switch {
	case ref == "" || ref == "HEAD":
		return []string{"HEAD"}
	case strings.HasPrefix(ref, "refs/"):
		return []string{ref}
	default:
		return []string{"refs/heads/" + ref, "refs/tags/" + ref, "refs/remotes/" + ref, "refs/remotes/origin/" + ref}
	}
}

// safeRef tells whether a name can be a ref, and so part of a path, by the
// rules of git check-ref-format.
func safeRef(name string) bool {
	if name == "" || len(name) > 1024 || strings.ContainsAny(name, "\\ ~^:?*[\x7f") || strings.Contains(name, "..") || strings.Contains(name, "@{") {
		return false
	}
	for _, r := range name {
		if r < ' ' {
			return false
		}
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || strings.HasPrefix(part, ".") || strings.HasSuffix(part, ".") || strings.HasSuffix(part, ".lock") {
			return false
		}
	}
	return !strings.HasPrefix(name, "-")
}

// lookup reads what a ref names; ok is false where there is no such ref.
func (l layout) lookup(ref string) (objects.ID, bool, error) {
	for _, name := range candidates(ref) {
		id, ok, err := l.follow(name)
		if ok || err != nil {
			return id, ok, err
		}
	}
	return objects.ID{}, false, nil
}

// follow reads one full name, through refs that name others.
func (l layout) follow(name string) (objects.ID, bool, error) {
	for range maxSymbolic {
		line, ok := l.loose(name)
		if !ok {
			return l.packed(name)
		}
		to, symbolic := strings.CutPrefix(line, "ref: ")
		if !symbolic {
			return l.parse(name, line)
		}
		name = strings.TrimSpace(to)
		if name == "refs/heads/.invalid" {
			return objects.ID{}, false, fault.New(fault.FailedPrecondition, "the repository %s keeps its refs as a reftable, which is not supported", l.work).
				WithFix("Convert it with `git refs migrate --ref-format=files`, or name its URL instead of its path.")
		}
		if !safeRef(name) {
			break
		}
	}
	return objects.ID{}, false, nil
}

func (l layout) parse(name, line string) (objects.ID, bool, error) {
	id, ok := objects.ParseID(line)
	if ok {
		return id, true, nil
	}
	f := fault.New(fault.FailedPrecondition, "the ref %s of the repository %s is damaged", name, l.work).WithFix("Check the repository with `git fsck`.")
	if len(line) == 64 {
		f = fault.New(fault.FailedPrecondition, "the repository %s names its objects by SHA-256, which is not supported", l.work).WithFix("Use a repository with SHA-1 names.")
	}
	return objects.ID{}, false, f
}

// loose reads the file of a ref.
func (l layout) loose(name string) (string, bool) {
	dir := l.common
	if !strings.HasPrefix(name, "refs/") {
		dir = l.git
	}
	data, err := readSmall(filepath.Join(dir, filepath.FromSlash(name)))
	if err != nil {
		return "", false
	}
	return strings.TrimSpace(string(data)), true
}

// packed looks a ref up in packed-refs, line by line: the file may be large.
func (l layout) packed(name string) (objects.ID, bool, error) {
	f, err := os.Open(filepath.Join(l.common, "packed-refs"))
	if errors.Is(err, fs.ErrNotExist) {
		return objects.ID{}, false, nil
	}
	if err != nil {
		return objects.ID{}, false, l.unreadableRefs(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	end := []byte(" " + name)
	for lines.Scan() {
		if id, ok := bytes.CutSuffix(bytes.TrimRight(lines.Bytes(), "\r"), end); ok && bytes.IndexByte(id, ' ') < 0 {
			return l.parse(name, string(id))
		}
	}
	if err := lines.Err(); err != nil {
		return objects.ID{}, false, l.unreadableRefs(err)
	}
	return objects.ID{}, false, nil
}

func (l layout) unreadableRefs(err error) error {
	return fault.New(fault.Unavailable, "the packed refs of the repository %s cannot be read", l.work).
		WithFix("Check the repository with `git fsck`, and let the user that Fairlead runs as read it.").Because(err)
}
