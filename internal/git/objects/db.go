package objects

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// cacheBytes bounds each of a database's two caches.
	cacheBytes = 8 << 20
	// idleAfter is how long a database keeps files and memory without being
	// read: a server may have thousands of them.
	idleAfter = 30 * time.Second
	// maxAlternates bounds how far alternates are followed.
	maxAlternates = 5
)

// DB is the object database of one repository, with its alternates. It is
// safe for concurrent use.
type DB struct {
	dirs  []string // the repository's own first
	bases *cache[place]
	trees *cache[ID]

	// used and armed drive the timer that lets go of what an idle database
	// holds; timer is guarded by mu.
	used, armed atomic.Bool
	idle        time.Duration

	mu    sync.RWMutex
	packs map[string]*pack // by the path of the index
	timer *time.Timer
}

// place is where an object is in a pack.
type place struct {
	pack   *pack
	offset int64
}

// Open opens the database in a folder called objects. Nothing but the folder
// and its alternates is looked at until something is read.
func Open(dir string) (*DB, error) {
	dirs, err := alternates(nil, dir, 0)
	if err != nil {
		return nil, err
	}
	return &DB{dirs: dirs, bases: newCache[place](cacheBytes), trees: newCache[ID](cacheBytes), packs: map[string]*pack{}, idle: idleAfter}, nil
}

// alternates appends dir and the folders that it borrows objects from.
func alternates(dirs []string, dir string, depth int) ([]string, error) {
	info, err := os.Stat(dir)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("%s is no folder", dir)
	}
	dirs = append(dirs, dir)
	data, err := os.ReadFile(filepath.Join(dir, "info", "alternates"))
	if err != nil || depth == maxAlternates {
		return dirs, nil //nolint:nilerr // nearly all repositories have no such file
	}
	for line := range strings.Lines(string(data)) {
		line = strings.TrimRight(line, "\r\n")
		if line == "" || line[0] == '#' {
			continue
		}
		if !filepath.IsAbs(line) {
			line = filepath.Join(dir, line)
		}
		more, err := alternates(dirs, line, depth+1)
		if err == nil {
			dirs = more
		}
	}
	return dirs, nil
}

// Close lets go of files and memory. The database may be used again: it then
// opens anew what it needs.
func (d *DB) Close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.timer != nil {
		d.timer.Stop()
		d.timer = nil
	}
	d.armed.Store(false)
	for path, p := range d.packs {
		p.close()
		delete(d.packs, path)
	}
	d.bases.clear()
	d.trees.clear()
}

// arm has an idle database closed after a while.
func (d *DB) arm() {
	d.used.Store(true)
	if !d.armed.CompareAndSwap(false, true) {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.timer = time.AfterFunc(d.idle, d.rest)
}

// rest closes the database, unless it has been used since it was armed.
func (d *DB) rest() {
	d.mu.Lock()
	again := d.timer != nil && d.used.Swap(false)
	if again {
		d.timer.Reset(d.idle)
	}
	d.mu.Unlock()
	if !again {
		d.Close()
	}
}

// Read gives an object's kind and content: ErrNotFound where there is none, a
// TooLargeError where it exceeds limit bytes. The content of a tree may be
// shared and must not be changed.
func (d *DB) Read(id ID, limit int64) (Kind, []byte, error) {
	d.arm()
	if kind, data, ok := d.trees.get(id); ok {
		return kind, data, nil
	}
	kind, data, err := d.read(id, limit)
	var large *TooLargeError
	if errors.As(err, &large) {
		return kind, nil, &TooLargeError{ID: id, Size: large.Size, Limit: large.Limit}
	}
	if err != nil {
		return 0, nil, fmt.Errorf("object %s: %w", id, err)
	}
	if kind == Tree {
		d.trees.put(id, kind, data)
	}
	return kind, data, nil
}

func (d *DB) read(id ID, limit int64) (Kind, []byte, error) {
	kind, data, err := d.fromPacks(id, limit)
	if !errors.Is(err, ErrNotFound) {
		return kind, data, err
	}
	for _, dir := range d.dirs {
		kind, data, err := readLoose(dir, id, limit)
		if !errors.Is(err, fs.ErrNotExist) {
			return kind, data, err
		}
	}
	// Git may have packed it, or fetched a pack, since we last looked.
	if err := d.refresh(); err != nil {
		return 0, nil, err
	}
	return d.fromPacks(id, limit)
}

// fromPacks reads from the packs that are known.
func (d *DB) fromPacks(id ID, limit int64) (Kind, []byte, error) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	for _, p := range d.packs {
		offset, ok, err := p.index.find(id)
		if err != nil {
			return 0, nil, err
		}
		if ok {
			return d.resolve(p, offset, limit)
		}
	}
	return 0, nil, ErrNotFound
}

// Lacking gives those of some objects that are not in the database.
func (d *DB) Lacking(ids []ID) ([]ID, error) {
	d.arm()
	if err := d.refresh(); err != nil {
		return nil, err
	}
	d.mu.RLock()
	defer d.mu.RUnlock()
	var out []ID
	for _, id := range ids {
		there, err := d.has(id)
		if err != nil {
			return nil, err
		}
		if !there {
			out = append(out, id)
		}
	}
	return out, nil
}

// has tells whether an object is there. The caller holds the lock.
func (d *DB) has(id ID) (bool, error) {
	for _, p := range d.packs {
		if _, ok, err := p.index.find(id); ok || err != nil {
			return ok, err
		}
	}
	name := id.String()
	for _, dir := range d.dirs {
		if _, err := os.Stat(filepath.Join(dir, name[:2], name[2:])); err == nil {
			return true, nil
		}
	}
	return false, nil
}

// link is one difference on the way to a base.
type link struct {
	at    place
	delta []byte
}

// resolve reads the object at an offset through the differences that make it
// up. The caller holds the lock.
func (d *DB) resolve(p *pack, offset, limit int64) (Kind, []byte, error) {
	var chain []link
	at := place{p, offset}
	z := inflaters.Get().(*inflater)
	defer z.release()
	for {
		if kind, data, ok := d.bases.get(at); ok {
			return d.apply(chain, kind, data, at, limit)
		}
		e, err := at.pack.header(z, at.offset)
		if err != nil {
			return 0, nil, err
		}
		allowed := limit
		if len(chain) > 0 || e.kind > Tag {
			allowed += baseAllowance
		}
		if e.size > allowed {
			return e.kind, nil, &TooLargeError{Size: e.size, Limit: limit}
		}
		if err := z.start(); err != nil {
			return 0, nil, err
		}
		content, err := z.full(e.size)
		if err != nil {
			return 0, nil, err
		}
		if e.kind <= Tag {
			return d.apply(chain, e.kind, content, at, limit)
		}
		if chain = append(chain, link{at, content}); len(chain) > maxChain {
			return 0, nil, corrupt("more than %d differences in a row", maxChain)
		}
		if at, err = d.base(at.pack, e); err != nil {
			return 0, nil, err
		}
	}
}

// base finds what an object is stored as a difference from: mostly in its own
// pack, in a pack fetched onto others perhaps in one of these.
func (d *DB) base(p *pack, e entry) (place, error) {
	if e.kind == offsetDelta {
		return place{p, e.baseOffset}, nil
	}
	offset, ok, err := p.index.find(e.baseID)
	if ok || err != nil {
		return place{p, offset}, err
	}
	for _, o := range d.packs {
		if offset, ok, err := o.index.find(e.baseID); ok || err != nil {
			return place{o, offset}, err
		}
	}
	return place{}, corrupt("base %s is in no pack", e.baseID)
}

// apply applies a chain of differences, nearest to the base last, and keeps
// what others are likely to be based on.
func (d *DB) apply(chain []link, kind Kind, data []byte, at place, limit int64) (Kind, []byte, error) {
	if len(chain) == 0 {
		if int64(len(data)) > limit {
			return kind, nil, &TooLargeError{Size: int64(len(data)), Limit: limit}
		}
		return kind, data, nil
	}
	for i := len(chain) - 1; i >= 0; i-- {
		d.bases.put(at, kind, data)
		allowed := limit
		if i > 0 {
			allowed += baseAllowance
		}
		next, err := patch(data, chain[i].delta, allowed)
		if err != nil {
			return kind, nil, err
		}
		data, at = next, chain[i].at
	}
	return kind, data, nil
}

// refresh looks at the pack folders again.
func (d *DB) refresh() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	seen := map[string]bool{}
	for _, dir := range d.dirs {
		entries, err := os.ReadDir(filepath.Join(dir, "pack"))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		for _, e := range entries {
			if !strings.HasSuffix(e.Name(), ".idx") {
				continue
			}
			path := filepath.Join(dir, "pack", e.Name())
			seen[path] = true
			if d.packs[path] != nil {
				continue
			}
			p, err := openPack(path)
			if errors.Is(err, fs.ErrNotExist) {
				continue // being removed just now
			}
			if err != nil {
				return err
			}
			d.packs[path] = p
		}
	}
	for path, p := range d.packs {
		if !seen[path] {
			p.close()
			delete(d.packs, path)
		}
	}
	return nil
}
