package objects

import (
	"context"
	"crypto/sha1" //nolint:gosec // the names of Git objects are SHA-1
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"os"
	"strconv"
)

// IndexLimits bound what indexing a pack may cost.
type IndexLimits struct {
	// Objects in the pack.
	Objects int64
	// BlobBytes of a file that has to be readable: larger files are checked
	// in passing, without memory, and those stored as differences from them
	// are left out of the index.
	BlobBytes int64
}

// TooManyError says that a pack holds more objects than the limit.
type TooManyError struct{ Objects, Limit int64 }

// Error names the numbers.
func (e *TooManyError) Error() string {
	return fmt.Sprintf("the pack holds %d objects, more than the limit of %d", e.Objects, e.Limit)
}

// packScanner reads a pack from its start to its end. It sums up what it
// passes: the whole for the checksum at the end, each entry for the index.
type packScanner struct {
	f         *os.File
	buf       []byte
	r, w      int
	base      int64 // offset of buf in the pack
	end       int64 // of the entries
	sum       hash.Hash
	crc       uint32
	summed    int // how far buf has been summed
	inflated  io.ReadCloser
	discarded []byte
}

func newPackScanner(f *os.File, size int64) *packScanner {
	return &packScanner{f: f, buf: make([]byte, 64<<10), end: size - trailer, sum: sha1.New(), discarded: make([]byte, 32<<10)} //nolint:gosec // see above
}

func (s *packScanner) offset() int64 { return s.base + int64(s.r) }

// account sums up what has been passed since it was called last.
func (s *packScanner) account() {
	passed := s.buf[s.summed:s.r]
	s.sum.Write(passed)
	s.crc = crc32.Update(s.crc, crc32.IEEETable, passed)
	s.summed = s.r
}

func (s *packScanner) fill() error {
	s.account()
	s.base += int64(s.r)
	s.r, s.w, s.summed = 0, 0, 0
	room := min(int64(len(s.buf)), s.end-s.base)
	if room <= 0 {
		return io.EOF
	}
	n, err := s.f.ReadAt(s.buf[:room], s.base)
	s.w = n
	if n > 0 {
		return nil
	}
	return err
}

// ReadByte reads one byte of the entries.
func (s *packScanner) ReadByte() (byte, error) {
	if s.r == s.w {
		if err := s.fill(); err != nil {
			return 0, err
		}
	}
	s.r++
	return s.buf[s.r-1], nil
}

// Read reads some bytes of the entries.
func (s *packScanner) Read(p []byte) (int, error) {
	if s.r == s.w {
		if err := s.fill(); err != nil {
			return 0, err
		}
	}
	n := copy(p, s.buf[s.r:s.w])
	s.r += n
	return n, nil
}

// head reads the pack's header and gives the number of objects.
func (s *packScanner) head() (int64, error) {
	var head [packHead]byte
	if _, err := io.ReadFull(s, head[:]); err != nil {
		return 0, corrupt("pack header: %v", err)
	}
	if string(head[:4]) != "PACK" || binary.BigEndian.Uint32(head[4:]) != 2 {
		return 0, corrupt("not a pack of version 2")
	}
	return int64(binary.BigEndian.Uint32(head[8:])), nil
}

// record is what is known of one object of a pack.
type record struct {
	offset int64
	crc    uint32
	kind   Kind
	id     ID
	size   int64
	// base of a difference: an offset, or an id.
	base   int64
	baseID ID
}

// next passes one entry. The id of a difference is not known yet.
func (s *packScanner) next(ctx context.Context) (record, error) {
	s.account()
	s.crc = 0
	at := s.offset()
	e, err := readEntry(s, at)
	if err != nil {
		return record{}, corrupt("header at %d: %v", at, err)
	}
	rec := record{offset: at, kind: e.kind, size: e.size, base: e.baseOffset, baseID: e.baseID}
	var sum hash.Hash
	if e.kind <= Tag {
		sum = newObjectSum(e.kind, e.size)
	}
	if err := s.pass(ctx, e.size, sum); err != nil {
		return record{}, err
	}
	if sum != nil {
		sum.Sum(rec.id[:0])
	}
	s.account()
	rec.crc = s.crc
	return rec, nil
}

// newObjectSum starts the name of an object.
func newObjectSum(kind Kind, size int64) hash.Hash {
	sum := sha1.New() //nolint:gosec // the names of Git objects are SHA-1
	sum.Write([]byte(kind.String() + " " + strconv.FormatInt(size, 10) + "\x00"))
	return sum
}

// pass inflates the content of one entry without keeping it.
func (s *packScanner) pass(ctx context.Context, size int64, sum hash.Hash) error {
	if err := s.inflate(); err != nil {
		return err
	}
	var n int64
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		m, err := s.inflated.Read(s.discarded)
		if n += int64(m); n > size {
			return corrupt("content is longer than its header says")
		}
		if sum != nil {
			sum.Write(s.discarded[:m])
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return corrupt("content: %v", err)
		}
	}
	if n != size {
		return corrupt("content is shorter than its header says")
	}
	return nil
}

// finish compares the checksum at the end of the pack.
func (s *packScanner) finish() (sum [trailer]byte, err error) {
	s.account()
	if s.offset() != s.end {
		return sum, corrupt("pack goes on after its last object")
	}
	var want [trailer]byte
	if _, err := s.f.ReadAt(want[:], s.end); err != nil {
		return sum, err
	}
	s.sum.Sum(sum[:0])
	if sum != want {
		return sum, corrupt("checksum of the pack")
	}
	return sum, nil
}
