package git

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fairlead-dev/fairlead/internal/git/objects"
)

const (
	// maxPacks bounds how many fetches are put on top of one another before
	// the commit is fetched whole again, so that disk use stays flat.
	maxPacks = 16
	// partial is how folders are called that are not complete.
	partial = "partial-"
)

// snapshot is one commit on disk, in a folder of its own. It is removed when
// nobody holds it.
type snapshot struct {
	dir     string
	db      *objects.DB
	commit  commit
	held    atomic.Int32
	flights *flights

	mu sync.Mutex // guards what follows, and which packs are in use
	// whole tells that all files are there that are not too large; else they
	// are fetched as they are read.
	whole bool
	// packs are those of commits and folders, and of whole commits; blobPacks
	// the paths of those of files alone.
	packs     int
	blobPacks []string
	bytes     int64
	large     map[objects.ID]struct{} // files that exceed the limit
}

func (s *snapshot) hold() { s.held.Add(1) }

// release lets go of a snapshot; nil is let go of already.
func (s *snapshot) release() {
	if s == nil || s.held.Add(-1) > 0 {
		return
	}
	s.db.Close()
	_ = os.RemoveAll(s.dir) // what cannot be removed now is removed at the next start
}

// packReader is a pack on its way.
type packReader struct {
	io.Reader
	io.Closer
}

func (s *snapshot) packDir() string { return filepath.Join(s.dir, "objects", "pack") }

// store writes a pack and its index beside those of an earlier snapshot, and
// opens the commit in it. The caller holds what comes back.
func (r *remote) store(ctx context.Context, id objects.ID, before *snapshot, whole bool, receive func(limit int64) (packReader, error)) (_ *snapshot, err error) {
	if err := os.MkdirAll(r.dir, 0o700); err != nil {
		return nil, diskError(r.dir, err)
	}
	dir, err := os.MkdirTemp(r.dir, partial)
	if err != nil {
		return nil, diskError(r.dir, err)
	}
	s := &snapshot{dir: dir, whole: whole, flights: newFlights()}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(s.dir))
		}
	}()
	if err := os.MkdirAll(s.packDir(), 0o700); err != nil {
		return nil, diskError(dir, err)
	}
	if err := s.link(before); err != nil {
		return nil, diskError(dir, err)
	}
	if err := r.receive(ctx, s, before, receive); err != nil {
		return nil, err
	}
	// The random part of the name keeps two fetches of one commit apart.
	final := filepath.Join(r.dir, id.String()+r.suffix(whole)+strings.TrimPrefix(filepath.Base(dir), partial))
	if err := os.Rename(dir, final); err != nil {
		return nil, diskError(dir, err)
	}
	s.dir = final
	if err := s.load(id); err != nil {
		return nil, unreadable(r.name(), id.String(), err)
	}
	s.hold()
	return s, nil
}

// link takes over the packs of an earlier snapshot, without copying them.
func (s *snapshot) link(before *snapshot) error {
	if before == nil {
		return nil
	}
	before.mu.Lock()
	defer before.mu.Unlock()
	entries, err := os.ReadDir(before.packDir())
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := os.Link(filepath.Join(before.packDir(), e.Name()), filepath.Join(s.packDir(), e.Name())); err != nil {
			return err
		}
	}
	return s.measure()
}

// measure counts packs and bytes. The caller holds the lock, or is alone.
func (s *snapshot) measure() error {
	entries, err := os.ReadDir(s.packDir())
	if err != nil {
		return err
	}
	s.packs, s.blobPacks, s.bytes = 0, nil, 0
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			return err
		}
		s.bytes += info.Size()
		switch name := e.Name(); {
		case !strings.HasSuffix(name, ".pack"):
		case strings.HasPrefix(name, "blobs-"):
			s.blobPacks = append(s.blobPacks, filepath.Join(s.packDir(), name))
		default:
			s.packs++
		}
	}
	return nil
}

// receive writes the pack that the server sends, and its index.
func (r *remote) receive(ctx context.Context, s, before *snapshot, open func(limit int64) (packReader, error)) error {
	limit := r.cfg.Limits.DiskBytes - s.bytes
	if limit <= 0 {
		return errTooMuch
	}
	pack, err := open(limit)
	if err != nil {
		return err
	}
	defer pack.Close()
	path := filepath.Join(s.packDir(), "pack-"+strings.TrimPrefix(filepath.Base(s.dir), partial)+".pack")
	if err := savePack(path, pack); err != nil {
		return err
	}
	limits := objects.IndexLimits{Objects: r.cfg.Limits.Files + 16, BlobBytes: r.cfg.Limits.FileBytes}
	var known *objects.DB
	if before != nil {
		known = before.db
	}
	return objects.BuildIndex(ctx, path, known, limits)
}

// savePack copies to a new file. Reading is what may fail: an error of the
// disk is told apart.
func savePack(path string, from io.Reader) error {
	return writeNew(path, func(f *os.File) error {
		_, err := io.Copy(f, from)
		return err
	})
}

// writeNew writes a new file.
func writeNew(path string, write func(*os.File) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return diskError(path, err)
	}
	err = write(f)
	if closeErr := f.Close(); err == nil && closeErr != nil {
		err = closeErr
	}
	var disk *fs.PathError
	if errors.As(err, &disk) {
		return diskError(path, err)
	}
	return err
}

// load opens the commit of a complete snapshot.
func (s *snapshot) load(id objects.ID) error {
	db, err := objects.Open(filepath.Join(s.dir, "objects"))
	if err != nil {
		return err
	}
	if s.commit, err = readCommit(db, id); err != nil {
		db.Close()
		return err
	}
	s.db = db
	return s.measure()
}

// inPart marks folders whose files are fetched as they are read.
const inPart = "-part-"

// suffix tells in a folder's name which files it holds: all up to a size, or
// those that were read.
func (r *remote) suffix(whole bool) string {
	if !whole {
		return inPart
	}
	return "-" + strconv.FormatInt(r.cfg.Limits.FileBytes, 10) + "-"
}

// adopt looks, once, at what an earlier run has left: the newest complete
// snapshot is kept, everything else removed.
func (r *remote) adopt() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.adopted {
		return
	}
	r.adopted = true
	entries, err := os.ReadDir(r.dir)
	if err != nil {
		return // nothing has been fetched yet
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return written(b).Compare(written(a)) })
	for _, e := range entries {
		id := snapshotID(e.Name())
		whole := strings.Contains(e.Name(), r.suffix(true))
		if id.IsZero() || !whole && !strings.Contains(e.Name(), r.suffix(false)) {
			continue
		}
		s := &snapshot{dir: filepath.Join(r.dir, e.Name()), whole: whole, flights: newFlights()}
		if err := s.load(id); err == nil {
			s.hold()
			r.last = s
			break
		}
	}
	for _, e := range entries {
		if r.last != nil && e.Name() == filepath.Base(r.last.dir) {
			continue
		}
		if strings.HasPrefix(e.Name(), partial) || !snapshotID(e.Name()).IsZero() {
			_ = os.RemoveAll(filepath.Join(r.dir, e.Name())) // tried again at the next start
		}
	}
}

func written(e fs.DirEntry) time.Time {
	info, err := e.Info()
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// snapshotID is the commit that a folder's name tells; zero for others.
func snapshotID(name string) objects.ID {
	hex, _, _ := strings.Cut(name, "-")
	id, _ := objects.ParseID(hex)
	return id
}
