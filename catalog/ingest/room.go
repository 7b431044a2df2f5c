package ingest

import (
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/fairlead-dev/fairlead/catalog/entity"
)

// A few small files can say very much: the documents of one may read one
// large file a thousand times, or repeat a list through aliases. These bound
// what is held of a file and, unless Config says otherwise, of a source, in
// bytes with everything written out.
const (
	maxFileBytes   = 64 << 20
	maxSourceBytes = 512 << 20
)

// perValue is what every value counts beside its text, in bytes.
const perValue = 32

// noRoom names the problem of a document for which there is no room. It may
// find some once other files are smaller, so its file is not settled.
const noRoom = "TooLargeError"

// room is what the documents of a source take together.
type room struct {
	used  atomic.Int64
	limit int64
}

// take takes n bytes if they are there.
func (r *room) take(n int64) bool {
	if r.used.Add(n) <= r.limit {
		return true
	}
	r.used.Add(-n)
	return false
}

// fit finds room for a document, or tells why there is none.
func (l *loader) fit(f *File, d *Document) *entity.Problem {
	n := d.weigh()
	if f.held+n > maxFileBytes {
		return tooLarge(d, "with this document the file holds more than %d MiB once aliases and placeholders are written out", maxFileBytes,
			"Use fewer aliases and smaller files, or split the file.")
	}
	if !l.room.take(n) {
		return tooLarge(d, "with this document the source holds more than %d MiB once aliases and placeholders are written out", l.room.limit,
			"Use fewer aliases and smaller files, or spread the catalog over several sources.")
	}
	d.weight = n
	f.held += n
	return nil
}

func tooLarge(d *Document, format string, limit int64, fix string) *entity.Problem {
	return &entity.Problem{Name: noRoom, Line: d.Line, Message: fmt.Sprintf(format, limit>>20), Fix: fix}
}

// leave gives back the room of a file that is read again.
func (l *loader) leave(old *File) {
	if old != nil {
		l.room.used.Add(-old.weight())
	}
}

// weight is what a file's documents take.
func (f *File) weight() int64 {
	var n int64
	for _, d := range f.Documents {
		if d.Entity != nil {
			n += d.weight
		}
	}
	return n
}

// weigh measures a document.
func (d *Document) weigh() int64 {
	n := int64(len(d.Edges)+len(d.Targets)) * perValue
	if d.Entity != nil {
		n += weigh(d.Entity.Root)
	}
	return n
}

func weigh(v entity.Value) int64 {
	var n int64 = perValue
	switch v := v.(type) {
	case entity.List:
		for i := range v {
			n += weigh(v[i].Value)
		}
	case *entity.Object:
		for i := range v.Len() {
			n += int64(len(v.Members[i].Key)) + weigh(v.Members[i].Value)
		}
	case string:
		n += int64(len(v))
	}
	return n
}

// crowded tells that there was no room for what the document says now.
func (d *Document) crowded() bool {
	return slices.ContainsFunc(d.Problems, func(p entity.Problem) bool { return p.Name == noRoom })
}

// room is the room of a source as it is in force.
func (in *Ingester) room(s *source) *room {
	s.mu.RLock()
	defer s.mu.RUnlock()
	r := &room{limit: in.sourceBytes}
	r.used.Store(s.weight)
	return r
}
