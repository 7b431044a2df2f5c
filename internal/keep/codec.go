package keep

import (
	"encoding/binary"
	"errors"
	"math"

	"github.com/fairlead-dev/fairlead/catalog/entity"
)

// errCorrupt says that a record is not what an encoder of this version wrote.
var errCorrupt = errors.New("kept record is corrupt")

// maxWord is the length up to which a string is a word: it is likely to stand
// in many records, and one copy of it is made for all of them.
const maxWord = 32

// writer builds one record: numbers as varints, lists behind their length,
// strings by their length and where they stand among the record's words or in
// its text. A record holds each string once.
type writer struct {
	b           []byte
	text, words []byte
	seen        map[string]int
}

func newWriter() *writer { return &writer{seen: map[string]int{}} }

// reset makes the writer ready for another record.
func (w *writer) reset() {
	w.b, w.text, w.words = w.b[:0], w.text[:0], w.words[:0]
	clear(w.seen)
}

// record gives what was written: version, text, words, then the rest.
func (w *writer) record() []byte {
	b := make([]byte, 0, 1+2*binary.MaxVarintLen64+len(w.text)+len(w.words)+len(w.b))
	b = append(b, version)
	for _, part := range [][]byte{w.text, w.words} {
		b = binary.AppendUvarint(b, uint64(len(part)))
		b = append(b, part...)
	}
	return append(b, w.b...)
}

func (w *writer) num(n int)     { w.b = binary.AppendVarint(w.b, int64(n)) }
func (w *writer) int64(n int64) { w.b = binary.AppendVarint(w.b, n) }
func (w *writer) byte(c byte)   { w.b = append(w.b, c) }

func (w *writer) str(s string) {
	w.num(len(s))
	if s == "" {
		return
	}
	at, known := w.seen[s]
	if !known {
		to := &w.text
		if len(s) <= maxWord {
			to = &w.words
		}
		at = len(*to)
		*to = append(*to, s...)
		w.seen[s] = at
	}
	w.num(at)
}

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
	b     []byte
	words []byte
	// text is shared by the strings decoded from it.
	text  string
	off   int
	depth int
	// known holds words of earlier records, as values.
	known map[string]entity.Value
	err   error
}

// newReader begins a record; known is shared by the records of one reading.
func newReader(b []byte, known map[string]entity.Value) *reader {
	r := &reader{b: b, known: known}
	if r.byte() != version {
		r.fail()
	}
	r.text = string(r.part())
	r.words = r.part()
	return r
}

func (r *reader) part() []byte {
	n, size := binary.Uvarint(r.b[r.off:])
	if size <= 0 || n > uint64(len(r.b)-r.off-size) { //nolint:gosec // what has been read is within the record
		r.fail()
		return nil
	}
	from := r.off + size
	r.off = from + int(n) //nolint:gosec // bounded by the record's length
	return r.b[from:r.off]
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
	n := r.int64()
	if n > maxWord {
		at := r.int64()
		if at < 0 || at > int64(len(r.text)) || n > int64(len(r.text))-at {
			r.fail()
			return ""
		}
		return r.text[at : at+n]
	}
	s, _ := r.word(n).(string)
	return s
}

// word reads a string of up to maxWord bytes, of which one copy is made for
// all records.
func (r *reader) word(n int64) entity.Value {
	if n == 0 {
		return ""
	}
	at := r.int64()
	if n < 0 || at < 0 || at > int64(len(r.words)) || n > int64(len(r.words))-at {
		r.fail()
		return ""
	}
	w := r.words[at : at+n]
	v, known := r.known[string(w)]
	if !known {
		s := string(w)
		v = s
		r.known[s] = v
	}
	return v
}

// stringValue is a string as a value.
func (r *reader) stringValue() entity.Value {
	from := r.off
	if n := r.int64(); n <= maxWord {
		return r.word(n)
	}
	r.off = from
	return r.str()
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
		return r.stringValue()
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
		o.Members[i].Key = r.str()
		o.Members[i].At = r.at()
		o.Members[i].Value = r.value()
	}
	return o
}
