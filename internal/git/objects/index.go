package objects

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/zlib"
	"context"
	"crypto/sha1" //nolint:gosec // the names of Git objects are SHA-1
	"encoding/binary"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
)

const (
	// maxOther bounds objects that are no files: commits, tags and folders.
	maxOther = 64 << 20
	// maxLive bounds what resolving differences keeps in memory at a time.
	maxLive = 256 << 20
)

// inflate begins to inflate at the scanner's place.
func (s *packScanner) inflate() error {
	if s.inflated == nil {
		r, err := zlib.NewReader(s)
		if err != nil {
			return corrupt("zlib: %v", err)
		}
		s.inflated = r
		return nil
	}
	if err := s.inflated.(zlib.Resetter).Reset(s, nil); err != nil {
		return corrupt("zlib: %v", err)
	}
	return nil
}

// BuildIndex checks the pack at path, which ends in .pack, object by object
// and writes its index beside it. Memory follows the number of objects and
// the limits, not the sizes of objects. A pack is never trusted: names are
// computed, not read. In a pack that was sent to complete others, objects may
// be differences from what is in known, which is nil where there is nothing.
func BuildIndex(ctx context.Context, path string, known *DB, limits IndexLimits) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if info.Size() < packHead+trailer {
		return corrupt("pack of %d bytes", info.Size())
	}
	b := &indexer{ctx: ctx, limits: limits, pack: &pack{f: f, end: info.Size() - trailer}}
	sum, err := b.scan(info.Size())
	if err != nil {
		return err
	}
	if err := b.resolve(); err != nil {
		return err
	}
	if err := b.complete(known); err != nil {
		return err
	}
	return b.write(indexOf(path), sum)
}

// indexOf is where the index of a pack is.
func indexOf(path string) string { return strings.TrimSuffix(path, ".pack") + ".idx" }

// indexer collects what an index holds.
type indexer struct {
	ctx      context.Context //nolint:containedctx // lives as long as one call
	limits   IndexLimits
	pack     *pack
	records  []record // by offset
	done     []bool   // whether the id is known
	byOffset map[int64][]int32
	byID     map[ID][]int32
	live     int64
}

// scan passes over the whole pack.
func (b *indexer) scan(size int64) ([trailer]byte, error) {
	s := newPackScanner(b.pack.f, size)
	count, err := s.head()
	if err != nil {
		return [trailer]byte{}, err
	}
	if count > b.limits.Objects {
		return [trailer]byte{}, &TooManyError{Objects: count, Limit: b.limits.Objects}
	}
	b.byOffset, b.byID = map[int64][]int32{}, map[ID][]int32{}
	for range count {
		rec, err := s.next(b.ctx)
		if err != nil {
			return [trailer]byte{}, err
		}
		switch n := int32(len(b.records)); rec.kind { //nolint:gosec // a pack counts its objects with 32 bits, and the limit is far below
		case offsetDelta:
			b.byOffset[rec.base] = append(b.byOffset[rec.base], n)
		case refDelta:
			b.byID[rec.baseID] = append(b.byID[rec.baseID], n)
		}
		b.records = append(b.records, rec)
		b.done = append(b.done, rec.kind <= Tag)
	}
	return s.finish()
}

// children are the objects stored as differences from an object.
func (b *indexer) children(rec *record) []int32 {
	byOffset, byID := b.byOffset[rec.offset], b.byID[rec.id]
	if len(byID) == 0 {
		return byOffset
	}
	return slices.Concat(byOffset, byID)
}

// frame is an object whose differences are being resolved.
type frame struct {
	kind Kind
	data []byte
	todo []int32
}

// resolve names the objects that are stored as differences, from each whole
// object along the differences that start there.
func (b *indexer) resolve() error {
	for i := range b.records {
		rec := &b.records[i]
		if rec.kind > Tag {
			continue
		}
		todo := b.children(rec)
		if len(todo) == 0 || rec.size > b.allowed(rec.kind) {
			continue
		}
		data, err := b.content(rec)
		if err != nil {
			return err
		}
		if err := b.descend(frame{rec.kind, data, todo}); err != nil {
			return err
		}
	}
	return nil
}

// complete names the objects that are differences from what is known already.
func (b *indexer) complete(known *DB) error {
	if known == nil {
		return nil
	}
	for id, todo := range b.byID {
		if b.done[todo[0]] {
			continue
		}
		kind, data, err := known.Read(id, maxOther)
		if errors.Is(err, ErrNotFound) {
			continue // not known either: what depends on it stays out
		}
		if err != nil {
			return err
		}
		if err := b.descend(frame{kind, data, todo}); err != nil {
			return err
		}
	}
	return nil
}

func (b *indexer) allowed(kind Kind) int64 {
	if kind == Blob {
		return 2 * b.limits.BlobBytes
	}
	return maxOther
}

// descend resolves differences depth first.
func (b *indexer) descend(root frame) error {
	stack := []frame{root}
	b.live = int64(len(root.data))
	for len(stack) > 0 {
		top := &stack[len(stack)-1]
		if len(top.todo) == 0 {
			b.live -= int64(len(top.data))
			stack = stack[:len(stack)-1]
			continue
		}
		n := top.todo[0]
		top.todo = top.todo[1:]
		next, err := b.child(n, top)
		if err != nil {
			return err
		}
		if len(next.todo) == 0 {
			continue
		}
		stack = append(stack, next)
		if b.live += int64(len(next.data)); b.live > maxLive || len(stack) > maxChain {
			return corrupt("differences from differences take more than %d bytes", maxLive)
		}
	}
	return nil
}

// child resolves one difference; it and what depends on it are left out where
// it is too large.
func (b *indexer) child(n int32, base *frame) (frame, error) {
	if err := b.ctx.Err(); err != nil {
		return frame{}, err
	}
	rec := &b.records[n]
	if b.done[n] || rec.size > b.allowed(base.kind) {
		return frame{}, nil
	}
	delta, err := b.content(rec)
	if err != nil {
		return frame{}, err
	}
	data, err := patch(base.data, delta, b.allowed(base.kind))
	if _, large := err.(*TooLargeError); large { //nolint:errorlint // patch does not wrap
		return frame{}, nil
	}
	if err != nil {
		return frame{}, err
	}
	sum := newObjectSum(base.kind, int64(len(data)))
	sum.Write(data)
	sum.Sum(rec.id[:0])
	b.done[n] = true
	return frame{base.kind, data, b.children(rec)}, nil
}

// content inflates an entry that has been passed already.
func (b *indexer) content(rec *record) ([]byte, error) {
	z := inflaters.Get().(*inflater)
	defer z.release()
	if _, err := b.pack.header(z, rec.offset); err != nil {
		return nil, err
	}
	if err := z.start(); err != nil {
		return nil, err
	}
	return z.full(rec.size)
}

// write writes an index of version 2.
func (b *indexer) write(path string, packSum [trailer]byte) error {
	var named []*record
	for i := range b.records {
		if b.done[i] {
			named = append(named, &b.records[i])
		}
	}
	slices.SortFunc(named, func(x, y *record) int {
		return cmp.Or(bytes.Compare(x.id[:], y.id[:]), cmp.Compare(x.offset, y.offset))
	})
	named = slices.CompactFunc(named, func(x, y *record) bool { return x.id == y.id })
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	sum := sha1.New() //nolint:gosec // the format says so
	w := bufio.NewWriter(io.MultiWriter(f, sum))
	writeTables(w, named)
	w.Write(packSum[:])
	if err := w.Flush(); err != nil {
		f.Close()
		return err
	}
	if _, err := f.Write(sum.Sum(nil)); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

// writeTables writes everything before the checksums; errors stay in w.
func writeTables(w *bufio.Writer, named []*record) {
	put := func(n uint32) {
		var b [4]byte
		binary.BigEndian.PutUint32(b[:], n)
		w.Write(b[:])
	}
	w.WriteString("\xfftOc\x00\x00\x00\x02")
	n := 0
	for i := range fanout {
		for n < len(named) && int(named[n].id[0]) <= i {
			n++
		}
		put(uint32(n))
	}
	for _, r := range named {
		w.Write(r.id[:])
	}
	for _, r := range named {
		put(r.crc)
	}
	var large []int64
	for _, r := range named {
		if r.offset < 1<<31 {
			put(uint32(r.offset)) //nolint:gosec // checked in the line before
			continue
		}
		put(1<<31 | uint32(len(large))) //nolint:gosec // as above
		large = append(large, r.offset)
	}
	for _, at := range large {
		var b [8]byte
		binary.BigEndian.PutUint64(b[:], uint64(at)) //nolint:gosec // an offset is not negative
		w.Write(b[:])
	}
}
