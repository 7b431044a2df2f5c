package keep

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"runtime"

	bolt "go.etcd.io/bbolt"

	"github.com/fairlead-dev/fairlead/catalog/findings"
	"github.com/fairlead-dev/fairlead/internal/fault/beside"
)

// Findings is a findings.Keeper over a file of its own, findings.db.
type Findings struct{ db *bolt.DB }

var keyFindings = []byte("findings 2")

// OpenFindings opens or makes findings.db in dir, as Open does catalog.db.
func OpenFindings(dir string) (*Findings, error) {
	db, err := openFile(filepath.Join(dir, "findings.db"))
	if err != nil {
		return nil, err
	}
	return &Findings{db}, nil
}

// Close closes the file.
func (f *Findings) Close() error { return f.db.Close() }

// Each calls do with every record, with several at a time; one that cannot be
// read is left out, so that it is found anew.
func (f *Findings) Each(ctx context.Context, do func(source string, k *findings.Kept)) error {
	return f.db.View(func(tx *bolt.Tx) error {
		b := tx.Bucket(keyFindings)
		if b == nil {
			return nil
		}
		var g beside.Group
		g.SetLimit(runtime.GOMAXPROCS(0))
		err := b.ForEach(func(source, record []byte) error {
			g.Go(func() error {
				var k findings.Kept
				if json.Unmarshal(record, &k) == nil {
					do(string(source), &k)
				}
				return nil
			})
			return ctx.Err()
		})
		return errors.Join(err, g.Wait()) // the records are there as long as the transaction
	})
}

// Save puts a record in place of an earlier one.
func (f *Findings) Save(_ context.Context, source string, k *findings.Kept) error {
	record, err := json.Marshal(k)
	if err != nil {
		return err
	}
	return f.db.Batch(func(tx *bolt.Tx) error {
		b, err := tx.CreateBucketIfNotExists(keyFindings)
		if err != nil {
			return err
		}
		return b.Put([]byte(source), record)
	})
}

// Forget removes a record, if there is one.
func (f *Findings) Forget(_ context.Context, source string) error {
	return f.db.Batch(func(tx *bolt.Tx) error {
		if b := tx.Bucket(keyFindings); b != nil {
			return b.Delete([]byte(source))
		}
		return nil
	})
}
