package filesource

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/fairlead-dev/fairlead/catalog/ingest"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// unsure is how long after a write a second one may leave size and time as
// they are, on file systems with coarse clocks.
const unsure = 2 * time.Second

// maxDepth bounds how deep folders are nested.
const maxDepth = 256

// file is what a scan tells of one file.
type file struct {
	stamp string // size, times, inode
	id    string // the stamp; with a hash of the content while that is unsure
	size  int64
	fresh bool // written so recently that the stamp alone proves nothing
}

// listing is one state of a folder.
type listing struct {
	rev   ingest.Revision
	files map[string]file
}

// scanner lists a folder.
type scanner struct {
	ctx     context.Context //nolint:containedctx // lives as long as one scan
	root    *os.Root
	name    string
	limits  Limits
	lenient bool
	prev    map[string]file
	now     time.Time
	files   map[string]file
	sum     []byte // path and id of every file, for the revision
}

// scan lists every file of a folder. prev is the listing before it, or nil.
func (s *Source) scan(ctx context.Context, root *os.Root, prev *listing) (*listing, error) {
	sc := &scanner{ctx: ctx, root: root, name: s.folder, limits: s.limits, lenient: s.single != "", now: time.Now(), files: map[string]file{}}
	if prev != nil {
		sc.prev = prev.files
	}
	if err := sc.dir(".", 0); err != nil {
		return nil, err
	}
	digest := sha256.Sum256(sc.sum)
	return &listing{rev: ingest.Revision(hex.EncodeToString(digest[:])), files: sc.files}, nil
}

func (sc *scanner) dir(dir string, depth int) error {
	if err := sc.ctx.Err(); err != nil {
		return err
	}
	if depth > maxDepth {
		return fault.New(fault.FailedPrecondition, "%s nests folders more than %d deep", sc.name, maxDepth).WithFix("Name a folder with a flatter tree.")
	}
	entries, err := sc.entries(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := e.Name()
		at := path.Join(dir, name)
		switch {
		case !utf8.ValidString(name) || strings.ContainsRune(name, '\n'):
		case e.IsDir():
			if skipped(name) {
				continue
			}
			if err := sc.dir(at, depth+1); err != nil {
				return err
			}
		default:
			if err := sc.file(at, e); err != nil {
				return err
			}
		}
	}
	return nil
}

// skipped tells whether a folder is never part of a catalog: Git's own, that
// of npm, and those that Kubernetes keeps beside the files of a volume.
func skipped(name string) bool {
	return name == ".git" || name == "node_modules" || strings.HasPrefix(name, "..")
}

// entries lists a folder; one that has vanished is empty.
func (sc *scanner) entries(dir string) ([]fs.DirEntry, error) {
	// Names may be read past the root, which costs a step for each part of a
	// path: folders are not followed through links here, and what a folder
	// that was exchanged meanwhile lets be listed cannot be read.
	entries, err := os.ReadDir(filepath.Join(sc.name, dir))
	if err == nil {
		return entries, nil
	}
	// What is around a single file is read for what it may refer to, and need
	// not all be readable.
	if dir != "." && (errors.Is(err, fs.ErrNotExist) || sc.lenient && errors.Is(err, fs.ErrPermission)) {
		return nil, nil
	}
	return nil, unreadable(path.Join(sc.name, dir), err)
}

// file notes one file. A symbolic link counts as the file that it names, if
// that is in the folder; anything but a regular file is left out.
func (sc *scanner) file(at string, e fs.DirEntry) error {
	info, err := e.Info()
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		info, err = sc.root.Stat(at)
	}
	if err != nil || !info.Mode().IsRegular() {
		return nil //nolint:nilerr // vanished, or a link that leads nowhere or outside
	}
	if len(sc.files) >= sc.limits.Files {
		return fault.New(fault.FailedPrecondition, "%s holds more than %d files, the limit", sc.name, sc.limits.Files).
			WithFix("Name a smaller folder, or raise limits.files of the source.")
	}
	f := sc.identify(at, info)
	sc.files[at] = f
	sc.sum = append(append(append(append(sc.sum, at...), 0), f.id...), 0)
	return nil
}

// identify gives a file's id: its stamp, or what it was called before as long
// as nothing can have changed. A file that was written just now is hashed.
func (sc *scanner) identify(at string, info fs.FileInfo) file {
	inode, changed := identity(info)
	f := file{size: info.Size(), stamp: stampOf(info, inode, changed)}
	latest := max(info.ModTime().UnixNano(), changed)
	f.fresh = sc.now.UnixNano()-latest < int64(unsure)
	before, known := sc.prev[at]
	same := known && before.stamp == f.stamp
	f.id = f.stamp
	switch {
	case same && !before.fresh:
		f.id = before.id
	case f.fresh || same:
		f.id = f.stamp + sc.hash(at)
	}
	return f
}

func stampOf(info fs.FileInfo, inode uint64, changed int64) string {
	b := strconv.AppendInt(nil, info.Size(), 36)
	b = strconv.AppendInt(append(b, '.'), info.ModTime().UnixNano(), 36)
	b = strconv.AppendInt(append(b, '.'), changed, 36)
	b = strconv.AppendUint(append(b, '.'), inode, 36)
	return string(b)
}

func (sc *scanner) hash(at string) string {
	data, err := readFile(sc.root, at, sc.limits.FileBytes)
	if err != nil {
		return "" // reading it will tell
	}
	sum := sha256.Sum256(data)
	return "." + hex.EncodeToString(sum[:8])
}
