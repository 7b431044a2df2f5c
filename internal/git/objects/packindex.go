package objects

import (
	"bytes"
	"encoding/binary"
	"os"
)

const (
	idSize    = len(ID{})
	trailer   = 20 // the checksum at the end of a pack
	fanout    = 256
	indexHead = 8 + fanout*4
)

// packIndex is an index file (version 2) that is searched in place, so that
// its size costs no memory.
type packIndex struct {
	f     *os.File
	fan   [fanout]uint32
	count int64
	size  int64
}

func openPackIndex(path string) (*packIndex, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	x := &packIndex{f: f}
	if err := x.load(); err != nil {
		f.Close()
		return nil, err
	}
	return x, nil
}

func (x *packIndex) load() error {
	info, err := x.f.Stat()
	if err != nil {
		return err
	}
	x.size = info.Size()
	var head [indexHead]byte
	if _, err := x.f.ReadAt(head[:], 0); err != nil {
		return corrupt("pack index %s: %v", x.f.Name(), err)
	}
	if !bytes.Equal(head[:8], []byte("\xfftOc\x00\x00\x00\x02")) {
		return corrupt("pack index %s is not of version 2", x.f.Name())
	}
	for i := range x.fan {
		x.fan[i] = binary.BigEndian.Uint32(head[8+4*i:])
		if i > 0 && x.fan[i] < x.fan[i-1] {
			return corrupt("pack index %s: fan-out", x.f.Name())
		}
	}
	x.count = int64(x.fan[fanout-1])
	if x.size < indexHead+x.count*(int64(idSize)+8)+2*trailer {
		return corrupt("pack index %s is cut short", x.f.Name())
	}
	return nil
}

// find gives the offset of an object in the pack; ok is false where the pack
// does not hold it.
func (x *packIndex) find(id ID) (offset int64, ok bool, err error) {
	lo, hi := int64(0), int64(x.fan[id[0]])
	if id[0] > 0 {
		lo = int64(x.fan[id[0]-1])
	}
	var probe ID
	for lo < hi {
		mid := (lo + hi) / 2
		if _, err := x.f.ReadAt(probe[:], indexHead+mid*int64(idSize)); err != nil {
			return 0, false, err
		}
		switch c := bytes.Compare(probe[:], id[:]); {
		case c == 0:
			offset, err := x.offset(mid)
			return offset, err == nil, err
		case c < 0:
			lo = mid + 1
		default:
			hi = mid
		}
	}
	return 0, false, nil
}

// offset is where the n-th object starts.
func (x *packIndex) offset(n int64) (int64, error) {
	var b [8]byte
	table := indexHead + x.count*(int64(idSize)+4)
	if _, err := x.f.ReadAt(b[:4], table+4*n); err != nil {
		return 0, err
	}
	small := binary.BigEndian.Uint32(b[:4])
	if small>>31 == 0 {
		return int64(small), nil
	}
	if _, err := x.f.ReadAt(b[:], table+4*x.count+8*int64(small&0x7fffffff)); err != nil {
		return 0, corrupt("pack index %s: large offset: %v", x.f.Name(), err)
	}
	large := binary.BigEndian.Uint64(b[:])
	if large>>63 != 0 {
		return 0, corrupt("pack index %s: offset", x.f.Name())
	}
	return int64(large), nil
}

func (x *packIndex) close() { x.f.Close() }
