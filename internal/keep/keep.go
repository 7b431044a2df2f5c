// Package keep holds the last good state of catalog sources in one local
// database file, so that a restart serves at once. It is the only package on
// bbolt. What it holds can always be read again from the sources.
package keep

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	bolt "go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"github.com/fairlead-dev/fairlead/catalog/entity"
	"github.com/fairlead-dev/fairlead/catalog/ingest"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/fault/beside"
)

// Keeper is an ingest.Keeper over one file.
//
// A source's bucket holds its state in one of two sets, so that a new state
// can be written bit by bit beside the one in force.
type Keeper struct {
	path string

	mu     sync.RWMutex // held for writing while db is exchanged
	db     *bolt.DB
	mapped atomic.Int64 // about how many bytes of the file have been looked at
}

var (
	keyMeta  = []byte("meta")
	keySet   = []byte("set") // which set is in force
	keyPaths = []byte("paths")
	keyFiles = []byte("files")
	keyPasts = []byte("pasts") // of files
	setA     = []byte("a")
	setB     = []byte("b")
)

const (
	// mapSize is how much address space the file is given at once: growing it
	// later, within a transaction, copies everything written so far.
	mapSize = 256 << 20
	// maxMapped is how much of the file may stay in memory after it was read.
	maxMapped = 8 << 20
)

// Open opens or makes the database catalog.db in dir. A file that is damaged
// is put aside and made anew; a file that another process holds is an error
// after two seconds.
func Open(dir string) (*Keeper, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fault.New(fault.FailedPrecondition, "the state directory %s cannot be made", dir).Because(err)
	}
	path := filepath.Join(dir, "catalog.db")
	db, err := openFile(path)
	if err != nil {
		return nil, err
	}
	return &Keeper{path: path, db: db}, nil
}

// openFile opens or makes a database file; one that is damaged is put aside.
func openFile(path string) (*bolt.DB, error) {
	db, err := open(path)
	if errors.Is(err, bolterrors.ErrInvalid) || errors.Is(err, bolterrors.ErrChecksum) || errors.Is(err, bolterrors.ErrVersionMismatch) {
		if err := os.Rename(path, path+".damaged"); err != nil {
			return nil, fault.New(fault.FailedPrecondition, "the damaged file %s cannot be put aside", path).Because(err)
		}
		db, err = open(path)
	}
	if err != nil {
		return nil, fault.New(fault.FailedPrecondition, "the kept catalog %s cannot be opened", path).
			WithFix("Stop the other fairleadd that uses this state directory, or give this one a directory of its own.").Because(err)
	}
	return db, nil
}

func open(path string) (*bolt.DB, error) {
	return bolt.Open(path, 0o600, &bolt.Options{Timeout: 2 * time.Second, FreelistType: bolt.FreelistMapType, InitialMmapSize: mapSize})
}

// Close closes the file.
func (k *Keeper) Close() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.db.Close()
}

// use runs do on the open file.
func (k *Keeper) use(do func(*bolt.DB) error) error {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return do(k.db)
}

// unmap gives back the memory that the file has come to take by being read:
// it is opened anew once that is much.
func (k *Keeper) unmap() error {
	if k.mapped.Load() < maxMapped {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.mapped.Load() < maxMapped {
		return nil
	}
	if err := k.db.Close(); err != nil {
		return err
	}
	db, err := open(k.path)
	if err != nil {
		return err // the next use tries again
	}
	k.db = db
	k.mapped.Store(0)
	return nil
}

// Load gives what was kept of a source, nil if nothing was. Kept state of
// another version counts as nothing.
func (k *Keeper) Load(ctx context.Context, source string) (*ingest.Kept, error) {
	var kept *ingest.Kept
	err := k.use(func(db *bolt.DB) error {
		return db.View(func(tx *bolt.Tx) error {
			b := tx.Bucket([]byte(source))
			if b == nil || b.Get(keySet) == nil {
				return nil
			}
			var err error
			kept, err = k.load(ctx, b)
			return err
		})
	})
	return kept, errors.Join(err, k.unmap())
}

func (k *Keeper) load(ctx context.Context, b *bolt.Bucket) (*ingest.Kept, error) {
	kept := &ingest.Kept{Paths: map[string]string{}, Pasts: map[string]ingest.Dated{}}
	if err := json.Unmarshal(b.Get(keyMeta), &kept.Meta); err != nil {
		return nil, fmt.Errorf("kept state of the source: %w", err)
	}
	set := b.Bucket(b.Get(keySet))
	if set == nil {
		return nil, errCorrupt
	}
	if paths := set.Bucket(keyPaths); paths != nil {
		if err := paths.ForEach(func(p, id []byte) error { kept.Paths[string(p)] = string(id); return nil }); err != nil {
			return nil, err
		}
	}
	if err := loadPasts(set.Bucket(keyPasts), kept.Pasts); err != nil {
		return nil, err
	}
	var records [][]byte
	if files := set.Bucket(keyFiles); files != nil {
		err := files.ForEach(func(_, v []byte) error {
			records = append(records, v)
			k.mapped.Add(int64(len(v)))
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	var err error
	kept.Files, err = decodeAll(ctx, records)
	return kept, err
}

func loadPasts(b *bolt.Bucket, into map[string]ingest.Dated) error {
	if b == nil {
		return nil
	}
	return b.ForEach(func(path, record []byte) (err error) {
		into[string(path)], err = decodePast(record)
		return err
	})
}

// decodeAll decodes records on all cores; they stay valid while the
// transaction is open.
func decodeAll(ctx context.Context, records [][]byte) ([]*ingest.File, error) {
	out := make([]*ingest.File, len(records))
	workers := runtime.GOMAXPROCS(0)
	chunk := (len(records) + workers - 1) / workers
	g, ctx := beside.WithContext(ctx)
	for from := 0; from < len(records); from += chunk {
		to := min(from+chunk, len(records))
		g.Go(func() error {
			known := map[string]entity.Value{}
			for i := from; i < to; i++ {
				var err error
				if out[i], err = decode(records[i], known); err != nil {
					return err
				}
			}
			return ctx.Err()
		})
	}
	return out, g.Wait()
}
