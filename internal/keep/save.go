package keep

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"

	bolt "go.etcd.io/bbolt"

	"github.com/fairlead-dev/fairlead/catalog/ingest"
)

// batchBytes is about how much one transaction writes: what it writes is in
// memory until it ends.
const batchBytes = 4 << 20

// Save adds a change to what is kept, all or nothing.
func (k *Keeper) Save(_ context.Context, source string, d ingest.Delta) error {
	meta, err := json.Marshal(d.Meta)
	if err != nil {
		return err
	}
	s := &saving{source: []byte(source), meta: meta, delta: d, writer: newWriter()}
	err = k.use(s.run)
	k.mapped.Add(s.written)
	return errors.Join(err, k.unmap())
}

// saving is one Save under way.
type saving struct {
	source, meta []byte
	delta        ingest.Delta
	// set is the one written to, old the one in force before.
	set, old []byte
	// paths, files and pasts are those left to write.
	paths, files, pasts []string
	written             int64
	writer              *writer
}

// run writes a change in one transaction, a whole new state in as many as it
// takes, the last of which puts it in force.
func (s *saving) run(db *bolt.DB) error {
	// Bulk writes are several times cheaper in key order.
	s.paths, s.files, s.pasts = slices.Sorted(maps.Keys(s.delta.Paths)), slices.Sorted(maps.Keys(s.delta.Files)), slices.Sorted(maps.Keys(s.delta.Pasts))
	for done := false; !done; {
		err := db.Update(func(tx *bolt.Tx) error {
			b, err := s.begin(tx)
			if err != nil {
				return err
			}
			if done, err = s.batch(b.Bucket(s.set)); err != nil || !done {
				return err
			}
			return s.conclude(b)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// begin gives the source's bucket; the first time it chooses the set.
func (s *saving) begin(tx *bolt.Tx) (*bolt.Bucket, error) {
	b, err := tx.CreateBucketIfNotExists(s.source)
	if err != nil || s.set != nil {
		return b, err
	}
	s.old = bytes.Clone(b.Get(keySet))
	s.set = s.old
	if s.delta.Replace || s.old == nil {
		s.set = setA
		if bytes.Equal(s.old, setA) {
			s.set = setB
		}
		if b.Bucket(s.set) != nil { // left by a process that ended halfway
			if err := b.DeleteBucket(s.set); err != nil {
				return nil, err
			}
		}
	}
	set, err := b.CreateBucketIfNotExists(s.set)
	if err != nil {
		return nil, err
	}
	for _, name := range [][]byte{keyPaths, keyFiles, keyPasts} {
		if _, err := set.CreateBucketIfNotExists(name); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// batch writes what is left, or a part of it; done tells that nothing is left.
func (s *saving) batch(set *bolt.Bucket) (done bool, err error) {
	paths, files, pasts := set.Bucket(keyPaths), set.Bucket(keyFiles), set.Bucket(keyPasts)
	if s.delta.Replace {
		paths.FillPercent, files.FillPercent, pasts.FillPercent = 0.95, 0.95, 0.95 // keys come in order
	}
	for begun := s.written; len(s.paths) > 0; s.paths = s.paths[1:] {
		if s.full(begun) {
			return false, nil
		}
		id := s.delta.Paths[s.paths[0]]
		if err := s.put(paths, s.paths[0], []byte(id), id == ""); err != nil {
			return false, err
		}
	}
	for begun := s.written; len(s.files) > 0; s.files = s.files[1:] {
		if s.full(begun) {
			return false, nil
		}
		f := s.delta.Files[s.files[0]]
		if err := s.put(files, s.files[0], s.encoded(f), f == nil); err != nil {
			return false, err
		}
	}
	for begun := s.written; len(s.pasts) > 0; s.pasts = s.pasts[1:] {
		if s.full(begun) {
			return false, nil
		}
		p := s.delta.Pasts[s.pasts[0]]
		if err := s.put(pasts, s.pasts[0], s.encodedPast(p), p == nil); err != nil {
			return false, err
		}
	}
	return true, nil
}

// full tells that a transaction has written enough; a change to what is in
// force is written in one.
func (s *saving) full(begun int64) bool { return s.delta.Replace && s.written-begun >= batchBytes }

func (s *saving) put(b *bolt.Bucket, key string, value []byte, gone bool) error {
	if gone {
		return b.Delete([]byte(key))
	}
	s.written += int64(len(key) + len(value))
	return b.Put([]byte(key), value)
}

func (s *saving) encoded(f *ingest.File) []byte {
	if f == nil {
		return nil
	}
	s.writer.file(f)
	return s.writer.record() // the transaction holds on to it
}

func (s *saving) encodedPast(d *ingest.Dated) []byte {
	if d == nil {
		return nil
	}
	s.writer.past(d)
	return s.writer.record()
}

// conclude puts what was written in force.
func (s *saving) conclude(b *bolt.Bucket) error {
	if s.old != nil && !bytes.Equal(s.old, s.set) {
		if err := b.DeleteBucket(s.old); err != nil {
			return err
		}
	}
	return errors.Join(b.Put(keyMeta, s.meta), b.Put(keySet, s.set))
}
