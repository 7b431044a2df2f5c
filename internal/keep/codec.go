package keep

import (
	"encoding/binary"
	"errors"
	"math"

	"github.com/fairlead-dev/fairlead/catalog/entity"
)

// errCorrupt says that a record is not what an encoder of this version wrote.
var errCorrupt = errors.New("kept record is corrupt")

// writer builds one record: numbers as varints, strings and lists behind
// their length.
type writer struct{ b []byte }

func (w *writer) num(n int)     { w.b = binary.AppendVarint(w.b, int64(n)) }
func (w *writer) int64(n int64) { w.b = binary.AppendVarint(w.b, n) }
func (w *writer) str(s string)  { w.num(len(s)); w.b = append(w.b, s...) }
func (w *writer) byte(c byte)   { w.b = append(w.b, c) }
func (w *writer) strs(l []string) {
	w.num(len(l))
	for _, s := range l {
		w.str(s)
	}
}

func (w *writer) bool(v bool) {
	if v {
		w.byte(1)
	} else {
		w.byte(0)
	}
}

func (w *writer) at(p entity.Position) {
	w.num(int(p.Line))
	w.num(int(p.Column))
}

// The tags of values.
const (
	tagNull byte = iota
	tagFalse
	tagTrue
	tagNumber
	tagString
	tagObject
	tagList
)

func (w *writer) value(v entity.Value) {
	switch v := v.(type) {
	case bool:
		if v {
			w.byte(tagTrue)
		} else {
			w.byte(tagFalse)
		}
	case float64:
		w.byte(tagNumber)
		w.b = binary.LittleEndian.AppendUint64(w.b, math.Float64bits(v))
	case string:
		w.byte(tagString)
		w.str(v)
	case *entity.Object:
		w.byte(tagObject)
		w.object(v)
	case entity.List:
		w.byte(tagList)
		w.num(len(v))
		for _, it := range v {
			w.at(it.At)
			w.value(it.Value)
		}
	default:
		w.byte(tagNull)
	}
}

func (w *writer) object(o *entity.Object) {
	w.at(o.At)
	w.num(len(o.Members))
	for _, m := range o.Members {
		w.str(m.Key)
		w.at(m.At)
		w.value(m.Value)
	}
}

// reader takes one record apart. After the first error everything reads as
// zero and err stays.
type reader struct {
	b []byte
	// text is the record as a string, which decoded strings share.
	text  string
	off   int
	depth int
	keys  map[string]string
	err   error
}

func newReader(b []byte, keys map[string]string) *reader {
	return &reader{b: b, text: string(b), keys: keys}
}

func (r *reader) fail() { r.err = errCorrupt; r.off = len(r.b) }

func (r *reader) int64() int64 {
	n, size := binary.Varint(r.b[r.off:])
	if size <= 0 {
		r.fail()
		return 0
	}
	r.off += size
	return n
}

// length reads a length of things that take at least min bytes each.
func (r *reader) length(min int) int {
	n := r.int64()
	if n < 0 || n > int64(len(r.b)-r.off)/int64(min) {
		r.fail()
		return 0
	}
	return int(n)
}

func (r *reader) num() int { return int(r.int64()) }

func (r *reader) str() string {
	n := r.length(1)
	s := r.text[r.off : r.off+n]
	r.off += n
	return s
}

// key reads a string that many records repeat.
func (r *reader) key() string {
	s := r.str()
	if k, known := r.keys[s]; known {
		return k
	}
	k := string([]byte(s)) // not a part of this record's text
	r.keys[k] = k
	return k
}

func (r *reader) byte() byte {
	if r.off >= len(r.b) {
		r.fail()
		return 0
	}
	c := r.b[r.off]
	r.off++
	return c
}

func (r *reader) bool() bool { return r.byte() == 1 }

func (r *reader) strs() []string {
	n := r.length(1)
	if n == 0 {
		return nil
	}
	out := make([]string, n)
	for i := range out {
		out[i] = r.str()
	}
	return out
}

func (r *reader) at() entity.Position {
	return entity.Position{Line: uint32(r.int64()), Column: uint32(r.int64())} //nolint:gosec // written from uint32
}

// maxDepth bounds the nesting of values in a record.
const maxDepth = 2000

func (r *reader) value() entity.Value {
	if r.depth++; r.depth > maxDepth {
		r.fail()
	}
	defer func() { r.depth-- }()
	switch r.byte() {
	case tagFalse:
		return false
	case tagTrue:
		return true
	case tagNumber:
		return r.float()
	case tagString:
		return r.str()
	case tagObject:
		return r.object()
	case tagList:
		l := make(entity.List, r.length(3))
		for i := range l {
			l[i].At = r.at()
			l[i].Value = r.value()
		}
		return l
	default:
		return nil
	}
}

func (r *reader) float() float64 {
	if len(r.b)-r.off < 8 {
		r.fail()
		return 0
	}
	f := math.Float64frombits(binary.LittleEndian.Uint64(r.b[r.off:]))
	r.off += 8
	return f
}

func (r *reader) object() *entity.Object {
	o := &entity.Object{At: r.at()}
	o.Members = make([]entity.Member, r.length(4))
	for i := range o.Members {
		o.Members[i].Key = r.key()
		o.Members[i].At = r.at()
		o.Members[i].Value = r.value()
	}
	return o
}
