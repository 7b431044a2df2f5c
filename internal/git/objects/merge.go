package objects

import (
	"bufio"
	"compress/zlib"
	"context"
	"crypto/sha1" //nolint:gosec // the format says so
	"encoding/binary"
	"errors"
	"io"
	"os"
)

// Merge writes the files of several packs into a new pack at path, which ends
// in .pack, and its index. from are the paths of packs that have an index
// each. What exceeds limits.BlobBytes is left out.
func Merge(ctx context.Context, path string, from []string, limits IndexLimits) error {
	db := &DB{bases: newCache[place](cacheBytes), trees: newCache[ID](0), packs: map[string]*pack{}, idle: idleAfter}
	defer db.Close()
	var ids []ID
	seen := map[ID]bool{}
	for _, p := range from {
		index := indexOf(p)
		opened, err := openPack(index)
		if err != nil {
			return err
		}
		db.packs[index] = opened
		if ids, err = opened.index.appendIDs(ids, seen); err != nil {
			return err
		}
	}
	kept, err := db.measured(ids, limits.BlobBytes)
	if err != nil {
		return err
	}
	if err := db.write(ctx, path, kept, limits.BlobBytes); err != nil {
		return err
	}
	return BuildIndex(ctx, path, nil, IndexLimits{Objects: int64(len(kept)), BlobBytes: limits.BlobBytes})
}

// appendIDs appends the names in an index that were not seen before.
func (x *packIndex) appendIDs(ids []ID, seen map[ID]bool) ([]ID, error) {
	names := bufio.NewReader(io.NewSectionReader(x.f, indexHead, x.count*int64(idSize)))
	for range x.count {
		var id ID
		if _, err := io.ReadFull(names, id[:]); err != nil {
			return nil, corrupt("pack index %s: %v", x.f.Name(), err)
		}
		if !seen[id] {
			seen[id] = true
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// measured are the objects that are files and not too large.
func (d *DB) measured(ids []ID, limit int64) ([]ID, error) {
	kept := ids[:0]
	for _, id := range ids {
		kind, _, err := d.fromPacks(id, limit)
		var large *TooLargeError
		if errors.As(err, &large) || err == nil && kind != Blob {
			continue
		}
		if err != nil {
			return nil, err
		}
		kept = append(kept, id)
	}
	return kept, nil
}

// write writes a pack of files, each whole.
func (d *DB) write(ctx context.Context, path string, ids []ID, limit int64) (err error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if e := f.Close(); err == nil {
			err = e
		}
	}()
	sum := sha1.New() //nolint:gosec // the format says so
	w := bufio.NewWriter(io.MultiWriter(f, sum))
	head := binary.BigEndian.AppendUint32([]byte("PACK\x00\x00\x00\x02"), uint32(len(ids))) //nolint:gosec // far below
	w.Write(head)
	z := zlib.NewWriter(w)
	for _, id := range ids {
		if err := ctx.Err(); err != nil {
			return err
		}
		_, data, err := d.fromPacks(id, limit)
		if err != nil {
			return err
		}
		w.Write(entryHead(Blob, int64(len(data))))
		z.Reset(w)
		if _, err := z.Write(data); err != nil {
			return err
		}
		if err := z.Close(); err != nil {
			return err
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	_, err = f.Write(sum.Sum(nil))
	return err
}

// entryHead is the header of a whole object in a pack.
func entryHead(kind Kind, size int64) []byte {
	b := byte(kind)<<4 | byte(size&15)
	size >>= 4
	var out []byte
	for ; size > 0; size >>= 7 {
		out = append(out, b|0x80)
		b = byte(size & 0x7f)
	}
	return append(out, b)
}

// LeftOut is how many objects of the pack at path its index leaves out:
// differences whose results are too large, and objects that come twice.
func LeftOut(path string) (int64, error) {
	p, err := openPack(indexOf(path))
	if err != nil {
		return 0, err
	}
	defer p.close()
	var head [packHead]byte
	if _, err := p.f.ReadAt(head[:], 0); err != nil {
		return 0, err
	}
	return int64(binary.BigEndian.Uint32(head[8:])) - p.index.count, nil
}
