package objects

import (
	"bufio"
	"compress/zlib"
	"errors"
	"io"
	"sync"
)

// inflater is a reusable zlib reader over a part of a file.
type inflater struct {
	section io.SectionReader
	in      *bufio.Reader
	out     io.ReadCloser
}

var inflaters = sync.Pool{New: func() any { return &inflater{in: bufio.NewReaderSize(nil, 4096)} }}

// seek puts the inflater at an offset of r; nothing is inflated yet.
func (z *inflater) seek(r io.ReaderAt, offset, end int64) {
	z.section = *io.NewSectionReader(r, offset, end-offset)
	z.in.Reset(&z.section)
}

// start begins to inflate at the place that in has reached.
func (z *inflater) start() error {
	if z.out == nil {
		out, err := zlib.NewReader(z.in)
		if err != nil {
			return corrupt("zlib: %v", err)
		}
		z.out = out
		return nil
	}
	if err := z.out.(zlib.Resetter).Reset(z.in, nil); err != nil {
		return corrupt("zlib: %v", err)
	}
	return nil
}

// full inflates exactly size bytes and makes sure that there are no more.
func (z *inflater) full(size int64) ([]byte, error) {
	data := make([]byte, size)
	if _, err := io.ReadFull(z.out, data); err != nil {
		return nil, corrupt("content: %v", err)
	}
	var one [1]byte
	if n, err := z.out.Read(one[:]); n > 0 || !errors.Is(err, io.EOF) {
		return nil, corrupt("content is longer than its header says (%v)", err)
	}
	return data, nil
}

func (z *inflater) release() {
	z.section = io.SectionReader{}
	z.in.Reset(nil)
	inflaters.Put(z)
}
