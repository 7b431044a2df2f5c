package objects

import (
	"encoding/binary"
	"io"
	"os"
	"strings"
)

const (
	// maxChain is the longest chain of differences that Git itself writes.
	maxChain = 4095
	// baseAllowance is how much larger than the limit an object may be that
	// another is stored as a difference from.
	baseAllowance = 32 << 20
)

// pack is one pack with its index.
type pack struct {
	index *packIndex
	f     *os.File
	end   int64
}

func openPack(indexPath string) (*pack, error) {
	index, err := openPackIndex(indexPath)
	if err != nil {
		return nil, err
	}
	p := &pack{index: index}
	if p.f, err = os.Open(strings.TrimSuffix(indexPath, ".idx") + ".pack"); err != nil {
		index.close()
		return nil, err
	}
	info, err := p.f.Stat()
	if err != nil {
		p.close()
		return nil, err
	}
	if p.end = info.Size() - trailer; p.end < packHead {
		p.close()
		return nil, corrupt("pack %s is cut short", p.f.Name())
	}
	return p, nil
}

func (p *pack) close() {
	p.index.close()
	p.f.Close()
}

// packHead is the length of a pack's header: PACK, version, count.
const packHead = 12

// entry is the header of one object in a pack.
type entry struct {
	kind       Kind
	size       int64 // of the content, for a difference that of the difference
	baseOffset int64
	baseID     ID
}

// header reads the header at offset and leaves the inflater at the content.
func (p *pack) header(z *inflater, offset int64) (entry, error) {
	if offset < packHead || offset >= p.end {
		return entry{}, corrupt("offset %d is outside pack %s", offset, p.f.Name())
	}
	z.seek(p.f, offset, p.end)
	e, err := readEntry(z.in, offset)
	if err != nil {
		return entry{}, corrupt("header at %d of pack %s: %v", offset, p.f.Name(), err)
	}
	return e, nil
}

// byteReader is what headers are read from.
type byteReader interface {
	io.Reader
	io.ByteReader
}

func readEntry(in byteReader, offset int64) (entry, error) {
	c, err := in.ReadByte()
	if err != nil {
		return entry{}, err
	}
	e := entry{kind: Kind(c >> 4 & 7), size: int64(c & 15)}
	for shift := 4; c&0x80 != 0; shift += 7 {
		if c, err = in.ReadByte(); err != nil {
			return entry{}, err
		}
		if shift > 56 {
			return entry{}, corrupt("size")
		}
		e.size |= int64(c&0x7f) << shift
	}
	switch e.kind {
	case Commit, Tree, Blob, Tag:
		return e, nil
	case offsetDelta:
		back, err := readBack(in)
		e.baseOffset = offset - back
		if err == nil && (back <= 0 || e.baseOffset < packHead) {
			err = corrupt("base offset")
		}
		return e, err
	case refDelta:
		_, err := io.ReadFull(in, e.baseID[:])
		return e, err
	default:
		return entry{}, corrupt("%s", e.kind)
	}
}

// readBack reads how far back a base is.
func readBack(in io.ByteReader) (int64, error) {
	c, err := in.ReadByte()
	if err != nil {
		return 0, err
	}
	n := int64(c & 0x7f)
	for c&0x80 != 0 {
		if c, err = in.ReadByte(); err != nil {
			return 0, err
		}
		if n > 1<<54 {
			return 0, corrupt("base offset")
		}
		n = (n+1)<<7 | int64(c&0x7f)
	}
	return n, nil
}

// patch applies a difference to its base. limit bounds the result.
func patch(base, delta []byte, limit int64) ([]byte, error) {
	from, n := binary.Uvarint(delta)
	if n <= 0 || from != uint64(len(base)) {
		return nil, corrupt("difference of another base")
	}
	delta = delta[n:]
	to, n := binary.Uvarint(delta)
	if n <= 0 {
		return nil, corrupt("difference")
	}
	if to > uint64(limit) { //nolint:gosec // a limit is not negative
		return nil, &TooLargeError{Size: int64(min(to, 1<<62)), Limit: limit}
	}
	delta = delta[n:]
	size := int(to) //nolint:gosec // at most limit
	out := make([]byte, 0, size)
	for len(delta) > 0 {
		op := delta[0]
		delta = delta[1:]
		var piece []byte
		if op&0x80 == 0 {
			if op == 0 || int(op) > len(delta) {
				return nil, corrupt("difference: insert")
			}
			piece, delta = delta[:op], delta[op:]
		} else {
			at, length, rest, ok := copyArgs(op, delta)
			if !ok || at+length > uint64(len(base)) {
				return nil, corrupt("difference: copy")
			}
			piece, delta = base[at:at+length], rest
		}
		if len(out)+len(piece) > size {
			return nil, corrupt("difference is longer than it says")
		}
		out = append(out, piece...)
	}
	if len(out) != size {
		return nil, corrupt("difference is shorter than it says")
	}
	return out, nil
}

// copyArgs reads the arguments of a copy instruction.
func copyArgs(op byte, delta []byte) (at, length uint64, rest []byte, ok bool) {
	var args [7]byte
	for i := range args {
		if op>>i&1 == 0 {
			continue
		}
		if len(delta) == 0 {
			return 0, 0, nil, false
		}
		args[i], delta = delta[0], delta[1:]
	}
	at = uint64(args[0]) | uint64(args[1])<<8 | uint64(args[2])<<16 | uint64(args[3])<<24
	length = uint64(args[4]) | uint64(args[5])<<8 | uint64(args[6])<<16
	if length == 0 {
		length = 0x10000
	}
	return at, length, delta, true
}
