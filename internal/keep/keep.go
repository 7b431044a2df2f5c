// Package keep holds the last good state of catalog sources in one local
// database file, so that a restart serves at once. It is the only package on
// bbolt. What it holds can always be read again from the sources.
package keep

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	bolt "go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
	"golang.org/x/sync/errgroup"

	"github.com/fairlead-dev/fairlead/catalog/ingest"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// Keeper is an ingest.Keeper over one file.
type Keeper struct{ db *bolt.DB }

var (
	keyMeta  = []byte("meta")
	keyPaths = []byte("paths")
	keyFiles = []byte("files")
)

// Open opens or makes the database catalog.db in dir. A file that is damaged
// is put aside and made anew; a file that another process holds is an error
// after two seconds.
func Open(dir string) (*Keeper, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fault.New(fault.FailedPrecondition, "the state directory %s cannot be made", dir).Because(err)
	}
	path := filepath.Join(dir, "catalog.db")
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
	return &Keeper{db: db}, nil
}

func open(path string) (*bolt.DB, error) {
	return bolt.Open(path, 0o600, &bolt.Options{Timeout: 2 * time.Second, FreelistType: bolt.FreelistMapType})
}

// Close closes the file.
func (k *Keeper) Close() error { return k.db.Close() }

// Load gives what was kept of a source, nil if nothing was. Kept state of
// another version counts as nothing.
func (k *Keeper) Load(ctx context.Context, source string) (*ingest.Kept, error) {
	var kept *ingest.Kept
	err := k.db.View(func(tx *bolt.Tx) error {
		b := tx.Bucket([]byte(source))
		if b == nil {
			return nil
		}
		var err error
		kept, err = load(ctx, b)
		return err
	})
	return kept, err
}

func load(ctx context.Context, b *bolt.Bucket) (*ingest.Kept, error) {
	kept := &ingest.Kept{Paths: map[string]string{}}
	if err := json.Unmarshal(b.Get(keyMeta), &kept.Meta); err != nil {
		return nil, fmt.Errorf("kept state of the source: %w", err)
	}
	if paths := b.Bucket(keyPaths); paths != nil {
		if err := paths.ForEach(func(p, id []byte) error { kept.Paths[string(p)] = string(id); return nil }); err != nil {
			return nil, err
		}
	}
	var records [][]byte
	if files := b.Bucket(keyFiles); files != nil {
		if err := files.ForEach(func(_, v []byte) error { records = append(records, v); return nil }); err != nil {
			return nil, err
		}
	}
	var err error
	kept.Files, err = decodeAll(ctx, records)
	return kept, err
}

// decodeAll decodes records on all cores; they stay valid while the
// transaction is open.
func decodeAll(ctx context.Context, records [][]byte) ([]*ingest.File, error) {
	out := make([]*ingest.File, len(records))
	workers := runtime.GOMAXPROCS(0)
	chunk := (len(records) + workers - 1) / workers
	g, ctx := errgroup.WithContext(ctx)
	for from := 0; from < len(records); from += chunk {
		to := min(from+chunk, len(records))
		g.Go(func() error {
			keys := map[string]string{}
			for i := from; i < to; i++ {
				var err error
				if out[i], err = decode(records[i], keys); err != nil {
					return err
				}
			}
			return ctx.Err()
		})
	}
	return out, g.Wait()
}

// Save adds a change to what is kept, all or nothing.
func (k *Keeper) Save(_ context.Context, source string, d ingest.Delta) error {
	meta, err := json.Marshal(d.Meta)
	if err != nil {
		return err
	}
	return k.db.Update(func(tx *bolt.Tx) error {
		if d.Replace && tx.Bucket([]byte(source)) != nil {
			if err := tx.DeleteBucket([]byte(source)); err != nil {
				return err
			}
		}
		b, err := tx.CreateBucketIfNotExists([]byte(source))
		if err != nil {
			return err
		}
		if err := b.Put(keyMeta, meta); err != nil {
			return err
		}
		return put(b, d)
	})
}

func put(b *bolt.Bucket, d ingest.Delta) error {
	paths, err := b.CreateBucketIfNotExists(keyPaths)
	if err != nil {
		return err
	}
	// Bulk writes are several times cheaper in key order.
	for _, p := range slices.Sorted(maps.Keys(d.Paths)) {
		id := d.Paths[p]
		if id == "" {
			err = paths.Delete([]byte(p))
		} else {
			err = paths.Put([]byte(p), []byte(id))
		}
		if err != nil {
			return err
		}
	}
	files, err := b.CreateBucketIfNotExists(keyFiles)
	if err != nil {
		return err
	}
	for _, p := range slices.Sorted(maps.Keys(d.Files)) {
		f := d.Files[p]
		if f == nil {
			err = files.Delete([]byte(p))
		} else {
			err = files.Put([]byte(p), encode(f))
		}
		if err != nil {
			return err
		}
	}
	return nil
}
