package objects

import (
	"bufio"
	"compress/zlib"
	"context"
	"encoding/binary"
	"errors"
	"io"
)

// CopyFiles copies a pack that holds nothing but files, as it arrives, and
// checks it in passing: it ends with a TooLargeError at the first file above
// limits.BlobBytes, before that is received, and with a TooManyError where
// there are more objects than limits.Objects. The pack still has to be
// indexed: names and checksum are not looked at.
func CopyFiles(ctx context.Context, to io.Writer, from io.Reader, limits IndexLimits) error {
	p := &passing{in: bufio.NewReaderSize(io.TeeReader(from, to), 32<<10), discarded: make([]byte, 32<<10)}
	var head [packHead]byte
	if _, err := io.ReadFull(p, head[:]); err != nil {
		return cut(err)
	}
	if string(head[:4]) != "PACK" || binary.BigEndian.Uint32(head[4:]) != 2 {
		return corrupt("not a pack of version 2")
	}
	count := int64(binary.BigEndian.Uint32(head[8:]))
	if count > limits.Objects {
		return &TooManyError{Objects: count, Limit: limits.Objects}
	}
	for range count {
		if err := p.next(ctx, limits.BlobBytes); err != nil {
			return err
		}
	}
	return p.end()
}

// cut tells an answer that ends too early, which is corrupt, from one that
// cannot be read.
func cut(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return corrupt("pack is cut short")
	}
	return err
}

// passing reads a pack once.
type passing struct {
	in        *bufio.Reader
	at        int64
	inflated  io.ReadCloser
	discarded []byte
	broken    error // what reading in has ended with
}

// ReadByte reads one byte.
func (p *passing) ReadByte() (byte, error) {
	b, err := p.in.ReadByte()
	if err != nil {
		p.broken = err
		return 0, err
	}
	p.at++
	return b, nil
}

// Read reads some bytes.
func (p *passing) Read(b []byte) (int, error) {
	n, err := p.in.Read(b)
	p.at += int64(n)
	if err != nil {
		p.broken = err
	}
	return n, err
}

// next passes one file, or a difference from one.
func (p *passing) next(ctx context.Context, limit int64) error {
	e, err := readEntry(p, p.at)
	switch {
	case p.broken != nil:
		return cut(p.broken)
	case err != nil:
		return err
	case e.kind < Blob || e.kind == Tag:
		return corrupt("a %s in the place of a file", e.kind)
	case e.size > limit && e.kind == Blob, e.size > 2*limit:
		return &TooLargeError{Size: e.size, Limit: limit}
	}
	if err := p.start(); err != nil {
		return err
	}
	return p.content(ctx, e.size)
}

func (p *passing) start() error {
	var err error
	if p.inflated == nil {
		p.inflated, err = zlib.NewReader(p)
	} else {
		err = p.inflated.(zlib.Resetter).Reset(p, nil)
	}
	return p.inflateError(err)
}

func (p *passing) inflateError(err error) error {
	switch {
	case err == nil:
		return nil
	case p.broken != nil:
		return cut(p.broken)
	default:
		return corrupt("content: %v", err)
	}
}

func (p *passing) content(ctx context.Context, size int64) error {
	for n := int64(0); ; {
		if err := ctx.Err(); err != nil {
			return err
		}
		m, err := p.inflated.Read(p.discarded)
		if n += int64(m); n > size {
			return corrupt("content is longer than its header says")
		}
		if errors.Is(err, io.EOF) {
			if n < size {
				return corrupt("content is shorter than its header says")
			}
			return nil
		}
		if err != nil {
			return p.inflateError(err)
		}
	}
}

// end passes the checksum, which is all that may be left.
func (p *passing) end() error {
	if _, err := io.CopyN(io.Discard, p, trailer); err != nil {
		return cut(err)
	}
	if n, err := io.CopyN(io.Discard, p, 1); n > 0 || !errors.Is(err, io.EOF) {
		if n > 0 {
			return corrupt("pack goes on after its end")
		}
		return err
	}
	return nil
}
