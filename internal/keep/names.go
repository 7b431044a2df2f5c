package keep

import (
	"context"
	"errors"

	bolt "go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
)

// Names are the sources of which something is kept, sorted.
func (k *Keeper) Names(context.Context) ([]string, error) {
	var out []string
	err := k.use(func(db *bolt.DB) error {
		return db.View(func(tx *bolt.Tx) error {
			return tx.ForEach(func(name []byte, _ *bolt.Bucket) error {
				out = append(out, string(name))
				return nil
			})
		})
	})
	return out, err
}

// Forget removes what is kept of a source; it is no error if nothing is.
func (k *Keeper) Forget(_ context.Context, source string) error {
	err := k.use(func(db *bolt.DB) error {
		return db.Update(func(tx *bolt.Tx) error { return tx.DeleteBucket([]byte(source)) })
	})
	if errors.Is(err, bolterrors.ErrBucketNotFound) {
		return nil
	}
	return err
}
